"""The ADK runners that are live, and their eviction."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.errors import StaleSessionError
from google.adk.runners import Runner
from google.genai import types

from navigator.adk import state_store
from navigator.adk.active_navigation import ActiveNavigation, Step, StepResult
from navigator.adk.models.host import HostModel
from navigator.adk.models.session import HybridSession, SessionManager
from navigator.adk.navigation_store import STATE_ONLY, NavigationArtifacts, NavigationStore, busy, unstored
from navigator.adk.plugins import BudgetEnforcementPlugin, LayoutPlugin
from navigator.adk.requests import MAX_OUTPUT_TOKENS, ONE_TOOL
from navigator.adk.session_values import SessionId
from navigator.adk.stores import open_stores
from navigator.adk.tools import tools_of
from navigator.errors import ModelFailedError, StorageError
from navigator.models.sampling_port import HOST
from navigator.records.decisions import USER
from navigator.records.pricing import Ledger, ModelPrice, load_prices
from navigator.steps.prompt import ROLE, changing_part
from navigator.steps.turn import Navigation
from navigator.stores.usage import Load, UsageStore

if TYPE_CHECKING:
    from google.adk.models import BaseLlm
    from google.adk.sessions import BaseSessionService

    from navigator.adk.active_navigation import ActiveNavigation
    from navigator.models.sampling_port import AskHost
    from navigator.settings import NavigatorSettings
    from navigator.workspaces.workspace import Workspace
    from repo_map.plan.diff import PlanChange


APP_NAME = "repo_navigator"
logger = logging.getLogger(__name__)


def build_runner(active: ActiveNavigation, session: HybridSession, sessions: BaseSessionService) -> Runner:
    """Return the runner that takes the steps of one navigation."""

    async def instruct(context: ReadonlyContext) -> str:
        navigation = state_store.read(context.state)
        view = await active.view(navigation.state.flight_plan)
        active.report_progress(view)
        return changing_part(navigation, view.menu, view.sufficiency)

    agent = LlmAgent(
        name="navigator",
        model=session,
        static_instruction=ROLE,
        instruction=instruct,
        tools=[*tools_of(active)],
        include_contents="none",
        generate_content_config=types.GenerateContentConfig(
            temperature=0, max_output_tokens=MAX_OUTPUT_TOKENS, tool_config=ONE_TOOL
        ),
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    app = App(
        name=APP_NAME,
        root_agent=agent,
        plugins=[LayoutPlugin(active), BudgetEnforcementPlugin(active, session)],
    )
    return Runner(app=app, session_service=sessions, artifact_service=active.artifacts.service)


MAX_LIVE = 64
CALLS_PER_STEP = 4
"""Model calls in one step: a call, and a few to mend it."""
MOST_TOLD = 5
"""Of the changes of a plan, in the sentence that tells them."""


class LiveNavigation(NamedTuple):
    """A navigation that is ready to fly."""

    active: ActiveNavigation
    session: HybridSession
    runner: Runner
    user: str


class RunnerPool:
    """Everything of a navigator that needs ADK, behind one door."""

    def __init__(
        self,
        settings: NavigatorSettings,
        clock: Callable[[], datetime],
        models: Mapping[str, BaseLlm],
        ask_host: AskHost | None,
    ) -> None:
        if ask_host is not None:
            models = {HOST: HostModel(ask_host), **models}
        self._models = SessionManager(settings, load_prices(settings.prices), models)
        self._clock = clock
        self._stores = open_stores(settings.data_dir, settings.store, settings.bucket, settings.lease_s)
        self.store = NavigationStore(self._stores.sessions, APP_NAME, self._stores.damage)
        self._locks = self._stores.locks
        self._live: OrderedDict[tuple[str, str], LiveNavigation] = OrderedDict()
        self._bookings: set[asyncio.Future[None]] = set()

    @property
    def note(self) -> str:
        """What the user should know of the stores; empty when all is well."""
        return self._stores.note

    def hold(self, navigation_id: str) -> AbstractAsyncContextManager[None]:
        """Hold a navigation for one step: nobody else, here or in another process, steps it meanwhile."""
        return self._locks.hold(navigation_id)

    @property
    def usage(self) -> UsageStore:
        """Where what principals use is counted."""
        return self._stores.usage

    def load(self) -> Load:
        """Return what is held and ready here, and what the stores refused."""
        locks, stores = self._locks, self._stores
        # ADK's own services count nothing.
        errors = {"database": stores.sessions.errors, "artifacts": getattr(stores.artifacts, "errors", 0)}
        return Load(live=len(self._live), leases=locks.held, lost=locks.lost, store_errors=errors)

    async def reach(self) -> None:
        """Ask both stores something.

        Raises:
            StorageError: one does not answer.
        """
        await self.store.known("nav-", "nobody")
        await self.artifacts("nav-", "nobody").reach()

    def price_of(self, model: str) -> ModelPrice:
        """Return what calls of ``model`` cost."""
        return self._models.price_of(model)

    def artifacts(self, navigation_id: str, user: str) -> NavigationArtifacts:
        """Return the artifacts of a navigation."""
        return NavigationArtifacts(self._stores.artifacts, APP_NAME, user, navigation_id)

    def step_result(self, navigation_id: str, user: str, step: int) -> StepResult | None:
        """Return what a step came to, where it was one of the latest that were taken here."""
        live = self._live.get((user, navigation_id))
        return live.active.landings.get(step) if live else None

    async def live(self, navigation: Navigation, workspace: Workspace, user: str) -> LiveNavigation:
        """Return the navigation ready to fly over ``workspace``, from where it is stored."""
        key = (user, navigation.run.navigation_id)
        live = self._live.pop(key, None) or self._make_live(navigation, workspace, user)
        live.active.begin_step(navigation, workspace)
        if self.note:
            live.active.notes.append(self.note)
        self._live[key] = live
        await self._drop_idle(keep=key)
        return live

    async def rest(self, navigation_id: str) -> None:
        """Let the providers forget a task that has ended."""
        if session := self._models.find(navigation_id):
            await session.rest()

    async def unready(self, navigation_id: str, user: str) -> None:
        """Let go of a navigation's models and limits, as they have changed; the next step reads them anew."""
        if live := self._live.pop((user, navigation_id), None):
            await self._models.destroy(live.session.id)

    async def _drop_idle(self, keep: tuple[str, str]) -> None:
        """Let go of those used least lately; one that flies keeps its models until it has landed."""
        for key in list(self._live):
            if len(self._live) <= MAX_LIVE:
                return
            if key != keep and not self._locks.is_held(key[1]):
                await self._models.destroy(self._live.pop(key).session.id)

    async def change(
        self, live: LiveNavigation, before: Navigation, change: PlanChange, words: str, *, by: str = USER
    ) -> Navigation:
        """Take one step by a change of the plan that is made already, by default the user's, and store it."""
        live.active.navigation = before
        reasoning = words or _told(change.lines)
        step = Step("update_flight_plan", reasoning, change.plan, change.diff, by)
        after = await live.active.decide(before, step)
        await self.store.store(after, live.user)
        live.active.finish_step()
        return after

    async def run_step(self, live: LiveNavigation, before: Navigation, *, changed: bool) -> Navigation:
        """Take one step from ``before``: run the agent until one of its models has made a decision.

        Args:
            changed: whether ``before`` differs from what is stored, by feedback for one.

        Raises:
            ModelFailedError: none did; the navigation is stored with what was spent.
            NavigationBusyError: another process stepped the navigation meanwhile.
            StorageError: the step can't be kept; it did not happen.
        """
        active = live.active
        try:
            while True:
                active.navigation = before
                await self._invoke(live, before, changed)
                # The runner stored what the tool or the plugin left in the navigation.
                after = active.navigation
                active.finish_step()
                if active.decided or after.run.stop_reason is not None:
                    return after
                if active.unsaved:
                    raise active.unsaved
                if not active.failure:
                    await live.session.give_up(f"made no valid decision in {CALLS_PER_STEP} calls")
                if active.failure:
                    raise ModelFailedError(active.failure)
                before, changed = active.booked(after), True
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

    async def forget(self, navigation_id: str, user: str) -> None:
        """Delete a navigation with its maps and records.

        The row goes first, with a note that the rest is to follow: what a kill or a store that does not
        answer leaves behind belongs to nobody, and ``delete_forgotten`` goes on with it.
        """
        if self._stores.is_read_only:
            raise StorageError(f"The navigation could not be deleted. {self.note}")
        session = await self.store.forget(navigation_id, user)
        self._live.pop((user, navigation_id), None)
        await self._models.destroy(navigation_id)
        await self._delete_artifacts(session)

    async def delete_forgotten(self) -> None:
        """Delete what is left of navigations whose deletion was cut short, and locks of killed processes.

        Raises:
            StorageError: a store does not answer.
        """
        await self._locks.remove_abandoned()
        while sessions := await self.store.forgotten():
            for session in sessions:
                if not await self._delete_artifacts(session):
                    return

    async def _delete_artifacts(self, session: SessionId) -> bool:
        """Delete the artifacts of a forgotten navigation, and tell whether none is left."""
        try:
            await self.artifacts(session.id, session.user_id).clear()
            await self.store.note_deleted(session)
        except (OSError, StorageError) as error:
            logger.warning("Artifacts of %s are deleted later (%s)", session.id, error)
            return False
        return True

    async def aclose(self) -> None:
        """Close what is open."""
        for live in self._live.values():
            await self._models.destroy(live.session.id)
        self._live.clear()
        # What a cancelled step has spent is still being written, by a task that nobody waits for any more.
        await asyncio.gather(*self._bookings, return_exceptions=True)
        await self._stores.usage.close()
        await self._stores.sessions.close()

    async def _book(self, live: LiveNavigation, before: Navigation) -> None:
        """Store what a step that came to nothing has spent."""
        stored = await self.store.load_to_change(before.run.navigation_id, live.user)
        booked = live.active.booked(stored)
        if booked != stored:
            await self.store.store(booked, live.user)

    async def _invoke(self, live: LiveNavigation, before: Navigation, changed: bool) -> None:
        config = RunConfig(max_llm_calls=CALLS_PER_STEP, get_session_config=STATE_ONLY)
        try:
            async for _ in live.runner.run_async(
                user_id=live.user,
                session_id=before.run.navigation_id,
                new_message=types.Content(role="user", parts=[types.Part(text="Decide the next step.")]),
                state_delta=state_store.delta(before) if changed else None,
                run_config=config,
            ):
                pass
        except LlmCallsLimitExceededError:
            return

    def _make_live(self, navigation: Navigation, workspace: Workspace, user: str) -> LiveNavigation:
        run, budget = navigation.run, navigation.state.budget_config
        ledger = Ledger(budget.max_spend_usd, run.spent, run.usage, run.account)
        active = ActiveNavigation(
            navigation, workspace, self.artifacts(run.navigation_id, user), ledger, self._clock
        )
        session = self._models.create(active)
        return LiveNavigation(active, session, build_runner(active, session, self._stores.sessions), user)


def _told(changes: Sequence[str]) -> str:
    """Return what the user changed of the plan, in a sentence."""
    if not changes:
        return "The plan says so already; from now on it is the user's wish."
    more = f"; and {len(changes) - MOST_TOLD} more" if len(changes) > MOST_TOLD else ""
    return f"The user changed the plan: {'; '.join(changes[:MOST_TOLD])}{more}."
