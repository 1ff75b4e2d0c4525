"""A model session that lives as long as its task: ordered providers behind one ADK model, with failover."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import PrivateAttr

from navigator.account import RequestTokens
from navigator.adk.faults import Fault, explain
from navigator.adk.models.providers import Patience, Provider, answer_of
from navigator.adk.requests import attempt_of, usable, usage_of
from navigator.adk.scale import Scale
from navigator.pricing import TokenUsage, Written
from navigator.settings import EMBEDDED

if TYPE_CHECKING:
    from navigator.adk.flight import Flight

_log = logging.getLogger(__name__)


class HybridSession(BaseLlm):
    """One task's model: the first provider answers until it fails for good, then the next takes over."""

    _flight: Flight = PrivateAttr()
    _providers: tuple[Provider, ...] = PrivateAttr()
    _patience: Patience = PrivateAttr()
    _scale: Scale = PrivateAttr(default_factory=Scale)
    _at: int = PrivateAttr(default=0)

    def __init__(self, flight: Flight, providers: Sequence[Provider], patience: Patience) -> None:
        super().__init__(model="navigator-session")
        self._flight = flight
        self._providers = tuple(providers)
        self._patience = patience
        self._hand_over()

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

    async def rest(self) -> None:
        """Let no provider keep anything: the task has ended, or pauses for good; a later call starts anew."""
        for provider in self._providers:
            await provider.memory.forget()

    async def destroy(self) -> None:
        """Let go of the models and of what they keep; a destroyed session answers no more."""
        providers, self._providers = self._providers, ()
        for provider in providers:
            await provider.memory.close()

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
        self._hand_over()
        self._flight.notes.append(f"{failed} {words}; {self.provider} took over.")
        return True

    def _hand_over(self) -> None:
        self._flight.pilot = self.provider
        self._flight.appends = self._providers[self._at].memory.appends

    async def _ask(self, provider: Provider, request: LlmRequest) -> LlmResponse | Fault:
        """Return a usable answer, or the fault that remains after the last repetition."""
        fault = Fault("gave no answer", passing=True)
        attempt, lapses = 0, 0
        while attempt <= self._patience.retries:
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
            if fault.lapsed and not lapses:
                # The provider has forgotten, which is no fault of the call: it is told everything again.
                lapses += 1
                continue
            if not fault.passing:
                break
            attempt += 1
        return fault

    async def _attempt(
        self, provider: Provider, request: LlmRequest, tokens: RequestTokens
    ) -> LlmResponse | Fault:
        provider.memory.in_use = True
        await self._write(provider, request, tokens)
        attempt = attempt_of(request, provider.llm.model)
        provider.memory.shorten(attempt, request)
        most = self._flight.ledger.expected(provider.name, tokens.total, _limit(request))
        patience = self._patience
        if provider.name == EMBEDDED:
            # It computes here, and there is nobody to ask after it: on a slow machine it takes what it takes.
            patience = patience._replace(timeout_s=None)
        try:
            response = await answer_of(provider.llm, attempt, patience)
        except Exception as error:
            _log.debug("%s failed", provider.name, exc_info=True)
            if isinstance(error, TimeoutError):
                # Nobody tells what an unanswered call is billed; a limit that holds counts the most.
                self._flight.ledger.book(provider.name, provider.price, most, 0)
            return explain(error)._replace(lapsed=provider.memory.lapsed(error))
        if response is None:
            return Fault("gave no answer", passing=True)
        self._book(provider, usage_of(response), tokens, most)
        answer = usable(response, request)
        provider.memory.hear(request, response, usable=isinstance(answer, LlmResponse))
        if tokens.total:
            self._scale.said(provider.name, request)
        return answer

    async def _write(self, provider: Provider, request: LlmRequest, tokens: RequestTokens) -> None:
        """Give the provider what it can remember, where that pays and the limit has room for it."""
        memory, ledger, price = provider.memory, self._flight.ledger, provider.price
        beginning = tokens.stable + tokens.base
        if not memory.wants(request, beginning):
            return
        most = ledger.expected(provider.name, beginning, 0).input
        call = ledger.projected(provider.name, price, tokens.total, _limit(request))
        writing = price.cost(TokenUsage(input=most)) + price.storage(most, memory.lifetime_s)
        if not ledger.affords(call + writing):
            return
        try:
            async with asyncio.timeout(self._patience.timeout_s):
                written = await memory.write(request, most)
        except TimeoutError:
            # Nobody tells whether it was written after all.
            written = Written(most, most, memory.lifetime_s)
        if written is not None:
            ledger.book_writing(price, written)

    def _book(
        self, provider: Provider, told: TokenUsage | None, tokens: RequestTokens, most: TokenUsage
    ) -> None:
        """Book what the provider tells; where it tells nothing and charges, the most that it may charge."""
        ledger = self._flight.ledger
        usage = told or (most if provider.price.charges else TokenUsage(calls=1))
        ledger.book(provider.name, provider.price, usage, tokens.total if told else 0)
        if tokens.total:
            output = usage.output + usage.thinking
            ledger.account = ledger.account.after_call(tokens, usage.input, usage.cached, output)

    def _projection(self, provider: Provider, request: LlmRequest) -> tuple[Decimal, RequestTokens]:
        if provider.name == EMBEDDED:
            return Decimal(0), RequestTokens()
        tokens = self._scale.weigh(provider.name, request, self._flight.frame)
        cached = provider.memory.held(request)
        ledger = self._flight.ledger
        cost = ledger.projected(provider.name, provider.price, tokens.total, _limit(request), cached)
        return cost, tokens


def _limit(request: LlmRequest) -> int:
    return request.config.max_output_tokens or 0
