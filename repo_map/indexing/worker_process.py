"""One worker process, as the process that started it sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import msgspec

from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.worker import Order, receive, send
from repo_map.one_thread import ONE_THREAD
from repo_map.worktree.tree import Tree


class DiedOfFileError(EOFError):
    """A worker ended while it read a file that it had told to be doubtful."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class WorkerProcess:
    """An interpreter that runs ``repo_map.indexing.worker``; raises ``OSError`` where none can be had."""

    def __init__(self) -> None:
        parent_of_package = Path(__file__).parent.parent.parent
        path = os.pathsep.join(filter(None, (str(parent_of_package), os.environ.get("PYTHONPATH"))))
        # `-P` keeps the current folder, which may be the repository, from shadowing modules.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "repo_map.indexing.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": path} | ONE_THREAD,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._answers = self._process.stdin, self._process.stdout

    def await_ready(self) -> None:
        """Wait until it can parse; raises ``OSError`` where it ends before, or is of another version."""
        try:
            version = receive(self._answers)
        except EOFError as error:
            raise OSError(0, "the worker did not start") from error
        if version != extractor_version().encode():
            raise OSError(0, "the worker is of another version")

    def parse(self, tree: Tree, paths: tuple[str, ...]) -> bytes:
        """Have files parsed, and return their encoded tables; raises ``EOFError`` where it dies of them."""
        send(self._orders, msgspec.msgpack.encode(Order(str(tree.root), paths, tree.unmasked, tree.limits)))
        doubtful = b""
        try:
            while message := receive(self._answers):
                doubtful = b"" if message == doubtful else message
        except EOFError:
            if doubtful:
                raise DiedOfFileError(doubtful.decode()) from None
            raise
        return receive(self._answers)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()

    def end(self) -> None:
        """Let it end once it is done, and wait for that."""
        for stream in (self._orders, self._answers):
            with suppress(OSError):
                stream.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
