"""The fence around a tree: no name, link or change under the walk leads a read out of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_KERNEL_FOLDERS = ("/proc", "/sys", "/dev")
_METADATA = frozenset({".git", ".hg", ".svn", ".jj"})
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_STEPS_BY_FOLDER = os.open in os.supports_dir_fd


def open_inside(root: Path, path: str) -> int:
    """Open a file of a tree for reading, step by step from the root, so that no step can be a link.

    Raises:
        OSError: It can't be opened, or the path leads out of the tree.
    """
    if leads_out(path):
        raise OSError(0, "its path leads out of the repository")
    if not _STEPS_BY_FOLDER:
        return _open_resolved(root, path)
    *folders, name = path.split("/")
    folder = os.open(root, _FOLDER)
    try:
        for step in folders:
            inner = os.open(step, _FOLDER | _NO_LINK, dir_fd=folder)
            os.close(folder)
            folder = inner
        return os.open(name, _FLAGS | _NO_LINK, dir_fd=folder)
    finally:
        os.close(folder)


def leads_out(path: str) -> bool:
    """Say whether a relative path names what no tree holds: a parent, a root, a drive, git's own files."""
    steps = path.rstrip("/").split("/")
    return (
        any(step in ("", ".", "..") or step.lower() in _METADATA for step in steps)
        or ("\\" in path and sys.platform == "win32")
        or (":" in path and sys.platform == "win32")
    )


def is_kernel_folder(folder: Path) -> bool:
    """Say whether a folder shows the kernel's state and no files: processes, devices."""
    return any(folder == Path(name) or Path(name) in folder.parents for name in _KERNEL_FOLDERS)


def _open_resolved(root: Path, path: str) -> int:
    """Open a file where folders can't be stepped through; the check and the opening are not one."""
    target = root / path
    if target.resolve() != root.resolve() / path:
        raise OSError(0, "a link stands in its path")
    return os.open(target, _FLAGS | _NO_LINK)
