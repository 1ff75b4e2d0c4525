"""Cut files into the units that ranking scores: functions, class headers, and the gaps between them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from repo_map.languages.kinds import CONTAINERS, FUNCTIONS
from repo_map.languages.language import Structure
from repo_map.languages.registry import language_named
from repo_map.parsing.values import Definition, FileSymbols

FUNCTION, CLASS_HEADER, GAP = range(3)
NAME, SIGNATURE, DOCS, STRINGS, BODY = range(5)

_WINDOW = 60
_MIN_OPENED_LINES = 150
"""A longer function that holds others, such as a module wrapper, is split like a class."""
_MAX_SIGNATURE_LINES = 12
_MIN_MACRO_LINES = 2
"""Macros of one or two lines are constants: they stay in the gaps."""
MAX_WINDOWS = 100
MAX_TEXT_WINDOWS = 20
"""For files without definitions, such as generated pages and data."""
_MAX_COMMENT_LINES = 40
_MAX_OUTER_NAMES = 50
"""Of the enclosing definitions: deeper nesting is no code, and would take quadratic memory."""

_COMMENT_LINE = re.compile(r"\s*(?:#(?!include|define|if|endif|else|pragma|\[)|//|/?\*|--|;;)")


class FileUnits(NamedTuple):
    """The units of one file and their terms, as parallel columns that the index stores."""

    start: list[int]
    """First line of each unit, 1-based, its comment block above included."""
    end: list[int]
    definition: list[int]
    """Row in the file's definitions, -1 for a gap."""
    kind: list[int]
    """0 function, 1 class header, 2 gap."""
    texts: list[str]
    """The text of each field of each unit in turn, whose terms ``terms.count_terms`` counts."""


class _Span(NamedTuple):
    start: int
    end: int
    definition: int
    kind: int


def read_units(source: bytes, symbols: FileSymbols, path: str) -> FileUnits:
    """Cut one file into units and list their texts by field; every line belongs to at max_gaps one unit."""
    lines = source.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    spans = _limited(_cut(lines, symbols.definitions), _max_windows(symbols))
    units = FileUnits([], [], [], [], [])
    quoted = re.compile(language_named(symbols.language).literals)
    names = _names_in_gaps(symbols.definitions, spans)
    for row, span in enumerate(spans):
        units.start.append(span.start)
        units.end.append(span.end)
        units.definition.append(span.definition)
        units.kind.append(span.kind)
        if span.kind == GAP:
            text = "\n".join(lines[span.start - 1 : span.end])
            units.texts.extend((" ".join(names.get(row, ())), "", *_split_quoted(text, quoted)))
        else:
            units.texts.extend(_fields(lines, span, symbols.definitions, quoted))
    return units


def _fields(
    lines: list[str], span: _Span, definitions: Sequence[Definition], quoted: re.Pattern[str]
) -> tuple[str, ...]:
    """Return the texts of a definition's name, signature, docs, strings and body."""
    definition = definitions[span.definition]
    sig_start = max(definition.sig_start, span.start)
    sig_end = min(definition.sig_end, span.end, sig_start + _MAX_SIGNATURE_LINES - 1)
    above, below = lines[span.start - 1 : sig_start - 1], lines[max(sig_end, sig_start - 1) : span.end]
    signature = "\n".join(lines[sig_start - 1 : sig_end])
    rest = _split_quoted("\n".join(above + below), quoted)
    return (" ".join(_qualified(definitions, span.definition)), signature, *rest)


def _split_quoted(text: str, quoted: re.Pattern[str]) -> tuple[str, str, str]:
    """Return the comments, the string literals, and the rest of ``text``."""
    # What opens behind the last end of a comment would be searched to the end of the text, each time anew.
    closed = text.rfind("*/") + 2
    if text.find("/*", closed) >= 0:
        text = text[:closed] + text[closed:].replace("/*", "/ ")
    pieces = quoted.split(text)
    docs: list[str] = []
    strings: list[str] = []
    for piece in pieces[1::2]:
        if piece[0] in "\"'`" and piece[:3] not in ('"""', "'''"):
            strings.append(piece)
        else:
            docs.append(piece)
    return "\n".join(docs), "\n".join(strings), " ".join(pieces[::2])


def _qualified(definitions: Sequence[Definition], row: int) -> list[str]:
    names: list[str] = []
    while row >= 0 and len(names) < _MAX_OUTER_NAMES:
        names.append(definitions[row].name)
        row = definitions[row].parent
    return names


def _names_in_gaps(definitions: Sequence[Definition], spans: Sequence[_Span]) -> dict[int, list[str]]:
    """Return the names of the constants, types and headings that begin in each gap, by the gap's row."""
    names: dict[int, list[str]] = {}
    row = 0
    for definition in definitions:
        while row < len(spans) and spans[row].end < definition.start:
            row += 1
        if row == len(spans):
            break
        if spans[row].kind == GAP and spans[row].start <= definition.start:
            names.setdefault(row, []).append(definition.name)
    return names


def _max_windows(symbols: FileSymbols) -> int:
    has_code = any(definition.kind in FUNCTIONS | CONTAINERS for definition in symbols.definitions)
    is_plain = language_named(symbols.language).structure is Structure.PLAIN
    return MAX_WINDOWS if has_code or is_plain else MAX_TEXT_WINDOWS


def _limited(spans: Iterable[_Span], max_gaps: int) -> list[_Span]:
    """Drop the gaps beyond the first ``max_gaps``."""
    units: list[_Span] = []
    for span in spans:
        if span.kind != GAP:
            units.append(span)
        elif max_gaps > 0:
            units.append(span)
            max_gaps -= 1
    return units


def _cut(lines: list[str], definitions: Sequence[Definition]) -> Iterator[_Span]:
    """Yield the units of a file in line order."""
    last = len(lines)
    covered = 0
    heads = list(_heads(lines, definitions))
    for at, (row, kind) in enumerate(heads):
        definition = definitions[row]
        start = max(_with_comment(lines, definition, covered), covered + 1)
        yield from _windows(lines, covered + 1, start - 1)
        end = min(definition.end, last)
        if kind == CLASS_HEADER:
            following = definitions[heads[at + 1][0]] if at + 1 < len(heads) else None
            if following is not None:
                end = min(end, max(_with_comment(lines, following, start) - 1, start))
            end = min(end, start + _WINDOW - 1)
        if end >= start:
            yield _Span(start, end, row, kind)
            covered = end
    yield from _windows(lines, covered + 1, last)


def _heads(lines: list[str], definitions: Sequence[Definition]) -> Iterator[tuple[int, int]]:
    """Yield the row and kind of every function and class header that is a unit, by first line."""
    covered = 0
    opened = _opened_functions(definitions)
    for row, definition in enumerate(definitions):
        if definition.start <= covered:
            continue
        if _is_declaration(lines, definition):
            continue
        if definition.kind in FUNCTIONS and row not in opened:
            yield row, FUNCTION
            covered = definition.end
        elif definition.kind in CONTAINERS or row in opened:
            yield row, CLASS_HEADER


def _is_declaration(lines: list[str], definition: Definition) -> bool:
    """Return True if a function has no body: a prototype, an interface's method, a macro that is a constant.

    They stay together in their class header or gap.
    """
    if definition.kind == "macro":
        return definition.end - definition.start < _MIN_MACRO_LINES
    if definition.kind not in FUNCTIONS or definition.sig_end < definition.end:
        return False
    last = lines[min(definition.end, len(lines)) - 1].rstrip()
    return last.endswith(";") and "=>" not in last


def _opened_functions(definitions: Sequence[Definition]) -> frozenset[int]:
    parents = {definition.parent for definition in definitions if definition.kind in FUNCTIONS}
    return frozenset(
        row
        for row in parents
        if row >= 0
        and definitions[row].kind in FUNCTIONS
        and definitions[row].end - definitions[row].start >= _MIN_OPENED_LINES
    )


def _with_comment(lines: list[str], definition: Definition, floor: int) -> int:
    """Return the first line of the comments right above a definition, or its own first line."""
    start = definition.start
    if 0 < definition.doc_start < start:
        start = definition.doc_start
    lowest = max(floor, start - _MAX_COMMENT_LINES)
    while start - 1 > lowest and _COMMENT_LINE.match(lines[start - 2]):
        start -= 1
    return start


def _windows(lines: list[str], first: int, last: int) -> Iterator[_Span]:
    """Yield the lines from ``first`` to ``last`` in windows, blank edges and near-empty windows left out."""
    while first <= last and not lines[first - 1].strip():
        first += 1
    while last >= first and not lines[last - 1].strip():
        last -= 1
    for start in range(first, last + 1, _WINDOW):
        end = min(start + _WINDOW - 1, last)
        if _has_content(lines[start - 1 : end]):
            yield _Span(start, end, -1, GAP)


def _has_content(lines: Sequence[str]) -> bool:
    """Return True if lines have ten characters or more without the blanks at their edges."""
    missing = 10
    for line in lines:
        missing -= len(line.strip())
        if missing <= 0:
            return True
    return False
