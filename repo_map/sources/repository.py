"""The repository that git would find around a folder, looked at before git runs: is it its own, and sound?"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from repo_map.sources import disk
from repo_map.sources.git_settings import parse_settings

_OPENED = frozenset({"info", "objects", "refs", "reftable"})
"""The folders in which git opens files to list a tree or to tell its history."""
_LEFT_ALONE = frozenset({"hooks", "lfs", "logs", "modules", "rr-cache", "worktrees", "fsmonitor--daemon.ipc"})
_LARGE = re.compile(r"index|sharedindex\..*|packed-refs", re.IGNORECASE)
_LARGE_BYTES = 500_000_000
_SMALL_BYTES = 10_000_000
"""The index of 400,000 files takes 60 MB; whatever else git reads whole is small."""
_READ_BYTES = 1_000_000
_PATTERNS = frozenset({"diff.funcname", "diff.xfuncname"})
_MOST_INCLUDES = 100
"""Of all files together: each may include the next many times over."""
_MOST_LENDERS = 100
_ALTERNATES = "info/alternates"
LENDERS = "REPO_NAVIGATOR_LENDERS"
"""The variable by which a user names folders of repositories that others may borrow objects of."""


class Repository(NamedTuple):
    """Where a repository is, as git would find it from a folder."""

    top: Path
    """The folder that holds ``.git``."""
    own: Path
    """The folder of its HEAD and its index."""
    common: Path
    """The folder of its objects and its settings; that of its HEAD, bar in a linked work tree."""
    work_tree: str
    """The work tree that its settings name, if they do."""


class UnsoundRepositoryError(Exception):
    """A repository that git is not asked about; the message is the reason, without a full stop."""


class BorrowedRepositoryError(UnsoundRepositoryError):
    """A ``.git`` that names a repository elsewhere which does not name it back; the message is where."""


def top_of(folder: Path) -> Path | None:
    """Return the nearest folder, from a resolved one upwards, that holds a ``.git`` of whatever kind."""
    return next((each for each in (folder, *folder.parents) if disk.kind(each / ".git")), None)


def find_repository(root: Path) -> Repository | None:
    """Return the repository around ``root``, None where there is none or what there is can't be one.

    Raises:
        BorrowedRepositoryError: Its ``.git`` names a repository that does not know it.
        UnsoundRepositoryError: Git could wait in it, read files outside it, or lend from another one.
    """
    try:
        top = top_of(root.resolve())
        if top is None:
            return None
        own = _own_folder(top)
        if own is None or not disk.kind(own / "HEAD"):
            return None
        common = _common_folder(top, own)
    except (OSError, RuntimeError, ValueError) as error:  # A loop of links, a NUL, a path that is too long.
        raise UnsoundRepositoryError("its `.git` leads nowhere") from error
    if oddity := _first_oddity(top, own, common):
        raise UnsoundRepositoryError(oddity)
    settings = _settings(own, common)
    has_attributes = disk.kind(common / "info/attributes") != 0
    if oddity := _odd_setting(settings, common, top, has_attributes=has_attributes):
        raise UnsoundRepositoryError(oddity)
    named = [value for name, value in settings if name == "core.worktree"]
    return Repository(top, own, common, named[-1] if named else "")


def first_trap(repository: Repository, root: Path) -> Iterator[str]:
    """Look through the tree below ``root`` for what git waits for when it lists files.

    It yields ``""`` after each folder, so that its caller may stop, and the reason where one is found.
    """
    try:
        yield _first_oddity(repository.top, repository.own, repository.common)
    except UnsoundRepositoryError as error:
        yield str(error)
    above = [folder for folder in (root, *root.parents) if folder.is_relative_to(repository.top)]
    yield from (_trap_of_rules(folder / ".gitignore", repository.top) for folder in above)
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            entries = disk.list_folder(root, folder)
        except OSError:
            continue
        for name, kind in entries:
            path = folder + name
            if name == ".gitignore":
                yield _trap_of_rules(root / path, root)
            elif name.lower() in disk.METADATA:
                if folder:
                    yield _trap_of_nested(root / folder, root)
            elif kind == stat.S_IFDIR:
                pending.append(path + "/")
        yield ""


def _trap_of_rules(rules: Path, top: Path) -> str:
    if disk.could_wait(rules):
        return f"{_shown(rules, top)} is neither a file nor a folder"
    if disk.kind(rules) == stat.S_IFREG and disk.size(rules) > _SMALL_BYTES:
        return f"{_shown(rules, top)} has {disk.size(rules):,} bytes"
    return ""


def _trap_of_nested(folder: Path, top: Path) -> str:
    """Return what git would wait for in a repository within the tree, which it looks at to pass it over."""
    try:
        own = _named_folder(folder)
        if own is None:
            return ""
        # Nobody asks for the history of a nested repository: a link that leads elsewhere is no trap.
        return _odd_files(own, _shown(own, top), may_link=True)
    except UnsoundRepositoryError as error:
        return str(error)
    except (OSError, RuntimeError, ValueError):
        return ""


def _own_folder(top: Path) -> Path | None:
    own = _named_folder(top)
    if own is None or own == top / ".git":
        return own
    if own.is_relative_to(top) or _names_back(own, top):
        return own
    raise BorrowedRepositoryError(_told(own))


def _named_folder(top: Path) -> Path | None:
    """Return the folder that a ``.git`` is or names."""
    mark = top / ".git"
    kind = disk.kind(mark)
    if kind == stat.S_IFDIR:
        return mark
    if kind == stat.S_IFLNK:
        return mark.resolve()
    if kind != stat.S_IFREG:
        raise UnsoundRepositoryError("`.git` is neither a file nor a folder")
    text = _text(top, ".git")
    return _resolved(top, text.removeprefix("gitdir: ")) if text.startswith("gitdir: ") else None


def _common_folder(top: Path, own: Path) -> Path:
    """Return the folder that a linked work tree shares with its main one, which lies around its own."""
    if not disk.kind(own / "commondir"):
        return own
    common = _resolved(own, _text(own, "commondir"))
    if common == own.parent.parent and own.parent.name == "worktrees" and _names_back(own, top):
        return common
    raise BorrowedRepositoryError(_told(common))


def _names_back(own: Path, top: Path) -> bool:
    """Say whether a repository elsewhere knows a folder: in a file that its owner's git wrote there."""
    if disk.kind(own / "gitdir"):
        return _resolved(own, _text(own, "gitdir")) == top / ".git"
    if not disk.kind(own / "config"):
        return False
    named = [value for name, value in parse_settings(_text(own, "config")) if name == "core.worktree"]
    return bool(named) and _resolved(own, named[-1]) == top


def _first_oddity(top: Path, own: Path, common: Path) -> str:
    """Return what in a repository's folders git must not open, ``""`` where all is sound."""
    try:
        for folder in dict.fromkeys((own, common)):
            if oddity := _odd_files(folder, _shown(folder, top)):
                return oddity
    except OSError as error:
        return f"{_shown(own, top)} can't be read ({error.strerror})"
    return _odd_lender(common / "objects")


def _odd_lender(objects: Path) -> str:
    """Return which folder lends objects that may not, in words; those that lend to a lender count too."""
    pending, seen = [objects], {objects}
    while pending:
        borrower = pending.pop()
        named = _text(borrower, _ALTERNATES) if disk.kind(borrower / _ALTERNATES) else ""
        for line in named.split("\n"):
            if not line or line.startswith("#"):
                continue
            if line.startswith('"'):
                return "it borrows objects of a folder whose name is quoted"
            lender = _resolved(borrower, line)
            if not any(map(lender.is_relative_to, _lenders())):
                return f"it borrows objects of {_told(lender)}, which {LENDERS} does not name"
            if lender in seen or disk.kind(lender) != stat.S_IFDIR:
                continue
            if len(seen) > _MOST_LENDERS:
                return f"it borrows objects of more than {_MOST_LENDERS} folders"
            if oddity := _odd_files(lender, f"`{lender}`"):
                return oddity
            seen.add(lender)
            pending.append(lender)
    return ""


def _odd_files(repository: Path, shown: str, *, may_link: bool = False) -> str:
    """Return the first file that is a link, a pipe, a device or too large, in words."""
    pending = [""]
    while pending:
        folder = pending.pop()
        for name, kind in disk.list_folder(repository, folder):
            if not folder and name.lower() in _LEFT_ALONE:
                continue
            path = folder + name
            if kind == stat.S_IFDIR:
                if folder or name.lower() in _OPENED:
                    pending.append(path + "/")
            elif oddity := _odd_file(repository, path, kind, may_link=may_link):
                return f"{shown[:-1]}/{path}` {oddity}"
    return ""


def _odd_file(repository: Path, path: str, kind: int, *, may_link: bool) -> str:
    if kind == stat.S_IFLNK:
        if not may_link:
            return "is a symbolic link"
        kind = 0 if disk.could_wait(repository / path) else kind
    if not kind:
        return "is neither a file nor a folder"
    folder, _, name = path.rpartition("/")
    if folder in ("", "info"):
        most = _LARGE_BYTES if _LARGE.fullmatch(name) else _SMALL_BYTES
        if (size := disk.size(repository / path)) > most:
            return f"has {size:,} bytes, over the limit of {most:,}"
    return ""


def _settings(own: Path, common: Path) -> list[tuple[str, str]]:
    """Return the settings of a repository's own files, in their order."""
    files = [(common, "config"), (own, "config.worktree")]
    return [
        setting
        for folder, name in files
        if disk.kind(folder / name) == stat.S_IFREG
        for setting in parse_settings(_text(folder, name))
    ]


def _odd_setting(settings: list[tuple[str, str]], base: Path, top: Path, *, has_attributes: bool) -> str:
    """Return which setting git would wait for, in words; those of included files count too.

    The repository's own attributes, where it has some, say which files are compared by its own patterns.
    """
    pending, left = [(settings, base)], _MOST_INCLUDES
    while pending:
        settings, base = pending.pop()
        for name, value in settings:
            is_include = name.startswith("include") and name.endswith(".path")
            if has_attributes and name in _PATTERNS:
                return f"its setting `{name}` is a pattern that git could take for ever to look for"
            if not is_include and name != "core.excludesfile":
                continue
            value = value.removeprefix(":(optional)")  # noqa: PLW2901
            path = (base if is_include else top) / os.path.expanduser(value)  # noqa: PTH111
            if value == os.devnull:
                continue
            # Git puts the folder that it is installed in for what is in brackets.
            if value.startswith("%(") or disk.could_wait(path) or disk.size(path) > _SMALL_BYTES:
                return f"its setting `{name}` names what is no small file"
            real = path.resolve()
            if is_include and disk.kind(real) == stat.S_IFREG:
                left -= 1
                if left < 0:
                    return f"its settings include more than {_MOST_INCLUDES} files"
                pending.append((list(parse_settings(_text(real.parent, real.name))), real.parent))
    return ""


def _lenders() -> list[Path]:
    return [Path(each).resolve() for each in os.environ.get(LENDERS, "").split(os.pathsep) if each]


def _text(folder: Path, path: str) -> str:
    try:
        found = disk.read_start(folder, path, _READ_BYTES + 1)
    except OSError as error:
        raise UnsoundRepositoryError(f"{_told(folder / path)} can't be read ({error.strerror})") from None
    # Git would read on where we stop.
    if len(found) > _READ_BYTES:
        raise UnsoundRepositoryError(f"{_told(folder / path)} has more than {_READ_BYTES:,} bytes")
    return found.decode("utf-8", "surrogateescape")


def _resolved(base: Path, named: str) -> Path:
    # As git reads it: a space at its end belongs to the name.
    named = named.rstrip("\r\n")
    if named.startswith(("//", "\\\\")):
        # To look at a folder of another machine would already send it the user's credentials.
        raise UnsoundRepositoryError("it names a folder on another machine")
    return (base / named).resolve()


def _told(path: Path) -> str:
    """Return a path that somebody else wrote, where it is one: any other text could speak to a model."""
    is_real = disk.kind(path) != 0 and str(path).isprintable()
    return f"`{path}`" if is_real else "a folder that is not there"


def _shown(path: Path, top: Path) -> str:
    return f"`{path.relative_to(top).as_posix() if path.is_relative_to(top) else path}`"
