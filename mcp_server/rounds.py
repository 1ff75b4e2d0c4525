"""Calls of several rounds: in the modern era a question to the host ends a request, a retry answers it."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, Final

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    InputRequiredResult,
)

from mcp_server.callers import current_caller
from mcp_server.desk import Desk
from mcp_server.host_model import Reply, over
from navigator.host import HostError

_PREFIX: Final = "host:"
_QUESTION: Final = "decision"
_MOST_ROUNDS: Final = 8
"""Clients give up after ten, and asking for folders or for the user's wish takes one or two."""
_KEPT: Final = 256
_Result = CallToolResult | InputRequiredResult


class Work:
    """A tool call that goes on between the rounds, and its line to the host's model."""

    most_steps: int | None = _MOST_ROUNDS

    def __init__(self, context: Context[Desk, Any], call: Callable[[], Awaitable[_Result]]) -> None:
        self.context = context
        self.user = current_caller().user
        self.asked = asyncio.Event()
        self.params: CreateMessageRequestParams | None = None
        self._reply: asyncio.Future[Reply] | None = None
        self._rounds = 0
        with over(self):
            self.task = asyncio.ensure_future(call())

    async def ask(self, params: CreateMessageRequestParams) -> Reply:
        """Return what the model says, once a round has brought it."""
        self._rounds += 1
        if self._rounds > _MOST_ROUNDS:
            raise HostError(f"was asked {_MOST_ROUNDS} times, as often as one call allows")
        self.params, self._reply = params, asyncio.get_running_loop().create_future()
        self.asked.set()
        try:
            return await self._reply
        finally:
            self.asked.clear()

    def hear(self, reply: object) -> None:
        """Take the reply that a round brought; anything else leaves the question standing."""
        waits = self._reply is not None and not self._reply.done()
        if waits and isinstance(reply, CreateMessageResult | CreateMessageResultWithTools):
            assert self._reply is not None
            self.asked.clear()
            self._reply.set_result(reply)


class Rounds:
    """The calls whose question a host has yet to answer."""

    def __init__(self) -> None:
        self._works: OrderedDict[str, Work] = OrderedDict()

    async def begin(self, context: Context[Desk, Any], call: Callable[[], Awaitable[_Result]]) -> _Result:
        """Run ``call`` up to its result, or to its first question."""
        return await self._result_or_question(Work(context, call))

    def answers(self, context: Context[Desk, Any] | None) -> bool:
        """Return whether a request brings the answer to a question."""
        return context is not None and (context.request_state or "").startswith(_PREFIX)

    async def resume(self, context: Context[Desk, Any]) -> _Result:
        """Go on with the call that a request answers.

        Raises:
            ToolError: It is over.
        """
        work = self._works.get(context.request_state or "")
        if work is None or work.user != current_caller().user:
            raise ToolError(
                "The call that asked the assistant's model is over; what was done is kept, "
                "call step to go on."
            )
        del self._works[context.request_state or ""]
        work.context = context
        work.hear((context.input_responses or {}).get(_QUESTION))
        return await self._result_or_question(work)

    async def aclose(self) -> None:
        """End every call that waits for an answer."""
        works = [*self._works.values()]
        self._works.clear()
        for work in works:
            work.task.cancel()
        await asyncio.gather(*(work.task for work in works), return_exceptions=True)

    async def _result_or_question(self, work: Work) -> _Result:
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
        while len(self._works) > _KEPT:
            self._works.popitem(last=False)[1].task.cancel()
        asked = CreateMessageRequest(params=work.params)
        return InputRequiredResult(input_requests={_QUESTION: asked}, request_state=key)
