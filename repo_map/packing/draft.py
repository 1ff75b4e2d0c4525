"""A packing under construction: what is chosen so far, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from repo_map import tokens
from repo_map.drawing.sketches import Sketchbook
from repo_map.flight_plan import VerbosityRule
from repo_map.packing.base import Base
from repo_map.packing.layout import file_rule, shape_of
from repo_map.packing.pieces import Piece, PieceReader
from repo_map.relevance.scoring import ScoredUnit
from repo_map.selection.sections import Shape

_ELISION_TOKENS = 5
"""Of the line that says what was left out between two pieces."""
_OUTLINE_TOKENS = 16
"""About what one definition line and its elision take."""
_LEAST_CHARACTERS_PER_TOKEN = 7
_FULL = 0.985
"""Share of the budget from which on a packing counts as full."""
_NEARLY_FULL = 0.9
"""Share of the budget below which the rest of the repository gets what is left."""
_LEAST_LEFT = 60
"""Tokens that the rest needs to tell anything: the line that counts what is left out takes some of them."""
_ROUNDS = 6
_MOST_WISHED = 0.85
"""Share of the budget that files which the plan wants may take whole; above it,"""
_WISHED_IN_PART = 0.5
"""the share in which as much of them has to fit as can be shown."""


class Draft:
    """Chosen pieces by file; prices are estimates while choosing and exact once settled."""

    def __init__(self, reader: PieceReader, book: Sketchbook, wishes: Base, budget: int) -> None:
        self.budget = budget
        self._reader = reader
        self._book = book
        self._wishes = wishes
        self._spent = 0
        self._pieces: dict[str, list[Piece]] = {}
        self._outlined: dict[str, list[str]] = {}
        self._taken: list[Piece] = []
        self._outlines: list[tuple[str, str]] = []
        self._texts: set[str] = set()
        self._exact: dict[str, int] = {}

    @property
    def paths(self) -> list[str]:
        """The files of the packing."""
        return list(self._pieces)

    @property
    def others(self) -> int:
        """The level of the files that the packing does not name."""
        # What is left over goes to the rest, in the order of its rank.
        left = self.budget - self._spent
        return 2 if left > max((1 - _NEARLY_FULL) * self.budget, _LEAST_LEFT) else 0

    def rule(self, path: str) -> VerbosityRule:
        """Return the rule that shows what was chosen of a file."""
        rule = file_rule(self._reader.file(path), self._pieces[path], self._outlined.get(path, ()))
        return self._wishes.merged(path, rule)

    def list_paths(self, paths: Sequence[str]) -> None:
        """Take files by path alone for now."""
        for path in paths:
            self._open(path)

    def fill(self, pieces: Sequence[Piece], limit: int) -> list[Piece]:
        """Take pieces in order while they fit into ``limit`` tokens; return those left out."""
        left_out: list[Piece] = []
        for piece in pieces:
            if piece.is_beside and not self._shows(piece.unit):
                left_out.append(piece)
                continue
            text = self._reader.file(piece.path).cut(piece.first, piece.last)
            room = limit - self._spent - self._opening(piece.path) - _ELISION_TOKENS
            if len(text) > room * _LEAST_CHARACTERS_PER_TOKEN:
                left_out.append(piece)
                continue
            dense = "".join(text.split())
            if dense in self._texts:
                # The same lines again, in a copy of the file: to read them once is enough.
                self._open(piece.path)
            elif (price := tokens.count(text)) > room:
                left_out.append(piece)
            else:
                self._open(piece.path)
                self._texts.add(dense)
                self._take(piece, price + _ELISION_TOKENS)
        return left_out

    def outline(self, pieces: Sequence[Piece], limit: int) -> None:
        """Show the definition lines of pieces in order, up to ``limit`` tokens."""
        for piece in sorted(pieces, key=lambda piece: -self._reader.evidence(piece)):
            if self._spent + _OUTLINE_TOKENS > limit:
                return
            name = piece.unit.name
            if not name or self._spent + _OUTLINE_TOKENS + self._opening(piece.path) > limit:
                continue
            if name not in self._outlined.setdefault(piece.path, []):
                self._open(piece.path)
                self._outlined[piece.path].append(name)
                self._outlines.append((piece.path, name))
                self._exact.pop(piece.path, None)
                self._spent += _OUTLINE_TOKENS

    def settle(self, rest: Sequence[Piece]) -> None:
        """Replace estimates by exact prices, and give back or use up the difference."""
        for _ in range(_ROUNDS):
            self.measure()
            if self._spent > self.budget:
                self._shrink()
                continue
            before = self._spent
            if before < _FULL * self.budget:
                rest = self.fill(rest, self.budget)
            if self._spent == before:
                return
        while self.measure() > self.budget and self._taken:
            self._shrink()

    def measure(self) -> int:
        """Return the exact tokens of what is chosen, and go on from them."""
        for path in self._pieces:
            if path not in self._exact:
                shape = shape_of(self.rule(path))
                self._exact[path] = (
                    self._wished(path, shape) if self._wishes.settles(path) else self._price(path, shape)
                )
        self._spent = sum(self._exact.values())
        return self._spent

    def _wished(self, path: str, shape: Shape) -> int:
        """Return what a file that the plan wants will take; one that leaves no room is drawn in part."""
        others = sum(price for other, price in self._exact.items() if self._wishes.settles(other))
        price = self._price(path, shape)
        most = _MOST_WISHED * self.budget - others
        while price > most and shape.level > 1:
            shape = Shape(shape.level - 1)
            price, most = self._price(path, shape), _WISHED_IN_PART * self.budget - others
        return price

    def _price(self, path: str, shape: Shape) -> int:
        return max(self._book.draw(self._reader.file(path).id, shape).counts)

    def _shrink(self) -> None:
        """Give back what was taken last, signatures before bodies, until the estimate fits."""
        over = self._spent - self.budget
        while over > 0 and self._outlines:
            path, name = self._outlines.pop()
            self._outlined[path].remove(name)
            self._exact.pop(path, None)
            over -= _OUTLINE_TOKENS
        while over > 0 and self._taken:
            piece = self._taken.pop()
            self._pieces[piece.path].remove(piece)
            self._exact.pop(piece.path, None)
            over -= tokens.count(self._reader.file(piece.path).cut(piece.first, piece.last))

    def _shows(self, unit: ScoredUnit) -> bool:
        return any(piece.unit is unit for piece in self._pieces.get(unit.path, ()))

    def _opening(self, path: str) -> int:
        return 0 if path in self._pieces else tokens.count(f"{path}\n")

    def _open(self, path: str) -> None:
        self._spent += self._opening(path)
        self._pieces.setdefault(path, [])

    def _take(self, piece: Piece, price: int) -> None:
        self._pieces[piece.path].append(piece)
        self._taken.append(piece)
        self._exact.pop(piece.path, None)
        self._spent += price
