"""Resources and prompts: what a host offers a person without a tool call."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent, TextResourceContents

from tests.mcp_server.conftest import both_eras
from tests.support.results import FENCE, object_of

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple must never make its price negative"


async def read(client: Client, uri: str) -> str:
    (part,) = (await client.read_resource(uri)).contents
    assert isinstance(part, TextResourceContents)
    return part.text


async def read_fenced(client: Client, uri: str) -> Any:
    text = FENCE.fullmatch(await read(client, uri))
    assert text is not None
    return json.loads(text[2])


async def navigated(client: Client) -> str:
    return str(object_of(await client.call_tool("navigate", {"goal": GOAL}))["navigation_id"])


@both_eras
async def test_every_template_reads_what_a_navigation_made(client: Client) -> None:
    async with client:
        key = await navigated(client)
        assert "def discount" in await read(client, f"navigator://{key}/context")
        assert "verbosity:" in await read(client, f"navigator://{key}/plan")
        assert (await read_fenced(client, f"navigator://{key}/report"))["navigation_id"] == key
        decisions = await read_fenced(client, f"navigator://{key}/decisions")
        assert [decision["step_number"] for decision in decisions] == list(range(len(decisions)))
        assert "shop/prices.py" in await read(client, f"navigator://{key}/maps/0")


async def test_navigations_are_listed_with_their_goals(client: Client) -> None:
    async with client:
        assert json.loads(await read(client, "navigator://navigations")) == []
        key = await navigated(client)
        (listed,) = json.loads(await read(client, "navigator://navigations"))
        assert (listed["navigation_id"], listed["goal"], listed["status"]) == (key, GOAL, "finished")
        resources = {resource.uri: resource.title for resource in (await client.list_resources()).resources}
        assert resources[f"navigator://{key}/context"] == GOAL


@both_eras
async def test_a_person_finds_four_prompts_and_each_leads_to_a_tool(client: Client) -> None:
    async with client:
        await navigated(client)
        names = [prompt.name for prompt in (await client.list_prompts()).prompts]
        assert names == ["find_code", "continue_navigation", "explain_context", "review_cuts"]
        for name, arguments in (
            ("find_code", {"task": GOAL}),
            ("continue_navigation", {"feedback": "show the mails"}),
            ("explain_context", {}),
            ("review_cuts", {}),
        ):
            (message,) = (await client.get_prompt(name, arguments)).messages
            assert isinstance(message.content, TextContent)
            assert "all " in message.content.text


async def test_a_prompt_ignores_arguments_that_a_client_adds(client: Client) -> None:
    async with client:
        plain = await client.get_prompt("find_code", {"task": "fix it"})
        added = await client.get_prompt("find_code", {"task": "fix it", "repo_path": "", "sessionId": "s"})
        assert added.messages == plain.messages
