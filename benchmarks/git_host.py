"""A git host on loopback: repositories over HTTP, and who reads them, as GitHub's REST interface tells it."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, NamedTuple

NAME: Final = "127.0.0.1"
"""What addresses and settings call it."""
TOKEN: Final = "token-of-the-host"
SECRET: Final = "secret-of-its-webhooks"
_ASKED: Final = re.compile(r"/api/repos/team/([\w-]+)/collaborators\b")
_GIT: Final = re.compile(r"/team/([\w-]+)\.git/")
_AUTHOR: Final = ("-c", "user.name=nobody", "-c", "user.email=nobody@example.invalid")


class GitHost(NamedTuple):
    """A host that serves the work trees of a folder as projects of `team`."""

    folder: Path
    port: int
    readers: Mapping[str, str]
    """Project → the login that may read it."""

    @property
    def settings(self) -> dict[str, str]:
        """Variables of a server that asks it, and takes its webhooks."""
        return {
            "REPO_NAVIGATOR_HOST_TOKENS": f"{NAME}:{TOKEN}",
            "REPO_NAVIGATOR_WEBHOOK_SECRETS": f"{NAME}:{SECRET}",
        }

    def catalogue(self) -> str:
        """Return the file of repositories that names all projects, read by whom the host says."""
        entries = [
            f"  {project}: {{address: 'http://{NAME}:{self.port}/team/{project}.git', branches: [main], "
            "readers: [host]}"
            for project in self.readers
        ]
        host = f"hosts:\n  {NAME}: {{kind: github, api: 'http://{NAME}:{self.port}/api'}}\n"
        return host + "\n".join(["repositories:", *entries, ""])


@contextmanager
def git_host(folder: Path, readers: Mapping[str, str]) -> Iterator[GitHost]:
    """Serve the work trees of ``folder`` that ``readers`` name; what is in each becomes its first commit."""
    for project in readers:
        commit(folder / project)
    server = ThreadingHTTPServer((NAME, 0), partial(_Handler, folder, readers))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield GitHost(folder, server.server_address[1], readers)
    finally:
        server.shutdown()
        server.server_close()


def commit(tree: Path) -> None:
    """Commit what a work tree holds, to `main`."""
    for arguments in (
        ("symbolic-ref", "HEAD", "refs/heads/main"),
        ("add", "--all"),
        (*_AUTHOR, "commit", "--quiet", "--allow-empty", "--message", "as it is"),
        ("update-server-info",),
    ):
        subprocess.run(["git", "-C", str(tree), *arguments], check=True)


def webhook(project: str, *, is_push: bool, secret: str = SECRET) -> tuple[bytes, dict[str, str]]:
    """Return the body and the headers of a webhook about a project."""
    body = json.dumps({"repository": {"full_name": f"team/{project}"}}).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return body, {
        "content-type": "application/json",
        "x-github-event": "push" if is_push else "member",
        "x-hub-signature-256": f"sha256={signature}",
    }


class _Handler(SimpleHTTPRequestHandler):
    """Answers who reads a project, and serves git's own files."""

    def __init__(self, folder: Path, readers: Mapping[str, str], *connection: object) -> None:
        self._folder, self._readers = folder, readers
        super().__init__(*connection, directory=str(folder))  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer."""
        asked = _ASKED.match(self.path)
        if asked is None:
            self.path = _GIT.sub(r"/\1/.git/", self.path.partition("?")[0])
            super().do_GET()
            return
        reader = self._readers.get(asked[1])
        who = [] if reader is None else [{"login": reader, "permissions": {"pull": True}}]
        body = json.dumps(who).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: object) -> None:
        """Stay silent."""
