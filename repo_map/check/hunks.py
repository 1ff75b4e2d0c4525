"""Find hunks in a file, leave out whitespace changes, and map lines across a change."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final, NamedTuple

from repo_map.check.patch import Hunk
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named

_STRING_OR_BLANK: Final = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`)|\s+")
_MIN_UNIQUE_LINES: Final = 2
"""Lines with a word that a hunk needs to be found away from where the patch says it is."""
_MAX_REPEATS: Final = 2_000
_MAX_COMPARED: Final = 250_000
"""Product of the removed and added lines of a run up to which whitespace is ignored."""


class ChangedRange(NamedTuple):
    """Lines that a hunk changes, 1-based and inclusive; of lines that are not there, those around them."""

    first: int
    last: int
    is_between: bool = False
    """Whether lines were removed or are inserted between the two."""
    indent: int = -1
    """Columns before the first inserted line; -1 without one."""


class LocatedHunk(NamedTuple):
    """A hunk in the file as it is."""

    ranges: tuple[ChangedRange, ...]
    is_applied: bool
    """Whether the file is as the patch leaves it."""
    first: int
    """First line of the hunk's side that is in the file, 1-based; of an empty side, the line after."""


class HunkLocator:
    """Finds hunks in a file by their lines, on either side of the change, however far they moved."""

    def __init__(self, lines: Sequence[str]) -> None:
        """Take the lines without their ends."""
        self._lines = [line.rstrip() for line in lines]

    @cached_property
    def _positions(self) -> Mapping[str, Sequence[int]]:
        positions: defaultdict[str, list[int]] = defaultdict(list)
        for at, line in enumerate(self._lines):
            positions[line].append(at)
        return positions

    def locate(self, hunk: Hunk, marked: Sequence[str]) -> LocatedHunk | None:
        """Return where a hunk is, None if neither of its sides is in the file.

        Args:
            hunk: As the patch has it.
            marked: Its lines with those as context that differ in whitespace alone.
        """
        new, old = (tuple(line.rstrip() for line in hunk.side(mark)) for mark in "+-")
        sides = ((new, hunk.new_start, True), (old, hunk.old_start, False))
        for lines, start, is_applied in sides:
            if lines and self._is_at(lines, start - 1):
                return LocatedHunk(tuple(_ranges(marked, start, is_applied=is_applied)), is_applied, start)
        for lines, start, is_applied in sides:
            if (at := self._find(lines, start - 1)) is not None:
                ranges = tuple(_ranges(marked, at + 1, is_applied=is_applied))
                return LocatedHunk(ranges, is_applied, at + 1)
        return self._locate_by_number(hunk)

    def _locate_by_number(self, hunk: Hunk) -> LocatedHunk | None:
        """Return where a hunk of insertions or deletions without context goes: its line number decides."""
        marks = {line[0] for line in hunk.lines}
        if len(marks) != 1 or " " in marks:
            return None
        is_applied = "-" in marks
        start = hunk.new_start if is_applied else hunk.old_start
        if not 0 < start <= len(self._lines):
            return None
        indent = -1 if is_applied else _first_indent(hunk.marked("+"))
        return LocatedHunk(
            (ChangedRange(start, start + 1, is_between=True, indent=indent),), is_applied, start + 1
        )

    def _is_at(self, lines: Sequence[str], at: int) -> bool:
        return at >= 0 and self._lines[at : at + len(lines)] == list(lines)

    def _find(self, lines: Sequence[str], near: int) -> int | None:
        """Return where a run of lines is, the nearest to a line."""
        unique = [at for at, line in enumerate(lines) if any(map(str.isalnum, line))]
        if len(unique) < _MIN_UNIQUE_LINES:
            return None
        rarest = min(unique, key=lambda at: len(self._positions.get(lines[at], ())))
        starts = self._positions.get(lines[rarest], ())
        if len(starts) > _MAX_REPEATS:
            return None
        found = [at - rarest for at in starts if self._is_at(lines, at - rarest)]
        return min(found, key=lambda at: (abs(at - near), at), default=None)


def _ranges(lines: Sequence[str], start: int, *, is_applied: bool) -> Iterator[ChangedRange]:
    """Yield what a hunk changes of the side that is in the file, whose first line is ``start``."""
    own = "+" if is_applied else "-"
    line = start
    for is_changed, run in _runs(lines):
        count = sum(not is_changed or each[0] == own for each in run)
        if is_changed and count:
            yield ChangedRange(line, line + count - 1)
        elif is_changed:
            indent = -1 if is_applied else _first_indent([each[1:] for each in run])
            yield ChangedRange(line - 1, line, is_between=True, indent=indent)
        line += count


def _runs(lines: Sequence[str]) -> Iterator[tuple[bool, Sequence[str]]]:
    """Yield runs of context and of changed lines."""
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and (lines[end][0] == " ") == (lines[at][0] == " "):
            end += 1
        yield lines[at][0] != " ", lines[at:end]
        at = end


def _first_indent(lines: Sequence[str]) -> int:
    return next((len(line) - len(line.lstrip()) for line in lines if line.strip()), -1)


def ignore_whitespace(lines: Sequence[str], language: str) -> tuple[str, ...]:
    """Return a hunk's lines; those that differ in whitespace alone become context, as in ``git diff -w``.

    Indentation counts where the language gives it a meaning, and so do blanks within strings.
    """
    known = language_named(language)
    if known.role not in (LanguageRole.CODE, LanguageRole.DECLARATIONS):
        return tuple(lines)

    def significant(line: str) -> str:
        indent = line[1 : len(line) - len(line[1:].lstrip())] if known.is_indented else ""
        return indent + _STRING_OR_BLANK.sub(lambda found: found[1] or "", line[1:])

    found: list[str] = []
    for is_changed, run in _runs(lines):
        removed, added = ([each for each in run if each[0] == mark] for mark in "-+")
        if not is_changed or not 0 < len(removed) * len(added) <= _MAX_COMPARED:
            found += run
            continue
        one, other = (list(map(significant, side)) for side in (removed, added))
        for kind, start, stop, low, high in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            if kind == "equal":
                found += (f" {each[1:]}" for each in added[low:high])
            else:
                found += (*removed[start:stop], *added[low:high])
    return tuple(found)


class LineMap:
    """Maps the unchanged lines of a file from before a change to after it, and back."""

    def __init__(self, count: int, hunks: Sequence[tuple[int, Hunk]]) -> None:
        """Take the number of lines before, and the hunks in order, each with its first line before."""
        self._after: dict[int, int] = {}
        before = after = 1
        for first, hunk in hunks:
            after += self._add(before, after, first - before)
            before = first
            for line in hunk.lines:
                if line[0] == " ":
                    self._add(before, after, 1)
                before += line[0] != "+"
                after += line[0] != "-"
        self._add(before, after, count - before + 1)
        self._before = {new: old for old, new in self._after.items()}

    def _add(self, before: int, after: int, count: int) -> int:
        self._after.update((before + at, after + at) for at in range(count))
        return max(count, 0)

    def after(self, line: int) -> int:
        """Return the line after the change, 1-based; 0 for a removed or edited one."""
        return self._after.get(line, 0)

    def before(self, line: int) -> int:
        """Return the line before the change, 1-based; 0 for a new or edited one."""
        return self._before.get(line, 0)
