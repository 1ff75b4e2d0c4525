"""One file at one shape: the lines of it that a map shows, unmodified, and where lines were left out."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from repo_map.languages.kinds import MEMBERS
from repo_map.messages import is_printable, plural, printable
from repo_map.outline.sections import Shape, levels_of, line_spans
from repo_map.parsing.values import LineRange

if TYPE_CHECKING:
    from repo_map.parsing.values import Definition

ELISION = "⋮"
MARK = "■"
"""Begins the header of a file of which something is shown: one token, and no line of source begins so."""
LEGEND = f"{ELISION} N marks omitted lines; line N is next\n"
"""The first line of a map that leaves out lines within files."""
_BAR = "│"
NUMBERED_LEGEND = f"{LEGEND.rstrip()}; N{_BAR}: the line's number, not part of it\n"
"""The first line of a map whose lines are numbered."""
_EVERY = 5
"""Of a run of lines that are numbered, each line at a multiple of so many tells its number."""
_LONGEST_OUTLINE_LINE = 240
_DOC_LINES = 12
_LONGEST_SIGNATURE = 16
"""Lines up to which the signature of what encloses a shown part is shown whole."""
_CHEAPER_THAN_ELISION = 12
"""Characters of left-out lines that cost less to show than to elide."""
_NO_WORDS = re.compile(r"[\W_]*")
_DOC_TAG = re.compile(
    r"[\s*/#!]*(?:[@\\:](?:param|return|throws|raises?|arg|see|since|author|type|rtype)\b|Args:|Parameters:?$|Returns:)"
)
_LOOSE_PATH = re.compile(r"[\s\"⋮■/]|.*(?:\s|:\d+)$", re.DOTALL)
_HEADER = re.compile(rf'{MARK} ("(?:[^"\\]|\\.)*"|[^"].*?)(?::(\d+))?\n?')
_GAP = re.compile(rf"^{ELISION}(?: \d+)?$", re.MULTILINE)
_NUMBER = re.compile(rf"\d+{_BAR}")
_NUMBERED = re.compile(rf"^\d+{_BAR}", re.MULTILINE)


def render_header(path: str, first: int = 1) -> str:
    """Return the line above what is shown of a file, with the number of its first line unless that is 1."""
    return f"{MARK} {render_path(path)}{f':{first}' if first > 1 else ''}"


def path_in_header(line: str) -> str | None:
    """Return the path in a header as ``render_path`` writes it, None for any other line."""
    found = _HEADER.fullmatch(line)
    return found[1] if found else None


def legend_of(text: str) -> str:
    """Return the legend that a file's part of a map needs, ``""`` for none."""
    if is_numbered(text):
        return NUMBERED_LEGEND
    return LEGEND if _GAP.search(text) is not None else ""


def joint_legend(legends: Iterable[str]) -> str:
    """Return the one legend of a map whose parts need these; the longer one holds the other."""
    return max(legends, key=len, default="")


def is_numbered(text: str) -> bool:
    """Say whether a part of a map tells the numbers of its lines."""
    return _BAR in text and _NUMBERED.search(text) is not None


def without_number(line: str) -> str:
    """Return a line of a map as its file has it, without the number that may stand before it."""
    found = _NUMBER.match(line) if _BAR in line else None
    return line[found.end() :] if found else line


def number_lines(header: str, lines: Sequence[str]) -> list[str]:
    """Return the lines below a header, each with its number where the map tells any; else as they are."""
    if not any(_NUMBER.match(line) for line in lines):
        return list(lines)
    found = _HEADER.fullmatch(header)
    at, numbered = int(found[2] or 1) if found else 1, []
    for line in lines:
        if line.startswith(ELISION):
            told = line.removeprefix(ELISION).strip()
            at = int(told) if told.isdecimal() else 0
            numbered.append(line)
            continue
        if (mark := _NUMBER.match(line)) is not None:
            at = int(mark[0].removesuffix(_BAR))
        bare = without_number(line)
        numbered.append(f"{at}{_BAR}{bare}" if at and bare else line)
        at += 1 if at else 0
    return numbered


def render_path(path: str) -> str:
    """Return the line of a file that is told by its path alone, quoted when it could be taken for another."""
    if not is_printable(path) or _LOOSE_PATH.match(path):
        return json.dumps(path)
    return path


_CLOSING = re.compile(rf"{ELISION} [\d,]+ more files?(?:: .*)?\n?")


def render_closing(files: int, places: Sequence[str] = ()) -> str:
    """Return the line that closes a map: how many files it leaves out, and where they are."""
    where = f": {', '.join(places)}" if places else ""
    return f"{ELISION} {plural(files, 'more file')}{where}\n"


def is_closing(line: str) -> bool:
    """Say whether a map's line is the one that closes it; no line of source begins as it does."""
    return _CLOSING.fullmatch(line) is not None


class Body(NamedTuple):
    """What a map shows of a file below its header."""

    text: str
    """Lines, each with its line break; may be ``""``."""
    shown: tuple[LineRange, ...]
    """The lines of the file that stand in the text whole, in ascending order, with a gap between any two.

    Blank lines beside them that are left out count as well: nothing of what they say is missing.
    """
    first: int = 1
    """The number of the text's first line where a part is shown whole; of an outline it is 1."""


def render_body(
    text: str,
    definitions: Sequence[Definition],
    shape: Shape,
    *,
    is_path_line: Callable[[str], bool],
    line_numbers: bool = False,
) -> Body:
    """Return the lines of a file that its shape shows.

    Of ``line_numbers``, the first line of each run tells its own, unless the line before it has done so, and
    then each at a multiple of five, or the next one that is not blank.
    """
    lines = text.split("\n")
    while lines and not lines[-1]:
        lines.pop()
    shown, around = _shown_lines(lines, definitions, shape)
    numbers = _with_short_gaps(lines, shown)
    drawn: list[str] = []
    cut: set[int] = set()
    # A file of blanks alone has none.
    first = next((number for number in numbers if lines[number - 1].strip()), 1) if any(shown.values()) else 1
    previous, told, expected = 0, first, first
    for number in numbers:
        verbatim = shown.get(number, True)
        # Lines of an outline follow each other; those that are read as source tell where they stand.
        is_source = verbatim or shown.get(previous, False) or number in around or previous in around
        if number > previous + 1 and is_source and _has_words(lines, previous, number):
            if not lines[number - 1].strip():
                continue
            if previous:
                _drop_blank_end(drawn)
                drawn.append(f"{ELISION} {number}")
                told = expected = number
        line = _printable(lines[number - 1], is_path_line)
        if not verbatim and len(line) > _LONGEST_OUTLINE_LINE:
            line = f"{line[:_LONGEST_OUTLINE_LINE]}…"
            cut.add(number)
        is_due = number // _EVERY > told // _EVERY and number - told > 1
        if line_numbers and line and (number != expected or is_due):
            line, told, expected = f"{number}{_BAR}{line}", number, number
        drawn.append(line)
        expected = number + 1 if number == expected else 0
        previous = number
    if shown.get(previous, False) and _has_words(lines, previous, len(lines) + 1):
        _drop_blank_end(drawn)
        drawn.append(ELISION)
    if shape.outer:
        levels = levels_of(definitions, shape)
        hidden = (each.kind for each, level in zip(definitions, levels, strict=True) if level < 2)
        number = sum(kind not in MEMBERS for kind in hidden)
        drawn.append(f"{ELISION} {plural(number, 'more definition')}")
    return Body("\n".join([*drawn, ""]), _ranges(numbers, cut), first)


def _ranges(numbers: Sequence[int], cut: Set[int]) -> tuple[LineRange, ...]:
    """Return the runs of ascending line numbers, without the lines that are cut."""
    runs: list[LineRange] = []
    for number in numbers:
        if runs and runs[-1].last == number - 1 and number not in cut:
            runs[-1] = LineRange(runs[-1].first, number)
        elif number not in cut:
            runs.append(LineRange(number, number))
    return tuple(runs)


def _first_line(definition: Definition) -> int:
    """Return the line that a definition begins on, with the comment above it."""
    return definition.doc_start if 0 < definition.doc_start < definition.start else definition.start


def _drop_blank_end(drawn: list[str]) -> None:
    while drawn and not drawn[-1].strip():
        drawn.pop()


def _printable(line: str, is_path_line: Callable[[str], bool]) -> str:
    """Drop what a terminal would act on, and set apart a line that could pass for one of the map's own."""
    line = printable(line)
    is_mark = line.startswith((ELISION, MARK)) or (_BAR in line and _NUMBER.match(line) is not None)
    return f" {line}" if is_mark or is_path_line(line) else line


def _shown_lines(
    lines: Sequence[str], definitions: Sequence[Definition], shape: Shape
) -> tuple[dict[int, bool], Set[int]]:
    """Return the line numbers to show, and whether each is part of a body shown whole.

    And those of the signatures around what is shown of a body or of a class.
    """
    levels = levels_of(definitions, shape)
    whole = bytearray([shape.level == 4]) * (len(lines) + 1)
    outlined: set[int] = set()
    signatures: set[int] = set()
    for index, definition in enumerate(definitions):
        parent = definition.parent
        if levels[index] != (levels[parent] if parent >= 0 else shape.level):
            first = _first_line(definition)
            last = min(definition.end, len(lines))
            whole[first : last + 1] = bytes([levels[index] == 4]) * max(last + 1 - first, 0)
        if levels[index] >= 2:
            outlined.update(_outline(lines, definition, levels[index]))
            if parent >= 0 and levels[parent] < 2:
                signatures.update(_enclosing(definitions, parent))
    for span in line_spans(shape):
        if span.level == 4:
            first, last = min(span.first, len(lines) + 1), min(span.last, len(lines))
            whole[first : last + 1] = b"\x01" * max(last + 1 - first, 0)
        if span.level >= 2:
            around = (each for each in definitions if each.start < span.first <= each.end)
            signatures.update(chain.from_iterable(map(_signature, around)))
    outlined |= signatures
    count = len(lines)
    return {n: bool(whole[n]) for n in range(1, count + 1) if whole[n] or n in outlined}, signatures


def _enclosing(definitions: Sequence[Definition], index: int) -> list[int]:
    """Return the lines of the signatures of a definition and of all that enclose it."""
    found: list[int] = []
    while index >= 0:
        found.extend(_signature(definitions[index]))
        index = definitions[index].parent
    return found


def _signature(definition: Definition) -> range:
    """Return the lines of a signature, of one that is very long the first."""
    last = definition.sig_end if definition.sig_end - definition.sig_start < _LONGEST_SIGNATURE else 0
    return range(definition.sig_start, max(last, definition.sig_start) + 1)


def _outline(lines: Sequence[str], definition: Definition, level: int) -> list[int]:
    """Return the lines that stand for a definition at level 2 or 3."""
    if level == 2:
        return [] if definition.kind in MEMBERS else [definition.sig_start]
    doc_start, doc_end = definition.doc_start, definition.doc_end
    if definition.kind == "heading" and not doc_start:
        # Its own text goes to the first heading below it.
        doc_start, doc_end = definition.sig_end + 1, min(definition.end, len(lines))
        below = (at - 1 for at in range(doc_start, doc_end + 1) if lines[at - 1].startswith("#"))
        doc_end = next(below, doc_end)
    return [*range(definition.start, definition.sig_end + 1), *_first_paragraph(lines, doc_start, doc_end)]


def _first_paragraph(lines: Sequence[str], start: int, end: int) -> range:
    """Return the line numbers of the first paragraph of a comment, docstring or section."""
    if not start:
        return range(0)
    number, end = start, min(end, len(lines))
    while number <= end and _NO_WORDS.fullmatch(lines[number - 1]):
        number += 1
    first = number if lines[start - 1 : number - 1] and not lines[start - 1].strip() else start
    while number <= end and number < start + _DOC_LINES:
        line = lines[number - 1]
        if _NO_WORDS.fullmatch(line) or _DOC_TAG.match(line):
            break
        number += 1
    return range(first, number)


def _with_short_gaps(lines: Sequence[str], shown: dict[int, bool]) -> list[int]:
    """Return the numbers to show, with gaps beside a whole body that cost less to show than to elide."""
    numbers: list[int] = []
    for number in sorted(shown):
        if numbers and 1 < number - numbers[-1] <= 4 and (shown[number] or shown.get(numbers[-1], True)):
            between = range(numbers[-1] + 1, number)
            if sum(len(lines[n - 1].strip()) for n in between) <= _CHEAPER_THAN_ELISION:
                numbers.extend(between)
        numbers.append(number)
    return numbers


def _has_words(lines: Sequence[str], previous: int, number: int) -> bool:
    return any(not line.isspace() and line for line in lines[previous : number - 1])
