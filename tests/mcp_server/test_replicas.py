"""Several servers of one team: each takes any call, one that dies takes nothing along."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.storage.addresses import DatabaseAddress
from tests.mcp_server.conftest import SlowModel
from tests.mcp_server.test_http import ALICE, BOB, Served, as_principal, token_file
from tests.support.proxy import Proxy
from tests.support.results import object_of
from tests.support.team_stores import BUCKETS, own_bucket, own_schema, url_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.usefixtures("_closed_connections"),
    pytest.mark.skipif(sys.platform == "win32", reason="a server of a team runs where there are signals"),
]
GOAL = {"goal": "the discount on an apple", "mode": "interactive", "fill": True, "token_budget": 1_500}
Start = Callable[..., Served]


@pytest.fixture
def database() -> Iterator[DatabaseAddress]:
    with own_schema() as address:
        yield address


@pytest.fixture
def scheme() -> str:
    """What the bucket's address begins with, where a test tries no other."""
    return "s3"


@pytest.fixture
def start(
    shop: Path, tmp_path: Path, database: DatabaseAddress, scheme: str, request: pytest.FixtureRequest
) -> Iterator[Start]:
    """Start servers on one database and one bucket, each with a data folder of its own."""
    bucket = own_bucket(scheme, request)
    with ExitStack() as stack:

        def started(port: int | None = None, **environ: str) -> Served:
            number = len(list(tmp_path.glob("data-*")))
            (tmp_path / f"data-{number}").mkdir()
            variables = {
                "REPO_NAVIGATOR_STORE": url_of(database, port),
                "REPO_NAVIGATOR_ARTIFACTS": str(bucket).rstrip("/"),
                "REPO_NAVIGATOR_DATA": str(tmp_path / f"data-{number}"),
                "REPO_NAVIGATOR_CACHE": str(tmp_path / "cache"),
                "REPO_NAVIGATOR_TOKENS": token_file(tmp_path),
                **environ,
            }
            served = Served(shop, **variables)
            stack.callback(_end, served)
            return served

        yield started


def _end(served: Served) -> None:
    served.process.kill()
    served.stop()


async def called(
    served: Served, tool: str, arguments: dict[str, Any], token: str = ALICE, era: str = "auto"
) -> CallToolResult:
    async with as_principal(served, token, era) as client:
        # As hosts do; the client else asks for the schemas of answers once it has one.
        await client.list_tools()
        return await client.call_tool(tool, arguments)


def refusal(result: CallToolResult) -> str:
    assert result.is_error
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text


async def flown(servers: list[Served]) -> list[dict[str, Any]]:
    """Make calls that rest on one another, each on the next server, and return the answers without ids."""
    hide = {"verbosity": [{"pattern": "shop/mail.py", "level": 0}]}
    show = {"verbosity": [{"pattern": "shop/mail.py", "level": 4}]}
    answers: list[dict[str, Any]] = []

    async def ask(tool: str, **arguments: Any) -> dict[str, Any]:
        server = servers[len(answers) % len(servers)]
        answers.append(object_of(await called(server, tool, arguments)))
        return answers[-1]

    key = (await ask("navigate", **GOAL))["navigation_id"]
    await ask("step", navigation_id=key, updates=hide)
    # It is the caller's only one, so it needs no name.
    await ask("step", updates=show)
    await ask("step", feedback="drop the readme")
    await ask("step", feedback="undo")
    page = await ask("get_context", navigation_id=key)
    while cursor := page.get("next_cursor"):
        page = await ask("get_context", navigation_id=key, cursor=cursor)
    await ask("get_context", navigation_id=key, since_step=1)
    await ask("get_turn_report", navigation_id=key, step=2)
    return [_without(each, key) for each in answers]


def _without(value: Any, key: str) -> Any:
    """Return an answer without the navigation's id."""
    if isinstance(value, dict):
        return {name: _without(each, key) for name, each in value.items()}
    if isinstance(value, list):
        return [_without(each, key) for each in value]
    return value.replace(key, "nav") if isinstance(value, str) else value


async def test_any_server_takes_any_call_as_one_server_alone_would(
    start: Start, shop: Path, tmp_path: Path
) -> None:
    for number in range(12):
        (shop / f"shop/part_{number}.py").write_text(
            f"def discount_{number}(item):\n    return {number}\n" * 9
        )
    alone = Served(
        shop,
        REPO_NAVIGATOR_DATA=str(tmp_path / "alone"),
        REPO_NAVIGATOR_CACHE=str(tmp_path / "cache"),
        REPO_NAVIGATOR_TOKENS=token_file(tmp_path),
    )
    try:
        expected = await flown([alone])
    finally:
        alone.stop()
    servers = [start() for _ in range(3)]
    assert await flown(servers) == expected
    assert refusal(await called(servers[0], "get_context", {}, BOB))
    assert await asyncio.to_thread(lambda: [path.name for path in tmp_path.glob("data-*/*")]) == []


async def stepping(
    served: Served, key: str, slow_model: SlowModel, era: str = "auto"
) -> asyncio.Task[CallToolResult]:
    """Begin a step whose model is being asked when this returns."""
    arguments = {"navigation_id": key, "updates": {"model": "openai/slow"}}
    step = asyncio.create_task(called(served, "step", arguments, era=era))
    await asyncio.to_thread(slow_model.asked.wait, 60)
    return step


@pytest.mark.parametrize("scheme", BUCKETS)
async def test_a_server_that_is_killed_within_a_step_loses_no_answered_one_and_blocks_nobody(
    start: Start, slow_model: SlowModel
) -> None:
    dying, other = start(), start()
    key = object_of(await called(dying, "navigate", GOAL))["navigation_id"]
    await called(dying, "step", {"navigation_id": key, "updates": {"budget": 900}})
    step = await stepping(dying, key, slow_model)
    dying.process.kill()
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever a client makes of a connection that is gone
        await step
    report = object_of(await called(other, "get_turn_report", {"navigation_id": key}))
    assert report["step_number"] == 2
    after = object_of(await called(other, "step", {"navigation_id": key, "updates": {"budget": 800}}))
    assert after["turn_report"]["step_number"] == 3


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_server_that_is_asked_to_end_answers_what_is_under_way(
    start: Start, slow_model: SlowModel, era: str
) -> None:
    ending, other = start(REPO_NAVIGATOR_HTTP_DRAIN_SECONDS="50"), start()
    key = object_of(await called(ending, "navigate", GOAL))["navigation_id"]
    step = await stepping(ending, key, slow_model, era)
    ending.process.terminate()
    await asyncio.to_thread(until_refused, ending)
    # As long as whatever ends streams by itself takes to look for the signal.
    await asyncio.wait({step}, timeout=2)
    slow_model.may_answer.set()
    assert object_of(await step)["turn_report"]["step_number"] == 2
    assert await asyncio.to_thread(ending.process.wait, 30) == 0
    after = object_of(await called(other, "step", {"navigation_id": key, "updates": {"budget": 900}}))
    assert after["turn_report"]["step_number"] == 3


def until_refused(served: Served) -> None:
    """Wait until a server takes no more connections."""
    while True:
        try:
            httpx2.get(f"http://127.0.0.1:{served.port}/healthz", timeout=5)
        except httpx2.HTTPError:
            return


def probed(served: Served, path: str) -> int:
    return httpx2.get(f"http://127.0.0.1:{served.port}{path}", timeout=30).status_code


async def test_a_database_that_stops_and_comes_back_loses_nothing(
    start: Start, database: DatabaseAddress
) -> None:
    with Proxy(database.host, database.port) as proxy:
        served = start(proxy.port)
        await asyncio.to_thread(until_status, served, 200)
        opened = object_of(await called(served, "navigate", GOAL))
        change = {"navigation_id": opened["navigation_id"], "updates": {"budget": 900}}
        proxy.cut()
        shown = replace(database, port=proxy.port)
        for _ in range(2):
            told = refusal(await called(served, "step", change))
            assert told.startswith(f"The database at {shown} failed (connection ")
        assert "postgres" not in told.partition("(")[0]
        await asyncio.to_thread(until_status, served, 503)
        assert probed(served, "/healthz") == 200
        proxy.mend()
        await asyncio.to_thread(until_status, served, 200)
        step = object_of(await called(served, "step", change))
        assert step["turn_report"]["step_number"] == opened["turn_report"]["step_number"] + 1
    assert served.stop() == 0
    assert "Not ready: The database at" in served.log


async def test_a_database_that_answers_slowly_is_told_and_the_report_says_what_was_taken(
    shop: Path, tmp_path: Path, database: DatabaseAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    from navigator.storage import postgres as module

    monkeypatch.setattr(module, "ANSWERING_S", 1.0)
    with Proxy(database.host, database.port) as proxy:
        store = replace(database, port=proxy.port)
        settings = Settings(store=store, data_dir=tmp_path / "data", cache_dir=tmp_path / "cache")
        async with Client(build_server(settings, working_folder=shop)) as client:
            opened = object_of(await client.call_tool("navigate", GOAL))
            before = opened["turn_report"]["step_number"]
            change = {"navigation_id": opened["navigation_id"], "updates": {"budget": 900}}
            meant = {"navigation_id": opened["navigation_id"]}
            proxy.hold_up()
            assert "failed (no answer in time)" in refusal(await client.call_tool("step", change))
            proxy.go_on()
            known = object_of(await client.call_tool("get_turn_report", meant))["step_number"]
            assert known in (before, before + 1)
            step = object_of(await client.call_tool("step", change | {"updates": {"budget": 800}}))
            assert step["turn_report"]["step_number"] == known + 1


def until_status(served: Served, status: int) -> None:
    """Wait until a server says whether it is ready as expected; an answer holds for a second."""
    while probed(served, "/readyz") != status:
        pass


def test_whoever_watches_over_a_server_needs_no_token(shop: Path, tmp_path: Path) -> None:
    served = Served(
        shop, REPO_NAVIGATOR_DATA=str(tmp_path / "data"), REPO_NAVIGATOR_TOKENS=token_file(tmp_path)
    )
    try:
        assert probed(served, "/healthz") == 200
        until_status(served, 200)
    finally:
        served.stop()
