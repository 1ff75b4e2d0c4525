"""ADK plugins: prompt layout, money budget, token scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from navigator.agent.step_context import current_step
from navigator.errors import NavigationBusyError
from navigator.planner.prompt import base_part, changes_part
from navigator.state.reports import StopReason
from navigator.state.run_state import Navigation
from navigator.storage import state

if TYPE_CHECKING:
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.events import Event

MAX_CALLS = 4
"""Model calls in one step: a call, and a few to mend it."""
LEFT_TO_PLANNER = "No model can be asked: the embedded planner decides."
NO_DECISION = f"No valid decision in {MAX_CALLS} calls."


class LockPlugin(BasePlugin):
    """Stores no event of a step whose lock was lost: another replica may have gone on by then."""

    def __init__(self) -> None:
        super().__init__(name="lock")

    async def on_event_callback(self, *, invocation_context: InvocationContext, event: Event) -> Event | None:
        """Refuse the event; the step's own error says why.

        Raises:
            NavigationBusyError: the lock was lost.
        """
        step = current_step()
        try:
            step.storage.locks.require_held(step.navigation.run.navigation_id)
        except NavigationBusyError as error:
            step.error = error
            raise
        return None


class LayoutPlugin(BasePlugin):
    """Puts the map that is sent whole at the beginning of the contents, and what has changed since behind it.

    The map stays outside the instruction, which a model obeys: it is a repository's text.
    """

    def __init__(self) -> None:
        super().__init__(name="layout")

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Lay out the request."""
        step = current_step()
        message = None if step.session is None else step.session.delta
        if message is None:
            return None
        texts = [base_part(step.navigation, message), *map(changes_part, message.changes)]
        llm_request.contents[:0] = (_text("user", each) for each in texts)
        return None


def _text(role: str, text: str) -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


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
        if step.session is None:
            return None
        if step.calls == MAX_CALLS:
            return LlmResponse(content=_text("model", NO_DECISION))
        if words := step.session.choose_affordable(llm_request):
            before = state.read(callback_context.state.to_dict())
            stopped = Navigation(before.state, before.run.stopping(StopReason.BUDGET, words))
            state.write(callback_context.state, stopped)
            step.navigation = stopped
            return LlmResponse(content=_text("model", f"BUDGET_EXCEEDED: {words}"))
        if step.session.is_over:
            return LlmResponse(content=_text("model", LEFT_TO_PLANNER))
        step.calls += 1
        return None

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
            state.write(callback_context.state, step.navigation)
        return None
