"""Locate the repository around a folder, and check that git would stay inside it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final, NamedTuple

from repo_map.sources import disk

ALLOWED_ALTERNATES: Final = "REPO_NAVIGATOR_LENDERS"
"""Variable that names the folders of repositories from which others may borrow objects."""
_ALTERNATES: Final = "info/alternates"
_READ_BY_GIT: Final = frozenset({"info", "objects", "refs", "reftable"})
"""The folders that git reads to list files or to read the history."""
_NOT_READ: Final = frozenset(
    {"hooks", "lfs", "logs", "modules", "rr-cache", "worktrees", "fsmonitor--daemon.ipc"}
)
_MAX_POINTER_BYTES: Final = 1_000_000
_WORK_TREE: Final = re.compile(
    r"(?:^|[\s\]])worktree[ \t]*=[ \t]*(?P<quote>\"?)(.*?)(?P=quote)\s*$", re.I | re.M
)


class Repository(NamedTuple):
    """The folders of a repository, as git finds them."""

    top: Path
    """The folder that holds ``.git``."""
    git_dir: Path
    """The folder of its HEAD and its index."""
    common_dir: Path
    """The folder of its objects and settings; differs from ``git_dir`` in a linked work tree."""
    work_tree: str
    """``core.worktree``, ``""`` where it is not set."""


class UnsafeRepositoryError(Exception):
    """Git must not be run in a repository; the message is the reason, without a full stop."""

    remedy = "fix that"
    """What to do about it."""


class ForeignRepositoryError(UnsafeRepositoryError):
    """A ``.git`` names a repository elsewhere that does not name it back; the message is its location."""


def top_folder(folder: Path) -> Path | None:
    """Return the nearest folder, from a resolved one upwards, that holds a ``.git`` of any kind."""
    return next((each for each in (folder, *folder.parents) if disk.kind(each / ".git")), None)


def discover_repository(root: Path) -> Repository | None:
    """Return the repository around ``root``, None if there is none.

    Raises:
        ForeignRepositoryError: Its ``.git`` names a repository that does not name it back.
        UnsafeRepositoryError: Git could wait for a file of it, or read another repository.
    """
    try:
        top = top_folder(root.resolve())
        git_dir = top and _git_dir(top)
        if top is None or git_dir is None or not disk.kind(git_dir / "HEAD"):
            return None
        common_dir = _common_dir(top, git_dir)
        for folder in dict.fromkeys((git_dir, common_dir)):
            _require_plain_files(folder, top)
        _require_allowed_alternates(common_dir / "objects")
        work_tree = _work_tree(common_dir) or _work_tree(git_dir, ".worktree")
    except (OSError, RuntimeError, ValueError) as error:  # A loop of links, a NUL, a path that is too long.
        why = getattr(error, "strerror", "") or "it leads nowhere"
        raise UnsafeRepositoryError(f"its `.git` can't be read ({why})") from error
    return Repository(top, git_dir, common_dir, work_tree)


def _git_dir(top: Path) -> Path | None:
    """Return the folder that a ``.git`` is or names."""
    pointer = top / ".git"
    kind = disk.kind(pointer)
    if kind == stat.S_IFDIR:
        return pointer
    if kind == stat.S_IFLNK:
        git_dir = pointer.resolve()
    elif kind == stat.S_IFREG:
        prefix, _, named = _text(top, ".git").partition("gitdir: ")
        if prefix or not named:
            return None
        git_dir = _resolve(top, named)
    else:
        raise UnsafeRepositoryError("`.git` is neither a file nor a folder")
    if git_dir.is_relative_to(top) or _names_back(git_dir, top):
        return git_dir
    raise ForeignRepositoryError(_printable(git_dir))


def _common_dir(top: Path, git_dir: Path) -> Path:
    """Return the folder that a linked work tree shares with its main one, which lies around its own."""
    if not disk.kind(git_dir / "commondir"):
        return git_dir
    common = _resolve(git_dir, _text(git_dir, "commondir"))
    if git_dir.parent == common / "worktrees" and _names_back(git_dir, top):
        return common
    raise ForeignRepositoryError(_printable(common))


def _names_back(git_dir: Path, top: Path) -> bool:
    """Return True if a repository elsewhere knows ``top``, in a file that its owner's git wrote."""
    if disk.kind(git_dir / "gitdir"):
        return _resolve(git_dir, _text(git_dir, "gitdir")) == top / ".git"
    work_tree = _work_tree(git_dir)
    return bool(work_tree) and _resolve(git_dir, work_tree) == top


def _require_plain_files(git_dir: Path, top: Path) -> None:
    """Raise if git would read a link or wait for a pipe or device in its own folder."""
    pending = [""]
    while pending:
        folder = pending.pop()
        for name, kind in disk.list_folder(git_dir, folder):
            if not folder and name.lower() in _NOT_READ:
                continue
            if kind == stat.S_IFDIR:
                if folder or name.lower() in _READ_BY_GIT:
                    pending.append(f"{folder}{name}/")
            elif kind != stat.S_IFREG:
                path = git_dir / folder / name
                shown = path.relative_to(top).as_posix() if path.is_relative_to(top) else path
                what = "a symbolic link" if kind == stat.S_IFLNK else "neither a file nor a folder"
                raise UnsafeRepositoryError(f"`{shown}` is {what}")


def _require_allowed_alternates(objects: Path) -> None:
    """Raise if the repository borrows objects from a folder that the user does not allow."""
    text = _text(objects, _ALTERNATES) if disk.kind(objects / _ALTERNATES) else ""
    folders = os.environ.get(ALLOWED_ALTERNATES, "").split(os.pathsep)
    allowed = [Path(each).resolve() for each in folders if each]
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        lender = _resolve(objects, line)
        if line.startswith('"') or not any(map(lender.is_relative_to, allowed)):
            named = _printable(lender)
            error = UnsafeRepositoryError(f"it borrows objects of {named}")
            if named.startswith("`"):
                error.remedy = f"set {ALLOWED_ALTERNATES}={lender}"
            raise error


def _work_tree(git_dir: Path, suffix: str = "") -> str:
    """Return ``core.worktree`` of a settings file, ``""`` if it is not set."""
    name = f"config{suffix}"
    found = _WORK_TREE.findall(_text(git_dir, name)) if disk.kind(git_dir / name) == stat.S_IFREG else []
    return found[-1][1] if found else ""


def _text(folder: Path, path: str) -> str:
    text = disk.read_start(folder, path, _MAX_POINTER_BYTES + 1)
    if len(text) > _MAX_POINTER_BYTES:
        raise UnsafeRepositoryError(f"{_printable(folder / path)} has more than {_MAX_POINTER_BYTES:,} bytes")
    return text.decode("utf-8", "surrogateescape")


def _resolve(base: Path, named: str) -> Path:
    named = named.rstrip("\r\n")  # As git does: a blank at its end belongs to the name.
    if named.startswith(("//", "\\\\")):
        # Even a look at a folder of another machine would send it the user's credentials.
        raise UnsafeRepositoryError("it names a folder on another machine")
    return (base / named).resolve()


def _printable(path: Path) -> str:
    """Return a path from a repository's file if it exists: any other text could speak to a model."""
    is_real = disk.kind(path) != 0 and str(path).isprintable()
    return f"`{path}`" if is_real else "a folder that does not exist"
