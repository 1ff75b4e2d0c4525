"""nginx with the configuration that is shipped, fitted to servers on loopback; it needs ``openssl`` too."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

SHIPPED: Final = Path(__file__).parents[2] / "packaging/deploy" / "nginx" / "repo-navigator.conf"
NAME: Final = "navigator.example"
PASSED_OVER_S: Final = 10
"""Seconds for which a server that refused is passed over, as in the shipped configuration."""
_AROUND: Final = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{ worker_connections 1024; }}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/repo-navigator.conf;
}}
"""


class Front(NamedTuple):
    """An nginx that serves."""

    port: int
    """Where it speaks TLS, on 127.0.0.1."""
    plain_port: int
    trust: ssl.SSLContext
    """Knows its certificate, which is for ``NAME`` and 127.0.0.1."""


def is_installed() -> bool:
    """Tell whether there is an nginx to run."""
    return bool(_nginx() and shutil.which("openssl"))


def fitted(folder: Path, ports: Sequence[int], port: int, plain_port: int) -> str:
    """Return the shipped configuration for servers at ``ports``, with its certificate in ``folder``."""
    text = SHIPPED.read_text(encoding="utf-8")
    how = f"max_fails=1 fail_timeout={PASSED_OVER_S}s"
    servers = "".join(f"    server 127.0.0.1:{each} {how};\n" for each in ports)
    text = re.sub(r"(?:    server 10\.0\.0\.\d+:8321 [^\n]+\n)+", lambda _: servers, text)
    text = re.sub(r"    listen \[::\][^\n]+\n", "", text)
    text = text.replace("listen 443 ", f"listen 127.0.0.1:{port} ").replace(
        "listen 80;", f"listen 127.0.0.1:{plain_port};"
    )
    return text.replace("/etc/repo-navigator/tls/", f"{folder}/")


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def prepare(folder: Path, ports: Sequence[int]) -> Front:
    """Write a configuration and a certificate into ``folder``."""
    front = free_port(), free_port()
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/fullchain.pem"]
    named = ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME},IP:127.0.0.1"]
    subprocess.run(
        ["openssl", "req", "-x509", "-days", "2", *curve, *files, *named], check=True, capture_output=True
    )
    (folder / "repo-navigator.conf").write_text(fitted(folder, ports, *front), encoding="utf-8")
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder), encoding="utf-8")
    return Front(*front, ssl.create_default_context(cafile=f"{folder}/fullchain.pem"))


def check(folder: Path) -> subprocess.CompletedProcess[str]:
    """Let nginx read the configuration in ``folder``."""
    return subprocess.run(
        [_nginx(), "-t", "-p", folder, "-c", f"{folder}/nginx.conf"],
        capture_output=True,
        text=True,
        check=False,
    )


@contextmanager
def nginx_before(folder: Path, ports: Sequence[int]) -> Iterator[Front]:
    """Serve as the shipped configuration says, before the servers at ``ports``, with files in ``folder``."""
    front = prepare(folder, ports)
    arguments = [_nginx(), "-p", str(folder), "-c", f"{folder}/nginx.conf", "-e", f"{folder}/error.log"]
    with subprocess.Popen(arguments) as process:
        try:
            _wait_for(front.port, process)
            yield front
        finally:
            process.terminate()


def _nginx() -> str:
    # Debian keeps it where a user's path does not lead.
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin") or ""


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            continue
        return
    raise RuntimeError(f"nginx ended with {process.returncode}")
