"""The host's model over MCP, one round or many."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from contextvars import ContextVar, copy_context
from typing import Any, Final, Protocol

import mcp_types as types
from mcp.server.mcpserver import Context
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata

from mcp_server.auth import current_principal
from mcp_server.navigations import AppContext
from mcp_server.sdk_private import MODERN, can_ask
from navigator.errors import InvalidRequestError, UnknownModelError
from navigator.models.sampling import HOST, SamplingError, SamplingRequest, SamplingResult

Reply = types.CreateMessageResult | types.CreateMessageResultWithTools
_IN_WORDS: Final = (
    '\n\nAnswer with one JSON object and nothing else: {"tool": NAME, "arguments": {…}}. The tools are:\n'
)


class SamplingChannel(Protocol):
    """A way to the host's model during one call."""

    context: Context[AppContext, Any]
    """Of the request that the host waits for at present."""
    max_steps: int | None
    """Steps that fit into one call, None for any number."""

    async def ask(self, params: types.CreateMessageRequestParams) -> Reply:
        """Return what the model says; raise ``SamplingError`` if the host does not let it."""


_line: ContextVar[SamplingChannel | None] = ContextVar("line", default=None)


def current_channel() -> SamplingChannel | None:
    """Return the way to the host's model, None if it does not offer sampling."""
    return _line.get()


def require_host(model: str | None) -> None:
    """Raise where ``model`` is the host's own and the host does not offer it."""
    if model == HOST and _line.get() is None:
        raise InvalidRequestError(
            "The model `host` is the assistant's own, and this assistant lets no server use it; leave "
            "`model` out, as the embedded planner needs none, or name another.",
            code=UnknownModelError.code,
            argument="model",
        )


async def sample_client(question: SamplingRequest) -> SamplingResult:
    """Ask the host whose call is being served; raise ``SamplingError`` if it can't or won't answer."""
    line = _line.get()
    if line is None:
        raise SamplingError("lets no server use its model")
    capabilities = line.context.client_capabilities
    sampling = capabilities.sampling if capabilities is not None else None
    reply = await line.ask(params_of(question, tools=sampling is not None and sampling.tools is not None))
    return answer_of(reply)


def params_of(question: SamplingRequest, *, tools: bool) -> types.CreateMessageRequestParams:
    """Return the question on the wire: with ``tools``, or with a way to answer in words."""
    system = question.system
    if not tools:
        system += _IN_WORDS + "\n".join(
            f"- {tool.name}: {tool.description}\n  arguments: {json.dumps(tool.parameters)}"
            for tool in question.tools
        )
    return types.CreateMessageRequestParams(
        system_prompt=system,
        messages=[
            types.SamplingMessage(
                role="assistant" if message.by_model else "user",
                content=types.TextContent(type="text", text=message.text),
            )
            for message in question.messages
        ],
        max_tokens=question.max_tokens,
        temperature=0,
        tools=[
            types.Tool(name=tool.name, description=tool.description, input_schema=dict(tool.parameters))
            for tool in question.tools
        ]
        if tools
        else None,
        tool_choice=types.ToolChoice(mode="required") if tools else None,
    )


def answer_of(reply: Reply) -> SamplingResult:
    """Return the tool call in a reply, made as such or written as JSON."""
    blocks = reply.content if isinstance(reply.content, list) else [reply.content]
    text = "\n".join(block.text for block in blocks if isinstance(block, types.TextContent))
    for block in blocks:
        if isinstance(block, types.ToolUseContent):
            return SamplingResult(block.name, block.input, text)
    try:
        match json.loads(text[text.index("{") : text.rindex("}") + 1]):
            case {"tool": str(tool), "arguments": dict(arguments)}:
                return SamplingResult(tool, arguments)
    except ValueError:
        pass
    return SamplingResult("", {}, text or "(nothing)")


class DirectChannel:
    """The way of the earlier era: a request of our own while the host waits for its answer."""

    max_steps: int | None = None

    def __init__(self, context: Context[AppContext, Any]) -> None:
        self.context = context

    async def ask(self, params: types.CreateMessageRequestParams) -> Reply:
        kind = types.CreateMessageResultWithTools if params.tools else types.CreateMessageResult
        # By the request itself: the SDK's shorthand warns that the modern era has another way.
        metadata = ServerMessageMetadata(related_request_id=self.context.request_id)
        try:
            reply: Reply = await self.context.session.send_request(
                types.CreateMessageRequest(params=params), kind, metadata=metadata
            )
        except MCPError as error:
            raise SamplingError(f"was not let answer ({error.error.message})") from error
        return reply


_PREFIX: Final = "host:"
_QUESTION: Final = "decision"
_MAX_ROUNDS: Final = 9
"""Clients give up after ten, and asking for folders takes one."""
_MAX_CALLS: Final = 256
_Result = types.CallToolResult | types.InputRequiredResult
_Call = Callable[[], Coroutine[Any, Any, _Result]]


class PendingCall:
    """A tool call that goes on between the rounds, and its line to the host's model."""

    max_steps: int | None = 1
    """A step may take all rounds of a call."""

    def __init__(self, context: Context[AppContext, Any], call: _Call) -> None:
        self.context = context
        self.user = current_principal().user
        self.asked = asyncio.Event()
        self.params: types.CreateMessageRequestParams | None = None
        self._reply: asyncio.Future[Reply] | None = None
        self._rounds = 0
        of_the_call = copy_context()
        of_the_call.run(_line.set, self)
        self.task = asyncio.create_task(call(), context=of_the_call)

    async def ask(self, params: types.CreateMessageRequestParams) -> Reply:
        self._rounds += 1
        if self._rounds > _MAX_ROUNDS:
            raise SamplingError(f"was asked {_MAX_ROUNDS} times, as often as one call allows")
        self.params, self._reply = params, asyncio.get_running_loop().create_future()
        self.asked.set()
        try:
            return await self._reply
        finally:
            self.asked.clear()

    def take_reply(self, reply: object) -> None:
        """Take the reply that a round brought; anything else leaves the question standing."""
        waits = self._reply is not None and not self._reply.done()
        if waits and isinstance(reply, types.CreateMessageResult | types.CreateMessageResultWithTools):
            assert self._reply is not None
            self.asked.clear()
            self._reply.set_result(reply)


class PendingCalls:
    """The calls whose question a host has yet to answer."""

    def __init__(self) -> None:
        self._works: OrderedDict[str, PendingCall] = OrderedDict()

    async def call(self, context: Context[AppContext, Any], call: _Call) -> _Result:
        """Call a tool so that the navigator can ask the client's model, where the client lets it."""
        capabilities = context.client_capabilities
        if capabilities is None or capabilities.sampling is None or not can_ask(context):
            return await call()
        if (context.request_state or "").startswith(_PREFIX):
            return await self._resume(context)
        if (context.protocol_version or "") >= MODERN:
            return await self._result_or_question(PendingCall(context, call))
        # Of this request alone: each is served in a task of its own.
        _line.set(DirectChannel(context))
        return await call()

    async def _resume(self, context: Context[AppContext, Any]) -> _Result:
        """Go on with the call that a request answers."""
        work = self._works.get(context.request_state or "")
        if work is None or work.user != current_principal().user:
            raise InvalidRequestError(
                "The call that asked the assistant's model is over; what was done is kept, "
                "call step to go on.",
                code="call_ended",
            )
        del self._works[context.request_state or ""]
        work.context = context
        work.take_reply((context.input_responses or {}).get(_QUESTION))
        return await self._result_or_question(work)

    async def aclose(self) -> None:
        """End every call that waits for an answer."""
        works = [*self._works.values()]
        self._works.clear()
        for work in works:
            work.task.cancel()
        await asyncio.gather(*(work.task for work in works), return_exceptions=True)

    async def _result_or_question(self, work: PendingCall) -> _Result:
        question = asyncio.ensure_future(work.asked.wait())
        try:
            await asyncio.wait({work.task, question}, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            work.task.cancel()
            await asyncio.gather(work.task, return_exceptions=True)
            raise
        finally:
            question.cancel()
        if work.task.done():
            return work.task.result()
        assert work.params is not None
        key = f"{_PREFIX}{secrets.token_hex(16)}"
        self._works[key] = work
        while len(self._works) > _MAX_CALLS:
            self._works.popitem(last=False)[1].task.cancel()
        asked = types.CreateMessageRequest(params=work.params)
        return types.InputRequiredResult(input_requests={_QUESTION: asked}, request_state=key)
