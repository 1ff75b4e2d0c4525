"""One turn of a navigation: it is ended, a question is answered, or a step is taken by the agents."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from navigator.agent.step_context import Computing, StepContext
from navigator.errors import ModelFailedError, NavigationClosedError
from navigator.models.model_names import price_of, require_key
from navigator.models.sampling_port import HOST
from navigator.planner.decide_turn import NOTHING_TO_UPDATE, TAKEN, Answered, AskedTurn, Revised, decide_turn
from navigator.planner.drawn import StepResult
from navigator.planner.feedback import FeedbackOutcome, apply_feedback, reopened, restored, unread_words
from navigator.planner.outline_numbers import NUMBERS, outline_numbers
from navigator.planner.planner import Update, decide
from navigator.planner.request import LimitChanges, apply_limits, parse_limits
from navigator.planner.turn import amend, opened, with_notes
from navigator.settings import StepAction
from navigator.state.labels import EMBEDDED
from navigator.state.pricing import ModelPrice, PriceTable, load_prices
from navigator.state.reports import OutlineEntry, StopReason, UnreadWords
from navigator.state.run_state import Navigation
from navigator.storage.storage import MAP_NAME, record_name
from repo_map.steering.commands import has_numbers

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from navigator.agent.models.session import SessionManager
    from navigator.agent.runner import StepRunner
    from navigator.models.sampling_port import AskHost
    from navigator.planner.arguments import TurnRequest
    from navigator.planner.drawn import StepCache
    from navigator.planner.step_reader import StepReader
    from navigator.settings import NavigatorSettings
    from navigator.storage.storage import Storage
    from navigator.workspaces.workspace import Workspace, Workspaces

SHARE_OF_OPENING: Final = 0.7
"""Of the budget, what a model's first map may take: the rest is for what it chooses."""
HAS_ENDED: Final = (
    "The navigation has ended and nothing new was asked, so no step was taken; "
    "feedback or updates open it again."
)
GIVEN_UP: Final = "The navigation was cancelled."


class TurnOutcome(NamedTuple):
    """What a turn came to."""

    navigation: Navigation
    answer: str = ""
    """What is told of a turn that took no step, in place of the latest step's answer."""
    finishes: bool = False
    """The words take the context as it is."""
    not_understood: tuple[UnreadWords, ...] | None = None
    """What of the words was not understood; None for a turn without words."""


class Turns:
    """Takes turns; whoever calls holds the navigation."""

    def __init__(
        self,
        settings: NavigatorSettings,
        storage: Storage,
        reader: StepReader,
        drawn: StepCache,
        *,
        clock: Callable[[], datetime],
        models: Mapping[str, BaseLlm],
        ask_host: AskHost | None,
    ) -> None:
        self._settings = settings
        self._storage = storage
        self._reader = reader
        self._drawn = drawn
        self._clock = clock
        self._models = models
        self._ask_host = ask_host
        self._runner: StepRunner | None = None
        self._bookings: set[asyncio.Future[None]] = set()
        self.computing = Computing()
        self.handed_in = {*models, *([HOST] if ask_host else [])}
        """Models beside those of the catalogue."""

    def price_of(self, model: str) -> ModelPrice:
        """Return what calls of ``model`` cost."""
        return price_of(model, self._settings, self._prices, self.handed_in)

    async def open(self, first: Navigation, workspace: Workspace, user: str) -> Navigation:
        """Draw the opening view of a new navigation, and return it as it is stored.

        A model starts from what the embedded policy would show, and chooses from its outline: a map of every
        file costs more tokens, and tells less.

        Raises:
            StorageError: it can't be stored.
        """
        step = self._context(first, workspace, user)
        state, run = first
        step.session = await self._session_of(first)
        view = await step.view(state.flight_plan)
        if not step.plans_anew:
            room = max(1, int(SHARE_OF_OPENING * state.flight_plan.budget))
            tight = state.model_copy(
                update={"flight_plan": state.flight_plan.model_copy(update={"budget": room})}
            )
            found = await self.computing.run(decide, Navigation(tight, run), workspace, view)
            if isinstance(found, Update):
                plan = amend(state.flight_plan, found.updates).plan
                state = state.model_copy(update={"flight_plan": plan})
                view = await step.view(plan)
        await self._storage.index.add(first, user)
        version = await self._storage.save_artifact(run.navigation_id, user, MAP_NAME, view.map.text)
        after, record = opened(step.timed(Navigation(state, run)), view, version)
        saved = await self._storage.save_artifact(
            run.navigation_id, user, record_name(0), record.model_dump_json()
        )
        after = Navigation(after.state, after.run.recorded(0, saved))
        await self._storage.create(after, user)
        step.drawn.saved_map = view.map.text, version
        step.drawn.remember(StepResult(record, view.map.map_text))
        return after

    async def take(
        self, before: Navigation, user: str, request: TurnRequest, workspaces: Workspaces, *, refresh: bool
    ) -> TurnOutcome:
        """Do what is asked and store it; a navigation that has ended opens again for words or updates only.

        Words or updates that come with the wish to finish are heeded first, in one step; with a cancel, not.
        What changes nothing takes no step, and the outcome's answer says so.

        Raises:
            InvalidRequestError: new terms can't be used.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model made a decision.
            RepoMapError: the updates are not well-formed, or their plan can't be drawn.
            StorageError: the step can't be stored; it did not happen.
        """
        says_more = bool(request.feedback or request.updates)
        if request.action == "cancel" or (request.action == "finish" and not says_more):
            answer = GIVEN_UP if request.action == "cancel" else TAKEN
            return TurnOutcome(await self._end(before, user, request.action), answer)
        outcome = await self._step(before, user, request, workspaces, refresh=refresh)
        if (request.action == "finish" or outcome.finishes) and outcome.navigation.run.stop_reason in (
            None,
            StopReason.FINISHED,
        ):
            outcome = outcome._replace(navigation=await self._end(outcome.navigation, user, "finish"))
        return outcome

    async def fail(self, before: Navigation, user: str, error: ModelFailedError) -> Navigation:
        """End a navigation that no model carries on, and return it; the best plan so far stands."""
        after = Navigation(before.state, before.run.stopping(StopReason.ERROR, str(error)))
        await self._storage.change(after, user)
        return after

    async def rest(self, navigation_id: str) -> None:
        """Let the providers of models forget a task that has ended."""
        if "_sessions" in self.__dict__:
            await self._sessions.rest(navigation_id)

    async def forget(self, navigation_id: str, user: str) -> None:
        """Let go of a navigation's models and of what was drawn of it."""
        self._drawn.forget(navigation_id, user)
        if "_sessions" in self.__dict__:
            await self._sessions.destroy(navigation_id)

    async def aclose(self) -> None:
        """Let go of all models, and wait for what is still booked."""
        if "_sessions" in self.__dict__:
            await self._sessions.aclose()
        # What a cancelled step has spent is still being written, by a task that nobody waits for any more.
        await asyncio.gather(*self._bookings, return_exceptions=True)

    async def _step(
        self, stored: Navigation, user: str, request: TurnRequest, workspaces: Workspaces, *, refresh: bool
    ) -> TurnOutcome:
        stopped = stored.run.stop_reason
        if stopped is StopReason.CANCELLED:
            raise NavigationClosedError(
                f"Navigation `{stored.run.navigation_id}` was cancelled; open a new one with the same goal."
            )
        terms, updates = self._terms_of(request.updates or {})
        feedback = request.feedback.showing(outline_numbers(updates.pop(NUMBERS, None)))
        before, message = await self._on_terms(stored, user, terms)
        if not (feedback or updates):
            if not message and request.updates is not None:
                return TurnOutcome(stored, NOTHING_TO_UPDATE)
            if not (_continues_without_words(stopped, terms) or stored.run.first_look):
                if message:
                    await self._storage.change(before, user)
                return TurnOutcome(before, " ".join((*message, HAS_ENDED)))
        workspace, _ = await workspaces.open(
            before.state.repo_path, refresh=refresh, first_goal="" if refresh else before.state.user_task
        )
        step = self._context(before, workspace, user)
        step.session = await self._session_of(before)
        if step.session is not None:
            step.session.begin_step(before, step.notes)
        asked = AskedTurn(
            stored=stored,
            before=with_notes(reopened(before), message),
            outcome=None,
            feedback=feedback,
            updates=updates,
            has_terms=bool(message),
            undone=0,
            plans_anew=step.plans_anew,
        )
        if feedback:
            by_number = feedback.typed.has_numbers or has_numbers(feedback.words)
            outline = await self._outline(stored, user, request.outline_step) if by_number else ()
            asked = await self._interpreted(asked, workspace, outline, user)
        return await self._taken(asked, step)

    async def _taken(self, asked: AskedTurn, step: StepContext) -> TurnOutcome:
        """Take the step that is asked for, if it changes anything."""
        steering = None if asked.outcome is None else asked.outcome.steering
        finishes = steering is not None and steering.finish
        missed = None if steering is None else unread_words(steering)
        turn = await self.computing.run(decide_turn, asked, step.workspace)
        if isinstance(turn, Answered):
            return TurnOutcome(turn.navigation, turn.answer, finishes, missed)
        step.navigation, step.settles = turn.navigation, turn.settles
        step.decision = turn.decision if isinstance(turn, Revised) else None
        after = await self._run(step)
        return TurnOutcome(after, finishes=finishes, not_understood=missed)

    async def _run(self, step: StepContext) -> Navigation:
        """Let the agents take a step; what one that came to nothing has cost is stored all the same."""
        before = step.navigation
        if self._runner is None:
            services, module = await self._storage.services(), "navigator.agent.runner"
            runner: StepRunner = (await asyncio.to_thread(import_module, module)).StepRunner(services)
            self._runner = runner
        try:
            after = await self._runner.run_step(step)
        except (ModelFailedError, asyncio.CancelledError):
            booking = asyncio.ensure_future(self._book(step, before))
            self._bookings.add(booking)
            booking.add_done_callback(self._bookings.discard)
            await asyncio.shield(booking)
            raise
        await self._storage.index.update(after, step.user)
        return after

    async def _book(self, step: StepContext, before: Navigation) -> None:
        """Store what a step that came to nothing has spent."""
        stored = await self._storage.load(before.run.navigation_id, step.user)
        if (booked := step.booked(stored)) != stored:
            await self._storage.change(booked, step.user)

    async def _interpreted(
        self, asked: AskedTurn, workspace: Workspace, outline: tuple[OutlineEntry, ...], user: str
    ) -> AskedTurn:
        """Return what is asked with what the words come to, once what they take back is undone."""

        async def interpret(before: Navigation) -> FeedbackOutcome:
            return await self.computing.run(apply_feedback, before, asked.feedback, workspace, outline)

        outcome = await interpret(asked.before)
        if not (steps := outcome.steering.undo):
            return asked._replace(outcome=outcome)
        before, undone = await self._undone(asked.before, steps, user)
        outcome = (await interpret(before)).undone(steps, undone)
        return asked._replace(before=before, outcome=outcome, undone=undone)

    async def _outline(self, navigation: Navigation, user: str, step: int | None) -> tuple[OutlineEntry, ...]:
        """Return the outline of a step, by default the latest, which the numbers of a feedback mean."""
        return (await self._reader.record(navigation, user, step)).report.outline

    async def _undone(self, navigation: Navigation, steps: int, user: str) -> tuple[Navigation, int]:
        """Return the navigation as it was ``steps`` changes of the user ago, and how many there were."""
        taken = 0
        while taken < steps and (at := navigation.run.changed_at):
            record = await self._reader.record(navigation, user, at)
            if record.undo is None:
                break
            navigation, taken = restored(navigation, record.undo), taken + 1
        return navigation, taken

    def _terms_of(self, updates: Mapping[str, Any]) -> tuple[LimitChanges, dict[str, Any]]:
        """Part updates into new terms and a partial plan."""
        terms, plan = parse_limits(updates, self._settings, self.handed_in)
        if terms.model is not None and terms.model not in self.handed_in:
            require_key(terms.model, self._settings, os.environ)
        return terms, plan

    async def _on_terms(
        self, before: Navigation, user: str, terms: LimitChanges
    ) -> tuple[Navigation, tuple[str, ...]]:
        """Return the navigation on new terms, and what is to be told of them."""
        if not terms:
            return before, ()
        model = terms.model or before.run.model
        after, message = apply_limits(before, terms, self.price_of(model).rates(model))
        if message:
            # Models and limits are read when a session is made.
            await self.forget(before.run.navigation_id, user)
        return after, message

    async def _end(self, before: Navigation, user: str, action: StepAction) -> Navigation:
        if action == "cancel":
            run = before.run.stopping(StopReason.CANCELLED, "The user cancelled the navigation.")
        else:
            run = before.run.stopping(StopReason.USER, "The user accepted the context.")
        state = before.state.model_copy(
            update={"interactive_pause": False, "exploration_complete": action == "finish"}
        )
        after = Navigation(state, run)
        if after != before:
            await self._storage.change(after, user)
        return after

    def _context(self, navigation: Navigation, workspace: Workspace, user: str) -> StepContext:
        drawn = self._drawn.of(navigation.run.navigation_id, user)
        notes = [self._storage.note] if self._storage.note else []
        return StepContext(
            navigation, user, self._storage, workspace, drawn, self.computing, self._clock, notes=notes
        )

    async def _session_of(self, navigation: Navigation) -> Any:
        """Return the models of a navigation, None where none was asked for."""
        if navigation.run.model == EMBEDDED:
            return None
        if "_sessions" not in self.__dict__:
            await asyncio.to_thread(lambda: self._sessions)
        return await self._sessions.session_of(navigation, self._storage.locks.is_held)

    @cached_property
    def _sessions(self) -> SessionManager:
        """The sessions with models; the first use imports what asks them."""
        from navigator.agent.models.host import HostModel  # noqa: PLC0415 - only where a model decides
        from navigator.agent.models.session import SessionManager  # noqa: PLC0415 - as above

        models = dict(self._models)
        if self._ask_host is not None:
            models.setdefault(HOST, HostModel(self._ask_host))
        return SessionManager(self._settings, self._prices, models)

    @cached_property
    def _prices(self) -> PriceTable:
        return load_prices(self._settings.prices)


def _continues_without_words(stopped: StopReason | None, terms: LimitChanges) -> bool:
    """Return whether a navigation takes a step without words or changes of its plan."""
    if stopped in (StopReason.BUDGET, StopReason.MAX_STEPS):
        return bool(terms)
    return stopped in (None, StopReason.ERROR) or terms.model is not None
