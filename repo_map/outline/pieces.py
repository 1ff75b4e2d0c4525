"""Parts of a file worth showing, and what each is worth."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.outline.source import SourceFile, joined, own_lines
from repo_map.outline.statements import Statement
from repo_map.outline.windows import find_windows, head_of, openers_of, size_of, tail_of
from repo_map.ranking.score import Relevance, ScoredUnit
from repo_map.sources.file_kinds import FileFlag, kinds_of
from repo_map.text.terms import terms_of, tokenize
from repo_map.text.units import GAP

if TYPE_CHECKING:
    from repo_map.index.index import Index


_SHORT_GAP = 40
"""Tokens up to which what stands between definitions is shown as it is."""
_WORD = re.compile(r"\w+")
CHARACTERS_PER_TOKEN = 4
_SHORT = 20
"""Tokens below which a piece gets no cheaper: its elision and its place in mind cost as well."""
LENGTH_PRICE = 0.5
"""What a unit's score loses per e-fold of its length: of equals the shorter is shown first."""
_ASIDE = 3.0
"""What tests, prose and data are worth less than code, unless the goal names them: fixes rarely edit them."""
_GAP = 0.7
"""What imports and constants, the lines between definitions, are worth less than a definition."""
_ASIDE_ROLES = frozenset({LanguageRole.PROSE, LanguageRole.MARKUP, LanguageRole.DATA})
_LATER_WINDOW = 1.0
"""What each further window of a function is worth less than the one before,"""
_FIRST_OF_BARE = 0.4
"""and the first of a small answer less than the whole: of the surest it tells more than a neighbour."""


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
    why: str = ""
    """Why it is shown, in a few words; ``""`` where nothing says more than its place."""

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


class PieceReader:
    """Makes pieces of scored units; each file is read once."""

    def __init__(
        self,
        index: Index,
        relevance: Relevance,
        length_price: float = LENGTH_PRICE,
        *,
        is_bare: bool = False,
    ) -> None:
        """Make pieces whose worth falls by ``length_price`` with each e-fold of their length.

        Where ``is_bare``, without the comments above them, and no heads without a body.
        """
        self.index = index
        self._length_price = length_price
        self._is_bare = is_bare
        self._goal = relevance.goal
        self._asked = relevance.asked
        self._files: dict[str, SourceFile] = {}
        self._identifiers = relevance.goal.identifiers
        self._terms = {
            term: 1.0 + math.log(count)
            for counts in relevance.goal.terms.values()
            for term, count in counts.items()
        }

    @property
    def is_first_look(self) -> bool:
        """Whether most files were not read yet."""
        return bool(self.index.build.partial_files)

    def file(self, path: str) -> SourceFile:
        """Return a file of the index."""
        if path not in self._files:
            file_id = self.index.file_id(path)
            assert file_id is not None
            self._files[path] = SourceFile(self.index, file_id, self._aside(file_id), is_bare=self._is_bare)
        return self._files[path]

    def pieces(self, unit: ScoredUnit, longest: int, windows: int) -> Iterator[Piece]:
        """Yield a unit of at most ``longest`` tokens, else parts of it of ``windows`` tokens; 0: none."""
        first = own_lines(self.index, unit).first if self._is_bare else unit.start
        text = self.file(unit.path).cut(first, unit.end)
        if len(text) <= longest * CHARACTERS_PER_TOKEN:
            yield Piece(unit, first, unit.end, self._worth(unit, text))
        elif windows:
            yield from self.windows(unit, windows)

    def windows(self, unit: ScoredUnit, most: int) -> Iterator[Piece]:
        """Yield parts of a unit of about ``most`` tokens, around what the goal speaks of."""
        file, room = self.file(unit.path), most * CHARACTERS_PER_TOKEN
        row = file.definition_of(unit)
        start = head_of(unit, file.definitions[row] if row >= 0 else None)
        head, *found = find_windows(file, start, unit.end, self._terms, room)
        if self._is_bare and not found:
            return
        best = math.inf
        for place, (first, last) in enumerate(found, 1):
            worth = self._worth(unit, file.cut(first, last)) - self._price_of_window(place)
            best = worth if place == 1 else best
            yield Piece(unit, first, last, worth)
        for first, last in (head, *openers_of(file, head, found), *tail_of(file, unit, found)):
            worth = min(self._worth(unit, file.cut(first, last)), best)
            yield Piece(unit, first, last, worth, is_beside=bool(found))

    def _price_of_window(self, place: int) -> float:
        """Return what a window is worth less than the whole, the first of a unit being 1."""
        return (place - 1) * _LATER_WINDOW + (_FIRST_OF_BARE if self._is_bare else _LATER_WINDOW)

    def parts(self, piece: Piece) -> list[Piece]:
        """Return what of a piece is shown: of what stands between definitions only what says something.

        Imports, licences and comments that stand alone do so to few goals; a long table is shown around what
        the goal speaks of.
        """
        unit, file = piece.unit, self.file(piece.path)
        if unit.kind != GAP:
            return [piece]
        found = file.statements.outermost(unit.start, unit.end)
        if self._is_code(file.id) and all(each.is_comment or each.start > unit.end for each in found):
            return [piece] if self._speaks(file.cut(unit.start, unit.end)) else []
        if size_of(file.lines, piece.first, piece.last) <= _SHORT_GAP * CHARACTERS_PER_TOKEN:
            return [piece]
        kept = [each for each in found if self._tells(each, file)]
        ranges = joined([(max(each.first, unit.start), min(each.last, unit.end)) for each in kept])
        return [piece._replace(first=first, last=last) for first, last in ranges]

    def place(self, unit: ScoredUnit) -> tuple[int, int] | None:
        """Return the file and the row of the definition that a unit shows, None for what is none."""
        file = self.file(unit.path)
        row = file.definition_of(unit) if unit.name else -1
        return (file.id, row) if row >= 0 else None

    def _tells(self, statement: Statement, file: SourceFile) -> bool:
        """Say whether a statement between definitions is worth its tokens."""
        first, last = statement.first, statement.last
        is_import = any(first <= line <= last for line in file.import_lines)
        is_licence = statement.is_comment and first == 1
        if file.lines[statement.start - 1].startswith("__all__"):
            return False
        if not is_import and not is_licence:
            return True
        text = file.cut(first, last)
        if is_import:
            return any(name in self._identifiers for name in _WORD.findall(text))
        return self._speaks(text)

    def _speaks(self, text: str) -> bool:
        """Say whether a text holds a word of the goal."""
        return any(term in self._terms for word in tokenize(text) for term in terms_of(word))

    def _is_code(self, file_id: int) -> bool:
        language = self.index.language(file_id)
        return language_named(language).role not in _ASIDE_ROLES

    def _worth(self, unit: ScoredUnit, text: str) -> float:
        length = max(len(text) / CHARACTERS_PER_TOKEN, _SHORT)
        gap = 0.0 if unit.name else _GAP
        return unit.score - self._length_price * math.log(length) - self.file(unit.path).aside - gap

    def _aside(self, file_id: int) -> float:
        """Return what the units of a file are worth less for the kind of file it is."""
        index, path = self.index, self.index.paths[file_id]
        if path in self._asked or any(
            f"/{path}".endswith(f"/{named.lstrip('./')}") for named in self._goal.paths
        ):
            return 0.0
        flags = int(index.files.flags[file_id])
        if kinds_of(path, flags) & self._goal.aims.kinds:
            return 0.0
        return _ASIDE if flags & FileFlag.TEST or not self._is_code(file_id) else 0.0
