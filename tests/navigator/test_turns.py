"""What a turn does, and what it says where it does nothing: empty wishes, questions, and new terms."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.planner.steering import NOTHING_TO_UPDATE
from navigator.settings import NavigationRequest
from navigator.state.reports import StopReason
from navigator.turns import HAS_ENDED
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, good, wander
from tests.support.providers.gemini import gemini
from tests.support.providers.minds import Say, call

pytestmark = pytest.mark.anyio

GOAL = "A session token never expires: token_expired compares the wrong way"
PLAN = {"verbosity": [{"pattern": "src/router.py", "level": 2}]}


async def finished(navigator: Navigator, repository: Path, **parts: Any) -> str:
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository, **parts))
    await navigator.run(navigation_id)
    return navigation_id


UNCHANGING: list[tuple[dict[str, Any], str]] = [
    ({"updates": {}}, NOTHING_TO_UPDATE),
    ({"updates": {"verbosity": [], "focus": {}}}, NOTHING_TO_UPDATE),
    ({"updates": PLAN}, NOTHING_TO_UPDATE),
    ({"updates": {"max_cost_usd": 2}}, NOTHING_TO_UPDATE),
    ({"updates": {"model": None}}, NOTHING_TO_UPDATE),
    ({}, HAS_ENDED),
    ({"feedback": ""}, HAS_ENDED),
    ({"feedback": " \n", "updates": None}, HAS_ENDED),
    ({"feedback": "where is token_expired defined?"}, "src/auth/tokens.py:11-13 token_expired"),
]


async def test_what_changes_nothing_takes_no_step_and_says_so(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await finished(navigator, repository, flight_plan=PLAN)
    before = await navigator.report(navigation_id)
    assert before.stop_reason is StopReason.FINISHED
    for asked, message in UNCHANGING:
        after = await navigator.step(navigation_id, **asked)
        understood = () if asked.get("feedback", "").strip() else None
        assert message in after.answer, asked
        assert after == before.model_copy(update={"answer": after.answer, "not_understood": understood})
        assert await navigator.report(navigation_id) == before


async def test_a_question_is_answered_beside_the_wish_to_finish(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await navigator.open(NavigationRequest(GOAL, repository, mode="interactive"))
    await navigator.step(navigation_id)
    report = await navigator.step(navigation_id, feedback="where is token_expired defined?", action="finish")
    assert (report.step_number, report.stop_reason) == (1, StopReason.USER)
    assert report.answer.startswith("src/auth/tokens.py:11-13 token_expired")


async def test_a_step_raises_the_cost_limit_and_goes_on(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
    with gemini(good) as server:
        navigator = make_navigator(
            model_urls={"gemini": server.url}, embedded_fallback=False, retry_delay_s=0.0
        )
        request = NavigationRequest(GOAL, repository, model="gemini-2.0-flash", max_cost_usd=0.00001)
        navigation_id = await navigator.open(request)
        await navigator.run(navigation_id)
        calls = len(server.requests)
        report = await navigator.step(navigation_id, updates={"max_cost_usd": 0.5})
        assert len(server.requests) > calls
        assert report.model == "gemini-2.0-flash"
        assert report.budget_remaining == Decimal("0.5") - report.total_cost
        output = await navigator.run(navigation_id)
        assert output.stop_reason is StopReason.FINISHED


async def test_a_step_names_another_model_and_back(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
    with gemini(wander) as server:
        navigator = make_navigator(model_urls={"gemini": server.url})
        navigation_id = await finished(navigator, repository)
        report = await navigator.step(navigation_id, updates={"model": "gemini-2.0-flash"})
        assert report.model == "gemini-2.0-flash"
        assert report.total_cost > 0
        assert report.stop_reason is None
        back = await navigator.step(navigation_id, updates={"model": "embedded"})
        assert back.model == "embedded"
        assert back.total_cost == report.total_cost


async def test_a_step_raises_the_step_limit_and_goes_on(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await finished(navigator, repository, max_steps=1)
    report = await navigator.step(navigation_id, updates={"max_steps": 9})
    assert report.step_number == 2
    assert report.stop_reason in (None, StopReason.FINISHED)


async def test_a_model_that_asks_for_fewer_tokens_does_not_lower_the_users_budget(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's plan owns the map's budget; what a model does with less is its own plan alone."""
    monkeypatch.setenv("GOOGLE_API_KEY", "test-key")

    def mind(_: dict[str, Any], number: int) -> Say:
        if number == 0:
            return call("update_flight_plan", {"reasoning": "Less will do.", "updates": {"budget": 120}})
        return call("finalize_context", DONE)

    with gemini(mind) as server:
        navigator = make_navigator(model_urls={"gemini": server.url})
        request = NavigationRequest(GOAL, repository, token_budget=900, model="gemini-2.0-flash")
        navigation_id = await navigator.open(request)
        await navigator.run(navigation_id)
        assert (await navigator.context(navigation_id)).token_count <= 120
        report = await navigator.step(navigation_id, updates=PLAN)
        assert report.map_token_budget == 900
        assert (await navigator.context(navigation_id)).flight_plan.budget == 120
