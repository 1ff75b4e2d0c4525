"""Deliveries: the answer that is made of a turn, given what its reader holds already."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from navigator.records.delivery import Delivery
from navigator.records.reports import NavigatorOutput, TurnReport

if TYPE_CHECKING:
    from navigator.execution.step_reader import StepReader
    from navigator.records.bookkeeping import Navigation
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
