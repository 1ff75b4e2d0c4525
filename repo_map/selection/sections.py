"""Which level each part of a file has: its own, or that of the section that names it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from repo_map import globs

if TYPE_CHECKING:
    from repo_map.flight_plan import SectionRule
    from repo_map.symbols import Definition


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
    names = qualified_names(definitions)
    for position, section in enumerate(sections):
        if section.pattern:
            for index in parts_named(section.pattern, names, definitions):
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
        inner = [at < 0 <= d.parent for at, d in zip(decided, definitions, strict=True)]
        levels = [1 if hidden else level for hidden, level in zip(inner, levels, strict=True)]
    for span in line_spans(shape):
        if span.level < 4:
            for index, definition in enumerate(definitions):
                if span.first <= definition.sig_start <= span.last:
                    levels[index] = max(levels[index], span.level)
    return levels


def line_spans(shape: Shape) -> list[Span]:
    """Return the line ranges that a shape asks for, from sections and custom queries alike."""
    return [
        *(Span(*line_range(s.lines), s.level) for s in shape.sections if s.lines),
        *shape.spans,
    ]


def line_range(lines: str) -> tuple[int, int]:
    """Return first and last line of ``120-180``, in order."""
    first, _, last = lines.partition("-")
    return min(int(first), int(last)), max(int(first), int(last))


def parts_named(pattern: str, names: Sequence[str], definitions: Sequence[Definition]) -> list[int]:
    """Return the definitions, whose qualified names are ``names``, that a section's pattern names."""
    if pattern in names:
        return [index for index, name in enumerate(names) if name == pattern]
    match = globs.compile_name(pattern).fullmatch
    whole = [index for index, name in enumerate(names) if match(name)]
    return whole or [index for index, definition in enumerate(definitions) if match(definition.name)]
