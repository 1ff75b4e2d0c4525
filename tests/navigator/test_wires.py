"""Each provider's own wire, driven by the real client libraries, with scripted minds behind it."""

from __future__ import annotations

import os
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.state.reports import StopReason
from navigator.state.usage import TokenUsage
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, ZOOM, Wire, fly, good, wander
from tests.support.providers.minds import Refuse, Say, Thought, call
from tests.support.providers.openai import messages_of, openai
from tests.support.providers.server import Die, Stall

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
REAL_KEY = os.environ.get("REPO_NAVIGATOR_TEST_GEMINI_KEY", "")


@pytest.fixture(params=WIRES)
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


def dies(request: dict[str, Any], number: int) -> Thought:
    return good(request, number) if number == 0 else Die()


async def test_a_mind_that_plans_well_flies_alone(
    make_navigator: MakeNavigator, repository: Path, wire: Wire
) -> None:
    flown = await fly(make_navigator, repository, good, wire=wire)
    assert flown.output.stop_reason is StopReason.FINISHED
    assert flown.output.reasoning_summary == DONE["summary"]
    assert "return age_s > LIFETIME_S" in flown.output.context_string
    assert [report.model for report in flown.reports[1:]] == [wire.model] * 2
    assert flown.output.notes == ()


async def test_a_mind_that_stalls_is_replaced_and_what_it_read_is_booked(
    make_navigator: MakeNavigator, repository: Path, wire: Wire
) -> None:
    flown = await fly(
        make_navigator, repository, lambda *_: Stall(), wire=wire, call_timeout_s=0.2, retries=0
    )
    assert flown.output.stop_reason is StopReason.FINISHED
    assert wire.model in flown.notes
    assert flown.output.total_cost > 0 or not wire.model.startswith("gemini")


async def test_arguments_that_are_no_json_come_back_to_the_model(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        return call("update_flight_plan", '{"reasoning": "x", ') if number == 0 else good(request, number - 1)

    flown = await fly(make_navigator, repository, mind, wire=WIRES["openai"])
    assert flown.output.stop_reason is StopReason.FINISHED
    assert {report.model for report in flown.reports[1:]} == {"openai/coder"}


async def test_the_clients_own_repetitions_are_off_so_that_each_try_fits_the_limit(
    make_navigator: MakeNavigator, repository: Path, wire: Wire
) -> None:
    flown = await fly(make_navigator, repository, lambda *_: Refuse(503), wire=wire, retries=1)
    assert len(flown.server.requests) == 2


async def test_the_beginning_of_a_request_is_the_same_bytes_from_step_to_step(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, wire=WIRES["openai"], max_steps=6)
    requests = flown.server.requests
    for one, other in pairwise(requests):
        assert one["tools"] == other["tools"]
        assert one["messages"][0] == other["messages"][0]
    assert all(cached > 0 for cached in flown.server.cached[1:])


async def test_thinking_that_is_part_of_the_output_is_booked_once(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        return call("finalize_context", DONE, prompt=2_000, cached=500, candidates=100, thoughts=40)

    output = (await fly(make_navigator, repository, mind, wire=WIRES["openai"])).output
    assert output.total_usage == TokenUsage(input=2_000, cached=500, output=100, thinking=40, calls=1)


async def test_a_provider_that_tells_no_usage_and_charges_is_booked_by_our_own_count(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {openai/coder: {input: 1, output: 2}}")
    silent = {"tells_usage": False}
    flown = await fly(make_navigator, repository, good, wire=WIRES["openai"], prices=prices, server=silent)
    used = flown.output.total_usage
    assert sum(flown.server.read) < used.input < 2 * sum(flown.server.read)
    assert 0 < used.output < 200
    assert flown.output.total_cost == Decimal(used.input + 2 * used.output) / 1_000_000
    assert "openai/coder reports no token usage; the product's own count is used." in flown.output.notes


async def test_a_local_model_takes_over_from_a_hosted_one_with_everything_done_so_far(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    with openai(lambda *_: call("finalize_context", DONE)) as local:
        flown = await fly(
            make_navigator,
            repository,
            dies,
            retries=0,
            fallback_model="ollama/coder",
            more_urls={"ollama": local.base_url},
        )
        assert [report.model for report in flown.reports[1:]] == ["gemini-2.0-flash", "ollama/coder"]
        (request,) = local.requests
    assert ZOOM["reasoning"] in messages_of(request)
    assert "token_expired is wrong" in messages_of(request)


@pytest.mark.network
@pytest.mark.skipif(not REAL_KEY, reason="REPO_NAVIGATOR_TEST_GEMINI_KEY is not set")
async def test_the_real_gemini_flies(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", REAL_KEY)
    navigator = Navigator(NavigatorSettings(workers=1, embedded_fallback=False))
    request = NavigationRequest(
        "token_expired is wrong", repository, model="gemini-2.5-flash-lite", max_cost_usd=0.05, max_steps=4
    )
    output = await navigator.run(await navigator.open(request))
    await navigator.aclose()
    assert output.stop_reason in (StopReason.FINISHED, StopReason.MAX_STEPS)
    assert "token_expired" in output.context_string
    assert 0 < output.total_cost <= 0.05
