"""What the conformance suite calls by name: tools, prompts and resources, beside those of the product."""

from __future__ import annotations

import base64
import json
from typing import Annotated, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Prompt, UserMessage
from mcp.shared.exceptions import MCPError
from mcp_types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    EmbeddedResource,
    ImageContent,
    InputRequest,
    InputRequiredResult,
    ListRootsRequest,
    ListRootsResult,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

_Ctx = Context[Any, Any]
_NAME: Final = "What is your name?"
PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""
SILENCE: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
"""A WAV file without a sound."""
CHOICES: Final = ["active", "inactive", "pending"]


def offer_fixtures(server: MCPServer[Any]) -> None:
    """Register every function of this module whose name begins as the suite's do."""
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(template_data)
    server.resource("test://watched-resource", mime_type="text/plain")(watched_resource)
    for name, function in globals().items():
        if name.startswith("test_") and "prompt" in name:
            server.add_prompt(Prompt.from_function(function))
        elif name.startswith("test_"):
            server.add_tool(function)


def test_simple_text() -> str:
    """Answer with a text."""
    return "This is a simple text response for testing."


def test_image_content() -> list[ImageContent]:
    """Answer with an image."""
    return [ImageContent(type="image", data=PIXEL, mime_type="image/png")]


def test_audio_content() -> list[AudioContent]:
    """Answer with a sound."""
    return [AudioContent(type="audio", data=SILENCE, mime_type="audio/wav")]


def test_embedded_resource() -> list[EmbeddedResource]:
    """Answer with a resource."""
    return [_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]


def test_multiple_content_types() -> list[ContentBlock]:
    """Answer with a text, an image and a resource."""
    return [
        TextContent(type="text", text="Multiple content types test:"),
        ImageContent(type="image", data=PIXEL, mime_type="image/png"),
        _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ]


async def test_tool_with_logging(ctx: _Ctx) -> str:
    """Log at the start, in the middle and at the end."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
    return "Logged three times."


async def test_tool_with_progress(ctx: _Ctx) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
    return "Reported three times."


def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_sampling(prompt: str, ctx: _Ctx) -> str:
    """Ask the host's model."""
    asked = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
    said = await ctx.session.create_message([asked], max_tokens=100, related_request_id=ctx.request_id)
    assert isinstance(said.content, TextContent)
    return f"LLM response: {said.content.text}"


class Reply(BaseModel):
    """What a person answers."""

    response: str = Field(description="User's response")


class Defaults(BaseModel):
    """A form whose fields have defaults, one of each primitive type."""

    name: str = Field(default="John Doe", description="User name")
    age: int = Field(default=30, description="User age")
    score: float = Field(default=95.5, description="User score")
    status: str = Field(default="active", description="User status", json_schema_extra={"enum": [*CHOICES]})
    verified: bool = Field(default=True, description="Verification status")


def _titled(**titles: str) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles.items()]


class Enums(BaseModel):
    """A form with every way to write a choice."""

    untitledSingle: str = Field(json_schema_extra={"enum": ["option1", "option2", "option3"]})  # noqa: N815
    titledSingle: str = Field(  # noqa: N815
        json_schema_extra={
            "oneOf": _titled(value1="First Option", value2="Second Option", value3="Third Option")
        }
    )
    legacyEnum: str = Field(  # noqa: N815
        json_schema_extra={
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        }
    )
    untitledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={"items": {"type": "string", "enum": ["option1", "option2", "option3"]}}
    )
    titledMulti: list[str] = Field(  # noqa: N815
        json_schema_extra={
            "items": {"anyOf": _titled(value1="First Choice", value2="Second Choice", value3="Third Choice")}
        }
    )


async def test_elicitation(message: str, ctx: _Ctx) -> str:
    """Ask the person."""
    return await _asked(ctx, message, Reply)


async def test_elicitation_sep1034_defaults(ctx: _Ctx) -> str:
    """Ask the person with a form that has defaults."""
    return await _asked(ctx, "Please review and update the form fields with defaults", Defaults)


async def test_elicitation_sep1330_enums(ctx: _Ctx) -> str:
    """Ask the person with a form of choices."""
    return await _asked(ctx, "Please select options from the enum fields", Enums)


def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",  # noqa: PT028 - no test, the suite names it
) -> str:
    """Take an argument that the header ``Mcp-Param-Region`` mirrors."""
    return f"region={region}"


async def _asked(ctx: _Ctx, message: str, form: type[BaseModel]) -> str:
    answer = await ctx.elicit(message, form)
    content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
    return f"User response: action={answer.action}, content={content}"


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=resource)


# Calls of several rounds, which need answers from the host first.


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


# Resources and prompts.


def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


def static_binary() -> bytes:
    """An image."""
    return base64.b64decode(PIXEL)


def template_data(id: str) -> str:  # noqa: A002 - the suite's name
    """A text by id."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def watched_resource() -> str:
    """A text that can be subscribed to."""
    return "Watched resource content"


def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """A prompt with arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803
    """A prompt that carries a resource."""
    return [
        UserMessage(_embedded(resourceUri, "text/plain", "Embedded resource content for testing.")),
        UserMessage("Please process the embedded resource above."),
    ]


def test_prompt_with_image() -> list[UserMessage]:
    """A prompt that carries an image."""
    return [
        UserMessage(ImageContent(type="image", data=PIXEL, mime_type="image/png")),
        UserMessage("Please analyze the image above."),
    ]
