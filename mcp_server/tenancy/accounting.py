"""Each call counted: towards the limits of who makes it, in the audit and in the metrics, as settings say."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

import anyio
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, CallToolResult, InputRequiredResult, TextContent
from pydantic import BaseModel

from mcp_server.errors import details_of, one_line
from mcp_server.tenancy.calls import NOWHERE, OK, Call, Origin, origin_of, outcome_of, serving
from mcp_server.tenancy.principal import current_principal
from navigator.stores.usage import NOTHING_USED, Usage, UsageEntry
from navigator.workspaces.repository_address import read_address
from repo_map.errors import UserError

if TYPE_CHECKING:
    from mcp_server.tenancy.audit import AuditLog
    from mcp_server.tenancy.limits import CallerLimits
    from navigator.navigator import Navigator

_CALL: Final = "tools/call"
COUNTED: Final = frozenset({_CALL, "resources/list", "resources/read", "prompts/get", "completion/complete"})
"""Methods whose answers tell something of a repository or of a navigation."""
AFTER_ANSWER: Final = "after_answer"
"""Of the line that says what a step used that went on when its call was answered."""
UNAUTHORIZED: Final = "unauthorized"
"""Of the line of a token that admits nobody."""
_REFUSED_A_MINUTE: Final = 60
"""Lines of refused tokens: whoever reaches the server must not fill its disk. The metrics count all."""
_SERVER: Final = socket.gethostname()
logger = logging.getLogger(__name__)


class Counted(NamedTuple):
    """What a call came to."""

    call: Call
    seconds: float
    answer_tokens: int


class RateLimit:
    """Allows so many a minute."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._began, self._count = 0.0, 0

    def allow(self) -> bool:
        """Return whether there is room for one more."""
        if monotonic() - self._began > 60.0:
            self._began, self._count = monotonic(), 0
        self._count += 1
        return self._count <= self._most


class CallCounter(Protocol):
    """Metrics of calls."""

    def count(self, counted: Counted) -> None:
        """Count a call."""


class CountedNavigations(Protocol):
    """What is asked of the navigations before and after a call."""

    limits: CallerLimits

    async def navigator(self) -> Navigator:
        """Return the navigator, which keeps the counts."""

    async def require_tokens(self, user: str) -> None:
        """Refuse a principal that was sent all tokens of the day."""


class Accounting:
    """Middleware around every call; without limits, audit and metrics it does nothing."""

    def __init__(
        self,
        navigations: CountedNavigations,
        tools: frozenset[str],
        audit: AuditLog | None = None,
        metrics: Sequence[CallCounter] = (),
    ) -> None:
        self._navigations = navigations
        self._tools = tools
        self._audit = audit
        self._metrics = metrics
        self._refused = RateLimit(_REFUSED_A_MINUTE)
        self._late: set[asyncio.Task[None]] = set()

    async def __call__(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """Serve a call, and count it."""
        is_counted = self._audit is not None or self._metrics or self._navigations.limits.by_day
        if ctx.method not in COUNTED or not is_counted:
            return await call_next(ctx)
        origin = NOWHERE if ctx.request is None else origin_of(ctx.request.scope)
        user = current_principal().user
        call, began = Call(self._name(ctx), user, self._use_late, origin=origin), perf_counter()
        answer: HandlerResult = None
        try:
            with serving(call):
                answer = await self._refusal(ctx.method, call) or await call_next(ctx)
        except asyncio.CancelledError:
            call.outcome = "cancelled"
            raise
        except BaseException as error:
            call.outcome = outcome_of(error) if call.outcome == OK else call.outcome
            raise
        finally:
            if isinstance(answer, InputRequiredResult):
                call.outcome = "input_required"
            tokens = _tokens_of(answer)
            with anyio.CancelScope(shield=True):
                await self._note(Counted(call, perf_counter() - began, tokens))
        return answer

    def _name(self, ctx: ServerRequestContext[Any, Any]) -> str:
        if ctx.method != _CALL:
            return ctx.method
        name = (ctx.params or {}).get("name")
        # What is no tool's name is an argument, which is nobody else's to know.
        return name if isinstance(name, str) and name in self._tools else "unknown"

    async def _refusal(self, method: str, call: Call) -> HandlerResult:
        """Return what a principal over its limit of tokens is answered, None for any other.

        Raises:
            MCPError: It is no tool call: other methods have no results that are errors.
        """
        try:
            await self._navigations.require_tokens(call.user)
        except UserError as error:
            call.outcome = outcome_of(error)
            if method != _CALL:
                raise MCPError(INVALID_REQUEST, one_line(error)) from error
            text = TextContent(type="text", text=one_line(error))
            structured = details_of(error).as_json()
            return CallToolResult(content=[text], structured_content=structured, is_error=True)
        return None

    async def _note(self, counted: Counted) -> None:
        call = counted.call
        call.is_answered = True
        if self._audit is not None:
            self._audit.write(_line(counted))
        for metrics in self._metrics:
            metrics.count(counted)
        await self._count(call.user, call.usage.plus(Usage(tokens=counted.answer_tokens)))

    async def _count(self, principal: str, used: Usage) -> None:
        if used == NOTHING_USED or not self._navigations.limits.by_day:
            return
        try:
            await (await self._navigations.navigator()).store.usage.add(UsageEntry.new(principal, used))
        except UserError as error:
            logger.warning("What a call used is not counted: %s", one_line(error))

    def _use_late(self, call: Call, used: Usage) -> None:
        """Count what a step used that outlived its call: by a line of its own."""
        late = replace(call, outcome=AFTER_ANSWER, usage=used)
        task = asyncio.create_task(self._note(Counted(late, 0.0, 0)))
        self._late.add(task)
        task.add_done_callback(self._late.discard)

    def note_unauthorized(self, origin: Origin) -> None:
        """Note that a token was refused; of whom nobody knows."""
        call = Call("", "", self._use_late, outcome=UNAUTHORIZED, is_answered=True, origin=origin)
        counted = Counted(call, 0.0, 0)
        if self._audit is not None and self._refused.allow():
            self._audit.write(_line(counted))
        for metrics in self._metrics:
            metrics.count(counted)


def _line(counted: Counted) -> dict[str, Any]:
    call = counted.call
    repositories = [each.title for each in read_address(call.repository)] if call.repository else call.asked
    return {
        "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "server": _SERVER,
        "client": call.origin.client,
        "forwarded_for": call.origin.forwarded_for,
        "principal": call.user or None,
        "tool": call.tool or None,
        "repository": _one_or_all(repositories),
        "navigation": call.navigation_id,
        "outcome": call.outcome,
        "tokens": counted.answer_tokens,
        "model_tokens": call.usage.tokens,
        "cost_usd": float(call.usage.cost),
        "index_ms": round(call.usage.index_seconds * 1000),
        "ms": round(counted.seconds * 1000),
    }


def _one_or_all(names: Sequence[str]) -> str | list[str] | None:
    if not names:
        return None
    return names[0] if len(names) == 1 else list(names)


def _tokens_of(answer: HandlerResult) -> int:
    """Return the tokens of an answer's texts; hosts hand one form of it on, and the text is one."""
    texts = [*_texts(answer)]
    if not texts:
        return 0
    from repo_map.text.tokens import count  # noqa: PLC0415 - the server answers before the engine loads

    return sum(map(count, texts))


def _texts(answer: HandlerResult) -> list[str]:
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(include={"content", "contents", "messages"})
    if not isinstance(answer, dict):
        return []
    parts = [*answer.get("content", ()), *answer.get("contents", ())]
    parts += [message.get("content", {}) for message in answer.get("messages", ())]
    return [part["text"] for part in parts if isinstance(part.get("text"), str)]
