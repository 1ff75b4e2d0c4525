"""The assistant's own model as a port: what it is asked and what it answers, whatever carries it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

HOST: Final = "host"
"""The name under which a navigation chooses the assistant's own model."""


class HostTool(NamedTuple):
    """A tool that the model may call."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON schema of its arguments."""


class HostMessage(NamedTuple):
    """One turn of what was said so far."""

    by_model: bool
    text: str


class HostQuestion(NamedTuple):
    """What the model is asked: which of the tools to call, and with what."""

    system: str
    messages: tuple[HostMessage, ...]
    tools: tuple[HostTool, ...]
    max_tokens: int
    """Most tokens of the answer."""


class HostAnswer(NamedTuple):
    """The tool that the model calls; an empty name where it called none."""

    tool: str
    arguments: Mapping[str, Any]
    text: str = ""
    """What it said beside the call."""


class HostError(Exception):
    """The host did not let its model answer; the message says why, as the end of a sentence about it."""


AskHost = Callable[[HostQuestion], Awaitable[HostAnswer]]
"""Asks the host whose call is being served.

Raises:
    HostError: It can't or won't answer.
"""
