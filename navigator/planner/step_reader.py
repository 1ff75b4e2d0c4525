"""What the steps of a navigation came to, as reports and as contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from navigator.errors import InvalidRequestError
from navigator.planner.outputs import news_of, output_of, report_now
from navigator.state.run_state import StepRecord
from navigator.storage.storage import MAP_NAME, record_name
from repo_map.outline.blocks import MapText

if TYPE_CHECKING:
    from navigator.planner.drawn import StepCache
    from navigator.state.reports import NavigatorOutput, TurnReport
    from navigator.state.run_state import Navigation
    from navigator.storage.storage import Storage

_MAX_HELD: Final = 24
"""Earlier maps, beside the latest, that are looked through for what a client has already."""


class StepReader:
    """The steps of navigations, from memory where they were taken here lately, else from the storage."""

    def __init__(self, storage: Storage, drawn: StepCache) -> None:
        self._storage = storage
        self._drawn = drawn

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
        others = sorted({other for other in held if other < since_step}, reverse=True)[:_MAX_HELD]
        records = [earlier, *[await self.record(navigation, user, other) for other in others]]
        return news_of(whole, drawn, earlier, [await self._map(each, user) for each in records])

    async def reports(self, navigation: Navigation, user: str) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        return [await self.report(navigation, user, step) for step in range(navigation.run.step + 1)]

    async def record(self, navigation: Navigation, user: str, step: int | None) -> StepRecord:
        """Return the record of ``step``, by default the latest.

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
        if (result := self._drawn.result(run.navigation_id, user, wanted)) is not None:
            return result.record
        version = run.record_versions.get(wanted, 0)
        text = await self._storage.load_artifact(run.navigation_id, user, record_name(wanted), version)
        return StepRecord.model_validate_json(text)

    async def _map(self, record: StepRecord, user: str) -> MapText:
        report = record.report
        if (result := self._drawn.result(report.navigation_id, user, report.step_number)) is not None:
            return result.map_text
        text = await self._storage.load_artifact(report.navigation_id, user, MAP_NAME, report.map_version)
        return MapText.parse(text, [file.path for file in record.files])
