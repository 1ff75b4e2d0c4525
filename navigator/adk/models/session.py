"""A model session that lives as long as its task: ordered providers behind one ADK model, with failover."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from navigator.adk.faults import Fault, explain
from navigator.adk.requests import RequestTokens, attempt_of, request_tokens, usable, usage_of
from navigator.pricing import ModelPrice, TokenUsage
from navigator.settings import EMBEDDED

if TYPE_CHECKING:
    from navigator.adk.flight import Flight

_log = logging.getLogger(__name__)


NO_TOKENS = RequestTokens(0, 0)


class Provider(NamedTuple):
    """A model, its name in the catalogue, and its price."""

    name: str
    llm: BaseLlm
    price: ModelPrice


class Patience(NamedTuple):
    """How long to try one provider before the next."""

    timeout_s: float
    retries: int
    first_delay_s: float
    """Before the first repetition; each further one waits twice as long."""


class HybridSession(BaseLlm):
    """One task's model: the first provider answers until it fails for good, then the next takes over."""

    _flight: Flight = PrivateAttr()
    _providers: tuple[Provider, ...] = PrivateAttr()
    _patience: Patience = PrivateAttr()
    _at: int = PrivateAttr(default=0)
    _counted: tuple[LlmRequest, RequestTokens] | None = PrivateAttr(default=None)
    """The latest request and its tokens, which the plugin and each attempt ask for."""

    def __init__(self, flight: Flight, providers: Sequence[Provider], patience: Patience) -> None:
        super().__init__(model="navigator-session")
        self._flight = flight
        self._providers = tuple(providers)
        self._patience = patience
        flight.pilot = self.provider

    @property
    def id(self) -> str:
        """The id of the navigation that the session serves."""
        return self._flight.navigation.run.navigation_id

    @property
    def input_quota(self) -> int | None:
        """Most input tokens of one call to the present model; None where nobody told."""
        return self._providers[self._at].price.window

    @property
    def input_usage(self) -> int:
        """Input tokens that the session's models were sent so far, cached ones included."""
        return self._flight.ledger.usage.input

    async def invoke(self, request: LlmRequest) -> LlmResponse:
        """Return the one answer to ``request``."""
        answers = [answer async for answer in self.generate_content_async(request)]
        return answers[-1]

    def destroy(self) -> None:
        """Let go of the models; a destroyed session answers no more."""
        self._providers = self._providers[:0]

    @property
    def provider(self) -> str:
        """The name of the model that answers at present."""
        return self._providers[self._at].name

    def projected_cost(self, request: LlmRequest) -> Decimal:
        """Return the most that the next attempt at ``request`` should cost, in US dollars."""
        return self._projection(self._providers[self._at], request)[0]

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield the first usable answer that a provider gives, or an error once every one has failed."""
        while True:
            answer = await self._ask(self._providers[self._at], llm_request)
            if isinstance(answer, LlmResponse):
                yield answer
                return
            if not self.give_up(answer.words):
                # Raised here, it would be logged with its traceback at every level of the runner.
                yield LlmResponse(error_code="MODEL_FAILED", error_message=self._flight.failure)
                return

    def give_up(self, words: str) -> bool:
        """Let the next provider take over, and note why; without a next one the flight has failed."""
        failed = self.provider
        if self._at + 1 == len(self._providers):
            self._flight.failure = (
                f"The model {failed} {words}; the best plan so far stands. Step again, or name another model."
            )
            return False
        self._at += 1
        self._flight.pilot = self.provider
        self._flight.notes.append(f"{failed} {words}; {self.provider} took over.")
        return True

    async def _ask(self, provider: Provider, request: LlmRequest) -> LlmResponse | Fault:
        """Return a usable answer, or the fault that remains after the last repetition."""
        fault = Fault("gave no answer", passing=True)
        for attempt in range(self._patience.retries + 1):
            if attempt:
                await asyncio.sleep(self._patience.first_delay_s * 2 ** (attempt - 1))
            projected, tokens = self._projection(provider, request)
            if provider.price.window and tokens.total > provider.price.window:
                return Fault(f"reads {provider.price.window} tokens at most", passing=False)
            if not self._flight.ledger.affords(projected):
                return Fault(f"{fault.words} and another try would pass the cost limit", passing=False)
            answer = await self._attempt(provider, request, tokens)
            if isinstance(answer, LlmResponse):
                return answer
            fault = answer
            if not fault.passing:
                break
        return fault

    async def _attempt(
        self, provider: Provider, request: LlmRequest, tokens: RequestTokens
    ) -> LlmResponse | Fault:
        try:
            async with asyncio.timeout(self._patience.timeout_s):
                response = await _last_response(provider.llm, attempt_of(request, provider.llm.model))
        except Exception as error:
            _log.debug("%s failed", provider.name, exc_info=True)
            fault = explain(error)
            if isinstance(error, TimeoutError):
                # Nobody tells what an unanswered call is billed; a limit that holds counts the most.
                most = self._flight.ledger.expected(provider.name, tokens.total, _limit(request))
                self._book(provider, most, NO_TOKENS)
            return fault
        if response is None:
            return Fault("gave no answer", passing=True)
        self._book(provider, usage_of(response), tokens)
        return usable(response, request)

    def _book(self, provider: Provider, usage: TokenUsage, tokens: RequestTokens) -> None:
        ledger = self._flight.ledger
        ledger.book(provider.name, provider.price, usage, tokens.total)
        if tokens.total:
            ledger.account = ledger.account.after_call(*tokens, usage.cached)

    def _projection(self, provider: Provider, request: LlmRequest) -> tuple[Decimal, RequestTokens]:
        if provider.name == EMBEDDED:
            return Decimal(0), NO_TOKENS
        if self._counted is None or self._counted[0] is not request:
            self._counted = request, request_tokens(request)
        tokens = self._counted[1]
        ledger = self._flight.ledger
        return ledger.projected(provider.name, provider.price, tokens.total, _limit(request)), tokens


def _limit(request: LlmRequest) -> int:
    return request.config.max_output_tokens or 0


async def _last_response(llm: BaseLlm, request: LlmRequest) -> LlmResponse | None:
    last: LlmResponse | None = None
    async for response in llm.generate_content_async(request):
        last = response
    return last
