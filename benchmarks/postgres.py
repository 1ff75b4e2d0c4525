"""A PostgreSQL of a measurement's own, on loopback, which can be stopped and started."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.support.nginx import free_port


class Database:
    """A PostgreSQL of the run's own, on loopback, which can be stopped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._port = free_port()
        self.address = f"postgresql+asyncpg://postgres@127.0.0.1:{self._port}/postgres"

    def make(self) -> None:
        """Make its files and start it."""
        self._folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        data = str(self._folder / "data")
        self._run("initdb", "--auth=trust", "--username=postgres", "--no-sync", "-D", data)
        self.start()

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        sockets = f"-c unix_socket_directories={self._folder} -c max_connections=200"
        self._control("start", "-o", f"-p {self._port} -c listen_addresses=127.0.0.1 {sockets}")

    def stop(self) -> None:
        """End every connection and stop it, if it runs."""
        if (self._folder / "data" / "postmaster.pid").exists():
            self._control("stop", "-m", "fast")

    def _control(self, *arguments: str) -> None:
        log = str(self._folder / "log")
        self._run("pg_ctl", "-w", "-D", str(self._folder / "data"), "-l", log, *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        # PostgreSQL refuses to run as root.
        user = "postgres" if os.geteuid() == 0 else None
        command = [str(postgres_programs() / program), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, user=user, cwd=self._folder)


def postgres_programs() -> Path:
    """Return where PostgreSQL's programs lie, the newest; an empty path where there are none."""
    # Debian keeps them where a user's path does not lead.
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [Path(shutil.which("initdb") or ".")]
    return found[-1].parent
