"""Layout: from chosen pieces to the rule that shows them, and what the rule costs once drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from repo_map import globs
from repo_map.flight_plan import SectionRule, VerbosityRule
from repo_map.packing.pieces import Piece, SourceFile
from repo_map.selection.sections import Section, Shape

_NEARLY_WHOLE = 0.85
"""Share of a file's lines from which on the rest is shown too."""
_SMALL_REST = 6
"""Lines of a rest that costs less than its elisions and line ranges confuse."""


def file_rule(file: SourceFile, pieces: Iterable[Piece], outlined: Iterable[str]) -> VerbosityRule:
    """Return the rule that shows ``pieces`` of a file, and of ``outlined`` names the definition lines."""
    pieces = sorted(pieces, key=lambda piece: piece.first)
    pattern = globs.escape(file.path)
    shown, lines = sum(piece.last - piece.first + 1 for piece in pieces), len(file.lines)
    if pieces and (shown >= _NEARLY_WHOLE * lines or lines - shown <= _SMALL_REST):
        return VerbosityRule(pattern=pattern, level=4)
    names = [file.section_name(piece) for piece in pieces]
    unnamed = [piece for piece, name in zip(pieces, names, strict=True) if not name]
    sections = [
        *(SectionRule(pattern=globs.escape(name), level=2) for name in outlined),
        *(SectionRule(pattern=globs.escape(name), level=4) for name in names if name),
        *(SectionRule(lines=f"{first}-{last}", level=4) for first, last in _ranges(unnamed)),
    ]
    return VerbosityRule(pattern=pattern, level=1, sections=tuple(sections))


def shape_of(rule: VerbosityRule) -> Shape:
    """Return the shape that a rule gives its file."""
    return Shape(1 if rule.level is None else rule.level, tuple(map(Section.of, rule.sections)))


def _ranges(pieces: Sequence[Piece]) -> list[tuple[int, int]]:
    """Return the line ranges of the pieces, neighbours joined."""
    ranges: list[tuple[int, int]] = []
    for piece in pieces:
        if ranges and piece.first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(piece.last, ranges[-1][1]))
        else:
            ranges.append((piece.first, piece.last))
    return ranges
