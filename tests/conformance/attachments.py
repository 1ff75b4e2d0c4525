"""Resources and prompts that the conformance suite reads by name."""

from __future__ import annotations

import base64
import json
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from mcp_types import EmbeddedResource, ImageContent, TextResourceContents

from tests.conformance.tools import PIXEL


def offer_attachments(server: MCPServer[Any]) -> None:
    """Register the resources and the prompts."""
    server.resource("test://static-text", mime_type="text/plain")(static_text)
    server.resource("test://static-binary", mime_type="image/png")(static_binary)
    server.resource("test://template/{id}/data", mime_type="application/json")(template_data)
    server.resource("test://watched-resource", mime_type="text/plain")(watched_resource)
    for prompt in (
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
    ):
        server.prompt()(prompt)


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
    text = TextResourceContents(
        uri=resourceUri, mime_type="text/plain", text="Embedded resource content for testing."
    )
    return [
        UserMessage(EmbeddedResource(type="resource", resource=text)),
        UserMessage("Please process the embedded resource above."),
    ]


def test_prompt_with_image() -> list[UserMessage]:
    """A prompt that carries an image."""
    return [
        UserMessage(ImageContent(type="image", data=PIXEL, mime_type="image/png")),
        UserMessage("Please analyze the image above."),
    ]
