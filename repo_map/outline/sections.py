"""A plan to the level of each part of a file."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from repo_map import globs
from repo_map.cache import LRUCache
from repo_map.errors import FlightPlanError
from repo_map.languages.registry import language_named
from repo_map.parsing.values import LineRange
from repo_map.sources.file_kinds import FileFlag

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.parsing.values import Definition
    from repo_map.plan.model import CustomQuery, SectionRule


class Span(NamedTuple):
    """Lines ``first`` to ``last`` of a file, 1-based and inclusive, at one level."""

    first: int
    last: int
    level: int


class Section(NamedTuple):
    """The level of what a symbol or heading pattern names, or of a range of lines; the other is ``""``."""

    pattern: str
    lines: str
    level: int

    @classmethod
    def of(cls, rule: SectionRule) -> Section:
        """Take a section over from a plan."""
        return cls(rule.pattern or "", rule.lines or "", rule.level)


class Shape(NamedTuple):
    """What a file is to look like; the same shape of the same file draws the same lines."""

    level: int
    """Level of everything that no section names."""
    sections: tuple[Section, ...] = ()
    spans: tuple[Span, ...] = ()
    """Lines that custom queries captured."""
    outer: bool = False
    """Whether definitions within definitions are left out, where no section names them."""

    @property
    def highest(self) -> int:
        """The level of the best shown part."""
        return max([self.level, *(s.level for s in self.sections), *(s.level for s in self.spans)])


def qualified_names(definitions: Sequence[Definition]) -> list[str]:
    """Return each definition's name with those that enclose it, joined by dots."""
    names: list[str] = []
    for definition in definitions:
        owner = names[definition.parent] + "." if definition.parent >= 0 else ""
        names.append(owner + definition.name)
    return names


def deciding_sections(definitions: Sequence[Definition], sections: Sequence[Section]) -> list[int]:
    """Return for each definition the position of the section that decides it, -1 where the file's level does.

    The last section that names a definition decides it, and whatever it encloses that no section names. A
    pattern that names no qualified name is tried on leaf names (``dispatch`` for ``Router.dispatch``).
    """
    decided = [-1] * len(definitions)
    parts = Parts(definitions) if any(section.pattern for section in sections) else None
    for position, section in enumerate(sections):
        if parts and section.pattern:
            for index in parts.named(section.pattern):
                decided[index] = position
    for index, definition in enumerate(definitions):
        if decided[index] < 0 <= definition.parent:
            decided[index] = decided[definition.parent]
    return decided


def levels_of(definitions: Sequence[Definition], shape: Shape) -> list[int]:
    """Return the level of each definition; where a line range overlaps its head, the higher wins."""
    decided = deciding_sections(definitions, shape.sections)
    levels = [shape.level if at < 0 else shape.sections[at].level for at in decided]
    if shape.outer:
        inner = [at < 0 <= each.parent for at, each in zip(decided, definitions, strict=True)]
        levels = [1 if hidden else level for hidden, level in zip(inner, levels, strict=True)]
    spans = [span for span in line_spans(shape) if span.level < 4]
    heads = sorted((definition.sig_start, index) for index, definition in enumerate(definitions))
    for span in spans:
        for _, index in heads[bisect_left(heads, (span.first,)) : bisect_left(heads, (span.last + 1,))]:
            levels[index] = max(levels[index], span.level)
    return levels


def line_spans(shape: Shape) -> list[Span]:
    """Return the line ranges that a shape asks for, from sections and custom queries alike."""
    return [*(Span(*line_range(s.lines), s.level) for s in shape.sections if s.lines), *shape.spans]


def line_range(lines: str) -> LineRange:
    """Return the lines that ``120-180`` names, or ``180-120``."""
    first, _, last = lines.partition("-")
    return LineRange(min(int(first), int(last)), max(int(first), int(last)))


class Parts:
    """The definitions of one file, found by the patterns of sections."""

    def __init__(self, definitions: Sequence[Definition]) -> None:
        self.names = qualified_names(definitions)
        self._by_name: defaultdict[str, list[int]] = defaultdict(list)
        self._by_leaf: defaultdict[str, list[int]] = defaultdict(list)
        for row, definition in enumerate(definitions):
            self._by_name[self.names[row]].append(row)
            self._by_leaf[definition.name].append(row)

    def named(self, pattern: str) -> Sequence[int]:
        """Return the definitions that a section's pattern names, by their qualified names if any has it."""
        if pattern in self._by_name:
            return self._by_name[pattern]
        if (name := globs.literal(pattern)) is not None:
            return self._by_name.get(name, []) or self._by_leaf.get(name, [])
        match = globs.compile_name(pattern).fullmatch
        for known in (self._by_name, self._by_leaf):
            if found := [row for name, rows in known.items() if match(name) for row in rows]:
                return sorted(found)
        return ()


Lines = tuple[tuple[int, int], ...]
"""First and last line of each capture."""

_MOST_REMEMBERED = 1_000_000
"""Captured ranges of lines that are remembered, of all queries together."""


def captured_spans(index: Index, queries: Sequence[CustomQuery]) -> dict[int, tuple[Span, ...]]:
    """Return, by file, the lines that the queries capture.

    Levels 2 and 3 show the definitions that begin in a captured node at that level; of a node that holds no
    definition they show the first line.

    Raises FlightPlanError for a query that no language of the files it is meant for understands, and for one
    that takes more than the limits allow.
    """
    found: dict[int, set[Span]] = {}
    for position, query in enumerate(queries):
        for file_id, ranges in _run(index, query, position).items() if query.level > 1 else ():
            heads = sorted(definition.sig_start for definition in index.definitions(file_id))
            for first, last in ranges:
                at = bisect_left(heads, first)
                if query.level == 4 or (at < len(heads) and heads[at] <= last):
                    span = Span(first, last, query.level)
                else:
                    span = Span(first, first, 4)
                found.setdefault(file_id, set()).add(span)
    return {file_id: tuple(sorted(spans)) for file_id, spans in sorted(found.items())}


def captures_nothing(index: Index, query: CustomQuery, position: int) -> bool:
    """Say whether a query that is run finds nothing in the files that it is meant for."""
    return query.level > 1 and not any(_run(index, query, position).values())


def _run(index: Index, query: CustomQuery, position: int) -> dict[int, Lines]:
    """Return the lines that a query captures by file, found once as long as the index lives."""
    known = index.memo(_known)
    key = (query.pattern, query.query)
    found = known.get(key)
    if found is None:
        found, problem = _captured(index, query)
        if problem:
            raise FlightPlanError(f"`custom_queries[{position}].query` can't be run: {problem}.")
        known.put(key, found)
    return found


def _known(_index: Index) -> LRUCache[tuple[str, str], dict[int, Lines]]:
    return LRUCache(_MOST_REMEMBERED, lambda found: 1 + sum(map(len, found.values())))


def _captured(index: Index, query: CustomQuery) -> tuple[dict[int, Lines], str]:
    """Return the lines that a query captures by file, or why it can't be run."""
    named = globs.select(query.pattern, index.paths)
    if not named:
        return {}, ""
    languages = sorted({index.language(file_id) for file_id in named})
    files = [file_id for file_id in named if _is_parsed(index, file_id)]
    limits = index.limits
    size = int(index.files.size[files].sum())
    if size > limits.query_bytes:
        return {}, (
            f"its files hold {size:,} bytes of source, over the limit of {limits.query_bytes:,}; "
            "name fewer files in its `pattern`"
        )
    from repo_map.index.worker_pool import capture  # noqa: PLC0415 - most plans have no query

    sources = [(index.language(file_id), index.sources.content(file_id)) for file_id in files]
    captured = capture(query.query, languages, sources, limits)
    return dict(zip(files, captured.lines, strict=not captured.problem)), captured.problem


def _is_parsed(index: Index, file_id: int) -> bool:
    """Say whether a grammar has read a file: one that it crashed on would take the query with it."""
    if not language_named(index.language(file_id)).has_grammar:
        return False
    first, end = index.symbols.file_start[file_id : file_id + 2].tolist()
    return first < end or not index.files.flags[file_id] & int(FileFlag.UNPARSED)
