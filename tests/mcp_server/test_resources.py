"""Resources, prompts and completions: what a host offers a person without a tool call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from mcp_server.app import build_server
from mcp_server.settings import Settings

pytestmark = pytest.mark.anyio
GOAL = "The discount on an apple must never make its price negative"


async def read(client: Client, uri: str) -> str:
    (part,) = (await client.read_resource(uri)).contents
    assert isinstance(part, TextResourceContents)
    return part.text


async def navigated(client: Client) -> str:
    result = await client.call_tool("navigate", {"goal": GOAL})
    assert result.structured_content is not None, result.content
    return str(result.structured_content["navigation_id"])


async def test_every_template_reads_what_a_navigation_made(client: Client) -> None:
    async with client:
        key = await navigated(client)
        assert "def discount" in await read(client, f"navigator://{key}/context")
        assert "verbosity:" in await read(client, f"navigator://{key}/plan")
        assert json.loads(await read(client, f"navigator://{key}/report"))["navigation_id"] == key
        decisions = json.loads(await read(client, f"navigator://{key}/decisions"))
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


async def test_templates_are_listed(client: Client) -> None:
    async with client:
        templates = [
            template.uri_template for template in (await client.list_resource_templates()).resource_templates
        ]
    assert templates == [
        "navigator://{navigation_id}/context",
        "navigator://{navigation_id}/plan",
        "navigator://{navigation_id}/report",
        "navigator://{navigation_id}/decisions",
        "navigator://{navigation_id}/maps/{version}",
    ]


async def test_an_unknown_address_is_refused(client: Client) -> None:
    async with client:
        key = await navigated(client)
        with pytest.raises(MCPError):
            await client.read_resource(f"navigator://{key}/nothing")


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


async def test_ids_versions_and_folders_are_completed(client: Client, shop: Path) -> None:
    template = ResourceTemplateReference(uri="navigator://{navigation_id}/maps/{version}")
    async with client:
        key = await navigated(client)
        ids = await client.complete(template, {"name": "navigation_id", "value": "nav"})
        versions = await client.complete(
            template, {"name": "version", "value": ""}, context_arguments={"navigation_id": key}
        )
        folders = await client.complete(
            PromptReference(name="find_code"), {"name": "repo_path", "value": f"{shop}/sh"}
        )
    assert ids.completion.values == [key]
    assert "0" in versions.completion.values
    assert folders.completion.values == [f"{shop}/shop"]


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
async def test_a_subscriber_hears_of_new_navigations_and_of_each_step(settings: Settings, shop: Path) -> None:
    heard: list[str] = []

    async def hear(message: object) -> None:
        heard.append(type(getattr(message, "root", message)).__name__)

    server = build_server(settings, working_folder=shop)
    async with Client(server, mode="legacy", message_handler=hear) as client:
        capabilities = client.server_capabilities
        assert capabilities is not None
        assert capabilities.resources is not None
        assert capabilities.resources.subscribe
        assert capabilities.resources.list_changed
        key = await navigated(client)
        await client.subscribe_resource(f"navigator://{key}/report")
        await client.call_tool("step", {"feedback": "show the mails"})
    assert heard == ["ResourceListChangedNotification", "ResourceUpdatedNotification"]


@pytest.mark.filterwarnings("ignore:resources/subscribe is removed")
@pytest.mark.filterwarnings("ignore:resources/unsubscribe is removed")
@pytest.mark.parametrize(
    ("others", "is_heard"), [(("nav-{:024x}", 200), False), (("x" * 999 + "{}", 300), True)]
)
async def test_the_subscriptions_of_a_session_are_bounded(
    others: tuple[str, int], is_heard: bool, settings: Settings, shop: Path
) -> None:
    heard: list[str] = []

    async def hear(message: object) -> None:
        heard.append(type(getattr(message, "root", message)).__name__)

    server, (form, number) = build_server(settings, working_folder=shop), others
    async with Client(server, mode="legacy", message_handler=hear) as client:
        key = await navigated(client)
        for name in (key, *map(form.format, range(number))):
            await client.subscribe_resource(f"navigator://{name}/report")
        await client.call_tool("step", {"feedback": "show the mails"})
        await client.subscribe_resource(f"navigator://{key}/report")
        await client.unsubscribe_resource(f"navigator://{key}/report")
        await client.call_tool("step", {"feedback": "drop the mails"})
    assert heard.count("ResourceUpdatedNotification") == is_heard


async def test_a_listener_of_the_modern_era_hears_the_same(settings: Settings, shop: Path) -> None:
    server = build_server(settings, working_folder=shop)
    async with Client(server) as client, client.listen(resources_list_changed=True) as events:
        await navigated(client)
        async for event in events:
            assert "Resource" in type(event).__name__
            break
