"""Pieces: what a plan can show or leave out, each a run of lines of one file with its worth."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from repo_map import tokens
from repo_map.packing.windows import find_windows, head_of
from repo_map.relevance.aims import is_aimed_at
from repo_map.relevance.scoring import Relevance, ScoredUnit
from repo_map.selection.sections import qualified_names
from repo_map.symbols import Definition
from repo_map.worktree.file_flags import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

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
_PROSE_AND_DATA = frozenset({"", "css", "html", "json", "markdown", "toml", "yaml"})
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

    def evidence(self, piece: Piece) -> float:
        """Return what a piece is worth where its length costs nothing."""
        return piece.unit.score - self.file(piece.path).aside

    def _worth(self, unit: ScoredUnit, text: str) -> float:
        length = max(len(text) / _CHARACTERS_PER_TOKEN, _SHORT)
        gap = 0.0 if unit.name else _GAP
        return unit.score - _LENGTH_PRICE * math.log(length) - self.file(unit.path).aside - gap

    def _aside(self, file_id: int) -> float:
        """Return what the units of a file are worth less for the kind of file it is."""
        index, path = self._index, self._index.paths[file_id]
        if any(f"/{path}".endswith(f"/{named.lstrip('./')}") for named in self._goal.paths):
            return 0.0
        flags = int(index.files.flags[file_id])
        if is_aimed_at(path, flags, self._goal.aims):
            return 0.0
        language = index.languages[int(index.files.language[file_id])]
        return _ASIDE if flags & FileFlag.TEST or language in _PROSE_AND_DATA else 0.0
