"""Tools and a prompt that need answers from the host first: the modern era's calls of several rounds."""

from __future__ import annotations

import json
from typing import Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)

_Ctx = Context[Any, Any]
_NAME: Final = "What is your name?"


def offer_rounds(server: MCPServer[Any]) -> None:
    """Register the tools and the prompt."""
    for tool in (
        test_input_required_result_elicitation,
        test_input_required_result_sampling,
        test_input_required_result_list_roots,
        test_input_required_result_request_state,
        test_input_required_result_multiple_inputs,
        test_input_required_result_multi_round,
        test_input_required_result_tampered_state,
        test_input_required_result_capabilities,
        test_missing_capability,
    ):
        server.add_tool(tool)
    server.add_prompt(Prompt.from_function(test_input_required_result_prompt))


async def test_input_required_result_elicitation(ctx: _Ctx) -> str | InputRequiredResult:
    """Ask the person for a name."""
    name = _elicited(ctx, "user_name", "name")
    return f"Hello, {name}!" if name else InputRequiredResult(input_requests={"user_name": _form(_NAME)})


async def test_input_required_result_sampling(ctx: _Ctx) -> str | InputRequiredResult:
    """Ask the host's model."""
    said = (ctx.input_responses or {}).get("capital_question")
    if isinstance(said, CreateMessageResult) and isinstance(said.content, TextContent):
        return f"Model said: {said.content.text}"
    return InputRequiredResult(input_requests={"capital_question": _sample("What is the capital of France?")})


async def test_input_required_result_list_roots(ctx: _Ctx) -> str | InputRequiredResult:
    """Ask for the host's open folders."""
    roots = (ctx.input_responses or {}).get("client_roots")
    if isinstance(roots, ListRootsResult):
        return f"The host has {len(roots.roots)} folders open."
    return InputRequiredResult(input_requests={"client_roots": ListRootsRequest()})


async def test_input_required_result_request_state(ctx: _Ctx) -> str | InputRequiredResult:
    """Confirm, and get the state back."""
    if ctx.request_state == "a-state" and "confirm" in (ctx.input_responses or {}):
        return "state-ok: confirmed"
    return InputRequiredResult(input_requests={"confirm": _confirmation()}, request_state="a-state")


async def test_input_required_result_multiple_inputs(ctx: _Ctx) -> str | InputRequiredResult:
    """Ask for three things at once."""
    asked: dict[str, InputRequest] = {
        "user_name": _form(_NAME),
        "greeting": _sample("Generate a greeting"),
        "client_roots": ListRootsRequest(),
    }
    if asked.keys() <= (ctx.input_responses or {}).keys():
        return "All three are answered."
    return InputRequiredResult(input_requests=asked, request_state="three")


async def test_input_required_result_multi_round(ctx: _Ctx) -> str | InputRequiredResult:
    """Ask twice, one after the other."""
    state = json.loads(ctx.request_state or "{}")
    if colour := _elicited(ctx, "step2", "color"):
        return f"{state['name']} likes {colour}."
    if name := _elicited(ctx, "step1", "name"):
        following = {"step2": _form("Step 2: What is your favorite color?", "color")}
        return InputRequiredResult(
            input_requests=following, request_state=json.dumps({"round": 2, "name": name})
        )
    first = {"step1": _form("Step 1: What is your name?")}
    return InputRequiredResult(input_requests=first, request_state=json.dumps({"round": 1}))


async def test_input_required_result_tampered_state(ctx: _Ctx) -> str | InputRequiredResult:
    """Hand out a state; one that comes back changed is refused before it gets here."""
    if ctx.request_state is not None:
        return f"state-ok: {ctx.request_state}"
    return InputRequiredResult(input_requests={"confirm": _confirmation()}, request_state="round-1")


async def test_input_required_result_capabilities(ctx: _Ctx) -> InputRequiredResult:
    """Ask only what the host can answer."""
    able = ctx.client_capabilities
    asked: dict[str, InputRequest] = {}
    if able is None or able.sampling is not None:
        asked["sample"] = _sample("Say hello")
    if able is None or able.elicitation is not None:
        asked["ask"] = _form(_NAME)
    return InputRequiredResult(input_requests=asked, request_state="by-capability")


async def test_missing_capability(ctx: _Ctx) -> str:
    """Refuse a host that can't sample, by the protocol's own error."""
    able = ctx.client_capabilities
    if able is None or able.sampling is None:
        raise MCPError(
            MISSING_REQUIRED_CLIENT_CAPABILITY,
            "This tool needs a host that samples.",
            {"requiredCapabilities": {"sampling": {}}},
        )
    return "The host samples."


async def test_input_required_result_prompt(ctx: _Ctx) -> list[UserMessage] | InputRequiredResult:
    """Ask the person before the prompt is written."""
    if message := _elicited(ctx, "user_context", "context"):
        return [UserMessage(f"Use the following context: {message}")]
    asked = {"user_context": _form("What context should the prompt use?", "context")}
    return InputRequiredResult(input_requests=asked)


def _elicited(ctx: _Ctx, question: str, field: str) -> str:
    answer = (ctx.input_responses or {}).get(question)
    if not isinstance(answer, ElicitResult) or not answer.content:
        return ""
    return str(answer.content.get(field) or "")


def _form(message: str, field: str = "name", kind: str = "string") -> ElicitRequest:
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _confirmation() -> ElicitRequest:
    return _form("Please confirm", "ok", "boolean")


def _sample(question: str) -> CreateMessageRequest:
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=question))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[asked], max_tokens=100))
