"""Which files a tree has: by git's rules in a work tree, by its ``.gitignore`` files in a plain folder."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from repo_map.worktree.git import GitError, finish_git, run_git, start_git
from repo_map.worktree.ignore_rules import IgnoreRules, is_ignored

_METADATA = frozenset({".git", ".hg", ".svn", ".jj"})
_NEVER_SOURCE = frozenset({"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"})
_RULES_LIMIT_BYTES = 1_000_000


class Names(NamedTuple):
    """The names that a walk found, in no order yet; an odd byte stands as a lone surrogate."""

    names: tuple[str, ...]
    digest: bytes
    """Equal for equal answers, so that names need no second look; never empty where there are names."""
    problems: tuple[tuple[str, str], ...]
    """Folders that were not walked, each with the reason."""


_Answer = tuple[bytes, Callable[[], Names]]
"""The digest of what was found, and what reads the names from it."""


class Walk:
    """A walk that git may still be at work on while its caller does something else."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._git: subprocess.Popen[bytes] | None = None
        self._refused = ""
        self._answer: _Answer | None = None
        try:
            self._git = start_git(root, "ls-files", "-z", "-c", "-o", "--exclude-standard")
        except GitError as error:
            self._refused = _refusal(error)
        except OSError:
            return

    def finish(self, known_digest: bytes) -> Names | None:
        """Return the names, or None if the answer is the one with ``known_digest``; may be asked again."""
        if self._answer is None:
            self._answer = self._listed_by_git() or self._walked()
        digest, read = self._answer
        return None if digest == known_digest else read()

    def _listed_by_git(self) -> _Answer | None:
        """Return what git lists, None where that is not git's to say."""
        output = self._output()
        if output:
            digest = hashlib.sha256(output).digest()
            return digest, lambda: Names(
                tuple({os.fsdecode(name) for name in output.split(b"\0") if name}), digest, ()
            )
        if output is not None and not self._is_ignored():
            return b"", lambda: Names((), b"", ())
        return None

    def _walked(self) -> _Answer:
        problems = [("", f"{self._refused} The folder was walked without git.")] if self._refused else []
        names = sorted(_walk(self._root, problems))
        # A folder lists its entries in no order, and no name holds the character between them.
        told = "\0".join((*names, "", *map("\0".join, sorted(problems))))
        digest = hashlib.sha256(b"walked\0" + os.fsencode(told)).digest()
        return digest, lambda: Names(tuple(names), digest, tuple(problems))

    def _output(self) -> bytes | None:
        """Return what git lists, None where git is missing, failed or has no repository here."""
        if self._git is None:
            return None
        try:
            return finish_git(self._git, self._root)
        except GitError as error:
            self._refused = _refusal(error)
            return None

    def _is_ignored(self) -> bool:
        """Say whether the repository around the root ignores it: then its files are not git's to list."""
        try:
            run_git(self._root, "check-ignore", "-q", ".")
        except GitError:
            return False
        return True


def _refusal(error: GitError) -> str:
    return str(error) if error.distrusted else ""


_Nested = tuple[tuple[str, IgnoreRules], ...]


def _walk(root: Path, problems: list[tuple[str, str]]) -> Iterator[str]:
    prefix = os.path.join(root, "")  # noqa: PTH118
    pending: list[tuple[str, _Nested]] = [("", ())]
    while pending:
        folder, nested = pending.pop()
        try:
            with os.scandir(prefix + folder) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
        except OSError as error:
            problems.append((folder.rstrip("/"), f"the folder can't be read ({error.strerror})"))
            continue
        if any(name == ".gitignore" for name, _ in found):
            nested = (*nested, (folder, _rules_of(root / folder / ".gitignore")))
        for name, is_folder in found:
            path = folder + name
            if is_folder:
                if _is_entered(name) and not is_ignored(nested, path, is_folder=True):
                    pending.append((path + "/", nested))
            elif name not in _METADATA and not is_ignored(nested, path, is_folder=False):
                yield path


def _is_entered(folder_name: str) -> bool:
    return folder_name not in _METADATA and folder_name not in _NEVER_SOURCE


def _rules_of(path: Path) -> IgnoreRules:
    try:
        with path.open("rb") as file:
            return IgnoreRules(file.read(_RULES_LIMIT_BYTES).decode("utf-8", "replace"))
    except OSError:
        return IgnoreRules("")
