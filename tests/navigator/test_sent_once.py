"""What a provider has been told is not sent again: caches, interactions, and changes in place of maps."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from google.adk.models.cache_metadata import CacheMetadata
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from navigator.agent.models import provider_cache
from navigator.agent.models.gemini import ExplicitCache, open_gemini
from navigator.errors import ModelFailedError
from navigator.settings import NavigationRequest
from navigator.state.pricing import CachedTokens, load_prices
from navigator.state.reports import StopReason
from repo_map.text.tokens import count
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, Flown, fly, wander
from tests.support.providers.gemini import GeminiServer, text_of
from tests.support.providers.minds import Refuse, Say, call
from tests.support.providers.server import Die, Stall

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
MAP = "map " * 2_000
CACHED = WIRES["gemini, cached"]
GOAL = "token_expired is wrong. " + "The clock of the session runs behind that of the shop. " * 160
BIG = {"token_budget": 2_000, "goal": GOAL, "max_steps": 6}


async def test_a_cache_is_made_once_used_by_every_step_and_deleted_at_the_end(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG)
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
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG, memory_s=360.0)
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
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG, server={"least_cache": 100_000})
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

    wire = CACHED
    flown = await fly(make_navigator, repository, mind, wire=wire._replace(serve=serve), **BIG, retries=0)
    assert flown.output.stop_reason is StopReason.MAX_STEPS
    assert {report.model for report in flown.reports[1:]} == {"gemini-2.0-flash"}
    assert len({request["cachedContent"] for request in flown.server.requests}) == 2


async def test_a_cache_whose_time_is_over_is_not_named_again(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG, memory_s=1e-9)
    assert all("cachedContent" not in request for request in flown.server.requests)


async def test_without_a_known_price_of_storage_no_cache_is_made(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {gemini-2.0-flash: {input: 1, output: 2, cached_input: 0.1}}")
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG, prices=prices)
    assert all("systemInstruction" in request for request in flown.server.requests)


async def test_a_cache_that_the_cost_limit_has_no_room_for_is_not_made(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG, max_cost_usd=0.0018)
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
    for number, request in enumerate(later, start=1):
        assert request["previous_interaction_id"] == f"interaction-{number}"
        assert GOAL.strip() not in text_of(request)
        assert "system_instruction" not in request
        assert text_of(request).count("changed the map.") == 1
        answered = [step["call_id"] for step in request["input"] if step["type"] == "function_result"]
        assert answered == [f"interaction-{number}-0"]


async def test_interactions_are_deleted_with_the_task(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, wire=WIRES["gemini, interactions"])
    assert flown.server.interactions == {}
    assert flown.server.deleted == [f"interaction-{number}" for number in range(1, 7)]


async def test_interactions_that_the_provider_has_lost_start_anew(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    wire = WIRES["gemini, interactions"]

    class Forgetful(GeminiServer):
        def handle(self, method: str, path: str, request: dict[str, Any]) -> Any:
            if len(self.requests) == 3 and len(self.interactions) == 3:
                self.interactions.clear()
            return super().handle(method, path, request)

    flown = await fly(
        make_navigator, repository, wander, wire=wire._replace(serve=Forgetful), **BIG, retries=0
    )
    assert flown.output.stop_reason is StopReason.MAX_STEPS
    assert {report.model for report in flown.reports[1:]} == {"gemini-2.0-flash"}
    assert ["previous_interaction_id" in request for request in flown.server.requests] == [
        False, True, True, False, True, True,
    ]  # fmt: skip


async def test_a_changed_map_is_told_by_its_changes_where_that_is_shorter(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, wire=WIRES["gemini"])
    message = [told_in(request) for request in flown.server.requests]
    assert len({map_ for map_, *_ in message}) == 1
    for earlier, later in pairwise(message):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 1
        assert "src/billing.py" in later[-1]
        assert "src/router.py" not in later[-1]


async def test_a_provider_that_keeps_the_base_map_alone_is_told_all_changes_as_one(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG)
    assert [text_of(request).count("changed the map.") for request in flown.server.requests] == [0] + [1] * 5


def told_in(request: dict[str, Any]) -> list[str]:
    """Return the map and the changes that a request tells."""
    texts = [content["parts"][0]["text"] for content in request["contents"]]
    return [text for text in texts if text.startswith(("The repository's name", "Step ")) and "map" in text]


async def test_a_file_that_leaves_the_map_is_told_by_its_path(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, empties, **BIG, wire=WIRES["gemini"])
    *_, changes = told_in(flown.server.requests[1])
    assert re.search(
        r"These are no longer in the map:\n<<<repository text \w{8}\nsrc/auth/login\.py\n", changes
    )
    assert "src/auth/login.py" not in {file.path for file in flown.output.files}


def empties(request: dict[str, Any], number: int) -> Say:
    """Take a file out, then finish."""
    if number:
        return call("finalize_context", DONE)
    updates = {"verbosity": [{"pattern": "src/auth/login.py", "level": 0}]}
    return call("update_flight_plan", {"reasoning": "Logging in plays no part.", "updates": updates})


async def test_a_map_that_is_all_new_is_told_whole(make_navigator: MakeNavigator, repository: Path) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number:
            return call("finalize_context", DONE)
        updates = {
            "verbosity": [{"pattern": "**/*.*", "level": 0}, {"pattern": "src/billing.py", "level": 4}]
        }
        return call("update_flight_plan", {"reasoning": "only this", "updates": updates})

    flown = await fly(make_navigator, repository, mind, wire=WIRES["gemini"])
    (base,) = told_in(flown.server.requests[1])
    assert "sum(line.amount" in base


async def test_the_account_agrees_with_what_the_server_counted(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown: Flown = await fly(make_navigator, repository, wander, wire=CACHED, **BIG)
    account = flown.reports[-1].account
    counted = flown.server.counted
    assert account.sent == sum(each.uncached for each in counted)
    assert account.cached == sum(each.cached for each in counted)
    assert account.repeated == 0
    assert account.saved > 0.5


async def test_a_cache_is_kept_on_while_it_is_used(make_navigator: MakeNavigator, repository: Path) -> None:
    ticks = iter(range(0, 100_000, 10))
    with WIRES["gemini, cached"].serve(wander) as server:
        llm = open_gemini("gemini-2.0-flash", server.url)
        cache = ExplicitCache(llm, lifetime_s=120.0, clock=lambda: float(next(ticks)))
        request = LlmRequest(contents=[types.Content(role="user", parts=[types.Part(text=MAP)])])
        request.cache_metadata = CacheMetadata(fingerprint="step 0", contents_count=1)
        assert await cache.write(request, most=9_999) == CachedTokens(count(MAP), count(MAP), 120.0)
        assert not cache.wants(request, 2_000)
        while not cache.wants(request, 2_000):
            pass
        kept_on = await cache.write(request, most=9_999)
        assert kept_on is not None
        assert (kept_on.sent, kept_on.kept) == (0, count(MAP))
        assert 60 < kept_on.seconds < 120
        assert server.kept_on == ["cachedContents/1"]
        await cache.close()
        assert server.caches == {}


async def test_a_provider_without_a_cache_is_told_no_more_than_a_new_session_for_every_step(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    wire = WIRES["gemini"]._replace(model="gemini-2.0-flash-thinking")
    flown = await fly(make_navigator, repository, wander, **BIG, wire=wire)
    account = flown.reports[-1].account
    assert account.sent == sum(each.read for each in flown.server.counted)
    assert account.sent <= account.step_scoped
    assert -0.01 < account.saved < 0.01
    assert all(text_of(request).count("changed the map.") == 0 for request in flown.server.requests)


async def test_a_prefix_cache_that_never_serves_is_not_counted_on(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    long = {**BIG, "max_steps": 6, "goal": GOAL * 3}
    flown = await fly(make_navigator, repository, wander, **long, wire=WIRES["gemini"])
    message = [text_of(request).count("changed the map.") for request in flown.server.requests]
    assert message == [0, 1, 2, 0, 0, 0]


@pytest.mark.parametrize("status", [400, 403, 404])
@pytest.mark.parametrize("name", ["gemini, cached", "gemini, interactions"])
async def test_a_status_alone_does_not_mean_that_the_provider_has_forgotten(
    make_navigator: MakeNavigator, repository: Path, name: str, status: int
) -> None:
    def mind(request: dict[str, Any], number: int) -> Any:
        return Refuse(status, "The caller is not welcome") if number == 2 else wander(request, number)

    flown = await fly(make_navigator, repository, mind, wire=WIRES[name], **BIG, retries=0)
    server: GeminiServer = flown.server
    assert len(server.requests) == 3
    assert sum(
        "/cachedContents" in each.split("\n")[0] and each.startswith("POST") for each in server.heard
    ) == (1 if name == "gemini, cached" else 0)
    assert flown.reports[-1].model == "embedded"
    assert server.caches == server.interactions == {}
    assert server.deleted


async def test_what_a_provider_keeps_is_deleted_when_it_fails_for_good(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    def mind(request: dict[str, Any], number: int) -> Any:
        return Die() if number else wander(request, number)

    with CACHED.serve(mind) as server:
        navigator = make_navigator(**CACHED.settings(server), retries=0, embedded_fallback=False)
        request = NavigationRequest(GOAL, repository, token_budget=2_000, model=CACHED.model)
        navigation_id = await navigator.open(request)
        await navigator.step(navigation_id)
        assert server.caches
        with pytest.raises(ModelFailedError):
            await navigator.step(navigation_id)
        assert server.caches == {}


async def test_a_provider_that_never_deletes_does_not_hold_up_the_end(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Stubborn(GeminiServer):
        def handle(self, method: str, path: str, request: dict[str, Any]) -> Any:
            return Stall() if method == "DELETE" else super().handle(method, path, request)

    monkeypatch.setattr(provider_cache, "SOON_S", 0.1)
    flown = await fly(make_navigator, repository, wander, wire=CACHED._replace(serve=Stubborn), **BIG)
    assert flown.output.stop_reason is StopReason.MAX_STEPS


async def test_a_cache_that_is_told_to_hold_more_than_it_can_is_booked_by_our_count(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    class Boasting(GeminiServer):
        def _cache(self, path: str, request: Any) -> Any:
            made = super()._cache(path, request)
            return made._replace(body={**made.body, "usageMetadata": {"totalTokenCount": 10**18}})

    flown = await fly(make_navigator, repository, wander, wire=CACHED._replace(serve=Boasting), **BIG)
    assert 0 < flown.output.total_cost < Decimal("0.01")
