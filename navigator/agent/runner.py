"""The one ADK runner, and the one function that takes a step by it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Final

from google.adk.agents.run_config import RunConfig
from google.adk.apps import App
from google.adk.runners import Runner
from google.adk.sessions.base_session_service import GetSessionConfig
from google.adk.workflow import Workflow  # noqa: F401 - ADK's runner else imports it, with a web framework, in its first run
from google.genai import types

from navigator.agent.agents import root_agent
from navigator.agent.models.clients import SamplingModel
from navigator.agent.models.session import CONTEXT_CACHE, ModelSessions
from navigator.agent.plugins import BudgetEnforcementPlugin, LockPlugin
from navigator.agent.step_context import StepContext, reset_step, set_step
from navigator.errors import ModelFailedError
from navigator.models.sampling import HOST
from navigator.planner.prompt import first_message
from navigator.storage.sessions import APP_NAME, SessionKey
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from navigator.models.sampling import SamplingFn
    from navigator.settings import NavigatorSettings
    from navigator.state.run_state import Navigation
    from navigator.storage.storage import Services

_STATE_ONLY: Final = RunConfig(get_session_config=GetSessionConfig(num_recent_events=0), max_llm_calls=100)
_MESSAGE: Final = "Decide the next step."
"""To the embedded policy, which reads the state."""


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
        """Build the runner.

        Args:
            services: where it stores sessions and artifacts.
            settings: of the models.
            models: further ones, by name.
            sample: asks the client's model.
            is_held: whether a navigation's step is running.
        """
        if sample is not None:
            models = {HOST: SamplingModel(sample), **models}
        self.sessions = ModelSessions(settings, models, is_held)
        plugins = [LockPlugin(), BudgetEnforcementPlugin()]
        app = App(
            name=APP_NAME,
            root_agent=root_agent(),
            plugins=plugins,
            context_cache_config=CONTEXT_CACHE,
        )
        self._runner = Runner(app=app, session_service=services.sessions, artifact_service=services.artifacts)

    async def run_step(self, step: StepContext) -> Navigation:
        """Take a step, and return the navigation as it is stored then.

        Raises:
            ModelFailedError: no model made a decision.
            NavigationBusyError: another process stepped the navigation meanwhile.
            RepoMapError: the decision's plan can't be drawn.
            StorageError: the step can't be stored; it did not happen.
        """
        key = SessionKey.of(step.user, step.navigation.run.navigation_id)
        text = await _first_message(step) if step.asks_models else _MESSAGE
        message = types.Content(role="user", parts=[types.Part(text=text)])
        token = set_step(step)
        try:
            with step.storage.faults.raised(key.session_id, writes=True):
                running = self._runner.run_async(
                    user_id=key.user_id,
                    session_id=key.session_id,
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
    """Return what begins the conversation with a model in this step."""
    view = await step.view(step.navigation.state.flight_plan)
    step.outline = view.report.outline
    text = await step.computing.run(first_message, step.navigation, view, step.workspace.index)
    step.tokens_read += count(text)
    return text
