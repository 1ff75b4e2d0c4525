"""What the tools promise beside the context: the plan on request, nulls, new terms, and true addresses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import TextResourceContents

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.messages import quoted
from repo_map.text.tokens import count
from tests.mcp_server.conftest import both_eras, plant
from tests.support.results import object_of, text_of

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple must never make its price negative"


async def plan_of(client: Client, message: str, budget: int) -> str:
    """Follow the hint of an answer to the flight plan, page by page, each within the budget."""
    assert "get_context with cursor `plan`" in message
    pages, cursor = [], "plan"
    while cursor:
        result = await client.call_tool("get_context", {"cursor": cursor})
        page = object_of(result)
        assert page["context_string"] == ""
        assert max(count(text_of(result)), count(json.dumps(page))) <= budget
        assert page["flight_plan_yaml"].rstrip() in text_of(result)
        pages.append(page["flight_plan_yaml"])
        cursor = page.get("next_cursor", "")
        assert not cursor or cursor in text_of(result)
    return "".join(pages)


@pytest.mark.parametrize("budget", [400, 8_000])
async def test_a_host_that_has_only_tools_reads_the_whole_flight_plan(
    budget: int, settings: Settings, large: Path, era: str
) -> None:
    async with Client(build_server(settings, working_folder=large), mode=era) as client:
        result = await client.call_tool("navigate", {"goal": GOAL, "token_budget": budget})
        key = object_of(result)["navigation_id"]
        plan = await plan_of(client, object_of(result)["turn_report"]["next"], budget)
        (part,) = (await client.read_resource(f"navigator://{key}/plan")).contents
        assert isinstance(part, TextResourceContents)
        assert quoted(plan.rstrip("\n"), before_lines="# ") == part.text
        # A text is too dear for that; the tool's schema says it of every answer.
        (tool,) = [each for each in (await client.list_tools()).tools if each.name == "get_context"]
        assert "or `plan`" in tool.input_schema["properties"]["cursor"]["description"]
        step = await client.call_tool("step", {"updates": {"budget": 300}})
        assert await plan_of(client, object_of(step)["turn_report"]["next"], budget) != plan


async def test_reading_the_plan_leaves_what_the_host_holds_of_the_context(client: Client) -> None:
    async with client:
        await client.call_tool("navigate", {"goal": GOAL})
        await client.call_tool("get_context", {"cursor": "plan"})
        step = object_of(await client.call_tool("step", {"feedback": "drop shop/mail.py"}))
        assert "def send_receipt" not in step["context_delta"]
        assert "def discount" not in step["context_delta"], "the host has it"


@both_eras
async def test_a_null_for_an_optional_argument_leaves_it_out(
    settings: Settings, shop: Path, era: str
) -> None:
    async with Client(build_server(settings, working_folder=shop), mode=era) as client:
        for tool in (await client.list_tools()).tools:
            required = tool.input_schema.get("required", [])
            nulls = {name: None for name in tool.input_schema["properties"] if name not in required}
            assert nulls
            arguments = nulls | ({"goal": GOAL} if tool.name == "navigate" else {})
            assert not (await client.call_tool(tool.name, arguments)).is_error, tool.name


async def test_every_address_in_an_answer_can_be_read(settings: Settings, tmp_path: Path, era: str) -> None:
    noted = {f"shop/{name}.py": f"def apple_{name}():\n    return 1\n" for name in "abcdef"}
    plan = {"verbosity": [{"pattern": f"none{number}.py", "level": 3} for number in range(9)]}
    folder = plant(tmp_path / "noted", noted)
    async with Client(build_server(settings, working_folder=folder), mode=era) as client:
        message = [
            await client.call_tool("navigate", {"goal": GOAL, "flight_plan": plan, "token_budget": 420})
        ]
        message += [await client.call_tool(tool, {}) for tool in ("get_turn_report", "get_context", "step")]
        texts = [text_of(each) for each in message] + [json.dumps(object_of(each)) for each in message]
        addresses = {address for text in texts for address in re.findall(r"navigator://[\w…/{}-]+", text)}
        assert addresses, "too many notes for the answer lead to the report"
        for address in addresses:
            assert (await client.read_resource(address)).contents
