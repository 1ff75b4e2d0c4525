"""A navigation's models as an ADK agent; imported only where a model decides, as it takes half a second."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.runners import Runner
from google.genai import types

from navigator.adk import state_store
from navigator.adk.navigation_store import STATE_ONLY
from navigator.adk.plugins import BudgetEnforcementPlugin, LayoutPlugin
from navigator.adk.requests import MAX_OUTPUT_TOKENS, ONE_TOOL
from navigator.adk.tools import tools_of
from navigator.steps.prompt import ROLE, changing_part

if TYPE_CHECKING:
    from google.adk.sessions import BaseSessionService

    from navigator.adk.active_navigation import ActiveNavigation
    from navigator.adk.models.session import HybridSession
    from navigator.records.bookkeeping import Navigation

CALLS_PER_STEP = 4
"""Model calls in one step: a call, and a few to mend it."""


class ModelAgent(NamedTuple):
    """A navigation's models, and the runner that lets them decide."""

    session: HybridSession
    runner: Runner
    most_calls: int = CALLS_PER_STEP

    async def decide(self, before: Navigation, user: str, *, changed: bool) -> None:
        """Let a model decide, in a few calls at most; ``changed`` says that ``before`` is not stored."""
        try:
            async for _ in self.runner.run_async(
                user_id=user,
                session_id=before.run.navigation_id,
                new_message=types.Content(role="user", parts=[types.Part(text="Decide the next step.")]),
                state_delta=state_store.delta(before) if changed else None,
                run_config=RunConfig(max_llm_calls=CALLS_PER_STEP, get_session_config=STATE_ONLY),
            ):
                pass
        except LlmCallsLimitExceededError:
            return


def load() -> None:
    """Import what ADK's runner would look up in the middle of its first run: it loads a web framework."""
    _ = import_module("google.adk.workflow").Workflow


def model_agent(
    active: ActiveNavigation, session: HybridSession, sessions: BaseSessionService, app_name: str
) -> ModelAgent:
    """Return the agent that takes the steps of one navigation."""

    async def instruct(context: ReadonlyContext) -> str:
        navigation = state_store.read(context.state)
        view = await active.view(navigation.state.flight_plan)
        active.report_progress(view)
        return changing_part(navigation, view.menu, view.surety.words)

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
        name=app_name,
        root_agent=agent,
        plugins=[LayoutPlugin(active), BudgetEnforcementPlugin(active, session)],
    )
    runner = Runner(app=app, session_service=sessions, artifact_service=active.artifacts.service)
    return ModelAgent(session, runner)
