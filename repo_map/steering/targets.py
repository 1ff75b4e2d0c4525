"""Targets: the files, definitions and lines of an index that a name means."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import re2

from repo_map import globs
from repo_map.errors import FlightPlanError
from repo_map.languages.registry import language_called
from repo_map.lookup.locations import find_definitions
from repo_map.lookup.search import hits_of
from repo_map.sources.file_kinds import UserFileKind, user_file_kind

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_HITS: Final = 40
"""Lines with a quoted text."""
_MAX_ENCLOSING: Final = 5
_MIN_TEXT_CHARS: Final = 3
_MAX_TEXT_CHARS: Final = 500
_MAX_LISTED: Final = 4


class NamedDefinition(NamedTuple):
    """A definition."""

    path: str
    name: str
    line: int


class LineSpan(NamedTuple):
    """Lines of a file."""

    path: str
    first: int
    last: int


class Target(NamedTuple):
    """What a name means."""

    words: str
    patterns: tuple[str, ...] = ()
    """Globs of files."""
    places: tuple[NamedDefinition, ...] = ()
    spans: tuple[LineSpan, ...] = ()
    names: tuple[str, ...] = ()
    """Each thing of it: a path, ``folder/``, a qualified name, ``path:lines``, ``"text"``, ``{tests}``."""
    is_kind: bool = False
    """Whether it is a kind of file, such as the tests."""
    is_text: bool = False
    """Whether it is a text of files."""

    def __bool__(self) -> bool:
        return bool(self.patterns or self.places or self.spans)

    @property
    def quoted(self) -> str:
        """It as the user reads it, in backticks, four names at most."""
        names = self.names
        if self.places:
            names = tuple(dict.fromkeys(f"{place.name} ({place.path})" for place in self.places))
        elif self.is_kind:
            names = tuple(map(globs.plain, self.patterns))
        shown = ", ".join(f"`{name}`" for name in names[:_MAX_LISTED])
        more = len(names) - _MAX_LISTED
        return f"{shown} and {more} more" if more > 0 else shown

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of its definitions and lines, each once."""
        return tuple(
            dict.fromkeys((*(each.path for each in self.places), *(each.path for each in self.spans)))
        )

    def with_surroundings(self, index: Index) -> Target:
        """Return the definitions around a quoted text in place of its lines."""
        if not self.is_text:
            return self
        spans: list[LineSpan] = []
        places: dict[NamedDefinition, None] = {}
        for span in self.spans[:_MAX_ENCLOSING]:
            place = around(index, span)
            if place is None:
                spans.append(span._replace(first=max(1, span.first - 3), last=span.last + 3))
            else:
                places[place] = None
        return self._replace(places=tuple(places), spans=tuple(spans))

    def among(self, paths: Collection[str]) -> Target:
        """Return those of several files or definitions of a name that are in ``paths``; all if none is."""
        if self.is_kind:
            return self
        if len(self.places) > 1:
            places = tuple(place for place in self.places if place.path in paths) or self.places
            return self._replace(places=places, names=_names_of_places(places))
        if len({pattern.rpartition("/")[2] for pattern in self.patterns}) != 1:
            return self
        escaped = set(map(globs.escape, paths))
        patterns = tuple(pattern for pattern in self.patterns if pattern in escaped) or self.patterns
        return self._replace(patterns=patterns, names=_names_of_patterns(patterns))


_WITH_LINES = re.compile(r"^(.+?):L?(\d+)(?:\s?[-–]\s?L?(\d+))?$")


def find_target(index: Index, words: str) -> Target:
    """Return what words name, in this order: a kind of file, a path, folder or glob, a language, a symbol."""
    if not words:
        return Target(words)
    if (lines := _WITH_LINES.match(words)) is not None and (patterns := _path_patterns(index, lines[1])):
        return lines_of(index, Target(words, patterns), int(lines[2]), int(lines[3] or lines[2]))
    kind = user_file_kind(words)
    if kind is not None:
        name = _KINDS.get(words.lower(), words.lower())
        return Target(words, _kind_patterns(index, kind), names=(f"{{{name}}}",), is_kind=True)
    if patterns := _path_patterns(index, words):
        return Target(words, patterns, names=_names_of_patterns(patterns))
    for form in _IN_FILE:
        if (match := form.match(words)) and (within := _in_file(index, words, match["path"], match["name"])):
            return within
    if patterns := _language_patterns(index, words):
        return Target(words, patterns, names=(f"{{{language_called(words)}}}",), is_kind=True)
    places = tuple(find_places(index, words))
    if not places and (patterns := _module_patterns(index, words)):
        return Target(words, patterns, names=_names_of_patterns(patterns))
    return Target(words, places=places, names=_names_of_places(places))


def _module_patterns(index: Index, words: str) -> tuple[str, ...]:
    """Return the file of a module: ``shop.retry``, ``crate::pool``."""
    if re.fullmatch(r"\w+(?:(?:\.|::)\w+)+", words) is None:
        return ()
    stem = f"/{re.sub(r'[.:]+', '/', words)}"
    found = [path for path in index.paths if f"/{path}".rpartition(".")[0].endswith(stem)]
    return tuple(map(globs.escape, found)) if len(found) == 1 else ()


def is_prose(path: str) -> bool:
    """Return True for a file of prose, by its suffix."""
    return PurePosixPath(path).suffix in (".md", ".rst", ".txt", ".adoc")


_IN_FILE: Final = (
    # As a test runner writes it: ``tests/test_a.py::TestA::test_b[1]``.
    re.compile(r"(?P<path>[^:]+)::(?P<name>[^\[]+)"),
    re.compile(r"(?P<path>.+?):(?P<name>[^\d:].*)"),
    re.compile(r"(?P<name>\S+) \((?P<path>.+)\)$"),
)
"""The ways to write a definition with its file."""


def _in_file(index: Index, words: str, path: str, name: str) -> Target:
    paths = named_by(index, _path_patterns(index, path))
    places = tuple(place for place in find_places(index, name) if place.path in paths)
    return Target(words, places=places, names=_names_of_places(places))


_KINDS: Final = {
    "test": "tests",
    "testing": "tests",
    "specs": "tests",
    "unit tests": "tests",
    "documentation": "docs",
    "configuration": "config",
    "generated code": "generated",
    "vendor": "vendored",
    "third-party": "vendored",
}
"""Other words for kinds of files."""


def lines_of(index: Index, target: Target, first: int, last: int) -> Target:
    """Return lines of the file that a target names; nothing if it is not one file, or has no such line."""
    paths = [path for pattern in target.patterns for path in named(index, pattern)]
    file = index.file_id(paths[0]) if len(paths) == 1 else None
    if file is None or not 1 <= first <= last or first > index.sources.text(file).count("\n") + 1:
        return Target(target.words)
    lines = f"{first}" if first == last else f"{first}-{last}"
    return Target(target.words, spans=(LineSpan(paths[0], first, last),), names=(f"{paths[0]}:{lines}",))


def find_places(index: Index, words: str) -> list[NamedDefinition]:
    """Return the definitions of a name, qualified or not, in path order."""
    return [
        NamedDefinition(
            index.paths[file], index.qualified_name(file, row), index.definitions(file)[row].sig_start
        )
        for file, row in sorted(find_definitions(index, words))
    ]


def find_text(index: Index, text: str, first_in: Collection[str] = ()) -> Target:
    """Return the lines with a text, of the files in ``first_in`` first."""
    if not _MIN_TEXT_CHARS <= len(text.strip()) <= _MAX_TEXT_CHARS:
        return Target(text)
    hits = sorted(
        hits_of(index, re2.escape(text)), key=lambda hit: (index.paths[hit[0]] not in first_in, hit)
    )
    below = text.count("\n")
    spans = [LineSpan(index.paths[file], line, line + below) for file, lines in hits for line in lines]
    return Target(text, spans=tuple(spans[:_MAX_HITS]), names=(f'"{text}"',), is_text=True)


def around(index: Index, span: LineSpan) -> NamedDefinition | None:
    """Return the innermost function or class around lines, None outside of all."""
    file = index.file_id(span.path)
    if file is None:
        return None
    best = None
    for row, each in enumerate(index.definitions(file)):
        if each.start <= span.first and span.last <= each.end and each.end > each.start:
            best = NamedDefinition(span.path, index.qualified_name(file, row), each.sig_start)
    return best


def named_by(index: Index, patterns: Sequence[str]) -> set[str]:
    """Return the files that globs name."""
    return {path for pattern in patterns for path in named(index, pattern)}


def named(index: Index, pattern: str) -> list[str]:
    """Return the files that a glob names; none where it is no glob."""
    try:
        return [index.paths[row] for row in globs.select(pattern, index.paths)]
    except FlightPlanError:
        return []


def _kind_patterns(index: Index, kind: UserFileKind) -> tuple[str, ...]:
    flagged = zip(index.paths, index.files.flags.tolist(), strict=True)
    paths = [path for path, flags in flagged if kind.holds(path, flags)]
    others = set(index.paths) - set(paths)
    return tuple(globs.globs_covering(paths, others))


def _path_patterns(index: Index, words: str) -> tuple[str, ...]:
    path = words.removeprefix("./").lstrip("/")
    if index.file_id(path) is not None:
        return (globs.escape(path),)
    if re.search(r"[*?{\[]", path):
        return (path,) if named(index, path) else ()
    folder = path.rstrip("/")
    if folder and any(each.startswith(f"{folder}/") for each in index.paths):
        return (f"{globs.escape(folder)}/**",)
    tails = [each for each in index.paths if each.endswith(f"/{path}")]
    if not tails and "/" not in path and "." not in path and not words.endswith("/"):
        # To take a path apart takes ten times as long as to look at its end, and few end so.
        stems = [
            each
            for each in index.paths
            if each.startswith(path, each.rfind("/") + 1)
            or each.startswith(path.upper(), each.rfind("/") + 1)
        ]
        tails = [
            each
            for each in stems
            if PurePosixPath(each).stem == path.upper()
            # An English word may well be the name of a text: "booking".
            or (PurePosixPath(each).stem == path and path.islower() and not is_prose(each))
        ]
        tails = tails if len(tails) == 1 and not find_places(index, words) else []
    folders = sorted(
        {each[: at + len(folder) + 1] for each in index.paths if (at := each.find(f"/{folder}/")) >= 0}
    )
    if not tails and folders and ("/" in words or not find_places(index, words)):
        several = len(folders) > 1
        return (f"**/{globs.escape(folder)}/**",) if several else (f"{globs.escape(folders[0])}/**",)
    # One glob for all of a name, however many files have it.
    return (f"**/{globs.escape(path)}",) if len(tails) > 1 else tuple(map(globs.escape, tails))


def _language_patterns(index: Index, words: str) -> tuple[str, ...]:
    name = language_called(words)
    language = index.languages.get(name)
    if language is None or not name:
        return ()
    rows = np.flatnonzero(index.files.language == language).tolist()
    suffixes = Counter(PurePosixPath(index.paths[row]).suffix for row in rows)
    return tuple(f"**/*{suffix}" for suffix in sorted(suffixes) if suffix)


def _names_of_patterns(patterns: Sequence[str]) -> tuple[str, ...]:
    return tuple(globs.plain(each[:-2]) if _is_folder(each) else globs.plain(each) for each in patterns)


def _is_folder(pattern: str) -> bool:
    return pattern.endswith("/**") and not re.search(r"[*?{]", pattern[:-3])


def _names_of_places(places: Sequence[NamedDefinition]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(place.name for place in places))
