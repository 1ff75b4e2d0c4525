"""What a principal may use: counted once in the store that servers share, and told in a sentence."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from mcp_server.app import build_server
from mcp_server.settings import PrincipalLimits, Settings
from navigator.stores.opening import open_stores
from navigator.stores.usage import Today, Usage, UsageEntry
from navigator.stores.usage_store import UsageStore
from tests.support.providers.minds import call
from tests.support.providers.openai import OpenAiServer
from tests.support.team_stores import STORES, kept_in_stores, run_sql

pytestmark = pytest.mark.anyio
GOAL = {"goal": "the discount on an apple"}
TURN = {**GOAL, "mode": "interactive"}


@pytest.fixture(params=STORES)
def kept_in(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with kept_in_stores(request.param, request) as fields:
        yield fields


def limited(settings: Settings, **limits: Any) -> Settings:
    return replace(settings, principal_limits=PrincipalLimits(**limits))


async def called(settings: Settings, shop: Path, tool: str, **arguments: Any) -> CallToolResult:
    """Call a server of its own: what it knows of a principal, it has read in the store."""
    async with Client(build_server(settings, working_folder=shop)) as client:
        return await client.call_tool(tool, arguments)


def refusal(result: CallToolResult) -> str:
    assert result.is_error, result.content
    (block,) = result.content
    assert isinstance(block, TextContent)
    assert "\n" not in block.text
    return block.text


def answer(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


async def used(settings: Settings, principal: str = "local") -> Today:
    async with counted_in(settings) as usage:
        return await usage.today(principal)


@asynccontextmanager
async def counted_in(settings: Settings) -> AsyncIterator[UsageStore]:
    stores = open_stores(settings.data_dir, settings.store, settings.bucket)
    try:
        yield stores.usage
    finally:
        await stores.usage.close()
        await stores.sessions.close()


async def let_a_day_pass(settings: Settings) -> None:
    """Make all that was used yesterday's."""
    if settings.store is not None:
        await run_sql(settings.store, "UPDATE usage SET at = at - interval '1 day'")
        return
    assert settings.data_dir is not None
    with closing(sqlite3.connect(settings.data_dir / "usage.db")) as db:
        db.execute("UPDATE usage SET at = at - 86400")
        db.commit()


async def test_whoever_has_as_many_open_navigations_as_it_may_is_told_which_to_end(
    settings: Settings, shop: Path
) -> None:
    settings = limited(settings, open_navigations=2)
    keys = [answer(await called(settings, shop, "navigate", **TURN))["navigation_id"] for _ in range(2)]
    told = refusal(await called(settings, shop, "navigate", **TURN))
    assert told.startswith("You have 2 open navigations, and the limit is 2; call step with action")
    assert all(key in told for key in keys)
    answer(await called(settings, shop, "step", navigation_id=keys[0], action="finish"))
    answer(await called(settings, shop, "navigate", **GOAL))
    answer(await called(settings, shop, "navigate", **GOAL))


async def test_whoever_was_sent_the_tokens_of_a_day_is_told_when_the_next_begins(
    settings: Settings, shop: Path
) -> None:
    settings = limited(settings, tokens_a_day=150)
    found = answer(await called(settings, shop, "navigate", **GOAL))
    sent = (await used(settings)).usage.tokens
    assert sent > 150
    for tool, arguments in (("navigate", GOAL), ("get_context", {}), ("step", {"feedback": "more"})):
        told = refusal(await called(settings, shop, tool, **arguments))
        assert re.fullmatch(
            rf"You received {sent:,} tokens today, and the daily limit is 150; the count restarts at "
            r"00:00 UTC, in \d+ h \d+ min\.",
            told,
        )
        # What is told of the limit is sent, too.
        sent = (await used(settings)).usage.tokens
    async with Client(build_server(settings, working_folder=shop)) as client:
        with pytest.raises(MCPError, match="You received"):
            await client.read_resource(f"navigator://{found['navigation_id']}/context")
    assert (await used(settings, "bob")).usage == Usage()
    await let_a_day_pass(settings)
    assert (await used(settings)).usage == Usage()
    answer(await called(settings, shop, "navigate", **GOAL))


async def test_whoever_waited_for_indexes_as_long_as_it_may_goes_on_with_what_it_has(
    settings: Settings, shop: Path
) -> None:
    settings = limited(settings, index_seconds_a_day=0.001)
    key = answer(await called(settings, shop, "navigate", **TURN))["navigation_id"]
    assert (await used(settings)).usage.index_seconds > 0.001
    assert refusal(await called(settings, shop, "navigate", **GOAL)).startswith("Indexing took ")
    answer(await called(settings, shop, "step", navigation_id=key))
    await let_a_day_pass(settings)
    answer(await called(settings, shop, "navigate", **GOAL))


@pytest.fixture
def priced(settings: Settings, tmp_path: Path) -> Iterator[Settings]:
    """Settings of a model that asks one dollar for each thousand tokens."""
    prices = tmp_path / "prices.yaml"
    prices.write_text('as_of: "2026-11-01"\nmodels:\n  openai/scripted: {input: 1000, output: 1000}\n')

    def mind(_: dict[str, Any], __: int) -> Any:
        return call("finalize_context", {"summary": "The discount is in shop/prices.py."})

    with OpenAiServer(mind) as server:
        yield replace(settings, prices=prices, model_urls={"openai": server.base_url}, max_cost_usd=1_000.0)


async def test_whoever_spent_the_money_of_a_day_goes_on_with_what_costs_nothing(
    priced: Settings, shop: Path
) -> None:
    settings = limited(priced, cost_usd_a_day=1.0)
    paid = {**TURN, "model": "openai/scripted", "max_cost_usd": 50}
    first = answer(await called(limited(priced, cost_usd_a_day=100.0), shop, "navigate", **paid))
    cost = Decimal(str(first["turn_report"]["total_cost"]))
    assert cost > 1
    assert round((await used(settings)).usage.cost, 6) == round(cost, 6)
    told = refusal(await called(settings, shop, "navigate", **paid))
    assert told.startswith(f"You spent ${cost:,.2f} today, and the daily limit is $1.00; use model")
    key = first["navigation_id"]
    refusal(await called(settings, shop, "step", navigation_id=key, feedback="also show the mail"))
    free = {"navigation_id": key, "feedback": "show the mail", "updates": {"model": "embedded"}}
    answer(await called(settings, shop, "step", **free))
    answer(await called(settings, shop, "navigate", **GOAL))
    # What is left of the day bounds what a navigation may spend.
    left = limited(priced, cost_usd_a_day=float(cost) + 0.25)
    bounded = answer(await called(left, shop, "navigate", **paid))
    assert bounded["turn_report"]["budget_remaining"] <= 0.25
    assert bounded["turn_report"]["total_cost"] <= 0.25


async def test_without_limits_nothing_is_counted(settings: Settings, shop: Path) -> None:
    answer(await called(settings, shop, "navigate", **GOAL))
    assert (await used(settings)).usage == Usage()


async def test_an_entry_that_is_added_again_counts_once(settings: Settings) -> None:
    entry = UsageEntry.new("alice", Usage(7, Decimal("0.000000123"), 1.5))
    async with counted_in(settings) as usage, counted_in(settings) as another:
        for _ in range(2):
            await usage.add(entry)
            await another.add(entry)
        await another.add(UsageEntry.new("alice", Usage(tokens=1)))
        today = await usage.today("alice")
    assert today.usage == Usage(8, Decimal("0.000000123"), 1.5)
    assert 0 < today.seconds_left <= 86_400
