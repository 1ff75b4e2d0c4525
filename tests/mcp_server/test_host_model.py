"""The host's own model by sampling, in both eras: it decides, and a host without one is refused cleanly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    SamplingCapability,
    SamplingToolsCapability,
    TextContent,
    ToolUseContent,
)

from mcp_server.app import build_server
from mcp_server.settings import Settings

pytestmark = pytest.mark.anyio
CALL = {"goal": "the discount on an apple", "model": "host"}
RAISE_MAIL = {
    "reasoning": "Mails tell the price.",
    "updates": {"verbosity": [{"pattern": "shop/mail.py", "level": 4}]},
}
FINISH = {"summary": "shop/mail.py tells the price to the customer."}


class Model:
    """A host's model that raises the mails in its first answer and finishes in its second."""

    def __init__(self, *, tools: bool) -> None:
        self.asked: list[CreateMessageRequestParams] = []
        self.capability = SamplingCapability(tools=SamplingToolsCapability() if tools else None)

    async def __call__(
        self, _: Any, params: CreateMessageRequestParams
    ) -> CreateMessageResult | CreateMessageResultWithTools:
        self.asked.append(params)
        first = len(self.asked) == 1
        tool, arguments = ("update_flight_plan", RAISE_MAIL) if first else ("finalize_context", FINISH)
        if params.tools:
            use = ToolUseContent(name=tool, id="1", input=arguments)
            return CreateMessageResultWithTools(role="assistant", content=[use], model="theirs")
        said = f"Here it is: {json.dumps({'tool': tool, 'arguments': arguments})}"
        return CreateMessageResult(
            role="assistant", content=TextContent(type="text", text=said), model="theirs"
        )


@pytest.mark.parametrize("tools", [True, False])
async def test_the_hosts_model_decides_each_step(
    settings: Settings, shop: Path, era: str, tools: bool
) -> None:
    model = Model(tools=tools)
    server = build_server(settings, working_folder=shop)
    asking = Client(server, mode=era, sampling_callback=model, sampling_capabilities=model.capability)
    async with asking as client:
        result = await client.call_tool("navigate", CALL)
        assert result.structured_content is not None, result.content
        decisions = json.loads(
            (
                await client.read_resource(
                    f"navigator://{result.structured_content['navigation_id']}/decisions"
                )
            )
            .contents[0]
            .text  # type: ignore[union-attr]
        )
    assert "you paid" in result.structured_content["context"]
    assert result.structured_content["status"] == "finished"
    assert [decision["model"] for decision in decisions[1:]] == ["host", "host"]
    assert len(model.asked) == 2
    assert bool(model.asked[0].tools) is tools
    assert "the discount on an apple" in str(model.asked[0].messages)


async def test_a_step_asks_the_hosts_model_as_well(settings: Settings, shop: Path, era: str) -> None:
    model = Model(tools=True)
    server = build_server(settings, working_folder=shop)
    asking = Client(server, mode=era, sampling_callback=model, sampling_capabilities=model.capability)
    async with asking as client:
        await client.call_tool("navigate", {**CALL, "mode": "interactive"})
        result = await client.call_tool("step", {"feedback": "show me more about the cart"})
        assert result.structured_content is not None, result.content
        told = await client.call_tool("get_turn_report", {})
        assert told.structured_content is not None, told.content
    assert told.structured_content["model"] == "host"
    assert told.structured_content["account"]["calls"] == 2
    assert result.structured_content["status"] == "finished"


async def test_a_person_who_refuses_leaves_the_embedded_planner_in_charge(
    settings: Settings, shop: Path
) -> None:
    async def refuse(_: Any, __: CreateMessageRequestParams) -> CreateMessageResult:
        raise MCPError(-1, "User rejected sampling request")

    server = build_server(settings, working_folder=shop)
    async with Client(server, mode="legacy", sampling_callback=refuse) as client:
        result = await client.call_tool("navigate", CALL)
        assert result.structured_content is not None, result.content
    report = result.structured_content["turn_report"]
    assert report["model"] == "embedded"
    assert any("embedded" in note for note in report["notes"])
    assert "def discount" in result.structured_content["context"]


async def test_a_model_that_never_finishes_stays_within_the_rounds_of_a_call(
    settings: Settings, shop: Path
) -> None:
    asked = 0

    async def wander(_: Any, params: CreateMessageRequestParams) -> CreateMessageResultWithTools:
        nonlocal asked
        asked += 1
        level = 3 + asked % 2
        updates = {"verbosity": [{"pattern": "shop/mail.py", "level": level}]}
        use = ToolUseContent(
            name="update_flight_plan", id="1", input={"reasoning": "Again.", "updates": updates}
        )
        return CreateMessageResultWithTools(role="assistant", content=[use], model="theirs")

    server = build_server(settings, working_folder=shop)
    able = SamplingCapability(tools=SamplingToolsCapability())
    async with Client(server, sampling_callback=wander, sampling_capabilities=able) as client:
        result = await client.call_tool("navigate", CALL)
        assert result.structured_content is not None, result.content
    assert result.structured_content["status"] == "open"
    assert asked == 8
