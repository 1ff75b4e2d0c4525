"""Navigations are deleted: by their owner, by the command line, and the oldest ended ones to make room."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.errors import UnknownNavigationError
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.storage.opening import open_storage
from navigator.storage.sessions import APP_NAME
from repo_navigator.main import main
from tests.support.errors import refusal_of
from tests.support.results import object_of
from tests.support.team_stores import STORES, kept_in_stores, run_sql

pytestmark = pytest.mark.anyio
GOAL = {"goal": "the discount on an apple"}


@pytest.fixture(params=STORES)
def kept_in(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with kept_in_stores(request.param, request) as fields:
        yield fields


def navigator_of(settings: Settings) -> Navigator:
    return Navigator(settings.model_copy(update={"use_cache": False, "workers": 1}))


async def left_of(settings: Settings, navigation_id: str) -> list[Any]:
    """Return every row and every artifact that names a navigation."""
    storage = open_storage(settings.data_dir, settings.store, settings.bucket)
    services = await storage.services()
    named = {"app_name": APP_NAME, "user_id": "local", "session_id": navigation_id}
    left: list[Any] = list(await services.artifacts.list_artifact_keys(**named))
    await storage.close()
    tables = {"sessions": "id", "events": "session_id"}
    queries = [f"SELECT * FROM {table} WHERE {name} = '{navigation_id}'" for table, name in tables.items()]
    row = f"SELECT * FROM navigations WHERE id = '{navigation_id}'"
    if settings.store is not None:
        for query in (*queries, row):
            left += await run_sql(settings.store, query)
        return left
    assert settings.data_dir is not None
    for name, asked in (("sessions.db", queries), ("index.db", [row])):
        with closing(sqlite3.connect(settings.data_dir / name)) as db:
            for query in asked:
                left += db.execute(query).fetchall()
    return [*left, *settings.data_dir.rglob(f"*{navigation_id}*")]


async def test_the_owner_deletes_a_navigation_and_nothing_of_it_is_left(
    settings: Settings, shop: Path
) -> None:
    async with Client(build_server(settings, working_folder=shop)) as client:
        kept = object_of(await client.call_tool("navigate", GOAL))["navigation_id"]
        gone = object_of(await client.call_tool("navigate", GOAL))["navigation_id"]
        refused = await client.call_tool("step", {"action": "forget"})
        assert refusal_of(refused) == ("missing_argument", "navigation_id")
        deleted = await client.call_tool("step", {"navigation_id": gone, "action": "forget"})
        assert object_of(deleted) == {"navigation_id": gone, "status": "deleted"}
        for tool, arguments in (("get_context", {}), ("step", {"action": "forget"})):
            refused = await client.call_tool(tool, {"navigation_id": gone, **arguments})
            assert refusal_of(refused).code == "unknown_navigation"
            assert kept in str(refused.content)
        # Who names none means what is left.
        assert object_of(await client.call_tool("get_context", {}))["navigation_id"] == kept
    assert await left_of(settings, gone) == []
    assert await left_of(settings, kept) != []


async def test_nobody_deletes_what_is_anothers(settings: Settings, shop: Path) -> None:
    navigator = navigator_of(settings)
    key = await navigator.open(NavigationRequest("discount", shop), user="alice")
    with pytest.raises(UnknownNavigationError):
        await navigator.forget(key, user="bob")
    assert (await navigator.context(key, user="alice")).context_string
    await navigator.aclose()
    async with Client(build_server(settings, working_folder=shop)) as client:
        call = {"navigation_id": key, "action": "forget"}
        assert refusal_of(await client.call_tool("step", call)).code == "unknown_navigation"


@pytest.mark.parametrize("kept_in", ["folder"], indirect=True)
def test_the_command_line_deletes_by_name_and_by_age(
    settings: Settings, shop: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPO_NAVIGATOR_DATA", str(settings.data_dir))
    monkeypatch.setenv("REPO_NAVIGATOR_CACHE", str(settings.cache_dir))

    def ran(*arguments: str, code: int = 0) -> str:
        capfd.readouterr()
        assert main(list(arguments)) == code
        message = capfd.readouterr()
        return message.err if code else message.out

    for _ in range(2):
        ran("navigate", str(shop), "discount")
    ran("forget", code=2)
    assert settings.data_dir is not None
    with closing(sqlite3.connect(settings.data_dir / "sessions.db")) as db:
        (key, _) = sorted(row[0] for row in db.execute("SELECT id FROM sessions"))
    assert ran("forget", key) == f"Deleted {key}.\n"
    assert key in ran("forget", key, code=2)
    assert ran("forget", "--older-than", "1") == "Deleted 0 navigations.\n"
    assert ran("forget", "--older-than", "0") == "Deleted 1 navigation.\n"
    assert not [path for path in (settings.data_dir / "artifacts").rglob("*") if path.is_file()]
