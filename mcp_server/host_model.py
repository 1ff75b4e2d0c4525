"""The host's own model by MCP sampling: what the navigator asks of it, as the protocol says it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    SamplingMessage,
    TextContent,
    Tool,
    ToolChoice,
    ToolUseContent,
)

from mcp_server.desk import Desk
from navigator.errors import InvalidRequestError
from navigator.host import HOST, HostAnswer, HostError, HostQuestion

Reply = CreateMessageResult | CreateMessageResultWithTools
_IN_WORDS: Final = (
    '\n\nAnswer with one JSON object and nothing else: {"tool": NAME, "arguments": {…}}. The tools are:\n'
)


class Line(Protocol):
    """A way to the host's model during one call."""

    context: Context[Desk, Any]
    """Of the request that the host waits for at present."""
    most_steps: int | None
    """Steps that fit into one call, None for any number."""

    async def ask(self, params: CreateMessageRequestParams) -> Reply:
        """Return what the model says.

        Raises:
            HostError: The host does not let it.
        """


_line: ContextVar[Line | None] = ContextVar("line", default=None)


@contextmanager
def over(line: Line | None) -> Iterator[None]:
    """Ask over ``line`` in this block, and in the tasks that it starts."""
    token = _line.set(line)
    try:
        yield
    finally:
        _line.reset(token)


def current_line() -> Line | None:
    """Return the way to the host's model, None where it lets nobody ask."""
    return _line.get()


def require_host(model: str | None) -> None:
    """Raise where ``model`` is the host's own and the host lets nobody ask it."""
    if model == HOST and _line.get() is None:
        raise InvalidRequestError(
            "The model `host` is the assistant's own, and this assistant lets no server use it; leave "
            "`model` out, as the embedded planner needs none, or name another."
        )


async def ask_host(question: HostQuestion) -> HostAnswer:
    """Ask the host whose call is being served.

    Raises:
        HostError: It can't or won't answer.
    """
    line = _line.get()
    if line is None:
        raise HostError("lets no server use its model")
    capabilities = line.context.client_capabilities
    sampling = capabilities.sampling if capabilities is not None else None
    reply = await line.ask(params_of(question, tools=sampling is not None and sampling.tools is not None))
    return answer_of(reply)


def params_of(question: HostQuestion, *, tools: bool) -> CreateMessageRequestParams:
    """Return the question on the wire: with ``tools``, or with a way to answer in words."""
    system = question.system
    if not tools:
        system += _IN_WORDS + "\n".join(
            f"- {tool.name}: {tool.description}\n  arguments: {json.dumps(tool.parameters)}"
            for tool in question.tools
        )
    return CreateMessageRequestParams(
        system_prompt=system,
        messages=[
            SamplingMessage(
                role="assistant" if message.by_model else "user",
                content=TextContent(type="text", text=message.text),
            )
            for message in question.messages
        ],
        max_tokens=question.max_tokens,
        temperature=0,
        tools=[
            Tool(name=tool.name, description=tool.description, input_schema=dict(tool.parameters))
            for tool in question.tools
        ]
        if tools
        else None,
        tool_choice=ToolChoice(mode="required") if tools else None,
    )


def answer_of(reply: Reply) -> HostAnswer:
    """Return the tool call in a reply, made as such or written as JSON."""
    blocks = reply.content if isinstance(reply.content, list) else [reply.content]
    text = "\n".join(block.text for block in blocks if isinstance(block, TextContent))
    for block in blocks:
        if isinstance(block, ToolUseContent):
            return HostAnswer(block.name, block.input, text)
    try:
        match json.loads(text[text.index("{") : text.rindex("}") + 1]):
            case {"tool": str(tool), "arguments": dict(arguments)}:
                return HostAnswer(tool, arguments)
    except ValueError:
        pass
    return HostAnswer("", {}, text or "(nothing)")


class DirectLine:
    """The way of the earlier era: a request of our own while the host waits for its answer."""

    most_steps: int | None = None

    def __init__(self, context: Context[Desk, Any]) -> None:
        self.context = context

    async def ask(self, params: CreateMessageRequestParams) -> Reply:
        """Return what the model says."""
        kind = CreateMessageResultWithTools if params.tools else CreateMessageResult
        # By the request itself: the SDK's shorthand warns that the modern era has another way.
        metadata = ServerMessageMetadata(related_request_id=self.context.request_id)
        try:
            reply: Reply = await self.context.session.send_request(
                CreateMessageRequest(params=params), kind, metadata=metadata
            )
        except MCPError as error:
            raise HostError(f"was not let answer ({error.error.message})") from error
        return reply
