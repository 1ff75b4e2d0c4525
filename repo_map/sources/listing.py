"""Which files a tree has: git, or a walk with ignore rules."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from repo_map.errors import FlightPlanError
from repo_map.globs import Token, Wildcard, expression
from repo_map.languages.parser import CpuDeadline
from repo_map.recent import Recent
from repo_map.sources import disk
from repo_map.sources.git import Git, GitError, GitProcess, SlowRulesError


class _Rule(NamedTuple):
    matcher: re.Pattern[str]
    negated: bool
    folders_only: bool


MOST_RULES = 2_000
"""In one file and those above it; each is tried on each name."""
_LONGEST = 4_096
"""Characters of a pattern; no path is longer."""


class IgnoreRules:
    """The first patterns of one ``.gitignore`` file, which apply to its folder and everything below."""

    def __init__(self, text: str, most: int = MOST_RULES) -> None:
        lines = (line for line in text.splitlines() if len(line) <= _LONGEST)
        rules = (rule for line in lines if (rule := _parse(line)) is not None)
        self._rules = tuple(islice(rules, most))
        self.is_whole = next(rules, None) is None
        """Whether there are no more."""

    def __len__(self) -> int:
        return len(self._rules)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Say whether ``path``, relative to the rules' folder, is ignored; None where no pattern speaks."""
        for rule in reversed(self._rules):
            if (is_folder or not rule.folders_only) and rule.matcher.fullmatch(path):
                return not rule.negated
        return None


def is_ignored(nested: tuple[tuple[str, IgnoreRules], ...], path: str, *, is_folder: bool) -> bool:
    """Say whether ``path`` is ignored by the rules from the root inwards; the nearest that speaks wins."""
    for folder, rules in reversed(nested):
        verdict = rules.verdict(path[len(folder) :], is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def _parse(line: str) -> _Rule | None:
    pattern = _without_trailing_blanks(line)
    if not pattern or pattern.startswith("#"):
        return None
    negated = pattern.startswith("!")
    pattern = pattern.removeprefix("!")
    folders_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    pattern = pattern.removeprefix("/")
    if not pattern:
        return None
    try:
        matcher = re.compile(_to_regex(pattern if anchored else f"**/{pattern}"), re.DOTALL)
    except (re.error, FlightPlanError):
        return None  # As git does: a malformed pattern matches nothing.
    return _Rule(matcher, negated, folders_only)


def _without_trailing_blanks(line: str) -> str:
    stripped = line.rstrip(" \t\r")
    escaped = stripped.endswith("\\") and len(stripped) < len(line)
    return stripped + " " if escaped else stripped


_TOKEN = re.compile(
    r"^\*\*/|/\*\*/|/\*\*$|\*+|\?|\[(?:[!^])?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\]|\\.|.", re.DOTALL
)


def _to_regex(pattern: str) -> str:
    tokens: list[Token] = []
    for token in _TOKEN.findall(pattern):
        tokens.extend(_translate(token))
    return expression(tokens)


def _translate(token: str) -> tuple[Token, ...]:
    match token:
        case "**/":
            return (Wildcard.FOLDERS,)
        case "/**/":
            return "/", Wildcard.FOLDERS
        case "/**":
            return "/", ".", Wildcard.ANYTHING
        case "?":
            return ("[^/]",)
    if token.startswith("*"):
        return (Wildcard.STAR,)
    return (_single(token),)


def _single(token: str) -> str:
    if token.startswith("[") and len(token) > 1:
        return _character_class(token)
    if token.startswith("\\") and len(token) > 1:
        return re.escape(token[1:])
    return re.escape(token)


_POSIX_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
}


def _character_class(token: str) -> str:
    body = token[1:-1]
    negation = "^" if body[:1] in {"!", "^"} else ""
    body = body[len(negation) :]
    body = re.sub(r"\[:(\w+):\]", lambda found: _POSIX_CLASSES.get(found[1], ""), body)
    body = re.sub(r"\\(.)|([\[\]&~|]|-(?=-))", lambda found: re.escape(found[1] or found[2]), body)
    return f"(?!/)[{negation}{body}]"


_NEVER_SOURCE = frozenset({"node_modules", "__pycache__", ".venv", ".tox", ".mypy_cache", ".ruff_cache"})
_RULES_LIMIT_BYTES = 1_000_000


class Names(NamedTuple):
    """The names that a walk found, in no order yet; an odd byte stands as a lone surrogate."""

    names: tuple[str, ...]
    digest: bytes
    """Equal for equal answers, so that names need no second look; never empty where there are names."""
    problems: tuple[tuple[str, str], ...]
    """Folders that were not walked, each with the reason."""


_MOST_SLOW = 1_000
_slow: Recent[Path, str] = Recent(_MOST_SLOW, lambda _reason: 1)
"""Roots whose ignore rules took git too much time, with what it was told of then: it is not asked again."""
_slow_walks: Recent[Path, bool] = Recent(_MOST_SLOW, lambda _is_slow: 1)
"""Roots whose ignore rules took our own walk too much time: none of them is followed."""
_RULES_CPU_S = 10.0
"""Of CPU time for a walk that follows rules; 100,000 files take one, with the rules of most repositories."""
_SLOW_RULES = "following its ignore rules takes more than {:g} s of CPU time, so none of them is followed"

_Answer = tuple[bytes, Callable[[], Names]]
"""The digest of what was found, and what reads the names from it."""


class Walk:
    """A walk that git may still be at work on while its caller does something else."""

    def __init__(self, root: Path, is_wanted: Callable[[], bool]) -> None:
        self._root = root
        self._is_wanted = is_wanted
        self._git: Git | None = None
        self._listing: GitProcess | None = None
        self._refused = ""
        self._answer: _Answer | None = None
        if refused := _slow.get(root):
            self._refused = refused
            return
        try:
            self._git = Git(root)
            self._listing = self._git.start("ls-files", "-z", "-c", "-o", "--exclude-standard")
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

    def end(self) -> None:
        """End git, if it is still at work."""
        if self._listing is not None:
            self._listing.end()

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
        names = sorted(_walked(self._root, problems))
        # A folder lists its entries in no order, and no name holds the character between them.
        message = "\0".join((*names, "", *map("\0".join, sorted(problems))))
        digest = hashlib.sha256(b"walked\0" + os.fsencode(message)).digest()
        return digest, lambda: Names(tuple(names), digest, tuple(problems))

    def _output(self) -> bytes | None:
        """Return what git lists, None where git is missing, failed or has no repository here."""
        if self._git is None or self._listing is None:
            return None
        try:
            return self._git.finish(self._listing, self._is_wanted)
        except GitError as error:
            # What git says may quote the repository, and what we say is no place for its text.
            self._refused = _refusal(error) or f"Git can't read the repository of `{self._root}`."
            if isinstance(error, SlowRulesError):
                _slow.put(self._root, self._refused)
            return None

    def _is_ignored(self) -> bool:
        """Say whether the repository around the root ignores it: then its files are not git's to list."""
        try:
            if self._git is not None:
                self._git.ask("check-ignore", "-q", ".")
        except (GitError, OSError):
            return False
        return self._git is not None


def _refusal(error: GitError) -> str:
    return str(error) if error.is_notable else ""


_Nested = tuple[tuple[str, IgnoreRules], ...]


class _TooSlowError(Exception):
    """The rules take too much time."""


def _walked(root: Path, problems: list[tuple[str, str]]) -> list[str]:
    """Return the names in a folder without git: all of them where its ignore rules are too slow to follow."""
    if not _slow_walks.get(root):
        found: list[tuple[str, str]] = []
        try:
            names = list(_walk(root, found, CpuDeadline(_RULES_CPU_S)))
        except _TooSlowError:
            _slow_walks.put(root, True)
        else:
            problems += found
            return names
    problems.append(("", _SLOW_RULES.format(_RULES_CPU_S)))
    return list(_walk(root, problems, None))


def _walk(root: Path, problems: list[tuple[str, str]], deadline: CpuDeadline | None) -> Iterator[str]:
    """Yield the names in a folder; without a ``deadline`` no rules are followed.

    Raises ``_TooSlowError``: following them takes longer.
    """
    pending: list[tuple[str, _Nested]] = [("", ())]
    while pending:
        folder, nested = pending.pop()
        try:
            found = disk.list_folder(root, folder)
        except OSError as error:
            problems.append((folder.rstrip("/"), f"the folder can't be read ({error.strerror})"))
            continue
        if deadline is not None and (".gitignore", stat.S_IFREG) in found:
            nested = (*nested, (folder, _rules_of(root, f"{folder}.gitignore", nested, problems)))
        for name, kind in found:
            if nested and deadline is not None and deadline.is_over():
                raise _TooSlowError
            path = folder + name
            if kind == stat.S_IFDIR:
                if _is_entered(name) and not is_ignored(nested, path, is_folder=True):
                    pending.append((path + "/", nested))
            elif name.lower() not in disk.METADATA and not is_ignored(nested, path, is_folder=False):
                yield path


def _is_entered(folder_name: str) -> bool:
    return folder_name.lower() not in disk.METADATA and folder_name not in _NEVER_SOURCE


def _rules_of(root: Path, path: str, above: _Nested, problems: list[tuple[str, str]]) -> IgnoreRules:
    """Return the rules of a regular ``.gitignore``; like git we follow none of a link."""
    try:
        text = disk.read_start(root, path, _RULES_LIMIT_BYTES + 1)
    except OSError as error:
        problems.append((path, f"its rules can't be read ({error.strerror})"))
        return IgnoreRules("")
    left = MOST_RULES - sum(len(rules) for _, rules in above)
    rules = IgnoreRules(text[:_RULES_LIMIT_BYTES].decode("utf-8", "replace"), left)
    if len(text) > _RULES_LIMIT_BYTES or not rules.is_whole:
        problems.append((path, "it is too long; only its first rules are followed"))
    return rules
