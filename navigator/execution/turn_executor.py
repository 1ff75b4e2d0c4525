"""What one turn does to a navigation: end it, change its plan, or let its model take the next step."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast, get_args

from navigator.errors import InvalidRequestError, ModelFailedError, NavigationClosedError, StorageError
from navigator.records.decisions import EMBEDDED
from navigator.records.reports import MenuPlace, StopReason, UnreadWords
from navigator.settings import StepAction
from navigator.steps.feedback import (
    FeedbackOutcome,
    apply_feedback,
    checked_feedback,
    remembering,
    reopened,
    restored,
    unread_words,
    with_undo_point,
)
from navigator.steps.menu_choice import NUMBERS, number_words
from navigator.steps.request import NewTerms, on_terms
from navigator.steps.revise_plan import heed, is_planned
from navigator.steps.turn import Navigation, amend_by_user, apply_user_plan, settled, with_notes
from repo_map.feedback.parse import asks_by_number
from repo_map.plan.diff import compare_plans

if TYPE_CHECKING:
    from navigator.adk.runner import LiveNavigation, RunnerPool
    from navigator.records.bookkeeping import StepRecord
    from navigator.workspaces.workspace import Workspace, Workspaces

NOTHING_TO_UPDATE = "The updates change nothing, so no step was taken."
HAS_ENDED = (
    "The navigation has ended and nothing new was asked, so no step was taken; "
    "feedback or updates open it again."
)

TAKEN = "The context is taken as it is."
GIVEN_UP = "The navigation is given up."


class TurnRequest(NamedTuple):
    """What one turn is asked to do."""

    words: str = ""
    updates: Mapping[str, Any] | None = None
    action: StepAction = "continue"
    menu_step: int | None = None
    """The step whose menu its numbers mean; None for the latest."""


def turn_request(
    feedback: str | None = None,
    updates: Mapping[str, Any] | None = None,
    action: str | None = None,
    menu_step: int | None = None,
) -> TurnRequest:
    """Return what one turn is asked to do.

    Raises:
        InvalidRequestError: it is not to be understood.
    """
    action = action or "continue"
    if action not in get_args(StepAction):
        raise InvalidRequestError(f"The action is `{action}`; choose `continue`, `finish` or `cancel`.")
    return TurnRequest(checked_feedback(feedback), updates, cast(StepAction, action), menu_step)


class TurnOutcome(NamedTuple):
    """What a turn came to."""

    navigation: Navigation
    said: str = ""
    """What is to be told of a turn that took no step, in place of the latest step's answer."""
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
        pool: RunnerPool,
        workspaces: Workspaces,
        computing_slot: Callable[[str, str], AbstractAsyncContextManager[None]],
        terms_of: Callable[[Mapping[str, Any]], tuple[NewTerms, dict[str, Any]]],
    ) -> None:
        """Build a turn executor.

        Args:
            computing_slot: holds a place for a step of a model, asked for by a principal, among the few that
                compute.
            terms_of: parts updates into new terms and a partial plan, both checked.
        """
        self._pool = pool
        self._workspaces = workspaces
        self._computing_slot = computing_slot
        self._terms_of = terms_of

    async def answer(self, before: Navigation, user: str, ask: TurnRequest, *, refresh: bool) -> TurnOutcome:
        """Do what is asked and store it; a navigation that has ended opens again for words or updates only.

        Words or updates that come with the wish to finish are heeded first, in one step; with a cancel, not.
        What changes nothing takes no step, and the turn says so.

        Raises:
            InvalidRequestError: new terms can't be used.
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model made a decision.
            RepoMapError: the updates are not well-formed, or their plan can't be drawn.
            StorageError: the step can't be kept; it did not happen.
        """
        says_more = bool(ask.words or ask.updates)
        if ask.action == "cancel" or (ask.action == "finish" and not says_more):
            return TurnOutcome(
                await self._end(before, user, ask.action), GIVEN_UP if ask.action == "cancel" else TAKEN
            )
        turn = await self._step(before, user, ask, refresh=refresh)
        if (ask.action == "finish" or turn.finishes) and turn.navigation.run.stop_reason in (
            None,
            StopReason.FINISHED,
        ):
            # The step has been stored since ``before`` was read.
            self._pool.store.release(turn.navigation.run.navigation_id, user)
            return turn._replace(navigation=await self._end(turn.navigation, user, "finish"))
        return turn

    async def _step(self, stored: Navigation, user: str, ask: TurnRequest, *, refresh: bool) -> TurnOutcome:
        stopped = stored.run.stop_reason
        if stopped is StopReason.CANCELLED:
            raise NavigationClosedError(
                f"Navigation `{stored.run.navigation_id}` was cancelled; open a new one with the same goal."
            )
        terms, updates = self._terms_of(ask.updates or {})
        numbers = number_words(updates.pop(NUMBERS, None))
        before, message = await self._on_terms(stored, user, terms)
        if not (ask.words or numbers or updates):
            if not message and ask.updates is not None:
                return TurnOutcome(stored, NOTHING_TO_UPDATE)
            if not continues_without_words(stopped, terms):
                if message:
                    await self._pool.store.store(before, user)
                return TurnOutcome(before, " ".join((*message, HAS_ENDED)))
        workspace, _ = await self._workspaces.open(before.state.repo_path, refresh=refresh)
        async with self._computing_slot(before.run.model, user):
            live = await self._pool.live(before, workspace, user)
            steered = with_notes(reopened(before), message)
            return await self._run_step(
                live,
                workspace,
                stored,
                steered,
                user=user,
                words="\n".join(filter(None, (numbers, ask.words))),
                updates=updates,
                has_terms=bool(message),
                menu_step=ask.menu_step,
            )

    async def _menu(self, navigation: Navigation, user: str, step: int | None) -> tuple[MenuPlace, ...]:
        """Return the menu of a step, by default the latest, which the numbers of a feedback mean."""
        wanted = navigation.run.step if step is None else step
        return (await self._record(navigation, user, wanted)).report.menu

    async def _run_step(
        self,
        live: LiveNavigation,
        workspace: Workspace,
        stored: Navigation,
        steered: Navigation,
        *,
        user: str,
        words: str,
        updates: Mapping[str, Any],
        has_terms: bool,
        menu_step: int | None,
    ) -> TurnOutcome:
        """Take the step that words or updates ask for, if they change anything.

        Args:
            live: the navigation, ready to fly.
            workspace: its repository.
            stored: the navigation as it was, and stays where nothing changes.
            steered: the same, opened again and on its new terms.
            user: on whose behalf it is taken.
            words: the user's feedback, empty for none.
            updates: a partial flight plan, empty for none.
            has_terms: whether the terms differ from those stored.
            menu_step: the step whose menu numbers mean, None for the latest.
        """
        finishes = False
        missed: tuple[UnreadWords, ...] | None = None
        if words:
            menu = await self._menu(stored, user, menu_step) if asks_by_number(words) else ()
            heard = await asyncio.to_thread(apply_feedback, steered, words, workspace, menu)
            finishes, undone = heard.steering.finish, 0
            if steps := heard.steering.undo:
                steered, undone = await self._undone(steered, steps, user)
                heard = await asyncio.to_thread(apply_feedback, steered, words, workspace, menu)
                heard = heard.undone(steps, undone)
            missed = unread_words(heard.steering)
            is_embedded = live.active.model_name == EMBEDDED
            asks_nothing = heard.asks_nothing(of_a_model=not is_embedded and not finishes and not undone)
            if not (updates or has_terms) and asks_nothing and not undone:
                said = "\n".join(filter(None, (heard.navigation.run.answer, TAKEN if finishes else "")))
                return TurnOutcome(await self._remembered(stored, heard, user), said, finishes, missed)
            if not updates and asks_nothing and not has_terms:
                change = compare_plans(stored.state.flight_plan, steered.state.flight_plan)
                after = await self._pool.change(live, heard.navigation, change, words)
                return TurnOutcome(
                    await self._settled(live, after, user), finishes=finishes, not_understood=missed
                )
            if is_embedded and not updates and is_planned(steered):
                kept = await asyncio.to_thread(heed, steered, heard.navigation, heard.steering, workspace)
                kept = kept._replace(navigation=with_undo_point(steered, kept.navigation))
                after = await self._pool.change(live, kept.navigation, kept.change, words, by=kept.by)
                return TurnOutcome(
                    await self._settled(live, after, user), finishes=finishes, not_understood=missed
                )
            # The planner plans anew with the words; a plan that is changed by hand has to hold them itself.
            before = steered
            steered = (
                heard.navigation
                if is_embedded and not updates
                else apply_user_plan(workspace.index, steered, heard.navigation)
            )
            steered = with_undo_point(before, steered)
        if not updates:
            after = await self._pool.run_step(live, steered, changed=steered != stored)
            after = await self._settled(live, after, user) if words else after
            return TurnOutcome(after, finishes=finishes, not_understood=missed)
        before = steered
        amended, change = await asyncio.to_thread(amend_by_user, steered, workspace.index, updates)
        if not words:
            amended = with_undo_point(before, amended)
        changes = bool(change.diff) or amended.run.own != steered.run.own
        if not (changes or words or has_terms):
            return TurnOutcome(stored, NOTHING_TO_UPDATE)
        after = await self._pool.change(live, amended, change, words)
        return TurnOutcome(after, finishes=finishes, not_understood=missed)

    async def _remembered(self, stored: Navigation, heard: FeedbackOutcome, user: str) -> Navigation:
        """Return the navigation with what words that took no step were about, stored for the next ones."""
        after = remembering(stored, heard)
        if after != stored:
            # What can't be kept is no reason not to answer.
            with suppress(StorageError):
                await self._pool.store.store(after, user)
        return after

    async def _settled(self, live: LiveNavigation, after: Navigation, user: str) -> Navigation:
        """Return the navigation as ended where nothing is left to do for the words that it has just heeded.

        The embedded planner does what words ask in one step: another one would find nothing to do.
        """
        is_done = live.active.model_name == EMBEDDED and not after.run.fill
        if not is_done or after.state.execution_mode != "autonomous" or after.run.stop_reason is not None:
            return after
        done = settled(after)
        # The step has been stored since it was read.
        self._pool.store.release(after.run.navigation_id, user)
        await self._pool.store.store(done, user)
        return done

    async def _undone(self, navigation: Navigation, steps: int, user: str) -> tuple[Navigation, int]:
        """Return the navigation as it was ``steps`` changes of the user ago, and how many there were."""
        taken = 0
        while taken < steps and (at := navigation.run.changed_at):
            record = await self._record(navigation, user, at)
            if record.undo is None:
                break
            navigation, taken = restored(navigation, record.undo), taken + 1
        return navigation, taken

    async def _record(self, navigation: Navigation, user: str, step: int) -> StepRecord:
        run = navigation.run
        if result := self._pool.step_result(run.navigation_id, user, step):
            return result.record
        version = run.record_version(step)
        return await self._pool.artifacts(run.navigation_id, user).load_record(step, version)

    async def _on_terms(
        self, before: Navigation, user: str, terms: NewTerms
    ) -> tuple[Navigation, tuple[str, ...]]:
        """Return the navigation on new terms, and what is to be told of them."""
        model = terms.model or before.run.model
        after, message = (
            on_terms(before, terms, self._pool.price_of(model).rates(model)) if terms else (before, ())
        )
        if message:
            # Models and limits are read when a navigation is made ready.
            await self._pool.unready(before.run.navigation_id, user)
        return after, message

    async def fail(self, before: Navigation, user: str, error: ModelFailedError) -> None:
        """End a navigation that no model carries on; the best plan so far stands."""
        run = before.run.stopping(StopReason.ERROR, str(error))
        await self._pool.store.store(Navigation(before.state, run), user)

    async def _end(self, before: Navigation, user: str, action: StepAction) -> Navigation:
        if action == "cancel":
            run = before.run.stopping(StopReason.CANCELLED, "The user cancelled the navigation.")
        else:
            run = before.run.stopping(StopReason.USER, "The user took the context as it is.")
        state = before.state.model_copy(
            update={"interactive_pause": False, "exploration_complete": action == "finish"}
        )
        after = Navigation(state, run)
        if after != before:
            await self._pool.store.store(after, user)
        return after
