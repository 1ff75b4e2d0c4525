"""The plugin that keeps a navigation within its cost limit, before and after every model call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from navigator.adk import state_store
from navigator.reports import StopReason
from navigator.turns import Navigation

if TYPE_CHECKING:
    from navigator.adk.flight import Flight
    from navigator.adk.models.session import HybridSession


class BudgetEnforcementPlugin(BasePlugin):
    """Stops before a call that could pass the limit, and books what each call really used."""

    def __init__(self, flight: Flight, session: HybridSession) -> None:
        super().__init__(name="budget_enforcement")
        self._flight = flight
        self._session = session

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Answer in the model's place when the call does not fit into what is left."""
        navigation = state_store.read(callback_context.state)
        self._flight.navigation = navigation
        projected = self._session.projected_cost(llm_request)
        if (ledger := self._flight.ledger).affords(projected):
            return None
        words = (
            f"The next call to {self._session.provider} could cost ${projected:.6f}, "
            f"and ${ledger.remaining:.6f} of ${ledger.limit:.2f} is left."
        )
        stopped = Navigation(navigation.state, navigation.run.stopping(StopReason.BUDGET, words))
        state_store.write(callback_context.state, stopped)
        self._flight.navigation = stopped
        return LlmResponse(
            content=types.Content(role="model", parts=[types.Part(text=f"BUDGET_EXCEEDED: {words}")])
        )

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Write what the session booked, failed attempts included, into the state."""
        if llm_response.partial:
            return None
        if self._flight.ledger.spent == self._flight.navigation.run.spent:
            # Nothing was paid: the decision's own event tells the rest, and a state less is stored.
            return None
        booked = self._flight.booked(state_store.read(callback_context.state))
        state_store.write(callback_context.state, booked)
        self._flight.navigation = booked
        return None
