"""A wish changes what it names; what was shown stays while there is room, the best of it else."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.outline.rendering import path_in_header
from repo_map.text.tokens import count
from tests.support.trees import git

pytestmark = pytest.mark.anyio
ORDERDESK = Path(__file__).parents[1] / "fixtures/repositories/orderdesk"
GOAL = "A voucher of more than the order's worth makes the invoice total negative"
WISHES = (
    "show Stock.reserve",
    "percent; test_half_a_cent_is_rounded_up",
    "Line.net, Invoice.tax",
    "show orderdesk/shipping/parcels.py",
)
Lines = set[tuple[str, str]]


@pytest.fixture
def orderdesk(tmp_path: Path) -> Path:
    folder = tmp_path / "orderdesk"
    shutil.copytree(ORDERDESK, folder, ignore=shutil.ignore_patterns("__pycache__"))
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Add the order desk")
    return folder


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    return result.structured_content or {}


async def shown(client: Client) -> Lines:
    """Return the lines of the whole context, each with its file."""
    lines, path = set(), ""
    whole = await call(client, "get_context")
    assert "next_cursor" not in whole
    for line in whole["context_string"].split("\n"):
        if found := path_in_header(line):
            path = found
        elif line.strip() and not line.startswith("⋮"):
            lines.add((path, line))
    return lines


async def test_with_room_nothing_leaves_that_nobody_named(settings: Settings, orderdesk: Path) -> None:
    async with Client(build_server(settings, working_folder=orderdesk)) as client:
        await call(client, "navigate", goal=GOAL, token_budget=6_000)
        before = await shown(client)
        for words in WISHES:
            stepped = await call(client, "step", feedback=words)
            now = await shown(client)
            assert before <= now, words
            assert "removed" not in stepped
            assert stepped["status"] == "finished"
            before = now
        await call(client, "step", feedback="drop the tests")
        now = await shown(client)
        assert {path for path, _ in before - now} == {"tests/test_money.py"}
        assert now <= before


async def test_without_room_the_least_valuable_gives_way_and_one_line_says_so(
    settings: Settings, orderdesk: Path
) -> None:
    async with Client(build_server(settings, working_folder=orderdesk)) as client:
        await call(client, "navigate", goal=GOAL, token_budget=900)
        wanted = "orderdesk/catalog/stock.py"
        stepped = await call(client, "step", feedback=f"show {wanted}")
        assert stepped["turn_report"]["answer"].count(" tokens available for code, no longer shown: `") == 1
        now = await shown(client)
        source = (orderdesk / wanted).read_text("utf-8").splitlines()
        assert {(wanted, line) for line in source if line.strip()} <= now
        # The best of the goal is there still.
        assert any("def total(self)" in line for _, line in now)
        whole = await call(client, "get_context")
        assert count(whole["context_string"]) <= 900
        await call(client, "step", feedback="undo")
        assert await shown(client) >= {("orderdesk/billing/invoices.py", "    def total(self) -> int:")}


async def test_of_a_file_larger_than_the_room_the_best_is_shown_beside_what_was_there(
    settings: Settings, orderdesk: Path
) -> None:
    functions = (
        f"def rounding_{number}(cents):\n    return round(cents / {number + 1})\n" for number in range(400)
    )
    (orderdesk / "orderdesk/rounding.py").write_text("\n\n".join(functions), "utf-8")
    async with Client(build_server(settings, working_folder=orderdesk)) as client:
        await call(client, "navigate", goal=GOAL, token_budget=2_000)
        before = await shown(client)
        stepped = await call(client, "step", feedback="show orderdesk/rounding.py")
        assert stepped["turn_report"]["answer"]
        now = await shown(client)
        assert ("orderdesk/billing/invoices.py", "    def total(self) -> int:") in before & now
        whole = [line for path, line in now if path == "orderdesk/rounding.py" and line.startswith("def ")]
        assert len(whole) > 10


LONG = "orderdesk/rounding.py"


def long_function(root: Path) -> None:
    """Write a file with a function of some 2,000 tokens and a short one that the goal speaks of."""
    lines = [f"    cents = cents + {number} * cents // {number + 3}" for number in range(150)]
    lines[90] = "    if fee := surcharge_of(cents):\n        cents = cents + fee"
    text = ["def rounded(cents):", *lines, "    return cents", "", "", "def voucher_total(order):"]
    text += ["    worth = order.worth", "    return max(0, worth)", ""]
    (root / LONG).write_text("\n".join(text), "utf-8")
    git(root, "add", ".")
    git(root, "commit", "-q", "--amend", "-m", "Add the order desk")


async def test_what_is_asked_for_last_is_what_is_shown_however_little_the_goal_speaks_of_it(
    settings: Settings, orderdesk: Path
) -> None:
    long_function(orderdesk)
    goal = "A voucher_total of more than the order's worth is negative, with a surcharge as well"
    async with Client(build_server(settings, working_folder=orderdesk)) as client:
        await call(client, "navigate", goal=goal, token_budget=700)
        assert (LONG, "def voucher_total(order):") in await shown(client)
        answer = (await call(client, "step", feedback=f"show {LONG}:rounded"))["turn_report"]["answer"]
        assert "`rounded (orderdesk/rounding.py)` takes more than" in answer
        now = await shown(client)
        assert {(LONG, "def rounded(cents):"), (LONG, "    if fee := surcharge_of(cents):")} <= now
        assert len([line for path, line in now if path == LONG and line.startswith("    cents = ")]) > 10


async def test_a_drop_adds_nothing_where_all_that_is_shown_was_asked_for(
    settings: Settings, orderdesk: Path
) -> None:
    async with Client(build_server(settings, working_folder=orderdesk)) as client:
        await call(client, "navigate", goal=GOAL)
        # All that the first answer shows is now the user's own, and most of the default budget is free.
        files = sorted({path for path, _ in await shown(client)})
        await call(client, "step", show=files)
        before = await shown(client)
        stepped = await call(client, "step", drop=["tests"])
        after = await shown(client)
        assert after == {(path, line) for path, line in before if not path.startswith("tests/")}
        assert not stepped.get("context_delta")
        await call(client, "step", feedback="undo")
        assert await shown(client) == before
        await call(client, "step", drop=["tests"], action="finish")
        assert await shown(client) == after
