"""Which navigation is meant, whose it is, and that it outlives the process."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.state.client_state import ClientState
from tests.mcp_server.conftest import both_eras
from tests.support.errors import refusal_of
from tests.support.results import object_of

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple"


@both_eras
async def test_a_left_out_id_means_the_navigation_of_the_session_that_was_used_last(client: Client) -> None:
    async with client:
        first = object_of(await client.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
        second = object_of(await client.call_tool("navigate", {"goal": "mail a receipt"}))["navigation_id"]
        assert object_of(await client.call_tool("get_turn_report", {}))["navigation_id"] == second
        await client.call_tool("get_context", {"navigation_id": first})
        assert object_of(await client.call_tool("get_turn_report", {}))["navigation_id"] == first


@both_eras
async def test_two_clients_do_not_see_each_other(settings: Settings, shop: Path, era: str) -> None:
    server = build_server(settings, working_folder=shop)
    async with Client(server, mode=era) as one, Client(server, mode=era) as other:
        mine = object_of(await one.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
        for arguments in ({}, {"navigation_id": "nav-unknown"}):
            refused = await other.call_tool("get_context", arguments)
            assert refusal_of(refused).code == "unknown_navigation"
            assert mine not in str(refused.content)
        listed = await other.read_resource("navigator://navigations")
        assert mine not in str(listed.contents)


@both_eras
async def test_a_restarted_server_still_knows_a_navigation(settings: Settings, shop: Path, era: str) -> None:
    async with Client(build_server(settings, working_folder=shop), mode=era) as client:
        before = object_of(await client.call_tool("navigate", {"goal": GOAL}))
    async with Client(build_server(settings, working_folder=shop), mode=era) as client:
        arguments = {"navigation_id": before["navigation_id"]}
        refused = await client.call_tool("step", {})
        assert refusal_of(refused).code == "unknown_navigation"
        assert before["navigation_id"] in str(refused.content)
        after = object_of(await client.call_tool("get_context", arguments))
        assert after["context_string"] == before["context"]
        assert (
            object_of(await client.call_tool("step", {"feedback": "show the mails"}))["navigation_id"]
            == (before["navigation_id"])
        )


async def test_what_nobody_uses_is_removed_however_often_the_server_starts(
    settings: Settings, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = settings.model_copy(update={"keep_days": 3})
    clock, days = time.time, [0.0]
    monkeypatch.setattr("time.time", lambda: clock() + days[0] * 86_400)
    async with Client(build_server(short, working_folder=shop)) as client:
        old = object_of(await client.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
    for days[0] in (1.0, 2.0, 3.0, 4.0):
        async with Client(build_server(short, working_folder=shop)) as client:
            await client.call_tool("navigate", {"goal": GOAL})
    async with Client(build_server(short, working_folder=shop)) as client:
        refused = await client.call_tool("get_turn_report", {"navigation_id": old})
        assert refusal_of(refused).code == "unknown_navigation"


async def test_what_is_too_old_is_removed_in_batches_beside_the_calls(settings: Settings, shop: Path) -> None:
    navigator = Navigator(settings.model_copy(update={"use_cache": False, "workers": 1}))
    keys = [await navigator.open(NavigationRequest(GOAL, shop), user="somebody") for _ in range(12)]
    for number, key in enumerate(keys):
        sent = ClientState(token_budget=1_000, used_at=1.0 if number else time.time())
        await navigator.store.deliver(key, "somebody", sent.model_dump(mode="json"))
    async with Client(build_server(settings, working_folder=shop)) as client:
        async with navigator.store.hold(keys[5]):
            # The removal waits for that one, and no call waits for the removal.
            opened = object_of(await client.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
            left = {use.navigation_id for use in await navigator.store.index.stored()}
            assert {keys[0], keys[5], opened} <= left
        while len(left) > 2:
            left = {use.navigation_id for use in await navigator.store.index.stored()}
    await navigator.aclose()
    assert left == {keys[0], opened}
