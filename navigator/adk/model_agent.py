"""A navigation's models as an ADK agent; imported only where a model decides, as it takes half a second."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from google.adk import errors
from google.adk.agents import LlmAgent
from google.adk.agents.invocation_context import LlmCallsLimitExceededError
from google.adk.agents.readonly_context import ReadonlyContext
from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.artifacts import FileArtifactService
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai import types

from navigator.adk.models.host import HostModel
from navigator.adk.models.session import SessionManager
from navigator.adk.plugins import BudgetEnforcementPlugin, LayoutPlugin
from navigator.adk.requests import MAX_OUTPUT_TOKENS, ONE_TOOL
from navigator.adk.session_service import SessionService
from navigator.adk.tools import tools_of
from navigator.models.sampling_port import HOST
from navigator.steps.prompt import ROLE, changing_part
from navigator.stores import navigation_state
from navigator.stores.artifacts import FolderArtifacts
from navigator.stores.navigation_store import APP_NAME
from navigator.stores.sessions import StaleSessionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from google.adk.models import BaseLlm

    from navigator.adk.active_navigation import ActiveNavigation
    from navigator.adk.models.session import HybridSession
    from navigator.models.sampling_port import AskHost
    from navigator.records.bookkeeping import Navigation
    from navigator.records.pricing import PriceTable
    from navigator.settings import NavigatorSettings
    from navigator.stores.sessions import SessionStore

_STATE_ONLY = GetSessionConfig(num_recent_events=0)
CALLS_PER_STEP = 4
"""Model calls in one step: a call, and a few to mend it."""


class ModelAgent(NamedTuple):
    """A navigation's models, and the runner that lets them decide."""

    session: HybridSession
    runner: Runner
    most_calls: int = CALLS_PER_STEP

    async def decide(self, before: Navigation, user: str, *, changed: bool) -> None:
        """Let a model decide, in a few calls at most; ``changed`` says that ``before`` is not stored.

        Raises:
            StaleSessionError: another process stepped the navigation meanwhile.
        """
        try:
            async for _ in self.runner.run_async(
                user_id=user,
                session_id=before.run.navigation_id,
                new_message=types.Content(role="user", parts=[types.Part(text="Decide the next step.")]),
                state_delta=navigation_state.delta(before) if changed else None,
                run_config=RunConfig(max_llm_calls=CALLS_PER_STEP, get_session_config=_STATE_ONLY),
            ):
                pass
        except LlmCallsLimitExceededError:
            return
        except errors.StaleSessionError as error:
            raise StaleSessionError(str(error)) from error


class ModelAgents:
    """Makes the agents of navigations, and lets go of what their models keep."""

    def __init__(
        self,
        settings: NavigatorSettings,
        prices: PriceTable,
        models: Mapping[str, BaseLlm],
        ask_host: AskHost | None,
        sessions: SessionStore,
    ) -> None:
        if ask_host is not None:
            models = {HOST: HostModel(ask_host), **models}
        self._models = SessionManager(settings, prices, models)
        self._sessions = SessionService(sessions)
        # ADK's runner would look it up in the middle of its first run: it loads a web framework.
        _ = import_module("google.adk.workflow").Workflow

    def make(self, active: ActiveNavigation) -> ModelAgent:
        """Return the agent that takes the steps of a navigation."""
        return _model_agent(active, self._models.create(active), self._sessions)

    async def rest(self, navigation_id: str) -> None:
        """Let the providers forget a task that has ended."""
        if session := self._models.find(navigation_id):
            await session.rest()

    async def destroy(self, navigation_id: str) -> None:
        """Let go of a navigation's models; a later step makes new ones."""
        await self._models.destroy(navigation_id)


def _model_agent(active: ActiveNavigation, session: HybridSession, sessions: SessionService) -> ModelAgent:
    async def instruct(context: ReadonlyContext) -> str:
        navigation = navigation_state.read(context.state)
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
        name=APP_NAME,
        root_agent=agent,
        plugins=[LayoutPlugin(active), BudgetEnforcementPlugin(active, session)],
    )
    kept_in = active.artifacts.kept_in
    artifacts = FileArtifactService(kept_in.folder) if isinstance(kept_in, FolderArtifacts) else None
    return ModelAgent(session, Runner(app=app, session_service=sessions, artifact_service=artifacts))
