"""The lines of one source as statements: where each begins, ends and opens a block."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from typing import Final, NamedTuple

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named

_BRACKET: Final = re.compile(r"[()\[\]{}]")
_CLOSING: Final = frozenset(")]}")
_LEADING_CLOSERS: Final = re.compile(r"[\s)\]}]*")
_JOINED: Final = re.compile(
    r"[)\]}]|(?:else|elif|elsif|except|finally|catch|rescue|ensure|end|done|fi|esac|then)\b"
)
"""What begins a line that goes on with the statement before it, or closes it."""
_LEADS: Final = ("@", "#[")
"""What begins a line that belongs to the definition below it: decorators, attributes."""
_FENCE: Final = re.compile(r"\s*(```|~~~)")
_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)]|#{1,6}) ")
_LONGEST_COMMENT: Final = 12
"""Lines of comments above a statement up to which they are part of it."""


class Statement(NamedTuple):
    """A statement with the comments right above it and the block that it opens; lines are 1-based."""

    first: int
    """Of its comments."""
    start: int
    """Of the statement itself; that of its first comment where it is nothing else."""
    last: int
    parent: int
    """Position of the statement whose block it stands in, -1 at the top."""
    is_comment: bool


class Statements:
    """The statements of one source, found by its brackets and indentation.

    No grammar is asked: where a packet is made none may run. Text without a language has paragraphs.
    """

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._lines = text.split("\n")

    @cached_property
    def _all(self) -> list[Statement]:
        role = language_named(self._language).role if self._language else LanguageRole.PROSE
        if role in (LanguageRole.PROSE, LanguageRole.MARKUP):
            return list(_paragraphs(self._lines))
        return _nested(list(_lines_of(self._lines, self._text, self._language)), len(self._lines))

    @cached_property
    def _firsts(self) -> list[int]:
        return [each.first for each in self._all]

    def at(self, line: int) -> int:
        """Return the position of the innermost statement that holds a line, -1 where none does."""
        at = bisect_right(self._firsts, line) - 1
        while at >= 0 and self._all[at].last < line:
            at = self._all[at].parent
        return at

    def __getitem__(self, position: int) -> Statement:
        return self._all[position]

    def outermost(self, first: int, last: int) -> list[Statement]:
        """Return the statements that hold the lines of a range, the outermost of those that begin there."""
        low, high = bisect_right(self._firsts, first - 1), bisect_right(self._firsts, last)
        found: list[Statement] = []
        around = self.at(first)
        if around >= 0 and self._all[around].first < first:
            found.append(self._all[around])
        covered = 0
        for each in self._all[low:high]:
            if each.first > covered:
                found.append(each)
                covered = each.last
        return found

    def around(self, line: int, most: int) -> Statement | None:
        """Return the largest statement of at most ``most`` lines around a line, None where there is none."""
        at, found = self.at(line), None
        while at >= 0 and self._all[at].last - self._all[at].first < most:
            found, at = self._all[at], self._all[at].parent
        return found

    def window(self, line: int, bounds: tuple[int, int], most: int) -> tuple[int, int] | None:
        """Return whole statements around a line, within ``bounds`` and of at most ``most`` lines, or None.

        It is the largest statement around the line that has room, and its neighbours on both sides.
        """
        low, high = bounds
        at = self.at(line)
        chosen: Statement | None = None
        while at >= 0:
            each = self._all[at]
            if each.last - each.first >= most or each.first < low or each.last > high:
                break
            chosen, at = each, each.parent
        if chosen is None:
            return self._head(at, line, bounds, most)
        return self._widened(chosen, bounds, most)

    def _head(self, at: int, line: int, bounds: tuple[int, int], most: int) -> tuple[int, int] | None:
        """Return the lines with which a statement that is too long begins, with ``line`` among them."""
        if at < 0:
            return None
        each = self._all[at]
        inner = self._all[at + 1] if at + 1 < len(self._all) else None
        opens = inner is not None and inner.parent == at
        last = inner.first - 1 if inner is not None and opens else each.last
        first = each.first if last - each.first < most else each.start
        if first < bounds[0] or last > bounds[1] or last - first >= most or not first <= line <= last:
            return None
        return self._widened(Statement(first, first, last, at if opens else each.parent, False), bounds, most)

    def _widened(self, chosen: Statement, bounds: tuple[int, int], most: int) -> tuple[int, int]:
        """Return a statement with as many of those beside it, below first, as have room."""
        low, high = bounds
        first, last = chosen.first, chosen.last
        while True:
            before = last - first
            at = bisect_right(self._firsts, last)
            if at < len(self._all):
                below = self._all[at]
                if below.parent == chosen.parent and below.last <= high and below.last - first < most:
                    last = below.last
            above = self._before(first, chosen.parent)
            if above is not None and above.first >= low and last - above.first < most:
                first = above.first
            if last - first == before:
                return first, last

    def _before(self, line: int, parent: int) -> Statement | None:
        """Return the statement right above a line that stands in the block of ``parent``."""
        at = bisect_right(self._firsts, line - 1) - 1
        while at >= 0 and self._all[at].parent != parent:
            at = self._all[at].parent
            if at < 0 or at == parent:
                return None
        return self._all[at] if at >= 0 else None


class _Line(NamedTuple):
    """A line that begins a statement, a comment or what closes one."""

    number: int
    level: tuple[int, int]
    """Brackets that are open, and its indentation."""
    is_comment: bool
    is_lead: bool
    goes_on: bool
    """Whether it goes on with the statement before it on the same level."""


def _lines_of(lines: Sequence[str], text: str, language: str) -> Iterator[_Line]:
    """Yield the lines that begin something; what stands within literals and brackets begins nothing."""
    masked, inside = _masked(text, language)
    open_: list[bool] = []
    indent = 0
    for number, (raw, code) in enumerate(zip(lines, masked.split("\n"), strict=True), 1):
        stripped = code.strip()
        begins = bool(raw.strip()) and number not in inside and all(open_[-1:])
        if begins:
            closers = _closers(stripped) if stripped[:1] in _CLOSING else 0
            if not stripped.startswith("#") or stripped.startswith("#["):
                indent = len(raw) - len(raw.lstrip())
            yield _Line(
                number,
                (max(len(open_) - closers, 0), indent),
                not stripped,
                stripped.startswith(_LEADS),
                bool(_JOINED.match(stripped)),
            )
        for each in _BRACKET.finditer(code) if stripped else ():
            if each[0] in "([{":
                # What stands below a bracket that ends its line are items of a block; else one statement.
                open_.append(not code[each.end() :].strip())
            elif open_:
                open_.pop()


def _closers(code: str) -> int:
    """Return the number of brackets that a line closes before anything else stands on it."""
    found = _LEADING_CLOSERS.match(code)
    return sum(each in _CLOSING for each in found[0]) if found else 0


def _masked(text: str, language: str) -> tuple[str, set[int]]:
    """Return the text without its literals and comments, and the lines that begin within one."""
    pattern = _literals(language)
    if pattern is None:
        return text, set()
    inside: set[int] = set()
    pieces: list[str] = []
    at, line = 0, 1
    for found in pattern.finditer(text):
        before, literal = text[at : found.start()], found[0]
        line += before.count("\n")
        breaks = literal.count("\n")
        inside.update(range(line + 1, line + breaks + 1))
        line += breaks
        mark = "" if literal.startswith(("/*", "//", "#", "--", ";")) else "_"
        pieces += (before, mark, "\n" * breaks)
        at = found.end()
    return "".join([*pieces, text[at:]]), inside


@cache
def _literals(language: str) -> re.Pattern[str] | None:
    writing = language_named(language).writing
    return re.compile("|".join(writing.skipped), re.DOTALL | re.ASCII) if writing else None


def _nested(found: Sequence[_Line], end: int) -> list[Statement]:
    """Return the statements that begin on some lines, with their blocks, in order."""
    firsts: list[list[int]] = []
    """First, start, last, parent and whether it is a comment."""
    levels: list[tuple[int, int]] = []
    around: list[int] = []
    leads: int | None = None
    """A comment or decorator that the next line on its level belongs to."""
    previous = 0
    for line in found:
        last = line.number - 1
        if leads is not None and levels[leads] == line.level and not line.goes_on:
            each = firsts[leads]
            is_close = line.number - each[0] <= _LONGEST_COMMENT
            if is_close and (line.is_comment or previous == line.number - 1 or line.is_lead):
                each[4] = int(line.is_comment)
                each[1] = each[0] if line.is_comment else line.number
                leads = leads if line.is_comment or line.is_lead else None
                previous = line.number
                continue
        while around and (
            levels[around[-1]] > line.level or (levels[around[-1]] == line.level and not line.goes_on)
        ):
            firsts[around.pop()][2] = last
        previous = line.number
        if around and line.goes_on and levels[around[-1]] == line.level:
            leads = None
            continue
        parent = around[-1] if around else -1
        firsts.append([line.number, line.number, end, parent, int(line.is_comment)])
        levels.append(line.level)
        around.append(len(firsts) - 1)
        leads = len(firsts) - 1 if line.is_comment or line.is_lead else None
    return [Statement(a, b, c, d, bool(e)) for a, b, c, d, e in firsts]


def _paragraphs(lines: Sequence[str]) -> Iterator[Statement]:
    """Yield the paragraphs, items and fenced blocks of a text."""
    first, fence = 0, ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            first = first or number
            continue
        if fence:
            if mark and mark[1] == fence:
                fence = ""
            continue
        if not line.strip() or _ITEM.match(line):
            if first:
                yield Statement(first, first, number - 1, -1, False)
            first = number if line.strip() else 0
        else:
            first = first or number
    if first:
        yield Statement(first, first, len(lines), -1, False)
