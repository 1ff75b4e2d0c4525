"""What of navigations stays in memory between their steps."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from weakref import ReferenceType

    from navigator.planner.view import View, ViewRequest
    from navigator.state.run_state import StepRecord
    from navigator.workspaces.workspace import Workspace
    from repo_map.outline.blocks import MapText

MAX_DRAWN: Final = 64
_MAX_RESULTS: Final = 8
"""Steps that are remembered of each: the latest, and those that a client has and is told the news of."""


class StepResult(NamedTuple):
    """What a step came to."""

    record: StepRecord
    map_text: MapText


class CachedNavigation:
    """What was drawn of a navigation lately; the storage has all that must outlast the process."""

    def __init__(self) -> None:
        self.view: tuple[ReferenceType[Workspace], ViewRequest, View] | None = None
        self.saved_map: tuple[str, int] | None = None
        """The latest map, and the version that it is saved as."""
        self.results: dict[int, StepResult] = {}
        """By step, the latest that were stored."""

    def remember(self, result: StepResult) -> None:
        """Remember a step that has been stored: it never changes any more."""
        self.results[result.record.report.step_number] = result
        while len(self.results) > _MAX_RESULTS:
            del self.results[min(self.results)]


class StepCache:
    """The navigations that were drawn lately, by user and id; those used least lately are let go first."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[tuple[str, str], CachedNavigation] = OrderedDict()

    def of(self, navigation_id: str, user: str) -> CachedNavigation:
        """Return what was drawn of a navigation."""
        key = (user, navigation_id)
        found = self._drawn[key] = self._drawn.pop(key) if key in self._drawn else CachedNavigation()
        while len(self._drawn) > MAX_DRAWN:
            self._drawn.popitem(last=False)
        return found

    def result(self, navigation_id: str, user: str, step: int) -> StepResult | None:
        """Return what a step came to, where it was one of the latest that were taken here."""
        found = self._drawn.get((user, navigation_id))
        return found.results.get(step) if found else None

    def forget(self, navigation_id: str, user: str) -> None:
        """Let go of a navigation."""
        self._drawn.pop((user, navigation_id), None)
