"""Looking at a run from outside while it lasts: its processes, their memory, its folder."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import NamedTuple

from benchmarks.agents.isolation.limits import EndReason, Limits

_PROC = Path("/proc")
_BLOCK = 512
_KILLING_ROUNDS = 20


class Use(NamedTuple):
    """What a folder holds."""

    bytes: int
    entries: int


def use_of(folder: Path, most: Limits | None = None) -> Use:
    """Return the room that the folder takes on disk; counting stops where ``most`` is passed."""
    total, entries = 0, 0
    for where, folders, files in os.walk(folder):
        entries += len(folders) + len(files)
        for name in files:
            with contextlib.suppress(OSError):
                total += os.lstat(f"{where}/{name}").st_blocks * _BLOCK
        if most is not None and (total > most.folder_bytes * 2 or entries > most.folder_entries * 2):
            break
    return Use(total, entries)


def excess(root: int, folder: Path, before: Use, limits: Limits) -> EndReason | None:
    """Return the limit that the processes below ``root`` or their folder have passed, if any."""
    tree = descendants(root)
    # The cell itself, its keeper and a way to the model come on top of what a candidate may start.
    if len(tree) > limits.processes + 3:
        return EndReason.PROCESSES
    if sum(map(_resident, tree)) > limits.memory_bytes:
        return EndReason.MEMORY
    now = use_of(folder, limits)
    if now.bytes - before.bytes > limits.folder_bytes or now.entries - before.entries > limits.folder_entries:
        return EndReason.DISK
    return None


def descendants(root: int) -> list[int]:
    """Return the processes below ``root``, parents first; none where the system has no ``/proc``."""
    found: list[int] = []
    open_ends = [root]
    while open_ends:
        parent = open_ends.pop()
        for task in _list(_PROC / str(parent) / "task"):
            with contextlib.suppress(OSError):
                children = [int(child) for child in (task / "children").read_text().split()]
                found += children
                open_ends += children
    return found


def kill_tree(root: int) -> None:
    """Kill everything below ``root``, then ``root``.

    Its only child, the keeper, takes all others along where it heads a namespace. Elsewhere it goes last:
    orphans come to it, so none escapes from sight meanwhile.
    """
    for keeper in descendants(root)[:1]:
        if not _heads_namespace(keeper):
            _kill_below(keeper)
        _kill(keeper)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(root, signal.SIGKILL)
    _kill(root)


def _kill_below(keeper: int) -> None:
    for _ in range(_KILLING_ROUNDS):
        living = [process for process in descendants(keeper) if not _is_zombie(process)]
        if not living:
            return
        for process in living:
            _kill(process)


def _heads_namespace(process: int) -> bool:
    with contextlib.suppress(OSError):
        for line in (_PROC / str(process) / "status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return len(line.split()) > 2 and line.split()[-1] == "1"
    return False


def _kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _list(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _is_zombie(process: int) -> bool:
    try:
        return (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def _resident(process: int) -> int:
    try:
        return int((_PROC / str(process) / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
