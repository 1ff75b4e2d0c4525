"""Language models behind the navigator: the real Gemini client, and scripted minds on a loopback server."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from navigator.errors import ModelFailedError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.state.reports import StopReason
from navigator.state.usage import TokenUsage
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, ZOOM, fly, good
from tests.support.errors import refused
from tests.support.providers.gemini import gemini, text_of
from tests.support.providers.minds import Call, Refuse, Say, Thought, call, say
from tests.support.providers.openai import openai
from tests.support.providers.server import Die

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]


async def test_what_a_call_used_is_booked_exactly(make_navigator: MakeNavigator, repository: Path) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        usage = {"prompt": 2_000, "cached": 500, "candidates": 100, "thoughts": 40}
        return call("finalize_context", DONE, **usage)

    output = (await fly(make_navigator, repository, mind)).output
    assert output.total_usage == TokenUsage(input=2_000, cached=500, output=100, thinking=40, calls=1)
    cost = 1_500 * Decimal("0.075") + 500 * Decimal("0.025") + 140 * Decimal("0.30")
    assert output.total_cost == cost / 1_000_000


async def test_a_model_cannot_raise_the_users_token_budget(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number == 0:
            return call("update_flight_plan", {"reasoning": "more", "updates": {"budget": 90_000}})
        return good(request, number - 1)

    assert (await fly(make_navigator, repository, mind, token_budget=700)).output.map_token_budget == 700


async def test_two_calls_in_one_answer_make_one_decision(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number:
            return call("finalize_context", DONE)
        return Say((Call("update_flight_plan", ZOOM),) * 2)

    flown = await fly(make_navigator, repository, mind)
    assert [report.step_number for report in flown.reports] == [0, 1, 2]


@pytest.mark.parametrize(
    "answer",
    [Refuse(429), Refuse(403), say('{"name": "update_flight_plan", "args": {'), Die()],
    ids=lambda answer: f"HTTP {answer.status}" if isinstance(answer, Refuse) else "",
)
async def test_a_model_that_fails_is_replaced_and_the_task_ends_as_if_nothing_had_happened(
    make_navigator: MakeNavigator, repository: Path, answer: Thought
) -> None:
    def mind(request: dict[str, Any], number: int) -> Thought:
        return good(request, number) if number == 0 else answer

    flown = await fly(make_navigator, repository, mind)
    assert flown.output.stop_reason is StopReason.FINISHED
    assert [report.model for report in flown.reports[1:]] == [
        "gemini-2.0-flash",
        *["embedded"] * (len(flown.reports) - 2),
    ]
    assert "gemini-2.0-flash" in flown.notes
    assert not isinstance(answer, Refuse) or f"(HTTP {answer.status})" in flown.notes
    assert "return age_s > LIFETIME_S" in flown.output.context_string


async def test_a_passing_fault_is_tried_again(make_navigator: MakeNavigator, repository: Path) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        return Refuse(503) if number == 0 else good(request, number - 1)

    flown = await fly(make_navigator, repository, mind)
    assert {report.model for report in flown.reports[1:]} == {"gemini-2.0-flash"}
    assert flown.output.notes == ()


async def test_the_flight_stops_before_a_call_that_could_pass_the_limit(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        update = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + number % 4}]}
        return call("update_flight_plan", {"reasoning": "again", "updates": update}, prompt=1_500)

    flown = await fly(
        make_navigator, repository, mind, max_cost_usd=0.0022, max_steps=50, embedded_fallback=False
    )
    assert flown.output.stop_reason is StopReason.BUDGET
    assert 0 < flown.output.total_cost <= Decimal("0.0022")
    assert flown.output.context_string
    assert flown.output.total_iterations > 1


async def test_without_a_fallback_a_failure_ends_the_flight_and_keeps_the_best_plan(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        return good(request, number) if number == 0 else Refuse(500)

    flown = await fly(make_navigator, repository, mind, embedded_fallback=False)
    assert flown.output.stop_reason is StopReason.ERROR
    assert "(HTTP 500)" in flown.output.ended
    assert "return age_s > LIFETIME_S" in flown.output.context_string


async def test_a_failed_step_raises_and_leaves_the_last_good_one(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    with gemini(lambda *_: Refuse(403)) as server:
        navigator = make_navigator(model_urls={"gemini": server.url}, embedded_fallback=False)
        navigation_id = await opened(navigator, repository)
        with pytest.raises(ModelFailedError):
            await navigator.step(navigation_id)
        assert (await navigator.report(navigation_id)).step_number == 0


async def test_feedback_that_is_understood_is_done_before_the_model_decides(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    with gemini(lambda *_: call("finalize_context", DONE)) as server:
        navigator = make_navigator(model_urls={"gemini": server.url})
        navigation_id = await opened(navigator, repository)
        report = await navigator.step(navigation_id, feedback="drop the tests")
        (request,) = server.requests
        assert "- drop the tests" in text_of(request)
        assert re.search(r"<<<repository text \w{8}\nLeft out: `tests/\*\*`\.", text_of(request))
        assert "def test_login" not in text_of(request)
        assert "`tests/**`" in report.answer
        output = await navigator.context(navigation_id)
        assert "tests/test_login.py" not in {file.path for file in output.files}


async def opened(navigator: Navigator, repository: Path) -> str:
    request = NavigationRequest(
        "token_expired is wrong", repository, model="gemini-2.0-flash", mode="interactive"
    )
    return await navigator.open(request)


async def test_a_limit_that_forbids_the_first_call_leaves_the_work_to_the_embedded_planner(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, good, max_cost_usd=0.00001)
    assert flown.server.requests == []
    assert flown.output.stop_reason is StopReason.FINISHED
    assert (flown.output.model, flown.output.total_cost) == ("embedded", 0)
    assert "return age_s > LIFETIME_S" in flown.output.context_string
    assert re.search(r"gemini-2\.0-flash.*\$0\.00\d+", flown.notes)


async def test_a_limit_that_is_spent_under_way_leaves_the_rest_to_the_next_model_that_it_has_room_for(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        return call("update_flight_plan", ZOOM, prompt=1_500)

    with openai(good) as local:
        flown = await fly(
            make_navigator,
            repository,
            mind,
            max_cost_usd=0.0022,
            fallback_model="ollama/coder",
            more_urls={"ollama": local.base_url},
        )
        assert local.requests
    models = [report.model for report in flown.reports[1:]]
    assert models[0] == "gemini-2.0-flash"
    assert models[-1] == "ollama/coder"
    assert flown.output.stop_reason is StopReason.FINISHED
    assert 0 < flown.output.total_cost <= Decimal("0.0022")
    assert "took over" in flown.notes


@pytest.mark.parametrize("variable", ["GOOGLE_API_KEY", "GEMINI_API_KEY"])
async def test_a_key_that_no_header_can_carry_is_told_without_a_letter_of_it(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv(variable, "my-own\nhidden-letters")
    flown = await fly(make_navigator, repository, good)
    assert "hidden-letters" not in flown.notes
    assert variable in flown.notes
    assert flown.server.heard == []


@pytest.mark.parametrize(
    "name", ["gemini-2.0-flash\n", "ollama/a\x1b[31mb", "openai/../x", "ollama/" + "x" * 200]
)
async def test_a_name_that_is_made_to_hurt_is_no_models(
    make_navigator: MakeNavigator, repository: Path, name: str
) -> None:
    with refused("unknown_model", "model") as caught:
        await make_navigator().open(NavigationRequest("x", repository, model=name))
    assert str(caught.value).isprintable()


async def test_what_a_call_cost_is_stored_before_the_model_is_asked_again(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    stored: list[Decimal] = []

    def wrong_at_first(request: dict[str, Any], number: int) -> Say:
        if number == 0:
            return call("update_flight_plan", {"reasoning": "x", "updates": {"budget": "a lot"}})
        # A process that died now could book nothing any more.
        with closing(sqlite3.connect(tmp_path / "data/sessions.db")) as connection:
            (state,) = connection.execute("SELECT state FROM sessions").fetchone()
        stored.append(Decimal(json.loads(state)["navigator_run"]["spent"]))
        return call("finalize_context", DONE)

    with gemini(wrong_at_first) as server:
        navigator = make_navigator(model_urls={"gemini": server.url}, data_dir=tmp_path / "data")
        navigation_id = await opened(navigator, repository)
        report = await navigator.step(navigation_id)
    assert len(stored) == 1
    assert 0 < stored[0] < report.total_cost
