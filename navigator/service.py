"""The navigator's front door: open a navigation, step or run it, and read what it found."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any

from navigator.errors import ModelFailedError
from navigator.first_reading import words_to
from navigator.host import HOST, AskHost
from navigator.loading import load_all
from navigator.outputs import summary_of
from navigator.pilot import Ask, Pilot, StepAction, asked
from navigator.readings import Readings
from navigator.reports import NavigationSummary, NavigatorOutput, OnProgress, Progress, TurnReport
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.steps_under_way import StepsUnderWay, finished_by
from navigator.tasks import checked, first_state
from navigator.turns import Navigation
from navigator.workspace import Workspaces

if TYPE_CHECKING:
    from navigator.adk.hangar import Hangar

LOCAL_USER = "local"
_now = partial(datetime.now, UTC)


class Navigator:
    """Opens, steps and reads navigations; safe to share between the tasks of one event loop."""

    def __init__(
        self,
        settings: NavigatorSettings,
        *,
        clock: Callable[[], datetime] = _now,
        models: Mapping[str, Any] | None = None,
        ask_host: AskHost | None = None,
    ) -> None:
        """Build a navigator.

        Args:
            settings: where it keeps its data, which models it may use.
            clock: tells when a decision was made.
            models: ADK models by name, beside those of the catalogue; free unless a price file names them.
            ask_host: asks the model of the assistant whose call is served; nothing is booked for it.
        """
        self._models = dict(models or {})
        self._ask_host = ask_host
        self._settings = settings
        self._clock = clock
        self._workspaces = Workspaces(settings)
        self._flying = StepsUnderWay()
        self._opened: Hangar | None = None

    async def open(
        self, request: NavigationRequest, *, user: str = LOCAL_USER, on_progress: OnProgress | None = None
    ) -> str:
        """Index the repository, draw the opening view and return the new navigation's id.

        Raises:
            InvalidRequestError: the request, or a model's name, can't be used.
            RepositoryNotFoundError: its path is no readable folder.
            FlightPlanError: its flight plan is not well-formed.
        """
        task = checked(request, self._settings, {*self._models, *([HOST] if self._ask_host else [])})
        loading = asyncio.create_task(asyncio.to_thread(load_all))
        try:
            workspace, seconds = await self._workspaces.open(
                request.repo_path, on_words=words_to(on_progress, task.max_steps)
            )
        finally:
            await loading
        navigation_id = f"nav-{secrets.token_hex(12)}"
        rates, root = self._hangar.price_of(task.model).rates(task.model), str(workspace.index.root)
        first = first_state(task.noting(self._hangar.note), navigation_id, root, rates, seconds)
        live = await self._hangar.live(first, workspace, user)
        opened = await live.flight.open()
        await self._hangar.register.create(opened, user)
        live.flight.land()
        if on_progress is not None:
            words, size = (
                f"Indexed {len(workspace.index)} files in {seconds:.1f} s.",
                opened.state.map_metadata,
            )
            await on_progress(Progress(0, task.max_steps, words, size.total_tokens))
        return navigation_id

    async def step(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        feedback: str | None = None,
        updates: Mapping[str, Any] | None = None,
        action: StepAction = "continue",
        on_progress: OnProgress | None = None,
    ) -> TurnReport:
        """Take one step: by ``updates`` where given, else by the model, steered by ``feedback``.

        A navigation that has ended stays as it is, unless feedback or updates open it again.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model gave a usable answer; the last good step stands.
        """
        ask = asked(feedback, updates, action)
        return (await self._turn(navigation_id, user, ask, on_progress, refresh=True))[0]

    async def step_with_news(
        self,
        navigation_id: str,
        ask: Ask,
        *,
        user: str = LOCAL_USER,
        since_step: int | None = None,
        on_progress: OnProgress | None = None,
    ) -> tuple[TurnReport, NavigatorOutput]:
        """Take one step, and return with its report what is new against ``since_step``, or the whole context.

        Raises:
            NavigatorError: as ``step`` does, and where the navigation has not come to ``since_step``.
        """
        report, after = await self._turn(navigation_id, user, ask, on_progress, refresh=True)
        return report, await self._readings.context(after, user, since_step)

    async def run(
        self,
        navigation_id: str,
        *,
        user: str = LOCAL_USER,
        on_progress: OnProgress | None = None,
        deadline_s: float | None = None,
        most_steps: int | None = None,
    ) -> NavigatorOutput:
        """Step until the navigation stops, ``deadline_s`` is over or ``most_steps`` are taken.

        A step that the deadline overtakes is finished in the background, and the next call finds it done.
        """
        ends = None if deadline_s is None else monotonic() + deadline_s
        before = await self._hangar.register.load(navigation_id, user)
        stopped, refresh, taken = before.run.stop_reason, before.run.step > 0, 0
        while stopped is None and taken != most_steps:
            taken += 1
            step = self._flying.start(self._turn(navigation_id, user, Ask(), on_progress, refresh=refresh))
            if not await finished_by(step, ends):
                break
            try:
                report, _ = await step
            except ModelFailedError as error:
                async with self._hangar.hold(navigation_id):
                    failed = await self._hangar.register.load_to_change(navigation_id, user)
                    await self._pilot.fail(failed, user, error)
                break
            stopped, refresh = report.stop_reason, False
            if report.mode == "interactive":
                break
        return await self.context(navigation_id, user=user)

    async def report(
        self, navigation_id: str, *, user: str = LOCAL_USER, step: int | None = None
    ) -> TurnReport:
        """Return the report of ``step``, by default the latest.

        Raises:
            InvalidRequestError: the navigation has not come to that step.
        """
        navigation = await self._hangar.register.load(navigation_id, user)
        return await self._readings.report(navigation, user, step)

    async def context(
        self, navigation_id: str, *, user: str = LOCAL_USER, since_step: int | None = None
    ) -> NavigatorOutput:
        """Return the context, or only what is new against ``since_step``."""
        navigation = await self._hangar.register.load(navigation_id, user)
        return await self._readings.context(navigation, user, since_step)

    async def navigations(self, user: str = LOCAL_USER) -> list[NavigationSummary]:
        """Return the user's navigations, latest first."""
        return [summary_of(*found) for found in await self._hangar.register.list(user)]

    async def map_text(
        self, navigation_id: str, *, user: str = LOCAL_USER, version: int | None = None
    ) -> str:
        """Return a version of the map, by default the latest."""
        navigation = await self._hangar.register.load(navigation_id, user)
        wanted = navigation.run.map_version if version is None else version
        return await self._hangar.archive(navigation_id, user).load_map(wanted)

    async def decisions(self, navigation_id: str, *, user: str = LOCAL_USER) -> list[TurnReport]:
        """Return the reports of all steps, oldest first; step 0 is the opening view."""
        navigation = await self._hangar.register.load(navigation_id, user)
        return await self._readings.reports(navigation, user)

    async def forget(self, navigation_id: str, *, user: str = LOCAL_USER) -> None:
        """Delete a navigation with its maps and reports.

        Raises:
            UnknownNavigationError: the user has no navigation of that id.
        """
        async with self._hangar.hold(navigation_id):
            await self._hangar.forget(navigation_id, user)

    async def aclose(self) -> None:
        """Stop what is under way, then release models, stores and indexes."""
        await self._workspaces.halt()
        await self._flying.aclose()
        if self._opened is not None:
            await self._opened.aclose()
        self._workspaces.close()

    @property
    def _hangar(self) -> Hangar:
        if self._opened is None:
            from navigator.adk.hangar import Hangar  # noqa: PLC0415

            self._opened = Hangar(self._settings, self._clock, self._models, self._ask_host)
        return self._opened

    @property
    def _pilot(self) -> Pilot:
        return Pilot(self._hangar, self._workspaces)

    @property
    def _readings(self) -> Readings:
        return Readings(self._hangar)

    async def _turn(
        self, navigation_id: str, user: str, ask: Ask, on_progress: OnProgress | None, *, refresh: bool
    ) -> tuple[TurnReport, Navigation]:
        """Do what is asked, one turn at a time in each navigation, and report it."""
        register = self._hangar.register
        async with self._hangar.hold(navigation_id):
            try:
                before = await register.load_to_change(navigation_id, user)
                after = await self._pilot.answer(before, user, ask, refresh=refresh)
            finally:
                register.release(navigation_id, user)
            if after.run.stop_reason is not None:
                await self._hangar.rest(navigation_id, user)
        report = await self._readings.report(after, user)
        if on_progress is not None:
            await on_progress(Progress.after(report, after.run.max_steps))
        return report, after
