"""List the names of a tree's files: by git, or by a walk that applies ``.gitignore`` files."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from repo_map import globs
from repo_map.deadline import CpuDeadline
from repo_map.errors import FlightPlanError
from repo_map.sources import disk
from repo_map.sources.git import Git, GitError, GitProcess, GitTimeoutError

MAX_RULES: Final = 2_000
"""Rules of one file and those above it; each is tried on each name."""
_MAX_PATTERN_CHARS: Final = 4_096
_MAX_RULES_BYTES: Final = 1_000_000
_RULES_CPU_S: Final = 10.0
"""CPU time of a walk that applies rules; 100,000 files take 1 s, with the rules of most repositories."""
_RETRY_S: Final = 600.0
"""Time for which a root is listed without what took too long there."""
_SLOW_RULES: Final = "applying its ignore rules takes more than {:g} s of CPU time; none of them is applied"
_NOT_SOURCE: Final = frozenset({"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"})
_POSIX_CLASSES: Final = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": " \t\r\n\f\v",
}
_GITIGNORE_TOKEN: Final = re.compile(r"\\(.)|(\[[!^]?\]?(?:\[:\w+:\]|[^\]])*\])|([{}])", re.DOTALL)


class _Rule(NamedTuple):
    folder: str
    """The folder of its file, with a slash at the end; ``""`` for the root."""
    matcher: re.Pattern[str]
    is_negated: bool
    folders_only: bool


def parse_ignore_rules(text: str, folder: str = "") -> list[_Rule]:
    """Return the rules of a ``.gitignore`` file in ``folder``; malformed ones match nothing, as in git."""
    lines = text.removeprefix("\ufeff").split("\n")
    rules = (_parse_rule(line, folder) for line in lines if len(line) <= _MAX_PATTERN_CHARS)
    return [rule for rule in rules if rule is not None]


def is_ignored(rules: tuple[_Rule, ...], path: str, *, is_folder: bool) -> bool:
    """Return True if the rules ignore ``path``; the last one that matches decides."""
    for rule in reversed(rules):
        if (is_folder or not rule.folders_only) and rule.matcher.fullmatch(path, len(rule.folder)):
            return not rule.is_negated
    return False


def _parse_rule(line: str, folder: str) -> _Rule | None:
    pattern = line.rstrip(" \t\r")
    if pattern.endswith("\\") and len(pattern) < len(line):
        pattern += " "
    if not pattern or pattern.startswith("#"):
        return None
    is_negated = pattern.startswith("!")
    pattern = pattern.removeprefix("!")
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    is_anchored = "/" in pattern
    glob = _GITIGNORE_TOKEN.sub(_as_glob, pattern.removeprefix("/"))
    if not glob:
        return None
    try:
        return _Rule(folder, globs.compile(glob if is_anchored else f"**/{glob}"), is_negated, folders_only)
    except FlightPlanError:
        return None


def _as_glob(found: re.Match[str]) -> str:
    """Return an escaped character, a set or a brace of a ``.gitignore`` as ``globs`` reads it."""
    escaped, characters, brace = found.groups()
    if characters:
        return re.sub(r"\[:(\w+):\]", lambda name: _POSIX_CLASSES.get(name[1], ""), characters)
    literal = brace or escaped
    return f"[{literal}]" if literal in "*?[]{}" else literal


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
_slow_for_walk: dict[Path, float] = {}
"""Roots whose rules took too much time, with the time until which they are not applied."""


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
            self._result = self._listed_by_git() or self._walked()
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

    def _walked(self) -> _Result:
        names, problems = _walk(self._root)
        if self._git_problem:
            problems.append(("", f"{self._git_problem} The folder was walked without git."))
        names.sort()
        # A folder lists its entries in no order, and no name holds the character between them.
        joined = "\0".join((*names, "", *map("\0".join, sorted(problems))))
        digest = hashlib.sha256(b"walked\0" + os.fsencode(joined)).digest()
        return digest, lambda: ListingResult(tuple(names), digest, tuple(problems))

    def _output(self) -> bytes | None:
        """Return the output of git, None if git is missing, failed or has no repository here."""
        if self._git is None or self._process is None:
            return None
        try:
            return self._git.finish(self._process, self._is_wanted)
        except GitError as error:
            # Git's own words may quote the repository.
            self._git_problem = _notable(error) or f"Git can't read the repository of `{self._root}`."
            if isinstance(error, GitTimeoutError):
                _slow_for_git[self._root] = (time.monotonic() + _RETRY_S, self._git_problem)
            return None

    def _is_ignored(self) -> bool:
        """Return True if the repository around the root ignores it: then git does not list its files."""
        try:
            if self._git is not None:
                self._git.ask("check-ignore", "-q", ".")
        except (GitError, OSError):
            return False
        return self._git is not None


def _notable(error: GitError) -> str:
    return str(error) if error.is_notable else ""


def _walk(root: Path) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the names below a folder, and problems; all names if its ignore rules take too much time."""
    if time.monotonic() >= _slow_for_walk.get(root, 0.0):
        found = _walk_within(root, CpuDeadline(_RULES_CPU_S))
        if found is not None:
            return found
        _slow_for_walk[root] = time.monotonic() + _RETRY_S
    found = _walk_within(root, None)
    assert found is not None
    found[1].append(("", _SLOW_RULES.format(_RULES_CPU_S)))
    return found


def _walk_within(root: Path, deadline: CpuDeadline | None) -> tuple[list[str], list[tuple[str, str]]] | None:
    """Walk a folder, with its ignore rules if there is a ``deadline``; None if they take longer."""
    names: list[str] = []
    problems: list[tuple[str, str]] = []
    pending: list[tuple[str, tuple[_Rule, ...]]] = [("", ())]
    while pending:
        folder, rules = pending.pop()
        try:
            entries = disk.list_folder(root, folder)
        except OSError as error:
            problems.append((folder.rstrip("/"), f"the folder can't be read ({error.strerror})"))
            continue
        if deadline is not None and (".gitignore", stat.S_IFREG) in entries:
            rules += tuple(_read_rules(root, folder, MAX_RULES - len(rules), problems))
        for name, kind in entries:
            if rules and deadline is not None and deadline.is_over():
                return None
            path = folder + name
            is_folder = kind == stat.S_IFDIR
            if name.lower() in disk.METADATA or is_ignored(rules, path, is_folder=is_folder):
                continue
            if not is_folder:
                names.append(path)
            elif name not in _NOT_SOURCE:
                pending.append((path + "/", rules))
    return names, problems


def _read_rules(root: Path, folder: str, room: int, problems: list[tuple[str, str]]) -> list[_Rule]:
    """Return at most ``room`` rules of a folder's regular ``.gitignore``; as in git, no link is followed."""
    path = f"{folder}.gitignore"
    try:
        text = disk.read_start(root, path, _MAX_RULES_BYTES + 1)
    except OSError as error:
        problems.append((path, f"its rules can't be read ({error.strerror})"))
        return []
    rules = parse_ignore_rules(text[:_MAX_RULES_BYTES].decode("utf-8", "replace"), folder)
    if len(text) > _MAX_RULES_BYTES or len(rules) > room:
        problems.append((path, "it is too long; only its first rules are applied"))
    return rules[:room]
