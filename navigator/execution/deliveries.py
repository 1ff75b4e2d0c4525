"""Deliveries: the answer that is made of a turn, given what its reader holds already."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from navigator.errors import InvalidArgumentError
from navigator.records.delivery import Delivery
from navigator.records.reports import NavigatorOutput, TurnReport

if TYPE_CHECKING:
    from navigator.execution.step_reader import StepReader
    from navigator.records.bookkeeping import Navigation
    from navigator.steps.turn_request import TurnRequest
    from navigator.stores.navigation_store import NavigationStore

Answer = TypeVar("Answer")
HandOut = Callable[[TurnReport, NavigatorOutput, Delivery | None], tuple[Answer, Delivery]]
"""Makes an answer of a step, given what was delivered before; with it, what has been delivered then."""


class Deliveries:
    """Hands out steps, and keeps what was delivered of each navigation."""

    def __init__(self, store: NavigationStore, reader: StepReader) -> None:
        self._store = store
        self._reader = reader

    async def deliver(
        self,
        report: TurnReport,
        navigation: Navigation,
        user: str,
        hand_out: HandOut[Answer],
        before: Delivery | None,
        *,
        since: int | None = None,
    ) -> Answer:
        """Make an answer of a turn, given what was delivered before, and note what is delivered with it.

        The context is whole where the host holds none, or what is new ``since`` a step where that is given.
        """
        if before is not None and before.held_step is not None:
            since = before.held_step
        steps = () if before is None else before.held_steps
        news = await self._reader.context(navigation, user, since, held=steps)
        answer, delivered = hand_out(report, news, before)
        await self._store.deliver(report.navigation_id, user, delivered.model_dump(mode="json"))
        return answer

    async def repeat(
        self,
        stored: Navigation,
        user: str,
        request: TurnRequest,
        hand_out: HandOut[Answer],
        before: Delivery | None,
    ) -> Answer:
        """Return the answer of the latest step to a repeat of the request that led to it.

        Raises:
            InvalidArgumentError: the navigation is at another step than the request follows.
        """
        at = stored.run.step
        if request.after_step != at - 1 or stored.run.request != request.digest:
            raise InvalidArgumentError(
                "after_step",
                f"is {request.after_step}, but the navigation is at step {at}; read get_context with "
                "since_step, then step again.",
            )
        report = await self._reader.report(stored, user)
        if before is None or at not in before.held_steps:
            return await self.deliver(report, stored, user, hand_out, before)
        held = tuple(step for step in before.held_steps if step < at)
        earlier = before.model_copy(update={"held_step": max(held, default=None), "held_steps": held})
        news = await self._reader.context(stored, user, earlier.held_step, held=held)
        return hand_out(report, news, earlier)[0]
