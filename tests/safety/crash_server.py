"""Forks real servers on real stdio that die where they are told to: at a write, or at any moment."""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import sqlite3
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_EVENTS = {"os.rename": 1, "os.mkdir": 0, "os.remove": 0, "os.rmdir": 0, "os.truncate": 0}
"""Audit events that change a folder → which of their arguments says where."""


class WritePoints:
    """Counts writes to disk, and ends the process at one of them as the power would."""

    def __init__(self, folder: Path, kill_at: str, message: int) -> None:
        """Die at ``kill_at``, such as ``rename cache/trees 2``.

        A server has threads: only the order of writes of one kind to one place is the same in every run.
        """
        self.passed: Counter[str] = Counter()
        self._folder = f"{folder}/"
        self._kill_at = kill_at
        self._told = message

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Audit hook: a file is opened for writing, moved, made or removed."""
        if event in _EVENTS:
            self.point(event.removeprefix("os."), arguments[_EVENTS[event]])
        elif event == "open" and isinstance(arguments[2], int) and arguments[2] & _WRITES:
            self.point("open", arguments[0])

    def point(self, what: str, where: object) -> None:
        """Pass a write to a file of the server's; others, such as pipes and the null device, don't count."""
        path = os.fsdecode(where) if isinstance(where, (str, bytes, Path)) else ""
        if not path.startswith(self._folder):
            return
        kind = f"{what} {_place(path.removeprefix(self._folder))}"
        self.passed[kind] += 1
        if f"{kind} {self.passed[kind]}" == self._kill_at:
            self.say(f"dies {kind}")
            os.kill(os.getpid(), signal.SIGKILL)

    def say(self, line: str) -> None:
        os.write(self._told, f"{line}\n".encode())


def _place(path: str) -> str:
    """Return the store that a path belongs to: ``cache/snapshots``, ``data/sessions.db``."""
    parts = Path(path).parts
    return "/".join(parts[:2] if parts[0] in ("data", "cache") else parts[:1])


def watched(points: WritePoints) -> type[sqlite3.Connection]:
    """Return a connection that passes a write point before each change, and around each commit."""

    class Watched(sqlite3.Connection):
        def __init__(self, database: str, *rest: Any, **options: Any) -> None:
            super().__init__(database, *rest, **options)
            self._database = database

        def execute(self, sql: str, *rest: Any) -> sqlite3.Cursor:
            if not sql.lstrip().upper().startswith(("SELECT", "PRAGMA")):
                points.point("execute", self._database)
            return super().execute(sql, *rest)

        def commit(self) -> None:
            points.point("before_commit", self._database)
            super().commit()
            points.point("after_commit", self._database)

    return Watched


def serve_one(folder: Path, kill_at: str, message: int) -> None:
    """Be ``repo-navigator serve`` on the pipes that are standard input and output now; never returns."""
    from repo_navigator.main import main

    before = {*sys.modules}
    points = WritePoints(folder, kill_at, message)
    connection, connect = watched(points), sqlite3.connect
    sqlite3.connect = lambda *a, **k: connect(*a, **{"factory": connection, **k})  # type: ignore[assignment]
    sys.addaudithook(points.hear)
    code = main(["serve"])
    points.say(f"modules {' '.join(sorted({*sys.modules} - before))}")
    points.say(f"dies end {json.dumps(points.passed)}" if code == 0 else f"dies badly {code}")
    os._exit(code)


def warm(repository: Path) -> None:
    """Build what every server needs, so that no fork pays for it."""
    from repo_map.index.build import build_index
    from repo_map.index.store import Store
    from repo_map.outline.draw import draw_map
    from repo_map.plan.model import FlightPlan
    from repo_map.text import tokens

    tokens.count("")
    draw_map(build_index(repository, store=Store(None), workers=1), FlightPlan())


def import_all(names: list[str]) -> None:
    """Import what a server that nobody killed had imported in the end, so that later forks have it."""
    for name in names:
        # C modules such as `_asyncio` expect to be imported by the package that they belong to.
        if not name.startswith("_"):
            with suppress(ImportError):
                importlib.import_module(name)


def main() -> None:
    """Fork one server for each order on the socket, on the pipes that come with it, and say how it ended."""
    folder, repository = Path(sys.argv[2]), Path(sys.argv[3])
    warm(repository)
    os.chdir(repository)
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        while True:
            order, pipes, _, _ = socket.recv_fds(orders, 1_000, 2)
            if not order:
                return
            reader, writer = os.pipe()
            child = os.fork()
            if not child:
                os.close(reader)
                os.dup2(pipes[0], 0)
                os.dup2(pipes[1], 1)
                # What was opened on another file may believe that it can be sought in.
                sys.stdin, sys.stdout = os.fdopen(0, "r", closefd=False), os.fdopen(1, "w", closefd=False)
                try:
                    serve_one(folder, json.loads(order), writer)
                finally:
                    os._exit(1)
            for mine in (writer, *pipes):
                os.close(mine)
            orders.sendall(f"started {child}\n".encode())
            with os.fdopen(reader) as said:
                message = [line.rstrip("\n") for line in said if line.endswith("\n")]
            os.waitpid(child, 0)
            if message and message[0].startswith("modules "):
                import_all(message[0].split()[1:])
            where = message[-1].removeprefix("dies ") if message else "any moment"
            orders.sendall(f"ended {where}\n".encode())


if __name__ == "__main__":
    main()
