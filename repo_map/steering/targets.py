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
from repo_map.lookup.locations import find_definitions, parse_name
from repo_map.lookup.search import hits_of
from repo_map.sources.file_kinds import user_file_kind

if TYPE_CHECKING:
    from repo_map.index.index import Index

_MAX_HITS: Final = 40
"""Lines with a quoted text."""
_MAX_ENCLOSING: Final = 5
_MIN_TEXT_CHARS: Final = 3
_MAX_TEXT_CHARS: Final = 500
_MAX_LISTED: Final = 4
_MODULE: Final = re.compile(r"[\w-]+(?:(?:\.|::)[\w-]+)*")
"""A module, or a file without its suffix: ``shop.retry``, ``crate::pool``, ``README``."""


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

    patterns: tuple[str, ...] = ()
    """Globs of files."""
    places: tuple[NamedDefinition, ...] = ()
    spans: tuple[LineSpan, ...] = ()
    text: str = ""
    """The text that its lines have, if it is one."""
    is_kind: bool = False
    """Whether it is a kind of file, such as the tests."""

    def __bool__(self) -> bool:
        return bool(self.patterns or self.places or self.spans)

    @property
    def names(self) -> tuple[str, ...]:
        """Each thing of it: a path, ``folder/``, a qualified name, ``path:lines``, ``"text"``."""
        if self.text:
            return (f'"{self.text}"',)
        if self.is_kind:
            return tuple(map(globs.plain, self.patterns))
        lines = (f"{first}" if first == last else f"{first}-{last}" for _, first, last in self.spans)
        spans = (f"{span.path}:{each}" for span, each in zip(self.spans, lines, strict=True))
        files = (globs.plain(each[:-2] if _is_folder(each) else each) for each in self.patterns)
        return tuple(dict.fromkeys((*(place.name for place in self.places), *spans, *files)))

    @property
    def quoted(self) -> str:
        """It as the user reads it, in backticks, four names at most."""
        places = tuple(dict.fromkeys(f"{place.name} ({place.path})" for place in self.places))
        names = places or self.names
        shown = ", ".join(f"`{name}`" for name in names[:_MAX_LISTED])
        more = len(names) - _MAX_LISTED
        return f"{shown} and {more} more" if more > 0 else shown

    @property
    def paths(self) -> tuple[str, ...]:
        """The files of its definitions and lines, each once."""
        return tuple(dict.fromkeys(path for path, *_ in (*self.places, *self.spans)))

    def with_surroundings(self, index: Index) -> Target:
        """Return the definitions around a quoted text in place of its lines."""
        if not self.text:
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
        if len(self.places) > 1:
            return self._replace(
                places=tuple(each for each in self.places if each.path in paths) or self.places
            )
        if self.is_kind or len({pattern.rpartition("/")[2] for pattern in self.patterns}) != 1:
            return self
        escaped = set(map(globs.escape, paths))
        return self._replace(
            patterns=tuple(each for each in self.patterns if each in escaped) or self.patterns
        )


def _is_folder(pattern: str) -> bool:
    return pattern.endswith("/**") and not re.search(r"[*?{]", pattern[:-3])


def find_target(index: Index, words: str) -> Target:
    """Return what words name, in this order: a kind of file, a path, folder or glob, a language, a symbol."""
    if not words:
        return Target()
    if kind := user_file_kind(words):
        flagged = zip(index.paths, index.files.flags.tolist(), strict=True)
        paths = [path for path, flags in flagged if kind.holds(path, flags)]
        return Target(tuple(globs.globs_covering(paths, set(index.paths) - set(paths))), is_kind=True)
    if patterns := _path_patterns(index, words):
        return Target(patterns)
    name, files, lines = parse_name(index, words)
    paths = [index.paths[file] for file in files]
    if lines is not None:
        first, last = lines
        end = index.sources.text(files[0]).count("\n") + 1
        is_there = len(files) == 1 and 1 <= first <= min(last, end)
        return Target(spans=(LineSpan(paths[0], first, last),)) if is_there else Target()
    if within := [place for place in find_places(index, name) if place.path in paths]:
        return Target(places=tuple(within))
    if patterns := _language_patterns(index, words):
        return Target(patterns, is_kind=True)
    if places := find_places(index, words):
        return Target(places=tuple(places))
    return Target(_module_patterns(index, words))


def _path_patterns(index: Index, words: str) -> tuple[str, ...]:
    path = words.removeprefix("./").lstrip("/")
    if index.file_id(path) is not None:
        return (globs.escape(path),)
    if re.search(r"[*?{\[]", path):
        return (path,) if named_by(index, (path,)) else ()
    folder = path.rstrip("/")
    if folder and any(each.startswith(f"{folder}/") for each in index.paths):
        return (f"{globs.escape(folder)}/**",)
    # One glob for all of a name, however many files have it.
    files = [each for each in index.paths if each.endswith(f"/{path}")]
    if files:
        return (f"**/{globs.escape(path)}",) if len(files) > 1 else (globs.escape(files[0]),)
    folders = {each[: at + len(folder) + 1] for each in index.paths if (at := each.find(f"/{folder}/")) >= 0}
    if not folders or ("/" not in words and find_places(index, words)):
        return ()
    several = len(folders) > 1
    return (f"**/{globs.escape(folder)}/**" if several else f"{globs.escape(folders.pop())}/**",)


def _language_patterns(index: Index, words: str) -> tuple[str, ...]:
    name = language_called(words)
    language = index.languages.get(name)
    if language is None or not name:
        return ()
    rows = np.flatnonzero(index.files.language == language).tolist()
    suffixes = Counter(PurePosixPath(index.paths[row]).suffix for row in rows)
    return tuple(f"**/*{suffix}" for suffix in sorted(suffixes) if suffix)


def _module_patterns(index: Index, words: str) -> tuple[str, ...]:
    """Return the only file of a module or of a name without its suffix."""
    if _MODULE.fullmatch(words) is None:
        return ()
    stem = f"/{re.sub(r'[.:]+', '/', words)}".lower()
    found = [path for path in index.paths if f"/{path}".lower().rpartition(".")[0].endswith(stem)]
    return (globs.escape(found[0]),) if len(found) == 1 else ()


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
        return Target()
    hits = sorted(
        hits_of(index, re2.escape(text)), key=lambda hit: (index.paths[hit[0]] not in first_in, hit)
    )
    below = text.count("\n")
    spans = [LineSpan(index.paths[file], line, line + below) for file, lines in hits for line in lines]
    return Target(spans=tuple(spans[:_MAX_HITS]), text=text)


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
    """Return the files that globs name; none for what is no glob."""
    found: set[str] = set()
    for pattern in patterns:
        try:
            found.update(index.paths[row] for row in globs.select(pattern, index.paths))
        except FlightPlanError:
            continue
    return found
