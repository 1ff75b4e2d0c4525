"""One turn of a navigation: it is ended, a question is answered, or a step is taken by the agents."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Set
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING, Final

from navigator.agent.step_context import Computing, StepContext
from navigator.errors import ModelFailedError, NavigationClosedError
from navigator.models.catalogue import further_models
from navigator.planner.arguments import first_look_goal
from navigator.planner.context import StepResult
from navigator.planner.plan_changes import with_notes
from navigator.planner.record import choose_plan, open_record
from navigator.planner.request import LIMITS, change_limits
from navigator.planner.steering import (
    ACCEPTED,
    NOTHING_TO_UPDATE,
    Turn,
    TurnContext,
    plan_turn,
    reopened,
    report_undone,
    restored,
    steer_navigation,
)
from navigator.state.labels import EMBEDDED
from navigator.state.reports import OutlineEntry, StopReason
from navigator.state.run_state import Navigation
from navigator.storage.storage import MAP_NAME, record_name
from repo_map.steering.commands import has_numbers

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from navigator.agent.agents import StepRunner
    from navigator.models.sampling import SamplingFn
    from navigator.planner.arguments import TurnRequest
    from navigator.planner.context import StepReader
    from navigator.settings import NavigatorSettings
    from navigator.storage.storage import Storage
    from navigator.workspaces.workspace import Workspace, Workspaces

HAS_ENDED: Final = (
    "The navigation has ended and nothing new was asked, so no step was taken; "
    "feedback or updates open it again."
)
_CANCELLED: Final = "The navigation was cancelled."


class Turns:
    """Takes the turns of all navigations; the caller holds the navigation's lock."""

    def __init__(
        self,
        settings: NavigatorSettings,
        storage: Storage,
        reader: StepReader,
        workspaces: Workspaces,
        *,
        clock: Callable[[], datetime],
        models: Mapping[str, BaseLlm],
        sample: SamplingFn | None,
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._reader = reader
        self._workspaces = workspaces
        self._clock = clock
        self._models = models
        self._sample = sample
        self._runner: StepRunner | None = None
        self._bookings: set[asyncio.Future[None]] = set()
        self._further_models = further_models(models, sample)
        self.computing = Computing()

    async def open(self, first: Navigation, workspace: Workspace, user: str) -> Navigation:
        """Draw the opening view of a new navigation, and return it as it is stored.

        For a model it is the embedded answer: what the model starts from, and what a client gets if the model
        takes long.
        """
        step = await self._context(first, workspace, user)
        state, run = first
        view = await step.view(state.flight_plan)
        if not step.plans_anew:
            _, plan = await self.computing.run(choose_plan, first, workspace, view)
            if plan is not None:
                state = state.model_copy(update={"flight_plan": plan})
                view = await step.view(plan)
        await self._storage.index.add(first, user)
        version = await self._storage.save_artifact(run.navigation_id, user, MAP_NAME, view.map.text)
        after, record = open_record(step.timed(Navigation(state, run)), view, version)
        saved = await self._storage.save_artifact(
            run.navigation_id, user, record_name(0), record.model_dump_json()
        )
        after = Navigation(after.state, after.run.recorded(0, saved))
        await self._storage.create(after, user)
        step.drawn.saved_map = view.map.text, version
        step.drawn.remember(StepResult(record, view.map.map_text))
        return after

    async def take(self, before: Navigation, user: str, request: TurnRequest, *, refresh: bool) -> Turn:
        """Do what is asked and store it; a navigation that has ended opens again for words or updates only.

        Words or updates that come with the wish to finish are applied first, in one step; with a cancel, not.
        What changes nothing takes no step, and the turn's answer says so.
        """
        asks_more = request.has_feedback or bool(request.updates)
        if request.action == "cancel":
            return Turn(await self._end(before, user, StopReason.CANCELLED), _CANCELLED)
        if request.action == "finish" and not asks_more:
            return Turn(await self._end(before, user, StopReason.USER), ACCEPTED)
        turn = await self._step(before, user, request, refresh=refresh)
        may_finish = turn.navigation.run.stop_reason in (None, StopReason.FINISHED)
        if may_finish and (request.action == "finish" or turn.finishes):
            return turn._replace(navigation=await self._end(turn.navigation, user, StopReason.USER))
        return turn

    async def fail(self, before: Navigation, user: str, error: ModelFailedError) -> Navigation:
        """End a navigation that no model carries on, and return it; the best plan so far remains."""
        after = Navigation(before.state, before.run.stopping(StopReason.ERROR, str(error)))
        await self._storage.change(after, user)
        return after

    async def rest(self, navigation_id: str) -> None:
        """Let the providers of models drop what they cache of a navigation that has ended."""
        if self._runner is not None:
            await self._runner.sessions.close(navigation_id)

    async def forget(self, navigation_id: str, user: str) -> None:
        """Drop a navigation's models and its cached steps."""
        self._reader.forget(navigation_id, user)
        await self.rest(navigation_id)

    async def aclose(self) -> None:
        """Close all models, and wait for costs that are still being stored."""
        if self._runner is not None:
            await self._runner.sessions.aclose()
        await asyncio.gather(*self._bookings, return_exceptions=True)

    async def _step(self, stored: Navigation, user: str, request: TurnRequest, *, refresh: bool) -> Turn:
        stopped = stored.run.stop_reason
        if stopped is StopReason.CANCELLED:
            raise NavigationClosedError(
                f"Navigation `{stored.run.navigation_id}` was cancelled; open a new one with the same goal."
            )
        given = request.updates or {}
        before, notes = change_limits(stored, given, self._settings, self._further_models, os.environ)
        if notes:
            # Models and limits are read when a session is made.
            await self.forget(stored.run.navigation_id, user)
        updates = {name: part for name, part in given.items() if name not in LIMITS}
        limits = {name for name in LIMITS if given.get(name) is not None}
        if not (request.has_feedback or updates):
            if not notes and request.updates is not None:
                return Turn(stored, NOTHING_TO_UPDATE)
            if not (_continues(stopped, limits) or stored.run.first_look):
                if notes:
                    await self._storage.change(before, user)
                return Turn(before, " ".join((*notes, HAS_ENDED)))
        goal = "" if refresh else first_look_goal(before.state.user_task, before.run.names)
        workspace, _ = await self._workspaces.open(before.state.repo_path, refresh=refresh, first_goal=goal)
        step = await self._context(before, workspace, user)
        if step.session is not None:
            step.session.begin_step(before, step.notes)
        opened, anew = with_notes(reopened(before), notes), step.plans_anew
        context = TurnContext(stored, opened, request, updates, has_limits=bool(notes), plans_anew=anew)
        if request.has_feedback:
            context = await self._steer(context, workspace, user)
        turn = await self.computing.run(plan_turn, context, workspace)
        if turn.is_answered:
            return turn
        step.navigation, step.decision, step.settles = turn.navigation, turn.decision, turn.is_complete
        return turn._replace(navigation=await self._run(step))

    async def _steer(self, context: TurnContext, workspace: Workspace, user: str) -> TurnContext:
        request, outline = context.request, tuple[OutlineEntry, ...]()
        if request.wishes.has_numbers or has_numbers(request.feedback):
            record = await self._reader.record(context.stored, user, request.outline_step)
            outline = record.report.outline
        run = self.computing.run
        steered = await run(steer_navigation, context.before, request, workspace, outline)
        if not (asked := steered.steering.undo):
            return context._replace(steered=steered)
        before, undone = context.before, 0
        while undone < asked and (at := before.run.last_user_change):
            record = await self._reader.record(before, user, at)
            if record.undo is None:
                break
            before, undone = restored(before, record.undo), undone + 1
        steered = await run(steer_navigation, before, request, workspace, outline)
        return context._replace(before=before, steered=report_undone(steered, asked, undone), undone=undone)

    async def _run(self, step: StepContext) -> Navigation:
        """Let the agents take a step; what a failed one has cost is stored all the same."""
        before, runner = step.navigation, await self._agents()
        try:
            after = await runner.run_step(step)
        except (ModelFailedError, asyncio.CancelledError):
            booking = asyncio.ensure_future(self._book(step, before))
            self._bookings.add(booking)
            booking.add_done_callback(self._bookings.discard)
            await asyncio.shield(booking)
            raise
        await self._storage.index.update(after, step.user)
        return after

    async def _book(self, step: StepContext, before: Navigation) -> None:
        stored = await self._storage.load(before.run.navigation_id, step.user)
        if (booked := step.booked(stored)) != stored:
            await self._storage.change(booked, step.user)

    async def _end(self, before: Navigation, user: str, reason: StopReason) -> Navigation:
        is_finished = reason is StopReason.USER
        words = "The user accepted the context." if is_finished else "The user cancelled the navigation."
        after = before.replace(
            state={"interactive_pause": False, "exploration_complete": is_finished},
            run={"stop_reason": reason, "ended": words},
        )
        if after != before:
            await self._storage.change(after, user)
        return after

    async def _context(self, navigation: Navigation, workspace: Workspace, user: str) -> StepContext:
        cached = self._reader.cached(navigation.run.navigation_id, user)
        notes = [self._storage.note] if self._storage.note else []
        step = StepContext(
            navigation, user, self._storage, workspace, cached, self.computing, self._clock, notes=notes
        )
        if navigation.run.model != EMBEDDED:
            step.session = await (await self._agents()).sessions.session_of(navigation)
        return step

    async def _agents(self) -> StepRunner:
        if self._runner is None:
            services = await self._storage.services()
            module = await asyncio.to_thread(import_module, "navigator.agent.agents")
            # Another step may have waited for the same.
            if self._runner is None:
                models, is_held = self._models, self._storage.locks.is_held
                self._runner = module.StepRunner(services, self._settings, models, self._sample, is_held)
        return self._runner


def _continues(stopped: StopReason | None, limits: Set[str]) -> bool:
    """Return True if a navigation takes a step without words or changes of its plan."""
    if stopped in (StopReason.BUDGET, StopReason.MAX_STEPS):
        return bool(limits)
    return bool(limits & {"model", "names"}) or stopped in (None, StopReason.ERROR)
