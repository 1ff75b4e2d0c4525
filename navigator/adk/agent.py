"""The agent, its app and its runner, built for one navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.agents import LlmAgent
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.apps import App
from google.adk.runners import Runner
from google.genai import types

from navigator.adk import state_store
from navigator.adk.budget import BudgetEnforcementPlugin
from navigator.adk.layout import LayoutPlugin
from navigator.adk.tools import tools_of
from navigator.instructions import changing_part, stable_part

if TYPE_CHECKING:
    from google.adk.sessions import BaseSessionService

    from navigator.adk.flight import Flight
    from navigator.adk.models.session import HybridSession

APP_NAME = "repo_navigator"
MAX_OUTPUT_TOKENS = 4_096
"""Of one model call, thinking included: what a projection has to allow for."""


def build_runner(flight: Flight, session: HybridSession, sessions: BaseSessionService) -> Runner:
    """Return the runner that takes the steps of one navigation."""

    async def instruct(context: ReadonlyContext) -> str:
        navigation = state_store.read(context.state)
        view = await flight.view(navigation.state.flight_plan)
        flight.tell(view)
        told = flight.frame.choice if flight.frame else ()
        return changing_part(navigation, view.candidates, told, view.sufficiency)

    agent = LlmAgent(
        name="navigator",
        model=session,
        static_instruction=stable_part(flight.navigation),
        instruction=instruct,
        tools=[*tools_of(flight)],
        include_contents="none",
        generate_content_config=types.GenerateContentConfig(
            temperature=0, max_output_tokens=MAX_OUTPUT_TOKENS
        ),
        disallow_transfer_to_parent=True,
        disallow_transfer_to_peers=True,
    )
    app = App(
        name=APP_NAME,
        root_agent=agent,
        plugins=[LayoutPlugin(flight), BudgetEnforcementPlugin(flight, session)],
    )
    return Runner(app=app, session_service=sessions, artifact_service=flight.archive.service)
