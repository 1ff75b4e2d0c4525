"""The navigations that are live: who decides their steps, what was decided, and their eviction."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from opentelemetry import trace

from navigator.adk.active_navigation import ActiveNavigation, StepResult
from navigator.errors import ModelFailedError
from navigator.models.model_names import price_of
from navigator.models.sampling_port import HOST
from navigator.records.bookkeeping import Navigation
from navigator.records.decisions import EMBEDDED
from navigator.records.pricing import Ledger, ModelPrice, load_prices
from navigator.steps.planner import planned
from navigator.steps.turn import settled
from navigator.stores.navigation_store import busy, unstored
from navigator.stores.sessions import StaleSessionError

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from navigator.adk.model_agent import ModelAgent, ModelAgents
    from navigator.models.sampling_port import AskHost
    from navigator.settings import NavigatorSettings
    from navigator.steps.turn import Decision
    from navigator.stores.navigation_store import NavigationStore
    from navigator.workspaces.workspace import Workspace


MAX_LIVE = 64

logger = logging.getLogger(__name__)
_tracer = trace.get_tracer("repo_navigator")
_PLANNER_RUN: Final = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "navigator",
    "gen_ai.request.model": EMBEDDED,
}
"""OpenTelemetry's attributes of an agent's run, from its semantic conventions for generative models."""


class LiveNavigation(NamedTuple):
    """A navigation that is ready for its next step."""

    active: ActiveNavigation
    agent: ModelAgent | None
    """None where no model was asked for: the planner decides."""
    user: str


class LiveNavigations:
    """Makes navigations ready for steps, lets a model or the planner decide, and stores what they decide."""

    def __init__(
        self,
        settings: NavigatorSettings,
        clock: Callable[[], datetime],
        models: Mapping[str, BaseLlm],
        ask_host: AskHost | None,
        store: NavigationStore,
    ) -> None:
        self._settings = settings
        self._models = models
        self._ask_host = ask_host
        self._prices = load_prices(settings.prices)
        self._agents: ModelAgents | None = None
        """None until a model is to decide: ADK takes a second to import."""
        self._clock = clock
        self.store = store
        self._live: OrderedDict[tuple[str, str], LiveNavigation] = OrderedDict()
        self._bookings: set[asyncio.Future[None]] = set()

    @property
    def count(self) -> int:
        """How many navigations are ready."""
        return len(self._live)

    def price_of(self, model: str) -> ModelPrice:
        """Return what calls of ``model`` cost."""
        handed_in = {*self._models, *([HOST] if self._ask_host else [])}
        return price_of(model, self._settings, self._prices, handed_in)

    def step_result(self, navigation_id: str, user: str, step: int) -> StepResult | None:
        """Return what a step came to, where it was one of the latest that were taken here."""
        live = self._live.get((user, navigation_id))
        return live.active.results.get(step) if live else None

    async def live(self, navigation: Navigation, workspace: Workspace, user: str) -> LiveNavigation:
        """Return the navigation ready for a step over ``workspace``, from where it is stored."""
        key = (user, navigation.run.navigation_id)
        live = self._live.pop(key, None) or await self._make_live(navigation, workspace, user)
        live.active.begin_step(navigation, workspace)
        if self.store.note:
            live.active.notes.append(self.store.note)
        self._live[key] = live
        await self._drop_idle(keep=key)
        return live

    async def rest(self, navigation_id: str) -> None:
        """Let the providers forget a task that has ended."""
        if self._agents is not None:
            await self._agents.rest(navigation_id)

    async def unready(self, navigation_id: str, user: str) -> None:
        """Let go of a navigation's models and limits, as they have changed; the next step reads them anew."""
        self._live.pop((user, navigation_id), None)
        await self._destroy(navigation_id)

    async def _drop_idle(self, keep: tuple[str, str]) -> None:
        """Let go of those used least lately; one under way keeps its models until its step is done."""
        for key in list(self._live):
            if len(self._live) <= MAX_LIVE:
                return
            if key != keep and not self.store.is_held(key[1]):
                del self._live[key]
                await self._destroy(key[1])

    async def _destroy(self, navigation_id: str) -> None:
        if self._agents is not None:
            await self._agents.destroy(navigation_id)

    async def commit(
        self, live: LiveNavigation, before: Navigation, decision: Decision, *, settles: bool = False
    ) -> Navigation:
        """Take one step by a decision that is made already, the user's or the planner's, and store it.

        Args:
            live: the navigation.
            before: as it is before the decision.
            decision: what was decided.
            settles: whether nothing is left to do then for what the user has said.

        Raises:
            NavigationBusyError: another process stepped the navigation meanwhile.
            StorageError: the step can't be kept; it did not happen.
        """
        active = live.active
        active.navigation = before
        after = await active.record(before, decision)
        if settles:
            after = active.navigation = settled(after)
        if active.leave_place is not None:
            # Nothing is left to compute: while the disk takes this step, another one may be drawn.
            active.leave_place()
        await self.store.store(after, live.user)
        active.finish_step()
        return after

    async def decide(
        self, live: LiveNavigation, before: Navigation, *, changed: bool, settles: bool
    ) -> Navigation:
        """Take one step from ``before``: let a model decide, or the planner where none is asked.

        Args:
            live: the navigation.
            before: where the step begins.
            changed: whether ``before`` differs from what is stored, by feedback for one.
            settles: whether the planner has nothing left to do then for what the user has said.

        Raises:
            ModelFailedError: no model made a decision; the navigation is stored with what was spent.
            NavigationBusyError: another process stepped the navigation meanwhile.
            StorageError: the step can't be kept; it did not happen.
        """
        try:
            if live.agent is not None and not live.active.planner_decides:
                before = await self._ask_models(live, live.agent, before, changed=changed)
                if live.active.decided or before.run.stop_reason is not None:
                    return before
            return await self._plan(live, before, settles=settles)
        except StaleSessionError as error:
            raise busy(before) from error
        except sqlite3.Error as error:
            raise unstored(error) from error
        except (ModelFailedError, asyncio.CancelledError):
            booking = asyncio.ensure_future(self._book(live, before))
            self._bookings.add(booking)
            booking.add_done_callback(self._bookings.discard)
            await asyncio.shield(booking)
            raise

    async def _plan(self, live: LiveNavigation, before: Navigation, *, settles: bool) -> Navigation:
        """Let the planner decide."""
        active = live.active
        active.navigation = before
        # As ADK names its agents' runs and tool calls: a collector shows steps of the planner beside those.
        with _tracer.start_as_current_span("invoke_agent navigator", attributes=_PLANNER_RUN) as run:
            run.set_attribute("gen_ai.conversation.id", before.run.navigation_id)
            view = await active.view(before.state.flight_plan)
            decision, notes = await asyncio.to_thread(planned, before, active.workspace, view)
            active.notes.extend(notes)
            with _tracer.start_as_current_span(f"execute_tool {decision.action}"):
                return await self.commit(live, before, decision, settles=settles)

    async def _ask_models(
        self, live: LiveNavigation, agent: ModelAgent, before: Navigation, *, changed: bool
    ) -> Navigation:
        """Run the agent until a model has decided, the work has ended, or the planner is to decide."""
        active = live.active
        while True:
            active.navigation = before
            try:
                await agent.decide(before, live.user, changed=changed)
            finally:
                # The runner stored what the tool or the plugin left in the navigation.
                self.store.release(before.run.navigation_id, live.user)
            after = active.navigation
            active.finish_step()
            if active.decided or after.run.stop_reason is not None:
                return after
            if active.unsaved:
                raise active.unsaved
            if not active.failure and not active.planner_decides:
                await agent.session.give_up(f"made no valid decision in {agent.most_calls} calls")
            if active.failure:
                raise ModelFailedError(active.failure)
            before, changed = active.booked(after), True
            if active.planner_decides:
                return before

    async def aclose(self) -> None:
        """Let go of all models, and wait for what is still booked."""
        for _, navigation_id in self._live:
            await self._destroy(navigation_id)
        self._live.clear()
        # What a cancelled step has spent is still being written, by a task that nobody waits for any more.
        await asyncio.gather(*self._bookings, return_exceptions=True)

    async def _book(self, live: LiveNavigation, before: Navigation) -> None:
        """Store what a step that came to nothing has spent."""
        stored = await self.store.load_to_change(before.run.navigation_id, live.user)
        try:
            booked = live.active.booked(stored)
            if booked != stored:
                await self.store.store(booked, live.user)
        finally:
            self.store.release(before.run.navigation_id, live.user)

    async def _make_live(self, navigation: Navigation, workspace: Workspace, user: str) -> LiveNavigation:
        run, budget = navigation.run, navigation.state.budget_config
        ledger = Ledger(budget.max_spend_usd, run.spent, run.usage, run.account)
        active = ActiveNavigation(
            navigation, workspace, self.store.artifacts(run.navigation_id, user), ledger, self._clock
        )
        if active.planner_decides:
            return LiveNavigation(active, None, user)
        if self._agents is None:
            self._agents = await asyncio.to_thread(self._load_agents)
        return LiveNavigation(active, self._agents.make(active), user)

    def _load_agents(self) -> ModelAgents:
        from navigator.adk.model_agent import ModelAgents  # noqa: PLC0415 - ADK takes a second, and few need it

        return ModelAgents(self._settings, self._prices, self._models, self._ask_host, self.store.sessions)
