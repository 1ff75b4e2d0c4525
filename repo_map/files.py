"""The only IO on a repository: which files it has, what identifies their state, and their bytes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from repo_map.errors import RepositoryNotFoundError
from repo_map.git import GitError, finish_git, run_git, start_git
from repo_map.ignore_rules import IgnoreRules, is_ignored

SIZE_LIMIT_BYTES = 1_500_000
_NEVER_ENTERED = frozenset({".git", ".hg", ".svn", ".jj"})
_ALWAYS_IGNORED_WITHOUT_GIT = frozenset(
    {"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"}
)

# Control characters, line separators and text-direction marks could forge lines of a map;
# lone surrogates stand for bytes that are no UTF-8.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


class Problem(NamedTuple):
    """Something that was left out or went wrong, so that no map is silently incomplete."""

    path: str
    """The file or folder, relative to the root; ``""`` for the whole tree."""
    what: str


class FileState(NamedTuple):
    """What the file system says of one file; while it stays the same, so do the bytes, bar quick edits."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    is_link: bool


class Listing(NamedTuple):
    """The files of a tree in path order, and what was left out."""

    files: tuple[FileState, ...]
    problems: tuple[Problem, ...]


class ReadFile(NamedTuple):
    """A file's bytes with the state they were read in; ``source`` is None where there is nothing to read."""

    state: FileState
    source: bytes | None
    problem: str


def resolve_root(root: Path) -> Path:
    """Return ``root`` as an absolute folder, or say what is wrong with it."""
    try:
        resolved = root.expanduser().resolve()
        if resolved.is_dir():
            os.scandir(resolved).close()
            return resolved
        why = "it is a file" if resolved.exists() else "it doesn't exist"
    except OSError as error:
        why = error.strerror or type(error).__name__
    except (RuntimeError, ValueError) as error:  # An unknown `~user`, or a NUL in the path.
        why = str(error)
    raise RepositoryNotFoundError(
        f"`{root}` is no folder that can be read ({why}); give the path of a repository."
    )


def list_files(root: Path) -> Listing:
    """List the files of a work tree by git's rules, or of a plain folder by its ``.gitignore`` files."""
    names, problems = _names(root)
    files: list[FileState] = []
    real_root = os.path.realpath(root)
    for name in sorted(set(names)):
        if (odd := _oddness(name)) is not None:
            problems.append(
                Problem(odd, "the name has control characters or is not UTF-8; the file was left out")
            )
            continue
        state = _state(real_root, name)
        if isinstance(state, FileState):
            files.append(state)
        elif state:
            problems.append(Problem(name.rstrip("/"), state))
    return Listing(tuple(files), tuple(sorted(problems)))


def read_file(root: Path, state: FileState, *, limit: int = SIZE_LIMIT_BYTES) -> ReadFile:
    """Read a listed file of at most ``limit`` bytes, without following links."""
    if state.is_link:
        return ReadFile(state, None, "")
    try:
        for _ in range(3):
            before, source, after = _read_once(root, state.path, limit)
            state = before
            if source is None:
                return ReadFile(
                    state, None, f"{before.size:,} bytes, over the limit of {limit:,}; listed by path only"
                )
            if before == after and len(source) == before.size:
                return ReadFile(state, source, "")
    except OSError as error:
        return ReadFile(
            state, None, f"can't be read ({error.strerror or type(error).__name__}); listed by path only"
        )
    # A state that no later look will confirm makes the next refresh read the file again.
    return ReadFile(
        state._replace(mtime_ns=-1), source, "it changed while it was read; what was read is indexed"
    )


def _read_once(root: Path, path: str, limit: int) -> tuple[FileState, bytes | None, FileState]:
    flags = (
        os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    )
    descriptor = os.open(os.path.join(root, path), flags)  # noqa: PTH118
    try:
        found = os.fstat(descriptor)
        before = _to_state(path, found)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(0, "not a regular file any more")
        if found.st_size > limit:
            return before, None, before
        source = b""
        while len(source) <= limit and (piece := os.read(descriptor, limit + 1 - len(source))):
            source += piece
        return before, source[:limit], _to_state(path, os.fstat(descriptor))
    finally:
        os.close(descriptor)


def _names(root: Path) -> tuple[Iterable[str], list[Problem]]:
    try:
        listed = _names_by_git(root)
    except GitError as error:
        problems = (
            [Problem("", f"{error} The folder was walked without git.")] if error.dubious_ownership else []
        )
    else:
        problems = []
        if listed is not None:
            return listed, problems
    return _names_by_walk(root, problems), problems


def _names_by_git(root: Path) -> list[str] | None:
    """Return the names that git tracks or would add, or None where git ignores the whole folder."""
    output = finish_git(start_git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard"), root)
    names = [os.fsdecode(name) for name in output.split(b"\0") if name]
    if names:
        return names
    try:
        run_git(root, "check-ignore", "-q", ".")
    except GitError:
        return names
    return None


def _names_by_walk(root: Path, problems: list[Problem]) -> Iterator[str]:
    pending: list[tuple[str, tuple[tuple[str, IgnoreRules], ...]]] = [("", ())]
    while pending:
        folder, nested = pending.pop()
        try:
            with os.scandir(root / folder) as entries:
                found = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(Problem(folder.rstrip("/"), f"the folder can't be read ({error.strerror})"))
            continue
        if any(entry.name == ".gitignore" for entry in found):
            nested = (*nested, (folder, _rules_of(root / folder / ".gitignore")))
        for entry in found:
            is_folder = entry.is_dir(follow_symlinks=False)
            path = folder + entry.name
            if is_folder and (entry.name in _NEVER_ENTERED or entry.name in _ALWAYS_IGNORED_WITHOUT_GIT):
                continue
            if is_ignored(nested, path, is_folder=is_folder):
                continue
            if is_folder:
                pending.append((path + "/", nested))
            elif entry.name not in _NEVER_ENTERED:
                yield path


def _rules_of(path: Path) -> IgnoreRules:
    try:
        return IgnoreRules(path.read_bytes()[:SIZE_LIMIT_BYTES].decode("utf-8", "replace"))
    except OSError:
        return IgnoreRules("")


def _oddness(name: str) -> str | None:
    """Return a printable form of a name that can't stand in a map, None for an ordinary name."""
    if not _UNPRINTABLE.search(name):
        return None
    return name.encode("utf-8", "backslashreplace").decode().encode("unicode_escape").decode()


def _state(real_root: str, name: str) -> FileState | str:
    """Return a file's state, or why it is left out (``""`` for a file that is simply gone)."""
    full = os.path.join(real_root, name)  # noqa: PTH118 - pathlib takes three times as long on 11,000 files
    try:
        found = os.lstat(full)
    except OSError:
        return ""
    mode = found.st_mode
    if stat.S_ISREG(mode):
        return FileState(name, found.st_size, found.st_mtime_ns, found.st_ino, False)
    if stat.S_ISLNK(mode):
        target = os.path.realpath(full)
        if os.path.commonpath((real_root, target)) != real_root:
            return "a symbolic link that leaves the tree; it was not followed"
        return FileState(name, 0, found.st_mtime_ns, found.st_ino, True)
    if stat.S_ISDIR(mode):
        return "a submodule or nested repository; its files were not indexed"
    return "neither a file nor a folder; it was left out"


def _to_state(path: str, found: os.stat_result) -> FileState:
    return FileState(path, found.st_size, found.st_mtime_ns, found.st_ino, False)
