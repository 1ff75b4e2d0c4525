"""Files that many processes share: a reader sees all of one or nothing, and a folder of them stays small."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

TEMPORARY = ".part"
"""Ends the name of a file that is not whole yet; one that stays was left behind by a process that died."""

_LEFTOVER_AGE_S = 3600


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file whole or not at all; raises ``OSError`` where that fails."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(suffix=TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            write(file)
        Path(temporary).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(temporary).unlink()
        raise


def replace_text(path: Path, text: str) -> None:
    """Write a text that a user asked for: a file in one step, with his usual permissions, a pipe as it is."""
    target = path.resolve()
    if target.exists() and not target.is_file():
        target.write_text(text, encoding="utf-8")
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}{TEMPORARY}")
    try:
        draft.write_text(text, encoding="utf-8")
        if target.exists():
            draft.chmod(target.stat().st_mode)
        draft.replace(target)
    except BaseException:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def latest_first(folder: Path) -> list[Path]:
    """Return the files of a folder, those last written or used first; none where there is no such folder."""
    return [path for _, _, path in _files(folder)]


def prune(folder: Path, limit_bytes: int, keep: str = "") -> None:
    """Remove the least recently used files over the limit, and what a crash left behind, but not ``keep``.

    Other processes may be writing to the folder and pruning it meanwhile; what can't be removed stays.
    """
    room = limit_bytes
    now = time.time()
    for modified, size, path in _files(folder):
        if path.suffix == TEMPORARY:
            unwanted = now - modified > _LEFTOVER_AGE_S
        else:
            room -= size
            unwanted = room < 0 and path.name != keep
        if unwanted:
            with suppress(OSError):
                path.unlink()


def _files(folder: Path) -> list[tuple[float, int, Path]]:
    found: list[tuple[float, int, Path]] = []
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # One that went since it was listed hides none of the others.
                state = entry.stat()
                found.append((state.st_mtime, state.st_size, Path(entry.path)))
    return sorted(found, reverse=True)
