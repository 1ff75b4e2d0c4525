"""Parts of a file worth showing, with windows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.parsing.values import Definition
from repo_map.relevance.score import Relevance, ScoredUnit
from repo_map.selection.sections import qualified_names
from repo_map.text import tokens
from repo_map.text.terms import terms_of, words
from repo_map.worktree.file_kinds import FileFlag, kinds_of

if TYPE_CHECKING:
    from repo_map.index import RepoIndex


_REACHES = (12, 5, 2)
"""Lines shown before and after a line that matters, fewer where the room is small."""
_HEAD = 6
"""First lines of the function, shown beside its windows."""
_LONGEST_HEAD = 15
"""Lines up to which a signature is shown whole; of a longer one the first line tells most."""
_NEARBY = 4
"""Lines whose words count for a line, the less the further away."""


def find_windows(
    lines: Sequence[str], head: tuple[int, int], last: int, terms: Mapping[str, float], room: int
) -> list[tuple[int, int]]:
    """Return the head, and the line ranges from there to ``last`` that hold ``terms``, the densest first.

    They have ``room`` characters in all. Terms that are rare in the function count more: one that stands on
    every line tells no line from another.
    """
    first = head[0]
    values = _line_values(lines[first - 1 : last], terms)
    found = [head if _size(lines, *head) <= room // 2 else (first, first)]
    left = room - _size(lines, *found[0])
    for at in _densest(values):
        line = first + at
        if any(start <= line <= end for start, end in found):
            continue
        ranges = (_between(found, line, max(line - r, first), min(line + r, last)) for r in _REACHES)
        window = next((window for window in ranges if _size(lines, *window) <= left), None)
        if window is None:
            break
        found.append(window)
        left -= _size(lines, *window)
    return found


def head_of(first: int, signature_end: int, last: int) -> tuple[int, int]:
    """Return the first lines of a function, to the end of its signature at least, which is never cut."""
    if signature_end - first >= _LONGEST_HEAD:
        return first, first
    return first, min(max(signature_end, first + _HEAD - 1), last)


def _line_values(lines: Sequence[str], terms: Mapping[str, float]) -> list[float]:
    hits = [{term for word in words(line) for term in terms_of(word)} & terms.keys() for line in lines]
    spread = Counter(term for line in hits for term in line)
    return [
        sum(terms[term] * math.log1p(len(lines) / spread[term]) for term in sorted(line)) for line in hits
    ]


def _densest(values: Sequence[float]) -> list[int]:
    """Return the positions that hold anything, by their value and that of the lines around them."""
    density = [0.0] * len(values)
    for at, value in enumerate(values):
        if value:
            for other in range(max(0, at - _NEARBY), min(len(values), at + _NEARBY + 1)):
                density[other] += value / (1 + abs(other - at))
    return sorted((at for at, value in enumerate(values) if value), key=lambda at: (-density[at], at))


def _between(taken: Sequence[tuple[int, int]], line: int, start: int, end: int) -> tuple[int, int]:
    """Return the part of a range around ``line`` that is not taken yet."""
    start = max([start, *(last + 1 for _, last in taken if last < line)])
    end = min([end, *(first - 1 for first, _ in taken if first > line)])
    return start, end


def _size(lines: Sequence[str], first: int, last: int) -> int:
    return sum(len(line) + 1 for line in lines[first - 1 : last])


_FUNCTION = 0
_CHARACTERS_PER_TOKEN = 4
_SHORT = 20
"""Tokens below which a piece gets no cheaper: its elision and its place in mind cost as well."""
_LENGTH_PRICE = 0.5
"""What a unit's score loses per e-fold of its length: of equals the shorter is shown first."""
_ASIDE = 3.0
"""What tests, prose and data are worth less than code, unless the goal names them: fixes rarely edit them."""
_GAP = 0.7
"""What imports and constants, the lines between definitions, are worth less than a definition."""
_ASIDE_ROLES = frozenset({LanguageRole.PROSE, LanguageRole.MARKUP, LanguageRole.DATA})
_LATER_WINDOW = 1.0
"""What each further window of a function is worth less than the one before."""


class Piece(NamedTuple):
    """A whole unit, or a window of one that is too long to show whole."""

    unit: ScoredUnit
    first: int
    """First line, 1-based and inclusive."""
    last: int
    worth: float
    """The unit's score less what its length costs; comparable within one packing."""
    is_beside: bool = False
    """Whether it tells something only beside another piece of its unit, as a head does."""

    @property
    def path(self) -> str:
        return self.unit.path

    @property
    def value(self) -> float:
        """Its chance to be what the goal's work touches, 0 to 1, by the root of its tokens."""
        return self.unit.chance * math.exp(self.worth - self.unit.score)

    @property
    def is_whole(self) -> bool:
        return (self.first, self.last) == (self.unit.start, self.unit.end)


class SourceFile:
    """The text of one file, cut as pieces need it."""

    def __init__(self, index: RepoIndex, file_id: int, aside: float) -> None:
        self.path = index.paths[file_id]
        self.id = file_id
        self.aside = aside
        """What its pieces are worth less for the kind of file it is."""
        self._index = index

    @cached_property
    def text(self) -> str:
        return self._index.text(self.id)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        return self._index.definitions(self.id)

    @cached_property
    def names(self) -> list[str]:
        """Qualified name of each definition."""
        return qualified_names(self.definitions)

    @cached_property
    def tokens(self) -> int:
        """Of the whole file."""
        return tokens.count(self.text)

    def cut(self, first: int, last: int) -> str:
        """Return the lines from ``first`` to ``last``."""
        return "\n".join(self.lines[first - 1 : last]) + "\n"

    def definition_of(self, unit: ScoredUnit) -> int:
        """Return the row of the definition that a unit shows, -1 for a gap."""
        rows = (row for row, name in enumerate(self.names) if name == unit.name)
        return next((row for row in rows if unit.start <= self.definitions[row].sig_start <= unit.end), -1)

    def section_name(self, piece: Piece) -> str:
        """Return the name that asks for exactly this piece, empty where only line numbers do."""
        unit = piece.unit
        if unit.kind != _FUNCTION or not piece.is_whole or self.names.count(unit.name) != 1:
            return ""
        return unit.name if self.definitions[self.names.index(unit.name)].end == unit.end else ""


class PieceReader:
    """Makes pieces of scored units; each file is read once."""

    def __init__(self, index: RepoIndex, relevance: Relevance) -> None:
        self._index = index
        self._goal = relevance.goal
        self._asked = relevance.asked
        self._files: dict[str, SourceFile] = {}
        self._terms = {
            term: 1.0 + math.log(count)
            for counts in relevance.goal.terms.values()
            for term, count in counts.items()
        }

    def file(self, path: str) -> SourceFile:
        """Return a file of the index."""
        if path not in self._files:
            file_id = self._index.file_id(path)
            assert file_id is not None
            self._files[path] = SourceFile(self._index, file_id, self._aside(file_id))
        return self._files[path]

    def pieces(self, unit: ScoredUnit, longest: int, windows: int) -> Iterator[Piece]:
        """Yield the unit if it has at most ``longest`` tokens, else parts of it, of ``windows`` tokens."""
        file = self.file(unit.path)
        text = file.cut(unit.start, unit.end)
        if len(text) <= longest * _CHARACTERS_PER_TOKEN:
            yield Piece(unit, unit.start, unit.end, self._worth(unit, text))
            return
        room = windows * _CHARACTERS_PER_TOKEN
        row = file.definition_of(unit)
        signature_end = file.definitions[row].sig_end if row >= 0 else unit.start
        start = head_of(unit.start, signature_end, unit.end)
        head, *found = find_windows(file.lines, start, unit.end, self._terms, room)
        best = math.inf
        for place, (first, last) in enumerate(found, 1):
            worth = self._worth(unit, file.cut(first, last)) - place * _LATER_WINDOW
            best = worth if place == 1 else best
            yield Piece(unit, first, last, worth)
        worth = min(self._worth(unit, file.cut(*head)), best)
        yield Piece(unit, *head, worth, is_beside=bool(found))

    def _worth(self, unit: ScoredUnit, text: str) -> float:
        length = max(len(text) / _CHARACTERS_PER_TOKEN, _SHORT)
        gap = 0.0 if unit.name else _GAP
        return unit.score - _LENGTH_PRICE * math.log(length) - self.file(unit.path).aside - gap

    def _aside(self, file_id: int) -> float:
        """Return what the units of a file are worth less for the kind of file it is."""
        index, path = self._index, self._index.paths[file_id]
        if path in self._asked or any(
            f"/{path}".endswith(f"/{named.lstrip('./')}") for named in self._goal.paths
        ):
            return 0.0
        flags = int(index.files.flags[file_id])
        if kinds_of(path, flags) & self._goal.aims.kinds:
            return 0.0
        role = language_named(index.languages[int(index.files.language[file_id])]).role
        return _ASIDE if flags & FileFlag.TEST or role in _ASIDE_ROLES else 0.0
