"""What the steps of a navigation came to, as reports and as contexts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from navigator.errors import InvalidRequestError
from navigator.records.reports import NavigatorOutput, TurnReport
from navigator.steps.outputs import news_of, output_of, report_now
from repo_map.drawing.blocks import MapText

if TYPE_CHECKING:
    from navigator.adk.active_navigation import StepResult
    from navigator.records.bookkeeping import Navigation, StepRecord
    from navigator.stores.navigation_store import NavigationStore

_MOST_HELD = 24
"""Earlier maps, beside the latest, that are looked through for what a host holds already."""


class StepReader:
    """The steps of navigations, as reports and as contexts."""

    def __init__(
        self, store: NavigationStore, taken_here: Callable[[str, str, int], StepResult | None]
    ) -> None:
        """Read steps.

        Args:
            store: where they are kept.
            taken_here: returns what a step came to that was taken here lately, by navigation and user.
        """
        self._store = store
        self._taken_here = taken_here

    async def report(self, navigation: Navigation, user: str, step: int | None = None) -> TurnReport:
        """Return the report of ``step``, by default the latest.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        return report_now(await self.record(navigation, user, step), navigation.run)

    async def context(
        self,
        navigation: Navigation,
        user: str,
        since_step: int | None = None,
        *,
        step: int | None = None,
        held: Sequence[int] = (),
    ) -> NavigatorOutput:
        """Return the context, or only what is new against ``since_step``.

        Args:
            navigation: the navigation.
            user: whose it is.
            since_step: the step that is held; None for none.
            step: the step whose context it is, by default the latest.
            held: steps that are held besides; those after ``since_step`` do not count.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        record = await self.record(navigation, user, step)
        drawn = await self._map(record, user)
        whole = output_of(navigation, record, drawn)
        if since_step is None:
            return whole
        earlier = await self.record(navigation, user, since_step)
        maps = [await self._map(earlier, user)]
        others = sorted({other for other in held if other < since_step}, reverse=True)[:_MOST_HELD]
        records = [await self.record(navigation, user, other) for other in others]
        maps += [await self._map(other, user) for other in records]
        return news_of(whole, drawn, earlier, maps)

    async def reports(self, navigation: Navigation, user: str) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        return [await self.report(navigation, user, step) for step in range(navigation.run.step + 1)]

    async def record(self, navigation: Navigation, user: str, step: int | None) -> StepRecord:
        """Return what is kept of ``step``, by default the latest.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        run = navigation.run
        wanted = run.step if step is None else step
        if not 0 <= wanted <= run.step:
            raise InvalidRequestError(
                f"Step {wanted} does not exist; navigation `{run.navigation_id}` has steps 0 to {run.step}.",
                code="unknown_step",
            )
        result = self._taken_here(run.navigation_id, user, wanted)
        if result is not None:
            return result.record
        version = run.record_version(wanted)
        return await self._store.artifacts(run.navigation_id, user).load_record(wanted, version)

    async def _map(self, record: StepRecord, user: str) -> MapText:
        report = record.report
        result = self._taken_here(report.navigation_id, user, report.step_number)
        if result is not None:
            return result.map_text
        stored = await self._store.artifacts(report.navigation_id, user).load_map(report.map_version)
        return MapText.parse(stored, [file.path for file in record.files])
