"""List the names of a tree's files: by git, which applies ``.gitignore`` files, or else by a walk."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from repo_map.sources import disk
from repo_map.sources.git import Git, GitError, GitProcess, GitTimeoutError, list_untracked

_RETRY_S: Final = 600.0
"""Time for which a root is listed without what took too long there."""
_NOT_SOURCE: Final = frozenset({"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"})


class ListingResult(NamedTuple):
    """The names of a listing, in no order; bytes that are not UTF-8 are lone surrogates."""

    names: tuple[str, ...]
    digest: bytes
    """Equal for equal results; empty only if there are no names."""
    problems: tuple[tuple[str, str], ...]
    """Folders that were not listed, each with the reason."""


_Result = tuple[bytes, Callable[[], ListingResult]]
"""The digest of a listing, and a function that reads the names from it."""
_slow_for_git: dict[Path, tuple[float, str]] = {}
"""Roots that took git too much time, with the time until which it is not asked again, and the reason."""


class FileLister:
    """A listing of a root; git may still be at work on it while its caller does something else."""

    def __init__(self, root: Path, is_wanted: Callable[[], bool]) -> None:
        self._root = root
        self._is_wanted = is_wanted
        self._git: Git | None = None
        self._process: GitProcess | None = None
        self._git_problem = ""
        self._result: _Result | None = None
        until, reason = _slow_for_git.get(root, (0.0, ""))
        if time.monotonic() < until:
            self._git_problem = reason
            return
        try:
            self._git = Git(root)
            self._process = self._git.start("ls-files", "-z", "-c", "-o", "--exclude-standard")
        except GitError as error:
            self._git_problem = _notable(error)
        except OSError:
            return

    def finish(self, known_digest: bytes) -> ListingResult | None:
        """Return the names, or None if the result is the one with ``known_digest``; may be called again."""
        if self._result is None:
            self._result = self._listed_by_git() or self._listed_as_plain_folder()
        digest, read = self._result
        return None if digest == known_digest else read()

    def end(self) -> None:
        """End git if it is still at work."""
        if self._process is not None:
            self._process.end()

    def _listed_by_git(self) -> _Result | None:
        """Return what git lists, None if the root is not in a repository that git can list."""
        output = self._output()
        if output:
            digest = hashlib.sha256(output).digest()
            return digest, lambda: ListingResult(
                tuple({os.fsdecode(name) for name in output.split(b"\0") if name}), digest, ()
            )
        if output is not None and not self._is_ignored():
            return b"", lambda: ListingResult((), b"", ())
        return None

    def _listed_as_plain_folder(self) -> _Result:
        """Return the names by the ``.gitignore`` files alone, or all if git can't apply them."""
        problems: list[tuple[str, str]] = []
        names = self._untracked(problems)
        if names is None:
            names = _walk(self._root, problems)
        if self._git_problem:
            problems.append(("", f"{self._git_problem} The folder was listed without its repository."))
        names.sort()
        # A folder lists its entries in no order, and no name holds the character between them.
        joined = "\0".join((*names, "", *map("\0".join, sorted(problems))))
        digest = hashlib.sha256(b"walked\0" + os.fsencode(joined)).digest()
        return digest, lambda: ListingResult(tuple(names), digest, tuple(problems))

    def _untracked(self, problems: list[tuple[str, str]]) -> list[str] | None:
        """Return what git lists of a folder that is in no repository, with the repositories in it."""
        if time.monotonic() < _slow_for_git.get(self._root, (0.0, ""))[0]:
            return None
        try:
            output = list_untracked(self._root, sorted(_NOT_SOURCE | disk.METADATA), self._is_wanted)
        except (GitError, OSError) as error:
            self._note(error)
            return None
        if output.errors:
            problems.append(("", "folders that can't be read, or whose paths are too long, were left out"))
        names: list[str] = []
        for name in filter(None, output.text.split(b"\0")):
            path = os.fsdecode(name)
            if not path.endswith("/"):
                names.append(path)
                continue
            inner = FileLister(self._root / path, self._is_wanted).finish(b"")
            if inner is not None:
                names += (path + each for each in inner.names)
                problems += ((f"{path}{each}".rstrip("/"), what) for each, what in inner.problems)
        return names

    def _output(self) -> bytes | None:
        """Return the output of git, None if git is missing, failed or has no repository here."""
        if self._git is None or self._process is None:
            return None
        try:
            return self._git.finish(self._process, self._is_wanted)
        except GitError as error:
            self._note(error)
            return None

    def _note(self, error: GitError | OSError) -> None:
        """Remember why git does not list the folder; its own words may quote the repository."""
        unnamed = f"Git can't read the repository of `{self._root}`." if self._git else ""
        self._git_problem = self._git_problem or _notable(error) or unnamed
        if isinstance(error, GitTimeoutError):
            _slow_for_git[self._root] = (time.monotonic() + _RETRY_S, self._git_problem)

    def _is_ignored(self) -> bool:
        """Return True if the repository around the root ignores it: then git does not list its files."""
        try:
            if self._git is not None:
                self._git.ask("check-ignore", "-q", ".")
        except (GitError, OSError):
            return False
        return self._git is not None


def _notable(error: GitError | OSError) -> str:
    return str(error) if isinstance(error, GitError) and error.is_notable else ""


def _walk(root: Path, problems: list[tuple[str, str]]) -> list[str]:
    """Return the names below a folder without git, ignore rules not applied."""
    names: list[str] = []
    pending = [""]
    while pending:
        folder = pending.pop()
        try:
            entries = disk.list_folder(root, folder)
        except OSError as error:
            problems.append((folder.rstrip("/"), f"the folder can't be read ({error.strerror})"))
            continue
        for name, kind in entries:
            if name.lower() in disk.METADATA:
                continue
            if kind != stat.S_IFDIR:
                names.append(folder + name)
            elif name not in _NOT_SOURCE:
                pending.append(f"{folder}{name}/")
    return names
