"""What one turn does to a navigation: end it, change its plan, or let its model take the next step."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast, get_args

from navigator.amendments import amend, follow
from navigator.errors import InvalidRequestError, ModelFailedError, NavigationClosedError
from navigator.feedback import checked_feedback, hear, reopened
from navigator.reports import StopReason
from navigator.settings import EMBEDDED
from navigator.turns import Navigation

if TYPE_CHECKING:
    from navigator.adk.hangar import Hangar, Live
    from navigator.workspace import Workspaces

StepAction = Literal["continue", "finish", "cancel"]


class Ask(NamedTuple):
    """What one turn is asked to do."""

    words: str = ""
    updates: Mapping[str, Any] | None = None
    action: StepAction = "continue"


def asked(
    feedback: str | None = None, updates: Mapping[str, Any] | None = None, action: str = "continue"
) -> Ask:
    """Return what one turn is asked to do.

    Raises:
        InvalidRequestError: it is not to be understood.
    """
    if action not in get_args(StepAction):
        raise InvalidRequestError(f"The action is `{action}`; choose `continue`, `finish` or `cancel`.")
    return Ask(checked_feedback(feedback), updates, cast(StepAction, action))


class Pilot:
    """Carries out one turn; whoever calls holds the navigation's lock."""

    def __init__(self, hangar: Hangar, workspaces: Workspaces) -> None:
        self._hangar = hangar
        self._workspaces = workspaces

    async def answer(self, before: Navigation, user: str, ask: Ask, *, refresh: bool) -> Navigation:
        """Do what is asked and store it; a navigation that has ended opens again for words or updates only.

        Words or updates that come with the wish to finish are heeded first, in one step; with a cancel, not.

        Raises:
            NavigationClosedError: it was cancelled.
            ModelFailedError: no model made a decision.
            RepoMapError: the updates are not well-formed, or their plan can't be drawn.
            StorageError: the step can't be kept; it did not happen.
        """
        says_more = bool(ask.words or ask.updates)
        if ask.action == "cancel" or (ask.action == "finish" and not says_more):
            return await self._end(before, user, ask.action)
        after = await self._step(before, user, ask, refresh=refresh)
        if ask.action == "finish" and after.run.stop_reason in (None, StopReason.FINISHED):
            # The step has been stored since ``before`` was read.
            self._hangar.register.release(after.run.navigation_id, user)
            return await self._end(after, user, "finish")
        return after

    async def _step(self, before: Navigation, user: str, ask: Ask, *, refresh: bool) -> Navigation:
        stopped = before.run.stop_reason
        if stopped is StopReason.CANCELLED:
            raise NavigationClosedError(
                f"Navigation `{before.run.navigation_id}` was cancelled; open a new one with the same goal."
            )
        if ask.updates is None and not ask.words and stopped not in (None, StopReason.ERROR):
            return before
        workspace, _ = await self._workspaces.open(before.state.repo_path, refresh=refresh)
        live = await self._hangar.live(before, workspace, user)
        steered = reopened(before)
        if ask.words:
            heard = await asyncio.to_thread(hear, steered, ask.words, workspace)
            steered = heard if live.flight.pilot == EMBEDDED else follow(steered, heard)
        if ask.updates is None:
            return await self._hangar.fly(live, steered, changed=steered != before)
        return await self._amend(live, steered, ask.updates, ask.words)

    async def fail(self, before: Navigation, user: str, error: ModelFailedError) -> None:
        """End a navigation that no model carries on; the best plan so far stands."""
        run = before.run.stopping(StopReason.ERROR, str(error))
        await self._hangar.register.store(Navigation(before.state, run), user)

    async def _amend(
        self, live: Live, before: Navigation, updates: Mapping[str, Any], words: str
    ) -> Navigation:
        change = amend(before.state.flight_plan, updates)
        own = amend(before.run.own, updates).plan
        run = before.run.model_copy(update={"token_budget": change.plan.budget, "own": own})
        return await self._hangar.change(live, Navigation(before.state, run), change, words)

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
            await self._hangar.register.store(after, user)
        return after
