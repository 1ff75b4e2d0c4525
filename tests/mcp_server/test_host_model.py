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
from tests.mcp_server.conftest import both_eras
from tests.support.results import object_of

pytestmark = pytest.mark.anyio
CALL = {"goal": "the discount on an apple", "model": "host"}
LOOK = {"pattern": "you paid"}
FINISH = {
    "summary": "shop/mail.py tells the price to the customer.",
    "select": [{"target": "shop/mail.py", "reason": "tells the price"}],
}


class Model:
    """A host's model that searches in its first answer and finishes in its second."""

    def __init__(self, *, tools: bool) -> None:
        self.asked: list[CreateMessageRequestParams] = []
        self.capability = SamplingCapability(tools=SamplingToolsCapability() if tools else None)

    async def __call__(
        self, _: Any, params: CreateMessageRequestParams
    ) -> CreateMessageResult | CreateMessageResultWithTools:
        self.asked.append(params)
        first = len(self.asked) == 1
        tool, arguments = ("search", LOOK) if first else ("finalize_context", FINISH)
        if params.tools:
            use = ToolUseContent(name=tool, id="1", input=arguments)
            return CreateMessageResultWithTools(role="assistant", content=[use], model="theirs")
        said = f"Here it is: {json.dumps({'tool': tool, 'arguments': arguments})}"
        return CreateMessageResult(
            role="assistant", content=TextContent(type="text", text=said), model="theirs"
        )


@both_eras
@pytest.mark.parametrize("tools", [True, False])
async def test_the_hosts_model_explores_and_decides(
    settings: Settings, shop: Path, era: str, tools: bool
) -> None:
    model = Model(tools=tools)
    server = build_server(settings, working_folder=shop)
    asking = Client(server, mode=era, sampling_callback=model, sampling_capabilities=model.capability)
    async with asking as client:
        found = object_of(await client.call_tool("navigate", CALL))
        report = object_of(await client.call_tool("get_turn_report", {}))
    assert "you paid" in found["context"]
    assert found["status"] == "finished"
    assert (report["model"], report["step_number"]) == ("host", 1)
    assert len(model.asked) == 2
    assert bool(model.asked[0].tools) is tools
    assert "the discount on an apple" in str(model.asked[0].messages)
    assert "shop/mail.py:" in str(model.asked[1].messages)


@both_eras
async def test_a_step_asks_the_hosts_model_as_well(settings: Settings, shop: Path, era: str) -> None:
    model = Model(tools=True)
    server = build_server(settings, working_folder=shop)
    asking = Client(server, mode=era, sampling_callback=model, sampling_capabilities=model.capability)
    async with asking as client:
        await client.call_tool("navigate", {**CALL, "mode": "interactive"})
        stepped = object_of(await client.call_tool("step", {"feedback": "Think about the cart too."}))
        report = object_of(await client.call_tool("get_turn_report", {}))
    assert report["model"] == "host"
    assert report["usage"]["calls"] == 3
    assert stepped["status"] == "finished"


async def test_a_person_who_refuses_leaves_the_embedded_planner_in_charge(
    settings: Settings, shop: Path
) -> None:
    async def refuse(_: Any, __: CreateMessageRequestParams) -> CreateMessageResult:
        raise MCPError(-1, "User rejected sampling request")

    server = build_server(settings, working_folder=shop)
    async with Client(server, mode="legacy", sampling_callback=refuse) as client:
        found = object_of(await client.call_tool("navigate", CALL))
    report = found["turn_report"]
    assert report["model"] == "embedded"
    assert any("embedded" in note for note in report["notes"])
    assert "def discount" in found["context"]


async def test_a_model_that_never_finishes_stays_within_the_rounds_of_a_call(
    settings: Settings, shop: Path
) -> None:
    asked = 0

    async def wander(_: Any, params: CreateMessageRequestParams) -> CreateMessageResultWithTools:
        nonlocal asked
        asked += 1
        use = ToolUseContent(name="search", id="1", input=LOOK)
        return CreateMessageResultWithTools(role="assistant", content=[use], model="theirs")

    server = build_server(settings, working_folder=shop)
    able = SamplingCapability(tools=SamplingToolsCapability())
    async with Client(server, sampling_callback=wander, sampling_capabilities=able) as client:
        found = object_of(await client.call_tool("navigate", CALL))
    assert found["status"] == "finished"
    assert found["turn_report"]["model"] == "embedded"
    assert asked == 9
