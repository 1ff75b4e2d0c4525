"""What a provider has been told is not sent again: caches, interactions, and changes in place of maps."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from benchmarks.loopback.gemini import GeminiServer, text_of
from benchmarks.loopback.minds import Say, call
from navigator.pricing import load_prices
from navigator.reports import StopReason
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, Flown, fly, wander

pytestmark = pytest.mark.anyio
GOAL = "token_expired is wrong. " + "The clock of the session runs behind that of the shop. " * 80
BIG = {"token_budget": 2_000, "goal": GOAL, "max_steps": 6}


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")


async def test_a_cache_is_made_once_used_by_every_step_and_deleted_at_the_end(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG)
    server: GeminiServer = flown.server
    names = [request.get("cachedContent") for request in server.requests]
    assert names == ["cachedContents/1"] * 6
    assert server.deleted == ["cachedContents/1"]
    assert server.caches == {}
    for request in server.requests:
        assert "systemInstruction" not in request
        assert "tools" not in request
        assert GOAL not in text_of(request)


async def test_what_keeping_a_cache_costs_is_booked_to_its_last_second(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, memory_s=360.0)
    written, *calls = flown.server.counted
    price = load_prices().price_of("gemini-2.0-flash")
    assert price.cached_input is not None
    assert price.storage_hour is not None
    fresh = written.read + sum(each.uncached for each in calls)
    cached = sum(each.cached for each in calls)
    expected = fresh * price.input + cached * price.cached_input + 6 * 50 * price.output
    expected += written.read * price.storage_hour / 10
    assert flown.output.total_cost == expected / 1_000_000
    assert flown.output.total_usage.input == fresh + cached
    assert flown.output.total_usage.calls == 6


async def test_a_model_that_takes_no_cache_so_small_is_asked_once_and_flies_on(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, server={"least_cache": 100_000})
    assert flown.output.stop_reason is StopReason.MAX_STEPS
    assert flown.output.model == "gemini-2.0-flash"
    assert all("cachedContent" not in request for request in flown.server.requests)
    assert flown.output.notes == ()


async def test_a_cache_that_the_provider_has_lost_is_made_anew_and_the_task_goes_on(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    servers: list[GeminiServer] = []

    def mind(request: dict[str, Any], number: int) -> Say:
        if number == 2:
            servers[0].caches.clear()
        return wander(request, number)

    def serve(*parts: Any, **more: Any) -> Any:
        made = wire.serve(*parts, **more)

        class Remembered:
            def __enter__(self) -> GeminiServer:
                servers.append(made.__enter__())
                return servers[0]

            def __exit__(self, *exception: Any) -> None:
                made.__exit__(*exception)

        return Remembered()

    wire = WIRES["gemini, cached"]
    flown = await fly(make_navigator, repository, mind, wire=wire._replace(serve=serve), **BIG, retries=0)
    assert flown.output.stop_reason is StopReason.MAX_STEPS
    assert {report.model for report in flown.reports[1:]} == {"gemini-2.0-flash"}
    assert len({request["cachedContent"] for request in flown.server.requests}) == 2


async def test_a_cache_whose_time_is_over_is_not_named_again(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, memory_s=1e-9)
    assert all("cachedContent" not in request for request in flown.server.requests)


async def test_without_a_known_price_of_storage_no_cache_is_made(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {gemini-2.0-flash: {input: 1, output: 2, cached_input: 0.1}}")
    flown = await fly(make_navigator, repository, wander, **BIG, prices=prices)
    assert all("systemInstruction" in request for request in flown.server.requests)


async def test_a_cache_that_the_cost_limit_has_no_room_for_is_not_made(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, max_cost_usd=0.0018)
    assert all("systemInstruction" in request for request in flown.server.requests)
    assert flown.server.requests
    assert flown.output.total_cost <= Decimal("0.0018")


async def test_interactions_say_the_stable_part_and_the_base_map_once(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, wire=WIRES["gemini, interactions"])
    first, *later = flown.server.requests
    assert GOAL.strip() in text_of(first)
    assert "previous_interaction_id" not in first
    for request in later:
        assert request["previous_interaction_id"] == "interaction-1"
        assert GOAL.strip() not in text_of(request)
        assert "system_instruction" not in request
        assert [step["call_id"] for step in request["input"] if step["type"] == "function_result"] == [
            "interaction-1-0"
        ]


async def test_interactions_are_deleted_with_the_task(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, wire=WIRES["gemini, interactions"])
    assert flown.server.interactions == {}
    assert flown.server.deleted == [f"interaction-{number}" for number in range(1, 7)]


async def test_interactions_that_the_provider_has_lost_start_anew(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number == 2:
            request["forget"] = True
        return wander(request, number)

    wire = WIRES["gemini, interactions"]

    class Forgetful(GeminiServer):
        def handle(self, method: str, path: str, request: dict[str, Any]) -> Any:
            if len(self.requests) == 3 and len(self.interactions) == 3:
                self.interactions.clear()
            return super().handle(method, path, request)

    flown = await fly(make_navigator, repository, mind, wire=wire._replace(serve=Forgetful), **BIG, retries=0)
    assert flown.output.stop_reason is StopReason.MAX_STEPS
    assert {report.model for report in flown.reports[1:]} == {"gemini-2.0-flash"}
    assert ["previous_interaction_id" in request for request in flown.server.requests] == [
        False, True, True, False, True, True,
    ]  # fmt: skip


async def test_a_changed_map_is_told_by_its_changes_where_that_is_shorter(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, wire=WIRES["gemini"])
    bases = [request["contents"][0]["parts"][0]["text"] for request in flown.server.requests]
    assert len(set(bases)) == 1
    changes = [request["contents"][1]["parts"][0]["text"] for request in flown.server.requests]
    assert changes[0] == "That is the current map."
    assert len({*changes}) > 3
    assert not any("src/router.py" in each for each in changes)


async def test_base_and_changes_make_the_map_that_was_drawn(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, empties, **BIG, wire=WIRES["gemini"])
    told = [request["contents"][1]["parts"][0]["text"] for request in flown.server.requests]
    assert "These are no longer in the map:\n<<<repository text\nsrc/billing.py\n" in told[1]
    assert "src/billing.py" not in {file.path for file in flown.output.files}


def empties(request: dict[str, Any], number: int) -> Say:
    """Take a file out, then finish."""
    if number:
        return call("finalize_context", DONE)
    updates = {"verbosity": [{"pattern": "src/billing.py", "level": 0}]}
    return call("update_flight_plan", {"reasoning": "Invoices play no part.", "updates": updates})


async def test_a_map_that_is_all_new_is_told_whole(make_navigator: MakeNavigator, repository: Path) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number:
            return call("finalize_context", DONE)
        updates = {"verbosity": [{"pattern": "**", "level": 0}, {"pattern": "src/billing.py", "level": 4}]}
        return call("update_flight_plan", {"reasoning": "only this", "updates": updates})

    flown = await fly(make_navigator, repository, mind, wire=WIRES["gemini"])
    base, changes = (content["parts"][0]["text"] for content in flown.server.requests[1]["contents"][:2])
    assert "sum(line.amount" in base
    assert changes == "That is the current map."


async def test_the_account_agrees_with_what_the_server_counted(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown: Flown = await fly(make_navigator, repository, wander, **BIG)
    account = flown.reports[-1].account
    counted = flown.server.counted
    assert account.sent == sum(each.uncached for each in counted)
    assert account.cached == sum(each.cached for each in counted)
    assert account.repeated == 0
    assert account.saved > 0.5
