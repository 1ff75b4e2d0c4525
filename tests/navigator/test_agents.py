"""Whoever decides, a step is one run of one ADK runner, with events, state, artifacts and traces alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from google.adk.artifacts import FileArtifactService
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService

from navigator.agent.agents import NavigatorAgent, PlannerAgent
from navigator.agent.plugins import BudgetEnforcementPlugin
from navigator.models.sampling import SamplingRequest, SamplingResult
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from tests.navigator.conftest import MakeNavigator
from tests.support.providers.minds import Say, call
from tests.support.providers.openai import OpenAiServer

pytestmark = pytest.mark.anyio
GOAL = "token_expired compares the wrong way"
DONE = {
    "summary": "The comparison is in src/auth/tokens.py.",
    "select": [{"target": "token_expired", "reason": "compares"}],
}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Runner]:
    """Every runner that is run, once a run."""
    found: list[Runner] = []
    run = Runner.run_async

    def noted(self: Runner, **arguments: Any) -> Any:
        found.append(self)
        return run(self, **arguments)

    monkeypatch.setattr(Runner, "run_async", noted)
    return found


def mind(_request: dict[str, Any], number: int) -> Say:
    change = {
        "reasoning": "It is asked for.",
        "updates": {"verbosity": [{"pattern": "README.md", "level": 0}]},
    }
    return call("update_flight_plan", change) if number == 0 else call("finalize_context", DONE)


async def events_of(navigator: Navigator, navigation_id: str) -> list[Any]:
    services = await navigator.store.services()
    session = await services.sessions.get_session(
        app_name="repo_navigator", user_id="local", session_id=navigation_id
    )
    assert session is not None
    return session.events


def told(event: Any) -> list[str]:
    """Return what an event is, in a word for each part."""
    said = []
    for part in event.content.parts:
        if part.function_call is not None:
            said.append(f"{event.author} calls {part.function_call.name}")
        elif part.function_response is not None:
            said.append(f"{event.author} hears of {part.function_response.name}")
        else:
            said.append(str(event.author))
    return said


async def test_steps_without_a_model_run_through_adk(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path, runs: list[Runner]
) -> None:
    navigator = make_navigator(data_dir=tmp_path / "data")
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository))
    output = await navigator.run(navigation_id)
    await navigator.step(navigation_id, show=["Router.dispatch"])
    await navigator.step(navigation_id, updates={"budget": 900})
    assert len(runs) == 4
    (runner,) = set(runs)
    assert isinstance(runner.agent, NavigatorAgent)
    assert isinstance(runner.agent.planner, PlannerAgent)
    assert isinstance(runner.session_service, SqliteSessionService)
    assert isinstance(runner.artifact_service, FileArtifactService)
    assert [type(each) for each in runner.app.plugins] == [BudgetEnforcementPlugin]
    events = await events_of(navigator, navigation_id)
    expected = []
    for tool in ("update_flight_plan", "finalize_context", "update_flight_plan", "update_flight_plan"):
        expected += ["user", f"planner calls {tool}", f"planner hears of {tool}"]
    assert [word for event in events if event.content for word in told(event)] == expected
    first = events[1].content.parts[0].function_call
    assert first.args["reasoning"]
    assert first.args["updates"]["verbosity"]
    after = events[1]
    assert {"navigator", "navigator_run"} == set(after.actions.state_delta)
    assert after.actions.artifact_delta == {"map.txt": 1, "steps/0001.json": 0}
    assert after.content.parts[1].function_response.response["status"] == "success"
    assert output.reasoning_summary


@pytest.mark.parametrize("wire", ["openai", "host"])
async def test_steps_of_a_model_run_through_the_same_runner_and_look_alike(
    wire: str, repository: Path, tmp_path: Path, runs: list[Runner], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    answers = [mind({}, 0), mind({}, 1)]

    async def ask_host(question: SamplingRequest) -> SamplingResult:
        (said,) = answers.pop(0).calls
        assert not isinstance(said.args, str)
        return SamplingResult(said.name, said.args)

    with OpenAiServer(mind) as server:
        model = {"openai": "openai/m", "host": "host"}[wire]
        settings = NavigatorSettings(
            data_dir=tmp_path / "data",
            use_cache=False,
            workers=1,
            model_urls={"openai": server.base_url},
        )
        navigator = Navigator(settings, sample=ask_host)
        navigation_id = await navigator.open(NavigationRequest(GOAL, repository, model=model))
        output = await navigator.run(navigation_id)
        events = await events_of(navigator, navigation_id)
        await navigator.aclose()
    assert len(runs) == 2
    assert len(set(runs)) == 1
    assert output.reasoning_summary == DONE["summary"]
    expected = []
    for tool in ("update_flight_plan", "finalize_context"):
        expected += ["user", f"model calls {tool}", f"model hears of {tool}"]
    assert [word for event in events if event.content for word in told(event)] == expected
    after = events[2]
    assert {"navigator", "navigator_run"} == set(after.actions.state_delta)
    assert {"steps/0001.json"} <= set(after.actions.artifact_delta)
