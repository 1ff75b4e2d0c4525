"""Line numbers: over MCP, by a setting and on the command line; within the budget, and replayed."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.outline.rendering import path_in_header
from repo_map.text.tokens import count
from repo_navigator.main import main
from tests.support.maps import HEADER, numbers_of

GOAL = "The discount on an apple must never make its price negative"


def ran(capfd: pytest.CaptureFixture[str], *arguments: Any) -> str:
    capfd.readouterr()
    assert main([str(argument) for argument in arguments]) == 0
    return capfd.readouterr().out


def require_true_numbers(context: str, root: Path) -> int:
    """Hold every line of a context against the file; return how many lines tell their numbers."""
    told = 0
    for block in re.split(rf"^(?={HEADER} )", context, flags=re.MULTILINE)[1:]:
        path = path_in_header(block.partition("\n")[0])
        assert path is not None
        source = (root / path).read_text("utf-8").split("\n")
        block = block.partition("\n\n⋮")[0].rstrip()  # noqa: PLW2901
        rows = [(number, row) for number, row in numbers_of(block) if row and number]
        assert all(row == source[number - 1] for number, row in rows), path
        told += len(re.findall(r"^\d+│", block, re.MULTILINE))
    return told


@pytest.mark.anyio
async def test_a_host_gets_line_numbers_where_it_asks_for_them(settings: Settings, shop: Path) -> None:
    async with Client(build_server(settings, working_folder=shop)) as client:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            return result.structured_content or {}

        plain = await call("navigate", goal=GOAL, token_budget=1_200)
        assert require_true_numbers(plain["context"], shop) == 0
        numbered = await call("navigate", goal=GOAL, token_budget=1_200, line_numbers=True)
        assert require_true_numbers(numbered["context"], shop) > 0
        again = await call("get_context")
        assert again["context_string"].rstrip() == numbered["context"].rstrip()
        # What is new stands below its own numbers too, and nothing that is held is sent for their sake.
        stepped = await call("step", feedback="show send_reminder")
        assert require_true_numbers(stepped["context_delta"], shop) > 0
        assert "def discount" not in stepped["context_delta"]
        off = await call("step", updates={"line_numbers": None})
        assert "def discount" in off["context_delta"]
        assert require_true_numbers(off["context_delta"], shop) == 0


@pytest.mark.anyio
@pytest.mark.parametrize("asked", [None, False])
async def test_the_setting_holds_for_whoever_does_not_say_otherwise(
    settings: Settings, shop: Path, asked: bool | None
) -> None:
    app = build_server(settings.model_copy(update={"line_numbers": True}), working_folder=shop)
    async with Client(app) as client:
        result = await client.call_tool("navigate", {"goal": GOAL, "line_numbers": asked})
        context = (result.structured_content or {})["context"]
    assert bool(require_true_numbers(context, shop)) == (asked is None)


def test_a_budget_holds_with_line_numbers_and_a_plan_replays_them(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.yaml"
    arguments = ("--line-numbers", "--tokens", 400, "--save-plan", plan, "--json")
    made = json.loads(ran(capfd, "navigate", shop, GOAL, *arguments))
    assert made["tokens"] == count(made["context"]) <= 400
    require_true_numbers(made["context"], shop)
    assert ran(capfd, "replay", plan, shop).rstrip() == made["context"].rstrip()


def test_a_stored_navigation_is_shown_with_line_numbers(
    shop: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(ran(capfd, "navigate", shop, GOAL, "--json"))
    assert require_true_numbers(made["context"], shop) == 0
    shown = ran(capfd, "context", made["navigation_id"], "--line-numbers")
    assert require_true_numbers(shown, shop) > 0
    assert ran(capfd, "context") == shown
    file = tmp_path / "context.txt"
    other = json.loads(ran(capfd, "navigate", shop, GOAL, "--json"))
    ran(capfd, "context", other["navigation_id"], "--line-numbers", "-o", file)
    assert file.read_text("utf-8") == shown
