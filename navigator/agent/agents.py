"""The agents: the embedded policy, a model with tools, the one above them that chooses; and their runner."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from google.adk.agents import BaseAgent, LlmAgent
from google.adk.agents.context import Context
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.events import Event, EventActions
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.telemetry import tracer
from google.adk.workflow import Workflow  # noqa: F401 - ADK's runner else imports it, with a web framework, in its first run
from google.genai import types

from navigator.agent.models.clients import MAX_OUTPUT_TOKENS, SamplingModel
from navigator.agent.models.session import ModelSessions
from navigator.agent.plugins import BudgetEnforcementPlugin
from navigator.agent.step_context import StepContext, current_step, reset_step, set_step
from navigator.agent.tools import record, tools
from navigator.errors import ModelFailedError, NavigationBusyError, StorageError
from navigator.models.sampling import HOST
from navigator.planner.prompt import ROLE, first_message
from navigator.planner.record import Decision, decide
from navigator.storage import state
from navigator.storage.sessions import APP_NAME, NavigationKey
from repo_map.errors import RepoMapError
from repo_map.messages import plural
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from navigator.models.sampling import SamplingFn
    from navigator.settings import NavigatorSettings
    from navigator.state.run_state import Navigation
    from navigator.storage.storage import Services

_STATE_ONLY: Final = RunConfig(get_session_config=GetSessionConfig(num_recent_events=0), max_llm_calls=100)
_MESSAGE: Final = "Decide the next step."
"""To the embedded policy, which reads the state."""


_FORCED_CALL: Final = types.ToolConfig(
    function_calling_config=types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.ANY)
)
"""A model has to call a tool, if its provider supports that: text alone decides nothing."""


class PlannerAgent(BaseAgent):
    """Decides by the embedded policy, or carries out the caller's decision; its events are like a model's."""

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        step = current_step()
        try:
            decision = step.decision
            if decision is None:
                view = await step.view(step.navigation.state.flight_plan)
                decision = await step.computing.run(decide, step.navigation, step.workspace, view)
            call = types.FunctionCall(
                id=f"planner-{uuid4()}", name=decision.action, args=_arguments(decision)
            )
            actions = EventActions(skip_summarization=True)
            context = Context(ctx, event_actions=actions, function_call_id=call.id)
            with tracer.start_as_current_span(f"execute_tool {decision.action}"):
                answer = await record(step, context, decision)
            response = types.FunctionResponse(id=call.id, name=call.name, response=answer)
            # One event where a model's call and its response are two: each costs a transaction.
            parts = [types.Part(function_call=call), types.Part(function_response=response)]
            yield Event(
                invocation_id=ctx.invocation_id,
                author=self.name,
                branch=ctx.branch,
                content=types.Content(role="model", parts=parts),
                actions=actions,
            )
        except (RepoMapError, NavigationBusyError, StorageError) as error:
            # Raised here, it would be logged with its traceback at every level of the runner.
            step.error = error


class NavigatorAgent(BaseAgent):
    """Lets a model decide, or the embedded policy.

    The policy decides where no model was asked for or is left, and carries out what the caller has decided.
    """

    planner: PlannerAgent
    model: LlmAgent

    async def _run_async_impl(self, ctx: InvocationContext) -> AsyncGenerator[Event, None]:
        step = current_step()
        if step.asks_models and not step.is_done:
            self._begin(ctx, step)
            async with aclosing(self.model.run_async(ctx)) as events:
                async for event in events:
                    yield event
            if step.asks_models and not step.is_done:
                step.give_up(f"{step.model_name} made no decision")
        if step.gave_up and (selection := step.navigation.run.selection):
            plan = step.navigation.state.flight_plan
            reasoning = f"The selection so far: {plural(len(selection), 'place')}."
            step.decision = Decision("finalize_context", step.model_name, reasoning, plan)
        if not step.is_done:
            self._begin(ctx, step)
            async with aclosing(self.planner.run_async(ctx)) as events:
                async for event in events:
                    yield event

    @staticmethod
    def _begin(ctx: InvocationContext, step: StepContext) -> None:
        """Show an agent where the step begins; the event of a decision, or of a payment, makes it durable."""
        step.navigation = step.booked(step.navigation) if step.asks_models else step.navigation
        ctx.session.state.update(state.delta(step.navigation))


class StepModel(BaseLlm):
    """The models of the navigation whose step runs."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield what the session of the navigation answers."""
        session = current_step().session
        assert session is not None, "a model is called without a session"
        yield await session.answer(llm_request)


def _arguments(decision: Decision) -> dict[str, object]:
    """Return a decision as the arguments of the tool that a model would have called."""
    if decision.action == "finalize_context":
        return {"summary": decision.reasoning}
    return {"reasoning": decision.reasoning, "updates": dict(decision.diff)}


def root_agent() -> NavigatorAgent:
    """Return the agent that takes the steps of all navigations."""
    planner = PlannerAgent(name="planner", description="Decides by a policy over the index, without a model.")
    model = LlmAgent(
        name="model",
        description="Explores by the tools of a model, and decides.",
        model=StepModel(model="navigator-session"),
        static_instruction=ROLE,
        tools=[*tools()],
        include_contents="none",
        generate_content_config=types.GenerateContentConfig(
            temperature=0, max_output_tokens=MAX_OUTPUT_TOKENS, tool_config=_FORCED_CALL
        ),
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    return NavigatorAgent(name="navigator", planner=planner, model=model, sub_agents=[planner, model])


class StepRunner:
    """Takes the steps of all navigations."""

    def __init__(
        self,
        services: Services,
        settings: NavigatorSettings,
        models: Mapping[str, BaseLlm],
        sample: SamplingFn | None,
        is_held: Callable[[str], bool],
    ) -> None:
        if sample is not None:
            models = {HOST: SamplingModel(sample), **models}
        self.sessions = ModelSessions(settings, models, is_held)
        app = App(name=APP_NAME, root_agent=root_agent(), plugins=[BudgetEnforcementPlugin()])
        self._runner = Runner(app=app, session_service=services.sessions, artifact_service=services.artifacts)

    async def run_step(self, step: StepContext) -> Navigation:
        """Take a step, and return the navigation as it is stored then."""
        key = NavigationKey(step.user, step.navigation.run.navigation_id)
        text = await _first_message(step) if step.asks_models else _MESSAGE
        message = types.Content(role="user", parts=[types.Part(text=text)])
        token = set_step(step)
        try:
            with step.storage.faults.raised(key.navigation_id, writes=True):
                running = self._runner.run_async(
                    user_id=key.user_id,
                    session_id=key.navigation_id,
                    new_message=message,
                    run_config=_STATE_ONLY,
                )
                async with aclosing(running) as events:
                    async for _ in events:
                        pass
        except RuntimeError:
            # What a plugin raises comes in a wrapping of ADK's.
            if step.error is None:
                raise
        finally:
            reset_step(token)
        if step.error is not None:
            raise step.error
        if step.result is not None:
            step.drawn.remember(step.result)
        elif step.navigation.run.stop_reason is None:
            assert step.session is not None, "the embedded policy always decides"
            raise ModelFailedError(step.session.failure)
        return step.navigation


async def _first_message(step: StepContext) -> str:
    view = await step.view(step.navigation.state.flight_plan)
    step.outline = view.report.outline
    text = await step.computing.run(first_message, step.navigation, view, step.workspace.index)
    step.tokens_read += count(text)
    return text
