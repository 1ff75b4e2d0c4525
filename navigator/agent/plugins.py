"""The ADK plugin that limits a step in calls, tokens and dollars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from navigator.agent.step_context import StepContext, current_step
from navigator.models.sampling import HOST
from navigator.planner.prompt import finish_message
from navigator.state.reports import StopReason
from navigator.state.run_state import Navigation
from navigator.storage import state

if TYPE_CHECKING:
    from navigator.agent.models.session import ModelSession

MAX_CALLS: Final = 12
"""Model calls in one step, the finishing one included (the design's NAVIGATOR page, section 2);"""
HOST_CALLS: Final = 9
"""of the client's own model, which clients let a server ask ten times in one tool call."""
LEFT_TO_PLANNER: Final = "No model can be asked: the embedded planner decides."
NO_DECISION: Final = "No decision within the limits."


class BudgetEnforcementPlugin(BasePlugin):
    """Stops before a call that could pass the limit, and books what each call really used."""

    def __init__(self) -> None:
        super().__init__(name="budget_enforcement")

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Let another model answer where the limit has no room for the call; stop where it has for none.

        Where the embedded policy is the next, the model's agent ends without a decision.
        """
        step = current_step()
        session = step.session
        if session is None:
            return None
        if step.is_finishing:
            # It was asked to finish in the call before, and looked for something else.
            step.give_up(f"{step.model_name} did not finish within its limits")
            return LlmResponse(content=_text("model", NO_DECISION))
        if words := session.choose_affordable(llm_request):
            before = state.read(callback_context.state.to_dict())
            stopped = Navigation(before.state, before.run.stopping(StopReason.BUDGET, words))
            callback_context.state.update(state.delta(stopped))
            step.navigation = stopped
            return LlmResponse(content=_text("model", f"BUDGET_EXCEEDED: {words}"))
        if session.is_over:
            return LlmResponse(content=_text("model", LEFT_TO_PLANNER))
        step.calls += 1
        if reason := self._reached_limit(step, session, llm_request):
            step.is_finishing = True
            llm_request.contents.append(_text("user", finish_message(reason)))
        return None

    @staticmethod
    def _reached_limit(step: StepContext, session: ModelSession, request: LlmRequest) -> str:
        """Return the limit that leaves room for this call alone, ``""`` if there is room for another."""
        calls = HOST_CALLS if session.model_name == HOST else MAX_CALLS
        if step.calls >= calls:
            return f"The limit of {calls} model calls"
        limit = session.settings.max_tokens_read
        if step.tokens_read >= limit:
            return f"The limit of {limit:,} tokens to read"
        if not session.affords(request, calls=2):
            return "The cost limit"
        return ""

    async def after_model_callback(
        self, *, callback_context: CallbackContext, llm_response: LlmResponse
    ) -> LlmResponse | None:
        """Write what the session booked, failed attempts included, into the state."""
        step = current_step()
        # Where nothing was paid, the decision's own event tells the rest, and a state less is stored.
        if (
            step.session is not None
            and not llm_response.partial
            and step.session.ledger.spent != step.navigation.run.spent
        ):
            step.navigation = step.booked(state.read(callback_context.state.to_dict()))
            callback_context.state.update(state.delta(step.navigation))
        return None


def _text(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])
