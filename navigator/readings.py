"""What navigations came to, read for whoever asks: from memory where a step has just been taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navigator.errors import InvalidRequestError
from navigator.outputs import news_of, output_of
from navigator.turns import report_now

if TYPE_CHECKING:
    from navigator.adk.hangar import Hangar
    from navigator.reports import NavigatorOutput, TurnReport
    from navigator.run import StepRecord
    from navigator.turns import Navigation


class Readings:
    """The steps of navigations, as reports and as contexts."""

    def __init__(self, hangar: Hangar) -> None:
        self._hangar = hangar

    async def report(self, navigation: Navigation, user: str, step: int | None = None) -> TurnReport:
        """Return the report of ``step``, by default the latest.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        return report_now(await self._record(navigation, user, step), navigation.run)

    async def context(
        self, navigation: Navigation, user: str, since_step: int | None = None
    ) -> NavigatorOutput:
        """Return the context, or only what is new against ``since_step``.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        record = await self._record(navigation, user, None)
        whole = output_of(navigation, record, await self._map(record, user))
        if since_step is None:
            return whole
        earlier = await self._record(navigation, user, since_step)
        return news_of(whole, earlier, await self._map(earlier, user))

    async def reports(self, navigation: Navigation, user: str) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        return [await self.report(navigation, user, step) for step in range(navigation.run.step + 1)]

    async def _record(self, navigation: Navigation, user: str, step: int | None) -> StepRecord:
        run = navigation.run
        wanted = run.step if step is None else step
        if not 0 <= wanted <= run.step:
            raise InvalidRequestError(
                f"Step {wanted} does not exist; navigation `{run.navigation_id}` has steps 0 to {run.step}."
            )
        landing = self._hangar.landing(run.navigation_id, user, wanted)
        if landing is not None:
            return landing.record
        return await self._hangar.archive(run.navigation_id, user).load_record(wanted)

    async def _map(self, record: StepRecord, user: str) -> str:
        report = record.report
        landing = self._hangar.landing(report.navigation_id, user, report.step_number)
        if landing is not None:
            return landing.map_text
        return await self._hangar.archive(report.navigation_id, user).load_map(report.map_version)
