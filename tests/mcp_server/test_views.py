"""The map within a host: who is offered it, what it is told, and that it takes nothing from the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.extension import ClientExtension, advertise
from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID
from mcp_types import ListToolsResult

from mcp_server.app import build_server
from mcp_server.map_view import view_uri
from mcp_server.settings import Settings
from navigator.picture.data import MAX_BYTES
from navigator.picture.page import view_page
from repo_map.text.tokens import count
from tests.mcp_server.conftest import both_eras
from tests.support.results import object_of, text_of

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple must never make its price negative"
SHOWS_VIEWS = (advertise(EXTENSION_ID, {"mimeTypes": [APP_MIME_TYPE]}),)
FOUR = ["navigate", "step", "get_turn_report", "get_context"]
MAIL = {"updates": {"verbosity": [{"pattern": "shop/mail.py", "level": 4}]}}

Connect = Callable[..., Client]


@pytest.fixture
def connect(settings: Settings, shop: Path, era: str) -> Connect:
    """Clients of servers in the shop; ``views`` is the setting, ``extensions`` what the client says."""

    def client(views: str = "auto", extensions: tuple[ClientExtension, ...] = SHOWS_VIEWS) -> Client:
        server = build_server(settings.model_copy(update={"views": views}), working_folder=shop)  # type: ignore[arg-type]
        return Client(server, mode=era, extensions=extensions)

    return client


def told(listed: ListToolsResult) -> int:
    """The tokens of what a model is told of tools."""
    return count(json.dumps([[tool.name, tool.description, tool.input_schema] for tool in listed.tools]))


@both_eras
async def test_lists_are_the_same_in_each_order(connect: Connect) -> None:
    wire = []
    for _ in range(2):
        async with connect() as client:
            lists = (
                await client.list_tools(),
                await client.list_prompts(),
                await client.list_resource_templates(),
            )
            wire.append([each.model_dump_json(by_alias=True) for each in lists])
    assert wire[0] == wire[1]


@both_eras
async def test_a_host_without_views_is_listed_nothing_of_them(connect: Connect) -> None:
    wire = []
    for views in ("auto", "off"):
        async with connect(views, ()) as client:
            listed = await client.list_tools()
            wire.append(listed.model_dump_json(by_alias=True))
            assert [tool.name for tool in listed.tools] == FOUR
            assert [each.name for each in (await client.list_resources()).resources] == ["navigations"]
            assert EXTENSION_ID not in (client.server_capabilities.extensions or {})
    assert wire[0] == wire[1]


@both_eras
@pytest.mark.parametrize(("views", "extensions"), [("auto", SHOWS_VIEWS), ("on", ())])
async def test_a_host_with_views_is_told_of_them_in_either_era(
    connect: Connect, views: str, extensions: tuple[ClientExtension, ...]
) -> None:
    async with connect(views, extensions) as client:
        assert client.server_capabilities.extensions == {EXTENSION_ID: {}}
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        listed = {each.uri: each for each in (await client.list_resources()).resources}
        read = await client.read_resource(view_uri())
    assert [*tools] == [*FOUR, "show_map", "map_data"]
    assert tools["show_map"].meta == {"ui": {"resourceUri": view_uri()}, "ui/resourceUri": view_uri()}
    assert tools["show_map"].annotations is None
    assert tools["map_data"].meta == {"ui": {"visibility": ["app"]}}
    for name in FOUR:
        assert "ui" not in (tools[name].meta or {})
    assert listed[view_uri()].mime_type == APP_MIME_TYPE
    (content,) = read.contents
    assert (content.mime_type, content.uri) == (APP_MIME_TYPE, view_uri())
    assert content.text == view_page()  # type: ignore[union-attr]
    assert content.meta == {"ui": {"prefersBorder": True}}


async def test_a_model_pays_at_most_110_tokens_for_the_map_until_it_shows_it(connect: Connect) -> None:
    async with connect("auto", ()) as without, connect() as client:
        more = told(await client.list_tools()) - told(await without.list_tools())
        await client.call_tool("navigate", {"goal": GOAL})
        answer = await client.call_tool("show_map", {})
    assert 0 < more <= 110
    assert count(text_of(answer)) + count(json.dumps(object_of(answer))) <= 60


async def test_the_view_gets_its_data_by_a_tool_of_its_own(connect: Connect) -> None:
    async with connect() as client:
        known = object_of(await client.call_tool("navigate", {"goal": GOAL}))["navigation_id"]
        assert object_of(await client.call_tool("show_map", {"navigation_id": known})) == {
            "navigation_id": known
        }
        answer = await client.call_tool("map_data", {"navigation_id": known})
    assert count(text_of(answer)) < 10
    assert object_of(answer)["said"] == ""
    picture = object_of(answer)["picture"]
    assert picture["navigation_id"] == known
    assert "shop/prices.py" in [file["path"] for file in picture["files"] if file["level"] > 1]
    assert len(json.dumps(picture).encode()) <= MAX_BYTES


async def test_a_folder_is_looked_into_and_stays_so_when_the_view_changes_something(connect: Connect) -> None:
    async with connect() as client:
        await client.call_tool("navigate", {"goal": GOAL})
        whole = object_of(await client.call_tool("map_data", {}))["picture"]
        inside = object_of(await client.call_tool("map_data", {"within": "shop"}))["picture"]
        changed = object_of(await client.call_tool("map_data", {"within": "shop", "steer": MAIL}))["picture"]
    assert [each["within"] for each in (whole, inside, changed)] == ["", "shop", "shop"]
    assert inside["turns"] == whole["turns"]
    assert "shop/mail.py" in [file["path"] for file in changed["files"] if file["level"] > 1]


async def test_after_steering_in_the_view_the_models_next_step_brings_what_it_has_not_seen(
    connect: Connect,
) -> None:
    async with connect() as client:
        first = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        assert "def send_receipt" not in first["context"]
        steered = object_of(
            await client.call_tool("map_data", {"navigation_id": first["navigation_id"], "steer": MAIL})
        )
        assert "shop/mail.py" in [file["path"] for file in steered["picture"]["files"] if file["level"] > 1]
        step = object_of(await client.call_tool("step", {"feedback": "also show the README"}))
    assert "def send_receipt" in step["context_delta"]


async def test_a_question_of_the_model_brings_what_the_user_has_changed_in_the_view(connect: Connect) -> None:
    async with connect() as client:
        first = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        known = {"navigation_id": first["navigation_id"]}
        await client.call_tool("map_data", {**known, "steer": MAIL})
        asked = object_of(await client.call_tool("step", {"feedback": "who calls price_of?"}))
        again = object_of(await client.call_tool("step", {"feedback": "who calls price_of?"}))
    assert "def send_receipt" in asked["context_delta"]
    assert "def send_receipt" not in again["context_delta"]


async def test_the_view_adds_places_of_the_menu_that_it_shows_and_takes_them_back(
    connect: Connect, large: Path
) -> None:
    goal = {"goal": "checkout of the cart", "repo_path": str(large), "token_budget": 2_000}
    async with connect() as client:
        known = object_of(await client.call_tool("navigate", goal))["navigation_id"]
        given = {"navigation_id": known}
        before = object_of(await client.call_tool("map_data", given))["picture"]
        at = before["turns"][-1]["step"]
        place = next(each for each in before["places"] if each["number"] and each["tokens"])
        wish = {"at_step": at, "show": [place["number"]]}
        added = object_of(await client.call_tool("map_data", {**given, "steer": wish}))["picture"]
        undone = object_of(await client.call_tool("map_data", {**given, "steer": {"feedback": "undo"}}))

    def is_shown(picture: dict[str, Any]) -> bool:
        path, (first, last) = before["files"][place["file"]]["path"], place["lines"]
        (file,) = [each for each in picture["files"] if each["path"] == path]
        return any(start <= first and last <= end for start, end in file["shown"])

    assert [is_shown(each) for each in (before, added, undone["picture"])] == [False, True, False]
    assert undone["said"]
