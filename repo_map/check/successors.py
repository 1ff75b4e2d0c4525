"""What stands for a definition that is gone."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Final

from repo_map.impact.sides import Sides
from repo_map.languages.kinds import FUNCTIONS
from repo_map.relations.model import Place

_ALIKE: Final = 0.6
"""Likeness of two bodies, 0 to 1, from which on one is the other by a new name."""
_MOST_COMPARED: Final = 2_000
"""Characters of a body that are compared."""


class Successors:
    """Finds the definitions that a change put in the place of others."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._before, self._after = sides.before, sides.after
        self._known: dict[Place, Place | None] = {}

    def of(self, gone: Place) -> Place | None:
        """Return what stands for a definition now: its namesake elsewhere, or one much like it beside it."""
        if gone not in self._known:
            self._known[gone] = self._find(gone)
        return self._known[gone]

    def _find(self, gone: Place) -> Place | None:
        before, after = self._before.index, self._after.index
        definition, name = before.definitions(gone[0])[gone[1]], self._before.name(gone)
        same_kind = [
            place
            for place in self._sides.added
            if (after.definitions(place[0])[place[1]].kind in FUNCTIONS) == (definition.kind in FUNCTIONS)
        ]
        moved = [place for place in same_kind if self._after.name(place) == name]
        if moved:
            return moved[0] if len(moved) == 1 else None
        home = self._sides.file_after(gone[0])
        beside = [place for place in same_kind if place[0] == home]
        body = _body(before.text(gone[0]), definition.start, definition.end, name)
        scored = []
        for place in beside:
            other = after.definitions(place[0])[place[1]]
            text = _body(after.text(place[0]), other.start, other.end, self._after.name(place))
            scored.append((SequenceMatcher(None, body, text, autojunk=False).ratio(), place))
        best = max(scored, default=None)
        return best[1] if best is not None and best[0] >= _ALIKE else None


def _body(text: str, first: int, last: int, name: str) -> str:
    return "\n".join(text.split("\n")[first - 1 : last]).replace(name, "")[:_MOST_COMPARED]
