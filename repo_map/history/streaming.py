"""Git under a deadline: what came before it is kept."""

from __future__ import annotations

import os
import selectors
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from repo_map.worktree.git import GitError, git_command, git_environment

_CHUNK = 1 << 16
_LOOK_UP_S = 0.2


class Deadline:
    """The moment after which nothing more is read: when the time is up, or nobody wants it any more."""

    def __init__(self, seconds: float, is_wanted: Callable[[], bool] | None = None) -> None:
        self._ends = time.monotonic() + seconds
        self._is_wanted = is_wanted

    def left(self) -> float:
        """Return the seconds that are left, at most those until it is worth asking again; 0 for none."""
        if self._is_wanted is None:
            return max(0.0, self._ends - time.monotonic())
        return min(max(0.0, self._ends - time.monotonic()), _LOOK_UP_S) if self._is_wanted() else 0.0


class Output(NamedTuple):
    """What a command printed, and how it ended."""

    text: bytes
    status: int | None
    """The exit status, ``None`` when the deadline ended it first."""


def ask_git(root: Path, *arguments: str, lines: Iterable[str] = (), deadline: Deadline) -> Output | None:
    """Run git in ``root`` until ``deadline``; ``None`` when there is no git to run.

    ``lines`` go to its standard input.
    """
    try:
        process = subprocess.Popen(
            git_command(root, "-c", "core.quotePath=false", *arguments),
            # A partial clone would fetch each missing blob from its remote: no transport is allowed at all.
            env=git_environment() | {"GIT_ALLOW_PROTOCOL": "none"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except (OSError, GitError):
        return None
    with process:
        return _exchange(process, "".join(f"{line}\n" for line in lines).encode(), deadline)


def _exchange(process: subprocess.Popen[bytes], sent: bytes, deadline: Deadline) -> Output:
    """Feed and drain the process side by side, so that neither pipe can fill up and block the other."""
    assert process.stdin is not None
    assert process.stdout is not None
    received: list[bytes] = []
    remaining = memoryview(sent)
    os.set_blocking(process.stdin.fileno(), False)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        while (left := deadline.left()) > 0:
            for key, _ in selector.select(left):
                if key.fileobj is process.stdin:
                    remaining = remaining[_write(process.stdin.fileno(), remaining) :]
                    if not remaining:
                        selector.unregister(process.stdin)
                        process.stdin.close()
                    continue
                piece = os.read(process.stdout.fileno(), _CHUNK)
                if not piece:
                    return Output(b"".join(received), process.wait())
                received.append(piece)
    process.kill()
    return Output(b"".join(received), None)


def _write(descriptor: int, remaining: memoryview) -> int:
    try:
        return os.write(descriptor, remaining[:_CHUNK])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        # It ended early and will say so by its status; the rest of the input has no reader.
        return len(remaining)
