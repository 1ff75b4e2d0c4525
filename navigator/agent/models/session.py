"""The model of a navigation: a configured model, and the fallback that continues with the same context."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.agent.models.clients import ModelClient, open_model
from navigator.agent.models.responses import (
    ModelError,
    UnavailableError,
    count_received,
    explain,
    is_plausible,
    may_be_billed,
    read_response,
    refuses_tool_choice,
    usage_metadata,
    usage_of,
)
from navigator.state.labels import EMBEDDED, dollars
from navigator.state.pricing import FIRST_MARGIN, Ledger
from navigator.state.usage import TokenUsage
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from navigator.settings import NavigatorSettings
    from navigator.state.run_state import Navigation

_log = logging.getLogger(__name__)
_MAX_STREAM_TIMEOUTS: Final = 5
"""Timeouts of a piece that a whole streamed answer may take."""
_EMPTY_LINES: Final = "\n\n\n\n"
"""Small local models write them up to the output limit if they must call a tool; no call holds them."""
_MAX_SESSIONS: Final = 64


class ModelSession:
    """The model of one navigation, from its first step to its last.

    Every attempt is checked against the cost limit before the call and booked after it. The first model
    answers until it fails for good; the fallback then gets the same request. The embedded policy may follow
    the last model: the session ``is_over`` then.
    """

    def __init__(
        self,
        ledger: Ledger,
        clients: Sequence[ModelClient],
        settings: NavigatorSettings,
        *,
        embedded_follows: bool = False,
    ) -> None:
        self.ledger = ledger
        self.notes: list[str] = []
        self.failure = ""
        self.is_over = False
        self._clients = clients
        self.settings = settings
        self._embedded_follows = embedded_follows
        self._current = 0
        self._without_tool_choice: set[str] = set()
        self._counts: dict[str, int] = {}

    @property
    def model_name(self) -> str:
        return self._clients[self._current].name

    def begin_step(self, navigation: Navigation, notes: list[str]) -> None:
        """Start from a navigation as it is stored; what the step's report mentions goes into ``notes``."""
        run = navigation.run
        self.ledger.catch_up(run.spent, run.usage)
        self.notes = notes
        self.failure = ""

    def affords(self, request: LlmRequest, calls: int) -> bool:
        """Return True if the cost limit has room for some calls like the next one."""
        client = self._clients[self._current]
        return self.ledger.affords(calls * self._expected_cost(client, request))

    def choose_affordable(self, request: LlmRequest) -> str:
        """Fall back if the next call could pass the cost limit; return why no model is left, or ``""``.

        The embedded policy costs nothing: if it follows, a spent limit does not end the work.
        """
        cost = self._expected_cost(self._clients[self._current], request)
        while not self.ledger.affords(cost):
            reason = (
                f"could cost {dollars(cost)} for its next call, and {dollars(self.ledger.remaining)} of "
                f"{dollars(self.ledger.limit)} is left"
            )
            others = [self._expected_cost(each, request) for each in self._clients[self._current + 1 :]]
            if not self._embedded_follows and not any(map(self.ledger.affords, others)):
                return f"{self.model_name} {reason}."
            if not self.fall_back(reason):
                break
            cost = others[0]
        return ""

    def fall_back(self, reason: str) -> bool:
        """Let the next model take over and note why; return False if none is left."""
        failed = self.model_name
        if self._current + 1 < len(self._clients):
            self._current += 1
            self._note(f"{failed} {reason}; {self.model_name} took over.")
            return True
        if self._embedded_follows:
            self.is_over = True
            self._note(f"{failed} {reason}; {EMBEDDED} took over.")
        else:
            self.failure = (
                f"The model {failed} {reason}; the best plan so far is kept. Step again, or name another "
                "model."
            )
        return False

    async def answer(self, request: LlmRequest) -> LlmResponse:
        """Return the first usable answer, or an error once no model is left."""
        while True:
            answer = await self._call(self._clients[self._current], request)
            if isinstance(answer, LlmResponse):
                return answer
            if not self.fall_back(answer.message):
                # An exception would be logged with its traceback at every level of the runner.
                message = self.failure or answer.message
                return LlmResponse(error_code="MODEL_FAILED", error_message=message)

    async def aclose(self) -> None:
        for client in self._clients:
            if client.close is not None:
                await client.close()

    async def _call(self, client: ModelClient, request: LlmRequest) -> LlmResponse | ModelError:
        error, attempt = ModelError("gave no answer"), 0
        while attempt <= self.settings.retries:
            if attempt:
                await asyncio.sleep(self.settings.retry_delay_s * 2 ** (attempt - 1))
            tokens = self._count(request)
            if client.price.window and tokens > client.price.window:
                return ModelError(f"reads at most {client.price.window:,} tokens", is_temporary=False)
            if not self.ledger.affords(self._expected_cost(client, request)):
                message = f"{error.message}, and another call could pass the cost limit"
                return ModelError(message, is_temporary=False)
            answer = await self._attempt(client, request, tokens)
            if isinstance(answer, LlmResponse):
                return answer
            error = answer
            if not error.is_temporary:
                break
            attempt += not error.is_free
        return error

    async def _attempt(
        self, client: ModelClient, request: LlmRequest, tokens: int
    ) -> LlmResponse | ModelError:
        expected = self.ledger.expected(client.name, tokens, _output_limit(request))
        try:
            response = await self._generate(client, request)
        except Exception as error:
            _log.debug("%s failed", client.name, exc_info=True)
            if may_be_billed(error):
                # It is unknown what an unanswered call is billed; a limit that holds counts the most.
                self.ledger.book(client.name, client.price, expected, 0)
            if client.name not in self._without_tool_choice and refuses_tool_choice(error):
                self._without_tool_choice.add(client.name)
                return explain(error)._replace(is_temporary=True, is_free=True)
            return explain(error)
        if response is None:
            return ModelError("gave no answer")
        usage = self._book(client, response, tokens, expected)
        answer = read_response(response, request)
        if isinstance(answer, LlmResponse):
            answer.usage_metadata = usage_metadata(usage)
        return answer

    def _copy(self, client: ModelClient, llm: BaseLlm, request: LlmRequest) -> LlmRequest:
        # Clients change the request that they are given.
        config = request.config.model_copy(deep=True)
        if client.name in self._without_tool_choice:
            config.tool_config = None
        if not client.price.charges:
            config.stop_sequences = [_EMPTY_LINES]
        return request.model_copy(
            update={
                "model": llm.model,
                "contents": [content.model_copy(deep=True) for content in request.contents],
                "config": config,
            }
        )

    async def _generate(self, client: ModelClient, request: LlmRequest) -> LlmResponse | None:
        """Return the last response, which is the whole one even if it was streamed."""
        if (llm := client.llm) is None:
            raise UnavailableError(client.reason)
        request = self._copy(client, llm, request)
        last: LlmResponse | None = None
        now, timeout_s = asyncio.get_running_loop().time, self.settings.call_timeout_s
        deadline = now() + _MAX_STREAM_TIMEOUTS * timeout_s
        async with asyncio.timeout(timeout_s) as timeout:
            responses: AsyncGenerator[LlmResponse, None]
            responses = llm.generate_content_async(request, stream=self.settings.stream)
            async with aclosing(responses):
                async for response in responses:
                    last = response
                    timeout.reschedule(min(now() + timeout_s, deadline))
        return last

    def _book(
        self, client: ModelClient, response: LlmResponse, tokens: int, expected: TokenUsage
    ) -> TokenUsage:
        """Book the usage that the provider reports, or our own count if there is none that can be true."""
        ledger, received = self.ledger, count_received(response)
        reported, charges = usage_of(response), client.price.charges
        if reported is not None and not is_plausible(reported, expected, received):
            self._note(f"{client.name} reported an implausible token usage; the product's own count is used.")
            reported = None
        elif charges and (reported is None or (received and not reported.output + reported.thinking)):
            self._note(f"{client.name} reports no token usage; the product's own count is used.")
        usage = reported or TokenUsage(input=expected.input if charges else tokens, calls=1)
        if not usage.output + usage.thinking:
            # Another tokenizer may count more; unreported thinking can't be counted.
            usage = usage._replace(output=int(received * FIRST_MARGIN) if charges else received)
        ledger.book(client.name, client.price, usage, tokens if reported else 0)
        return usage

    def _expected_cost(self, client: ModelClient, request: LlmRequest) -> Decimal:
        """Return the most that the next attempt should cost, in US dollars."""
        expected = self.ledger.expected(client.name, self._count(request), _output_limit(request))
        return client.price.cost(expected)

    def _count(self, request: LlmRequest) -> int:
        texts = _texts(request)
        self._counts = {text: self._counts[text] if text in self._counts else count(text) for text in texts}
        return sum(self._counts[text] for text in texts)

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)


def _output_limit(request: LlmRequest) -> int:
    return request.config.max_output_tokens or 0


def _texts(request: LlmRequest) -> list[str]:
    tools = [tool for tool in request.config.tools or [] if isinstance(tool, types.Tool)]
    parts = [part for content in request.contents for part in content.parts or []]
    return [
        str(request.config.system_instruction or ""),
        *(tool.model_dump_json(exclude_none=True) for tool in tools),
        *(part.text if part.text is not None else part.model_dump_json(exclude_none=True) for part in parts),
    ]


class ModelSessions:
    """The sessions of all navigations that use models."""

    def __init__(
        self, settings: NavigatorSettings, custom: Mapping[str, BaseLlm], is_held: Callable[[str], bool]
    ) -> None:
        self._settings = settings
        self._custom = custom
        self._is_held = is_held
        self._sessions: OrderedDict[str, ModelSession] = OrderedDict()

    async def session_of(self, navigation: Navigation) -> ModelSession:
        """Return the session of a navigation; of too many, the least recently used that rest are closed."""
        navigation_id = navigation.run.navigation_id
        session = self._sessions.pop(navigation_id, None) or self._open(navigation)
        self._sessions[navigation_id] = session
        for each in [*self._sessions][: max(len(self._sessions) - _MAX_SESSIONS, 0)]:
            if not self._is_held(each):
                await self.close(each)
        return session

    def _open(self, navigation: Navigation) -> ModelSession:
        settings, run = self._settings, navigation.run
        names = [name for name in (run.model, settings.fallback_model) if name]
        embedded_follows = settings.embedded_fallback or EMBEDDED in names
        names = list(dict.fromkeys(names[: names.index(EMBEDDED)] if EMBEDDED in names else names))
        clients = [open_model(name, settings, self._custom) for name in names]
        limit = navigation.state.budget_config.max_spend_usd
        ledger = Ledger(limit, run.spent, run.usage)
        return ModelSession(ledger, clients, settings, embedded_follows=embedded_follows)

    async def close(self, navigation_id: str) -> None:
        """Close the models of a navigation; a later step opens them again."""
        if session := self._sessions.pop(navigation_id, None):
            await session.aclose()

    async def aclose(self) -> None:
        for navigation_id in list(self._sessions):
            await self.close(navigation_id)
