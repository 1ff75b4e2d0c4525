"""Files that many processes share: a reader sees all of one or nothing, and a folder of them stays small."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

TEMPORARY = ".part"
"""Ends the name of a file that is not whole yet; one that stays was left behind by a process that died."""


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


def prune(folder: Path, limit_bytes: int) -> None:
    """Remove the least recently used files beyond the limit; another process may be doing the same."""
    found: list[tuple[float, int, Path]] = []
    for path in folder.iterdir():
        with suppress(OSError):
            found.append((path.stat().st_mtime, path.stat().st_size, path))
    oldest: Sequence[tuple[float, int, Path]] = sorted(found)
    total = sum(size for _, size, _ in oldest)
    for _, size, path in oldest:
        if total <= limit_bytes:
            return
        path.unlink(missing_ok=True)
        total -= size
