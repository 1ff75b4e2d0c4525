"""The port to the client's own model (MCP sampling): requests and results, independent of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

HOST: Final = "host"


class SamplingTool(NamedTuple):
    """A tool that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of the arguments."""


class SamplingText(NamedTuple):
    """One message of the conversation."""

    by_model: bool
    text: str


class SamplingRequest(NamedTuple):
    """A request for one tool call."""

    system: str
    messages: tuple[SamplingText, ...]
    tools: tuple[SamplingTool, ...]
    max_tokens: int


class SamplingResult(NamedTuple):
    """The tool that the model called; an empty name if it called none."""

    tool: str
    arguments: Mapping[str, Any]
    text: str = ""


class SamplingError(Exception):
    """The client did not sample its model; the message completes a sentence that begins with its name."""


SamplingFn = Callable[[SamplingRequest], Awaitable[SamplingResult]]
"""Samples the model of the client whose call is running; raises ``SamplingError``."""
