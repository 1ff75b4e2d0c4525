"""Tools that the conformance suite calls by name: every kind of content, logging, progress and errors."""

from __future__ import annotations

from typing import Annotated, Any, Final

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import BaseModel, Field

PIXEL: Final = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""
SILENCE: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
"""A WAV file without a sound."""
CHOICES: Final = ["active", "inactive", "pending"]


def offer_tools(server: MCPServer[Any]) -> None:
    """Register the tools."""
    for tool in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_tool_with_logging,
        test_tool_with_progress,
        test_error_handling,
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_x_mcp_header,
    ):
        server.add_tool(tool)


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


async def test_tool_with_logging(ctx: Context[Any, Any]) -> str:
    """Log at the start, in the middle and at the end."""
    for message in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(message)
    return "Logged three times."


async def test_tool_with_progress(ctx: Context[Any, Any]) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        await ctx.report_progress(done, 100, f"Completed step {done} of 100")
    return "Reported three times."


def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


async def test_sampling(prompt: str, ctx: Context[Any, Any]) -> str:
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


async def test_elicitation(message: str, ctx: Context[Any, Any]) -> str:
    """Ask the person."""
    return await _asked(ctx, message, Reply)


async def test_elicitation_sep1034_defaults(ctx: Context[Any, Any]) -> str:
    """Ask the person with a form that has defaults."""
    return await _asked(ctx, "Please review and update the form fields with defaults", Defaults)


async def test_elicitation_sep1330_enums(ctx: Context[Any, Any]) -> str:
    """Ask the person with a form of choices."""
    return await _asked(ctx, "Please select options from the enum fields", Enums)


def test_x_mcp_header(
    region: Annotated[str, Field(json_schema_extra={"x-mcp-header": "Region"})] = "none",  # noqa: PT028 - no test, the suite names it
) -> str:
    """Take an argument that the header ``Mcp-Param-Region`` mirrors."""
    return f"region={region}"


async def _asked(ctx: Context[Any, Any], message: str, form: type[BaseModel]) -> str:
    answer = await ctx.elicit(message, form)
    content = answer.data.model_dump_json() if answer.action == "accept" else "{}"
    return f"User response: action={answer.action}, content={content}"


def _embedded(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    resource = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=resource)
