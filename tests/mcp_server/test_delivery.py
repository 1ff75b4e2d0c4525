"""What was delivered of a navigation is kept with it: through restarts, upgrades and steps under way."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.state.client_state import ClientState
from tests.support.results import object_of
from tests.support.team_stores import STORES, kept_in_stores

pytestmark = pytest.mark.anyio
of_the_folder = pytest.mark.parametrize("kept_in", ["folder"], indirect=True)
"""What only a data folder can come to."""


@pytest.fixture(params=STORES)
def kept_in(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with kept_in_stores(request.param, request) as fields:
        yield fields


async def delivery_of(
    settings: NavigatorSettings, navigation_id: str, user: str = "local"
) -> ClientState | None:
    navigator = Navigator(settings.model_copy(update={"use_cache": False, "workers": 1}))
    known = await navigator.store.known(navigation_id, user)
    await navigator.aclose()
    assert known is not None
    return known.delivery


async def test_a_delivery_lives_and_ends_with_its_navigation(settings: Settings, shop: Path) -> None:
    assert settings.data_dir is not None
    async with Client(build_server(settings, working_folder=shop)) as client:
        opened = object_of(await client.call_tool("navigate", {"goal": "discount", "token_budget": 2_000}))
    key = opened["navigation_id"]
    delivery = await delivery_of(settings, key)
    assert delivery is not None
    assert (delivery.token_budget, delivery.held_step) == (2_000, opened["turn_report"]["step_number"])
    assert not (settings.data_dir / "answers").exists()
    navigator = Navigator(settings.model_copy(update={"use_cache": False, "workers": 1}))
    await navigator.forget(key)
    await navigator.store.deliver(key, "local", {"used_at": 1.0})
    assert await navigator.store.known(key, "local") is None
    assert await navigator.store.index.stored() == []
    await navigator.aclose()


async def test_what_is_delivered_while_a_step_runs_makes_it_not_stale(settings: Settings, shop: Path) -> None:
    navigator = Navigator(settings.model_copy(update={"use_cache": False, "workers": 1}))
    request = NavigationRequest("discount", shop, mode="interactive")
    key = await navigator.open(request)
    await navigator.store.deliver(key, "local", {"token_budget": 2_000})
    step = asyncio.create_task(navigator.step(key, updates={"budget": 900}))
    delivered = 0
    while not step.done():
        delivered += 1
        await navigator.store.deliver(key, "local", {"used_at": float(delivered), "held_step": 0})
        await asyncio.sleep(0)
    assert (await step).step_number == 1
    assert delivered > 1
    known = await navigator.store.known(key, "local")
    await navigator.aclose()
    assert known is not None
    assert known.delivery == ClientState(token_budget=2_000, held_step=0, used_at=float(delivered))


async def test_of_two_steps_at_once_each_tells_what_is_new_against_the_one_before(
    settings: Settings, shop: Path
) -> None:
    async with Client(build_server(settings, working_folder=shop)) as client:
        opened = object_of(
            await client.call_tool("navigate", {"goal": "discount", "mode": "interactive", "fill": True})
        )
        before = opened["turn_report"]["step_number"]
        hide = {"verbosity": [{"pattern": "shop/mail.py", "level": 0}]}
        show = {"verbosity": [{"pattern": "shop/mail.py", "level": 4}]}
        steps = await asyncio.gather(
            *(client.call_tool("step", {"updates": updates}) for updates in (hide, show))
        )
    hidden, shown = (object_of(step) for step in steps)
    numbers = [step["turn_report"]["step_number"] for step in (hidden, shown)]
    # Which of two that wait at once is taken first is nobody's promise.
    assert sorted(numbers) == [before + 1, before + 2]
    assert hidden["removed"] == ["shop/mail.py"]
    if numbers == sorted(numbers):
        # Against the step that hid it; against the one before, it would not be told at all.
        assert "def send_receipt" in shown["context_delta"]


@of_the_folder
async def test_an_answer_is_given_although_its_delivery_cannot_be_kept(
    settings: Settings, shop: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert settings.data_dir is not None
    async with Client(build_server(settings, working_folder=shop)) as client:
        opened = object_of(
            await client.call_tool("navigate", {"goal": "discount", "mode": "interactive", "fill": True})
        )
        key = opened["navigation_id"]
        before = await delivery_of(settings, key)
        with closing(sqlite3.connect(settings.data_dir / "index.db")) as connection:
            connection.execute(
                "CREATE TRIGGER full BEFORE UPDATE OF delivery ON navigations "
                "BEGIN SELECT RAISE(ABORT, 'disk full'); END"
            )
        hide = {"verbosity": [{"pattern": "shop/mail.py", "level": 0}]}
        stepped = object_of(await client.call_tool("step", {"updates": hide}))
        read = object_of(await client.call_tool("get_context", {}))
    assert stepped["removed"] == ["shop/mail.py"]
    assert read["total_iterations"] == opened["turn_report"]["step_number"] + 1
    assert await delivery_of(settings, key) == before
    assert [line for line in caplog.messages if "disk full" in line] != []
