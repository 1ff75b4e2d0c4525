"""What a resolver has found, kept where it is all there is to find, within bounds."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import RLock
from typing import TYPE_CHECKING, Final

from repo_map.relations.file_facts import FileViews
from repo_map.relations.values import MOST_KEPT, MOST_VALUES, Value, Values

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

DEEPEST: Final = 24
"""Steps from one expression to the next; a longer way is given up."""
_MOST_STEPS: Final = 3_000
"""For one site; some milliseconds."""


class Answers:
    """Keeps answers, and gives up what leads back to itself, too far or to too much."""

    def __init__(self, index: RepoIndex) -> None:
        self.index = index
        self.views = index.derived(FileViews)
        self._lock = RLock()
        self._known: dict[Hashable, Values] = {}
        self._active: set[Hashable] = set()
        self._is_cut = False
        self._steps = 0

    def _once(self, key: Hashable, make: Callable[[], Values]) -> Values:
        """Return what ``make`` finds, kept where it is all there is to find.

        What leads back to itself, too far or to too much is given up; what was found on the way there is not
        kept, for from elsewhere more may be found.
        """
        if (kept := self._known.get(key)) is not None:
            return kept
        self._steps += 1
        if key in self._active or len(self._active) > DEEPEST or self._steps > _MOST_STEPS:
            self._is_cut = True
            return ()
        was_cut, self._is_cut = self._is_cut, False
        self._active.add(key)
        try:
            found = make()
        finally:
            self._active.discard(key)
        if not self._is_cut or not self._active:
            if len(self._known) > MOST_KEPT:
                self._known.clear()
            self._known[key] = found
        self._is_cut = self._is_cut or was_cut
        return found

    def _all(self, values: Values, make: Callable[[Value], Values]) -> Values:
        return tuple(dict.fromkeys(each for value in values for each in make(value)))[:MOST_VALUES]
