"""A folder whose ``.git`` names a repository elsewhere: believed only where that repository names it back."""

from __future__ import annotations

import re
from pathlib import Path

_WORK_TREE = re.compile(r"^\s*worktree\s*=\s*(.+?)\s*$", re.MULTILINE | re.IGNORECASE)
_LONGEST = 100_000


def borrowed_repository(root: Path) -> Path | None:
    """Return the repository elsewhere that a folder claims without being known there, else None.

    Linked work trees and submodules are known where their repository is, in a file of its owner.
    """
    try:
        resolved = root.resolve()
        folder = next((each for each in (resolved, *resolved.parents) if _exists(each / ".git")), None)
        return None if folder is None else _claimed(folder)
    except (OSError, RuntimeError, ValueError):
        return None


def _claimed(folder: Path) -> Path | None:
    mark = folder / ".git"
    if mark.is_dir() and not mark.is_symlink():
        shared = mark / "commondir"
        return _resolve(mark, _read(shared)) if _exists(shared) else None
    target = mark.resolve() if mark.is_symlink() else _resolve(folder, _read(mark).removeprefix("gitdir:"))
    if target.is_relative_to(folder) or _names_back(target, folder):
        return None
    return target


def _names_back(repository: Path, folder: Path) -> bool:
    linked = repository / "gitdir"
    if linked.is_file():
        return _resolve(repository, _read(linked)) == folder / ".git"
    config = repository / "config"
    found = _WORK_TREE.search(_read(config)) if config.is_file() else None
    return found is not None and _resolve(repository, found[1]) == folder


def _resolve(base: Path, named: str) -> Path:
    return (base / named.strip().strip('"')).resolve()


def _read(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(_LONGEST).decode("utf-8", "surrogateescape")


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()
