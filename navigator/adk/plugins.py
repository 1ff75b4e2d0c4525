"""ADK plugins: prompt layout, money budget, token scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.cache_metadata import CacheMetadata
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from navigator.records.bookkeeping import Navigation
from navigator.records.reports import StopReason
from navigator.steps.prompt import base_part, changes_part
from navigator.stores import navigation_state

if TYPE_CHECKING:
    from navigator.adk.active_navigation import ActiveNavigation
    from navigator.adk.models.session import HybridSession


LEFT_TO_PLANNER = "No model can be asked: the embedded planner decides."


class LayoutPlugin(BasePlugin):
    """Puts the map that is told whole at the beginning of the contents, and what has changed since behind it.

    The map stays outside the instruction, which a model obeys: it is a repository's text.
    """

    def __init__(self, active: ActiveNavigation) -> None:
        super().__init__(name="layout")
        self._active = active

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Lay out the request."""
        message = self._active.delta
        if message is None:
            return None
        texts = [base_part(self._active.navigation, message), *map(changes_part, message.changes)]
        llm_request.contents[:0] = (_text("user", each) for each in texts)
        llm_request.cache_metadata = CacheMetadata(
            fingerprint=f"step {message.keyframe.step}", contents_count=1
        )
        return None


def _text(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


class BudgetEnforcementPlugin(BasePlugin):
    """Stops before a call that could pass the limit, and books what each call really used."""

    def __init__(self, active: ActiveNavigation, session: HybridSession) -> None:
        super().__init__(name="budget_enforcement")
        self._active = active
        self._session = session

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Let another model answer where the limit has no room for the call; stop where it has for none.

        Where the planner is the next, the agent stops without a decision, and the planner decides.
        """
        navigation = navigation_state.read(callback_context.state.to_dict())
        self._active.navigation = navigation
        words = await self._session.find_affordable(llm_request)
        if words:
            stopped = Navigation(navigation.state, navigation.run.stopping(StopReason.BUDGET, words))
            navigation_state.write(callback_context.state, stopped)
            self._active.navigation = stopped
            return LlmResponse(content=_text("model", f"BUDGET_EXCEEDED: {words}"))
        return LlmResponse(content=_text("model", LEFT_TO_PLANNER)) if self._active.planner_decides else None

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Write what the session booked, failed attempts included, into the state."""
        if llm_response.partial:
            return None
        if self._active.ledger.spent == self._active.navigation.run.spent:
            # Nothing was paid: the decision's own event tells the rest, and a state less is stored.
            return None
        booked = self._active.booked(navigation_state.read(callback_context.state.to_dict()))
        navigation_state.write(callback_context.state, booked)
        self._active.navigation = booked
        return None
