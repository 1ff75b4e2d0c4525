"""Carries out one turn of a navigation: ends it, answers, records a revision, or lets somebody decide."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.errors import ModelFailedError, NavigationClosedError, StorageError
from navigator.records.bookkeeping import Navigation
from navigator.records.reports import MenuPlace, StopReason, UnreadWords
from navigator.settings import StepAction
from navigator.steps.decide_turn import NOTHING_TO_UPDATE, TAKEN, Answered, AskedTurn, Revised, decide_turn
from navigator.steps.feedback import FeedbackOutcome, apply_feedback, reopened, restored, unread_words
from navigator.steps.menu_choice import NUMBERS, menu_numbers
from navigator.steps.request import NewTerms, on_terms
from navigator.steps.turn import with_notes
from repo_map.feedback.parse import asks_by_number

if TYPE_CHECKING:
    from navigator.adk.live_navigations import LiveNavigation, LiveNavigations
    from navigator.execution.step_places import StepPlace
    from navigator.execution.step_reader import StepReader
    from navigator.steps.turn_request import TurnRequest
    from navigator.workspaces.workspace import Workspace, Workspaces

HAS_ENDED = (
    "The navigation has ended and nothing new was asked, so no step was taken; "
    "feedback or updates open it again."
)
GIVEN_UP = "The navigation was cancelled."


class TurnOutcome(NamedTuple):
    """What a turn came to."""

    navigation: Navigation
    answer: str = ""
    """What is told of a turn that took no step, in place of the latest step's answer."""
    finishes: bool = False
    """The words take the context as it is."""
    not_understood: tuple[UnreadWords, ...] | None = None
    """What of the words was not understood; None for a turn without words."""


def continues_without_words(stopped: StopReason | None, terms: NewTerms) -> bool:
    """Say whether a navigation takes a step without words or changes of its plan."""
    if stopped in (StopReason.BUDGET, StopReason.MAX_STEPS):
        return bool(terms)
    return stopped in (None, StopReason.ERROR) or terms.model is not None


class TurnExecutor:
    """Carries out one turn; whoever calls holds the navigation's lock."""

    def __init__(
        self,
        live: LiveNavigations,
        reader: StepReader,
        workspaces: Workspaces,
        computing_slot: Callable[[str, str], AbstractAsyncContextManager[StepPlace | None]],
        terms_of: Callable[[Mapping[str, Any]], tuple[NewTerms, dict[str, Any]]],
    ) -> None:
        """Build a turn executor.

        Args:
            live: the navigations that are ready, and their store.
            reader: the steps that were taken.
            workspaces: the repositories.
            computing_slot: holds a place for a step of a model, asked for by a principal, among the few that
                compute.
            terms_of: parts updates into new terms and a partial plan, both checked.
        """
        self._live = live
        self._reader = reader
        self._workspaces = workspaces
        self._computing_slot = computing_slot
        self._terms_of = terms_of

    async def take(
        self, before: Navigation, user: str, request: TurnRequest, *, refresh: bool
    ) -> TurnOutcome:
        """Do what is asked and store it; a navigation that has ended opens again for words or updates only.

        Words or updates that come with the wish to finish are heeded first, in one step; with a cancel, not.
        What changes nothing takes no step, and the outcome's answer says so.

        Raises:
            InvalidRequestError: new terms can't be used.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model made a decision.
            RepoMapError: the updates are not well-formed, or their plan can't be drawn.
            StorageError: the step can't be kept; it did not happen.
        """
        says_more = bool(request.feedback or request.updates)
        if request.action == "cancel" or (request.action == "finish" and not says_more):
            return TurnOutcome(
                await self._end(before, user, request.action),
                GIVEN_UP if request.action == "cancel" else TAKEN,
            )
        outcome = await self._step(before, user, request, refresh=refresh)
        if (request.action == "finish" or outcome.finishes) and outcome.navigation.run.stop_reason in (
            None,
            StopReason.FINISHED,
        ):
            return outcome._replace(navigation=await self._end(outcome.navigation, user, "finish"))
        return outcome

    async def _step(
        self, stored: Navigation, user: str, request: TurnRequest, *, refresh: bool
    ) -> TurnOutcome:
        stopped = stored.run.stop_reason
        if stopped is StopReason.CANCELLED:
            raise NavigationClosedError(
                f"Navigation `{stored.run.navigation_id}` was cancelled; open a new one with the same goal."
            )
        terms, updates = self._terms_of(request.updates or {})
        feedback = request.feedback.showing(menu_numbers(updates.pop(NUMBERS, None)))
        before, message = await self._on_terms(stored, user, terms)
        if not (feedback or updates):
            if not message and request.updates is not None:
                return TurnOutcome(stored, NOTHING_TO_UPDATE)
            if not (continues_without_words(stopped, terms) or stored.run.first_look):
                if message:
                    await self._live.store.store(before, user)
                return TurnOutcome(before, " ".join((*message, HAS_ENDED)))
        workspace, _ = await self._workspaces.open(
            before.state.repo_path, refresh=refresh, first_goal="" if refresh else before.state.user_task
        )
        async with self._computing_slot(before.run.model, user) as place:
            live = await self._live.live(before, workspace, user)
            asked = AskedTurn(
                stored=stored,
                before=with_notes(reopened(before), message),
                outcome=None,
                feedback=feedback,
                updates=updates,
                has_terms=bool(message),
                undone=0,
                planner_decides=live.active.planner_decides,
            )
            if feedback:
                by_number = feedback.typed.has_numbers or asks_by_number(feedback.words)
                menu = await self._menu(stored, user, request.menu_step) if by_number else ()
                asked = await self._interpreted(asked, workspace, menu, user)
            return await self._taken(asked, live, workspace, place)

    async def _taken(
        self, asked: AskedTurn, live: LiveNavigation, workspace: Workspace, place: StepPlace | None
    ) -> TurnOutcome:
        """Take the step that is asked for, if it changes anything; the place is left once it is drawn."""
        steering = None if asked.outcome is None else asked.outcome.steering
        finishes = steering is not None and steering.finish
        missed = None if steering is None else unread_words(steering)
        turn = await asyncio.to_thread(decide_turn, asked, workspace)
        if isinstance(turn, Answered):
            await self._remember(asked.stored, turn.navigation, live.user)
            return TurnOutcome(turn.navigation, turn.answer, finishes, missed)
        live.active.leave_place = None if place is None else place.leave
        if isinstance(turn, Revised):
            after = await self._live.commit(live, turn.navigation, turn.decision, settles=turn.settles)
        else:
            changed = turn.navigation != asked.stored
            after = await self._live.decide(live, turn.navigation, changed=changed, settles=turn.settles)
        return TurnOutcome(after, finishes=finishes, not_understood=missed)

    async def _interpreted(
        self, asked: AskedTurn, workspace: Workspace, menu: tuple[MenuPlace, ...], user: str
    ) -> AskedTurn:
        """Return what is asked with what the words come to, once what they take back is undone."""

        async def interpret(before: Navigation) -> FeedbackOutcome:
            return await asyncio.to_thread(apply_feedback, before, asked.feedback, workspace, menu)

        outcome = await interpret(asked.before)
        if not (steps := outcome.steering.undo):
            return asked._replace(outcome=outcome)
        before, undone = await self._undone(asked.before, steps, user)
        outcome = (await interpret(before)).undone(steps, undone)
        return asked._replace(before=before, outcome=outcome, undone=undone)

    async def _menu(self, navigation: Navigation, user: str, step: int | None) -> tuple[MenuPlace, ...]:
        """Return the menu of a step, by default the latest, which the numbers of a feedback mean."""
        return (await self._reader.record(navigation, user, step)).report.menu

    async def _remember(self, stored: Navigation, after: Navigation, user: str) -> None:
        """Store what words that took no step were about, for the next ones."""
        if after != stored:
            # What can't be kept is no reason not to answer.
            with suppress(StorageError):
                await self._live.store.store(after, user)

    async def _undone(self, navigation: Navigation, steps: int, user: str) -> tuple[Navigation, int]:
        """Return the navigation as it was ``steps`` changes of the user ago, and how many there were."""
        taken = 0
        while taken < steps and (at := navigation.run.changed_at):
            record = await self._reader.record(navigation, user, at)
            if record.undo is None:
                break
            navigation, taken = restored(navigation, record.undo), taken + 1
        return navigation, taken

    async def _on_terms(
        self, before: Navigation, user: str, terms: NewTerms
    ) -> tuple[Navigation, tuple[str, ...]]:
        """Return the navigation on new terms, and what is to be told of them."""
        model = terms.model or before.run.model
        after, message = (
            on_terms(before, terms, self._live.price_of(model).rates(model)) if terms else (before, ())
        )
        if message:
            # Models and limits are read when a navigation is made ready.
            await self._live.unready(before.run.navigation_id, user)
        return after, message

    async def fail(self, before: Navigation, user: str, error: ModelFailedError) -> Navigation:
        """End a navigation that no model carries on, and return it; the best plan so far stands."""
        after = Navigation(before.state, before.run.stopping(StopReason.ERROR, str(error)))
        await self._live.store.store(after, user)
        return after

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
            await self._live.store.store(after, user)
        return after
