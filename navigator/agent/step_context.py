"""What the agents, tools and plugins of one step share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import ref

import anyio
import anyio.to_thread

from navigator.planner.view import View, build_view
from navigator.state.labels import EMBEDDED
from navigator.state.reports import Seconds
from navigator.state.run_state import Navigation
from repo_map.lookup.requests import Read

if TYPE_CHECKING:
    from navigator.agent.models.session import ModelSession
    from navigator.planner.context import CachedNavigation, StepResult
    from navigator.planner.record import Decision
    from navigator.state.reports import OutlineEntry
    from navigator.state.run_state import SelectedPlace
    from navigator.storage.storage import Storage
    from navigator.workspaces.workspace import Workspace
    from repo_map.lookup.requests import Request
    from repo_map.plan.model import FlightPlan

COMPUTING: Final = 2
"""Steps that compute at once: they share one interpreter, and more would only make each other wait."""
_T = TypeVar("_T")


class Computing:
    """Threads for what computes, a few at once."""

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, function: Callable[..., _T], *arguments: Any) -> _T:
        """Return what a function returns that computes in a thread."""
        self._limiter = self._limiter or anyio.CapacityLimiter(COMPUTING)
        work = partial(function, *arguments)
        return await anyio.to_thread.run_sync(work, limiter=self._limiter, abandon_on_cancel=True)


@dataclass
class StepContext:
    """One step under way."""

    navigation: Navigation
    """As the latest model call or decision left it."""
    user: str
    storage: Storage
    workspace: Workspace
    drawn: CachedNavigation
    computing: Computing
    clock: Callable[[], datetime]
    session: ModelSession | None = None
    """The models; None where none was asked for."""
    decision: Decision | None = None
    """The decision, where the caller has made it already."""
    settles: bool = False
    """Whether nothing is left to do for the user's words once the policy, or the user, has decided."""
    notes: list[str] = field(default_factory=list)
    """What models and the storage had to say, one sentence each."""
    result: StepResult | None = None
    calls: int = 0
    tokens_read: int = 0
    asked: set[Request] = field(default_factory=set)
    """What models have looked for in it."""
    is_finishing: bool = False
    """Whether a limit is reached, and the model was asked to finish."""
    gave_up: str = ""
    """Why the embedded policy, or the selection so far, ends the step and not the model; empty if it does."""
    error: Exception | None = None
    """Why the step could not be stored."""
    outline: tuple[OutlineEntry, ...] = ()
    """What the model was sent at the beginning of the step; numbers mean it."""
    deciding: asyncio.Lock = field(default_factory=asyncio.Lock)
    """ADK makes the tool calls of one answer at once; the second decides only if the first did not."""
    _since: float = field(default_factory=perf_counter)

    @property
    def asks_models(self) -> bool:
        """Whether a model decides: one was asked for and is left, and the caller has decided nothing."""
        return self.decision is None and not self.plans_anew and not self.gave_up

    @property
    def plans_anew(self) -> bool:
        """Whether the embedded policy plans, as was asked for or because no model is left to ask."""
        return self.session is None or self.session.is_over

    @property
    def model_name(self) -> str:
        if self.session is None or self.session.is_over:
            return EMBEDDED
        return self.session.model_name

    @property
    def is_done(self) -> bool:
        """Whether the step is decided, or the work has ended, or can't go on."""
        failed = self.session is not None and self.session.failure
        return bool(self.result or self.error or failed or self.navigation.run.stop_reason)

    def give_up(self, reason: str) -> None:
        """Let the embedded policy, or what was selected so far, end the step, and note why."""
        self.gave_up = reason
        rest = "its last selection is kept" if self.navigation.run.selection else f"{EMBEDDED} took over"
        self.notes.append(f"{reason}; {rest}.")

    def with_numbers(self, request: Request) -> Request:
        """Return a request to read in which numbers mean entries of the outline that the model was sent."""
        entries = {str(each.number): f"{each.path}:{each.first}-{each.last}" for each in self.outline}
        assert isinstance(request, Read), "only what is read is named by number"
        return replace(request, targets=tuple(entries.get(each, each) for each in request.targets))

    async def view(self, plan: FlightPlan, selection: tuple[SelectedPlace, ...] | None = None) -> View:
        """Return the map of ``plan`` with what it means for the goal, drawn once for a plan and an index.

        ``selection`` are the places that the plan shows, by default those of the navigation.
        """
        (state, run), chosen = self.navigation, selection
        if chosen is None:
            chosen = run.selection
        # What the embedded policy adds names what is there; a model's plan is judged as a person's is.
        is_embedded = self.plans_anew or not state.decision_log
        wishes = run.user_plan if is_embedded else plan
        key = (plan, run.user_plan, is_embedded, run.first_answer, run.names, chosen)
        known = self.drawn.view
        if known is not None and known[0]() is self.workspace and known[1] == key:
            return known[2]
        view = await self.computing.run(build_view, self.workspace, self.navigation, plan, wishes, chosen)
        self.drawn.view = ref(self.workspace), key, view
        return view

    def booked(self, navigation: Navigation) -> Navigation:
        """Return the navigation with what models have cost, and with the notes of this step."""
        noted = Navigation(navigation.state, navigation.run.noting(*self.notes))
        if self.session is None:
            return noted
        ledger = self.session.ledger
        budget = noted.state.budget_config.model_copy(update={"current_spend_usd": ledger.spent})
        return noted.replace(
            state={"budget_config": budget}, run={"spent": ledger.spent, "usage": ledger.usage}
        )

    def timed(self, navigation: Navigation) -> Navigation:
        """Return the navigation with the time of this step added to its own."""
        before, now = navigation.run.seconds, perf_counter()
        elapsed = round(before.navigate + now - self._since, 4)
        self._since = now
        seconds = Seconds(index=before.index, navigate=elapsed, total=round(before.index + elapsed, 4))
        return navigation.replace(run={"seconds": seconds})


_current: ContextVar[StepContext] = ContextVar("step_context")


def current_step() -> StepContext:
    return _current.get()


set_step = _current.set
reset_step = _current.reset
