"""One navigation that takes steps: what its planner, or its model with tools and plugins, shares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple
from weakref import ref

from navigator.records.bookkeeping import Navigation
from navigator.records.decisions import EMBEDDED
from navigator.records.reports import Seconds
from navigator.steps.planner import Update, decide
from navigator.steps.prompt import CachedPrefix, MapDelta, continue_delta, start_delta
from navigator.steps.turn import Decision, amend, apply_decision, goal_with_feedback, opened
from navigator.steps.view import View, ViewRequest, view_of

if TYPE_CHECKING:
    from navigator.errors import StorageError
    from navigator.records.bookkeeping import StepRecord
    from navigator.records.pricing import Ledger
    from navigator.stores.navigation_artifacts import NavigationArtifacts
    from navigator.workspaces.workspace import Workspace
    from repo_map.drawing.blocks import MapText
    from repo_map.drawing.draw import RepoMap
    from repo_map.plan.model import FlightPlan


class StepResult(NamedTuple):
    """What a step came to."""

    record: StepRecord
    map_text: MapText


SHARE_OF_OPENING = 0.7
"""Of the budget, what a model's first map may take: the rest is for what it chooses."""
_MOST_RESULTS = 8
"""Steps that are remembered: the latest, and those that a host holds, which its news are told against."""


class ActiveNavigation:
    """The live side of a navigation; everything that must outlast the process is in ADK's stores instead."""

    def __init__(
        self,
        navigation: Navigation,
        workspace: Workspace,
        artifacts: NavigationArtifacts,
        ledger: Ledger,
        clock: Callable[[], datetime],
    ) -> None:
        self.navigation = navigation
        """As the latest model call or decision saw it."""
        self._workspace = ref(workspace)
        self.artifacts = artifacts
        self.ledger = ledger
        self.model_name = navigation.run.model
        """The model that answers at present."""
        self.results: dict[int, StepResult] = {}
        """By step, the latest that were taken here and are stored for good."""
        self.decided = False
        """Whether the step under way has its decision; a model that makes several calls at once gets one."""
        self.failure = ""
        """Why no model is left to ask; empty while one is."""
        self.unsaved: StorageError | None = None
        """Why the step under way could not be kept."""
        self.leave_place: Callable[[], None] | None = None
        """Gives up the place among the steps that compute; None where there is none to give up."""
        self.notes: list[str] = []
        """What models and stores had to say while the step ran, one sentence each."""
        self.deciding = asyncio.Lock()
        """ADK makes the tool calls of one answer at once; the second decides only if the first did not."""
        self._clock = clock
        self._since = perf_counter()
        self._view: tuple[ViewRequest, View] | None = None
        self._stored: tuple[str, int] | None = None
        self._result: StepResult | None = None
        self.remembers = CachedPrefix.ALL
        """What that model's provider remembers of what it was told, so far as is known before a step."""
        self.delta: MapDelta | None = None
        """How the models are told of the latest map that they were told of."""

    @property
    def workspace(self) -> Workspace:
        """The repository as the step under way sees it; whoever takes the step holds it, and no other."""
        workspace = self._workspace()
        assert workspace is not None, "no step is under way"
        return workspace

    @property
    def planner_decides(self) -> bool:
        """Whether the embedded planner decides, as was asked for or because no model is left to ask."""
        return self.model_name == EMBEDDED

    def begin_step(self, navigation: Navigation, workspace: Workspace) -> None:
        """Start from ``navigation`` as it is stored, over the index as it is now."""
        if workspace is not self._workspace():
            self._workspace, self._view = ref(workspace), None
        self.navigation = navigation
        run = navigation.run
        self.ledger.catch_up(run.spent, run.usage, run.account)
        self.decided = False
        self.failure = ""
        self.unsaved = None
        self._result = None
        self.leave_place = None
        self.notes.clear()
        self._since = perf_counter()

    async def record(self, before: Navigation, decision: Decision) -> Navigation:
        """Draw a decision's plan, keep map and record, and return the navigation with the decision in it.

        Whoever decided, this is how it is recorded. The caller writes the navigation to the session: until
        that event is stored, the step has not happened.

        Raises:
            RepoMapError: the plan can't be drawn.
            StorageError: the map or the record can't be kept.
        """
        view = await self.view(decision.plan)
        version = await self._keep_map(view.map)
        at, timed = self._clock(), self._timed(self.booked(before))
        after, record = apply_decision(timed, decision, at, view, version)
        self.navigation, self.decided = await self._keep_record(after, record), True
        self._result = StepResult(record, view.map.map_text)
        return self.navigation

    def finish_step(self) -> None:
        """Remember the step that has just been stored: it never changes any more."""
        if self._result is not None:
            self.results[self._result.record.report.step_number] = self._result
            self._result = None
            while len(self.results) > _MOST_RESULTS:
                del self.results[min(self.results)]

    async def open(self) -> Navigation:
        """Draw the opening view, keep it with its record, and return the navigation as it starts.

        A model other than the embedded planner starts from what that planner would show, and chooses from
        its menu: a map of every file costs more tokens, and tells less.
        """
        state, run = self._timed(self.navigation)
        view = await self.view(state.flight_plan)
        if not self.planner_decides:
            room = max(1, int(SHARE_OF_OPENING * state.flight_plan.budget))
            tight = state.model_copy(
                update={"flight_plan": state.flight_plan.model_copy(update={"budget": room})}
            )
            first = await asyncio.to_thread(decide, Navigation(tight, run), self.workspace, view)
            if isinstance(first, Update):
                plan = amend(state.flight_plan, first.updates).plan
                state = state.model_copy(update={"flight_plan": plan})
                view = await self.view(plan)
        version = await self._keep_map(view.map)
        after, record = opened(Navigation(state, run), view, version)
        self.navigation = await self._keep_record(after, record)
        self._result = StepResult(record, view.map.map_text)
        return self.navigation

    async def view(self, plan: FlightPlan) -> View:
        """Return the map of ``plan`` with what it means for the goal, drawn once for a plan and an index."""
        # What the embedded planner adds names what is there; a model's plan is judged as a person's is.
        own = self.navigation.run.own
        drawn_for = ViewRequest(
            goal_with_feedback(self.navigation),
            plan,
            own,
            own if self.planner_decides else plan,
            self.navigation.run.changes,
            self.navigation.run.first_answer,
        )
        if self._view is None or self._view[0] != drawn_for:
            self._view = drawn_for, await asyncio.to_thread(view_of, self.workspace, drawn_for)
        return self._view[1]

    def report_progress(self, view: View) -> MapDelta:
        """Return how a model is told of the map, given what models were told before."""
        step = self.navigation.run.step
        if self.delta is None:
            self.delta = start_delta(view.map, step)
        else:
            self.delta = continue_delta(self.delta, view.map, step, self.remembers)
        return self.delta

    def booked(self, navigation: Navigation) -> Navigation:
        """Return the navigation with the ledger's totals and the session's notes."""
        ledger = self.ledger
        totals = {"spent": ledger.spent, "usage": ledger.usage, "account": ledger.account}
        run = navigation.run.model_copy(update=totals)
        budget = navigation.state.budget_config.model_copy(update={"current_spend_usd": ledger.spent})
        state = navigation.state.model_copy(update={"budget_config": budget})
        return Navigation(state, run.noting(*self.notes))

    async def _keep_record(self, after: Navigation, record: StepRecord) -> Navigation:
        """Keep a record, and return the navigation that tells its version: no other is read for that step."""
        version = await self.artifacts.save_record(record)
        return Navigation(after.state, after.run.recorded(after.run.step, version))

    async def _keep_map(self, drawn: RepoMap) -> int:
        """Return the version that the map is stored as; an unchanged map keeps its version."""
        if self._stored is None or self._stored[0] != drawn.text:
            self._stored = drawn.text, await self.artifacts.save_map(drawn.text)
        return self._stored[1]

    def _timed(self, navigation: Navigation) -> Navigation:
        before, now = navigation.run.seconds, perf_counter()
        elapsed = round(before.navigate + now - self._since, 4)
        self._since = now
        seconds = Seconds(index=before.index, navigate=elapsed, total=round(before.index + elapsed, 4))
        return Navigation(navigation.state, navigation.run.model_copy(update={"seconds": seconds}))
