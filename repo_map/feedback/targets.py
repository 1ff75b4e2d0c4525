"""Targets: the files and symbols of an index that words name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map import globs
from repo_map.errors import FlightPlanError
from repo_map.languages.registry import language_called
from repo_map.worktree.file_kinds import SpokenKind, spoken_kind

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

MOST_PLACES = 5
"""Definitions of one name that are taken; of more the name alone says too little."""


class NamedDefinition(NamedTuple):
    """A definition."""

    path: str
    name: str
    line: int


class Target(NamedTuple):
    """What words name; at most one of ``patterns`` and ``places`` is filled."""

    words: str
    patterns: tuple[str, ...] = ()
    """Globs of files."""
    places: tuple[NamedDefinition, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.patterns or self.places)

    def among(self, paths: Collection[str]) -> Target:
        """Return of a name that several files or definitions bear those in ``paths``, all where none is."""
        if len(self.places) > 1:
            places = tuple(place for place in self.places if place.path in paths)
            return self._replace(places=places or self.places)
        if len({pattern.rpartition("/")[2] for pattern in self.patterns}) != 1:
            return self
        escaped = set(map(globs.escape, paths))
        patterns = tuple(pattern for pattern in self.patterns if pattern in escaped)
        return self._replace(patterns=patterns or self.patterns)


_AROUND = re.compile(
    r"^(?:(?:the|any|all|some|every|those|these|this|of|about|from|in|under|below|inside|anything|everything|stuff|files?|folder|director(?:y|ies)|functions?|"
    r"methods?|class(?:es)?|modules?|package)\s+)+|\s+(?:files?|folders?|director(?:y|ies)|functions?|methods?|"
    r"class(?:es)?|modules?|packages?|code|here|there|please|in full|whole|completely|"
    r"in (?:the )?(?:map|context|plan)|"
    r"included|shown|at all|ranked first|ranked(?: so)? (?:high|low)|first|at the top|on top|"
    r"defined|declared|implemented|located|again|back|too|as well|also)$",
    re.IGNORECASE,
)
_SPLIT = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")
_WRITTEN_OWNER = re.compile(r"^\(?[*&]*([\w.]+)\)?\.(?=\w)|^[*&]+")
"""What stands before a method as its users write it: ``(*LB).``, ``LB.``."""
_MOST_PATTERNS = 12


def split_targets(words: str) -> list[str]:
    """Return the things that words enumerate, without what surrounds their names."""
    whole = _strip(words)
    return [part for part in map(_strip, _SPLIT.split(whole)) if part] or [whole]


def _trim(words: str) -> str:
    # A dot may begin a name: `.github`.
    return words.strip(" \t,:!?").rstrip(" \t,.:!?")


def _strip(words: str) -> str:
    stripped = _trim(words)
    while (shorter := _trim(_AROUND.sub("", stripped))) != stripped:
        stripped = shorter
    return stripped.strip("`\"'“”‘’").removesuffix("()")


def find_target(index: RepoIndex, words: str) -> Target:
    """Return what words name, in this order: a kind of file, a path, folder or glob, a language, a symbol."""
    if not words:
        return Target(words)
    kind = spoken_kind(words)
    if kind is not None:
        return Target(words, _kind_patterns(index, kind))
    patterns = _path_patterns(index, words) or _language_patterns(index, words)
    if patterns:
        return Target(words, patterns)
    return Target(words, places=tuple(find_places(index, words)))


def find_places(index: RepoIndex, words: str) -> list[NamedDefinition]:
    """Return the definitions of a name, qualified or not, in path order."""
    name = _WRITTEN_OWNER.sub(r"\1.", words).replace("::", ".").replace("#", ".").removesuffix("()")
    leaf = name.rpartition(".")[2]
    numbers = list(index.derived(_joined_names).get(leaf, ()))
    if (plain := index.strings.get(leaf)) is not None:
        numbers.append(plain)
    found = []
    for row in np.flatnonzero(np.isin(index.symbols.name, numbers)).tolist():
        file = int(np.searchsorted(index.symbols.file_start, row, side="right")) - 1
        qualified = index.qualified_name(file, row - int(index.symbols.file_start[file]))
        if qualified == name or qualified.endswith(f".{name}"):
            found.append(NamedDefinition(index.paths[file], qualified, int(index.symbols.sig_start[row])))
    return found


def _joined_names(index: RepoIndex) -> dict[str, tuple[int, ...]]:
    """Return the names that carry their owner (Go's ``LB.tryAgain``), by their last part."""
    found: dict[str, list[int]] = {}
    for number in np.unique(index.symbols.name).tolist():
        owner, dot, leaf = index.strings[number].rpartition(".")
        if owner and dot:
            found.setdefault(leaf, []).append(number)
    return {leaf: tuple(numbers) for leaf, numbers in found.items()}


def nearest(index: RepoIndex, words: str) -> list[str]:
    """Return up to three names or files that are spelled much like the words."""
    names = {PurePosixPath(path).name for path in index.paths}
    if re.fullmatch(r"[\w.:#]+", words):
        names |= set(index.strings.many(np.unique(index.symbols.name)))
    return get_close_matches(words, sorted(names), n=3, cutoff=0.75)


def named_by(index: RepoIndex, patterns: Sequence[str]) -> set[str]:
    """Return the files that globs name."""
    return {path for pattern in patterns for path in _named(index, pattern)}


def globs_of_others(index: RepoIndex, patterns: Sequence[str]) -> list[str]:
    """Return globs of the files that no pattern names, as few as folders allow."""
    wanted = named_by(index, patterns)
    return globs.globs_covering([path for path in index.paths if path not in wanted], wanted)


def _kind_patterns(index: RepoIndex, kind: SpokenKind) -> tuple[str, ...]:
    flagged = zip(index.paths, index.files.flags.tolist(), strict=True)
    paths = [path for path, flags in flagged if kind.holds(path, flags)]
    others = set(index.paths) - set(paths)
    return tuple(globs.globs_covering(paths, others))


def _path_patterns(index: RepoIndex, words: str) -> tuple[str, ...]:
    path = words.removeprefix("./").lstrip("/")
    if index.file_id(path) is not None:
        return (globs.escape(path),)
    if re.search(r"[*?{\[]", path):
        return (path,) if _named(index, path) else ()
    folder = path.rstrip("/")
    if any(each.startswith(f"{folder}/") for each in index.paths):
        return (f"{folder}/**",)
    tails = [each for each in index.paths if each.endswith(f"/{path}")]
    if not tails and "/" not in path and "." not in path and not words.endswith("/"):
        # To take a path apart takes ten times as long as to look at its end, and few end so.
        named = [each for each in index.paths if each.startswith(path, each.rfind("/") + 1)]
        tails = [each for each in named if PurePosixPath(each).stem == path and path.islower()]
        tails = tails if len(tails) == 1 and not find_places(index, words) else []
    folders = sorted(
        {each[: at + len(folder) + 1] for each in index.paths if (at := each.find(f"/{folder}/")) >= 0}
    )
    if not tails and folders and ("/" in words or not find_places(index, words)):
        return tuple(f"{globs.escape(each)}/**" for each in folders[:MOST_PLACES])
    return tuple(globs.escape(each) for each in tails[:_MOST_PATTERNS])


def _language_patterns(index: RepoIndex, words: str) -> tuple[str, ...]:
    name = language_called(words)
    language = index.languages.get(name)
    if language is None or not name:
        return ()
    rows = np.flatnonzero(index.files.language == language).tolist()
    suffixes = Counter(PurePosixPath(index.paths[row]).suffix for row in rows)
    return tuple(f"**/*{suffix}" for suffix in sorted(suffixes) if suffix)


def _named(index: RepoIndex, pattern: str) -> list[str]:
    try:
        return [index.paths[row] for row in globs.select(pattern, index.paths)]
    except FlightPlanError:
        return []
