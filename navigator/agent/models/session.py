"""A navigation's model with the models that follow it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from pydantic import Field, PrivateAttr

from navigator.agent.models.catalogue import Provider, RetryPolicy, answer_of, providers_of
from navigator.agent.models.model_errors import ModelError, explain, may_be_billed, refuses_forced_calls
from navigator.agent.models.replies import count_received, is_plausible, metadata_of, read_reply, usage_of
from navigator.agent.models.requests import RequestTokenCounter, attempt_of
from navigator.planner.prompt import CachedPrefix, MapDelta, continue_delta, start_delta
from navigator.state.labels import EMBEDDED, dollars
from navigator.state.pricing import FIRST_MARGIN, CachedTokens, Ledger
from navigator.state.usage import RequestTokens, TokenUsage

if TYPE_CHECKING:
    from navigator.settings import NavigatorSettings
    from navigator.state.pricing import PriceTable
    from navigator.state.run_state import Navigation
    from repo_map.outline.draw import RepoMap


_log = logging.getLogger(__name__)


class HybridSession(BaseLlm):
    """One task's model: the first provider answers until it fails for good, then the next takes over.

    The embedded policy may follow the last one. It is no model: the session ``is_over`` then.
    """

    notes: list[str] = Field(default_factory=list)
    """What is told of the step under way."""
    failure: str = ""
    """Why no model is left to ask; empty while one is."""
    is_over: bool = False
    """Whether the embedded policy decides instead."""
    _ledger: Ledger = PrivateAttr()
    _delta: MapDelta | None = PrivateAttr(default=None)
    _id: str = PrivateAttr()
    _providers: tuple[Provider, ...] = PrivateAttr()
    _patience: RetryPolicy = PrivateAttr()
    _planner_follows: bool = PrivateAttr()
    _scale: RequestTokenCounter = PrivateAttr(default_factory=RequestTokenCounter)
    _at: int = PrivateAttr(default=0)
    _remembers: CachedPrefix = PrivateAttr()
    _unforced: set[str] = PrivateAttr(default_factory=set)
    """Providers that can't be made to answer with a tool call."""

    def __init__(
        self,
        navigation_id: str,
        ledger: Ledger,
        providers: Sequence[Provider],
        timeouts: RetryPolicy,
        *,
        planner_follows: bool = False,
    ) -> None:
        super().__init__(model="navigator-session")
        self._id = navigation_id
        self._ledger = ledger
        self._planner_follows = planner_follows
        self._providers = tuple(providers)
        self._patience = timeouts
        self._remembers = self._providers[0].memory.remembers

    @property
    def id(self) -> str:
        """The id of the navigation that the session serves."""
        return self._id

    @property
    def ledger(self) -> Ledger:
        """What the navigation has spent, and may still spend."""
        return self._ledger

    @property
    def delta(self) -> MapDelta | None:
        """How the models are told of the latest map that they were told of."""
        return self._delta

    def begin_step(self, navigation: Navigation, notes: list[str]) -> None:
        """Start from a navigation as it is stored; what is to be told of the step goes into ``notes``."""
        run = navigation.run
        self.ledger.catch_up(run.spent, run.usage, run.account)
        self.notes = notes
        self.failure = ""

    def show_map(self, drawn: RepoMap, step: int) -> MapDelta:
        """Return how the models are told of a map, given what they were told before."""
        known = self._delta
        if known is None:
            self._delta = start_delta(drawn, step)
        else:
            self._delta = continue_delta(known, drawn, step, self._remembers)
        return self._delta

    @property
    def input_quota(self) -> int | None:
        """Most input tokens of one call to the present model; None where nobody told."""
        return self._providers[self._at].price.window

    @property
    def input_usage(self) -> int:
        """Input tokens that the session's models were sent so far, cached ones included."""
        return self.ledger.usage.input

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
        """Yield the first usable answer that a provider gives, or an error once no model is left to ask."""
        while True:
            answer = await self._ask(self._providers[self._at], llm_request)
            if isinstance(answer, LlmResponse):
                yield answer
                return
            if not await self.give_up(answer.words):
                # Raised here, it would be logged with its traceback at every level of the runner.
                words = self.failure or answer.words
                yield LlmResponse(error_code="MODEL_FAILED", error_message=words)
                return

    async def give_up(self, words: str) -> bool:
        """Let the next provider take over, note why, and tell whether there is one.

        After the last one the planner decides where it follows; else the navigation has failed. What the
        provider that failed has kept is deleted: nobody asks it again.
        """
        failed = self._providers[self._at]
        await failed.memory.forget()
        if self._at + 1 == len(self._providers):
            if self._planner_follows:
                self.is_over = True
                self._note(f"{failed.name} {words}; {EMBEDDED} took over.")
                return False
            self.failure = (
                f"The model {failed.name} {words}; the best plan so far stands. Step again, or name another "
                "model."
            )
            return False
        self._at += 1
        self._remembers = self._providers[self._at].memory.remembers
        self._note(f"{failed.name} {words}; {self.provider} took over.")
        return True

    async def find_affordable(self, request: LlmRequest) -> str:
        """Hand over to the first provider whose next call fits into the limit; return why none does, or "".

        The planner costs nothing: where it follows, a spent limit does not end the work.
        """
        ledger = self.ledger
        while not ledger.affords(projected := self.projected_cost(request)):
            words = (
                f"could cost {dollars(projected)} for its next call, and {dollars(ledger.remaining)} of "
                f"{dollars(ledger.limit)} is left"
            )
            others = self._providers[self._at + 1 :]
            if not self._planner_follows and all(self._is_too_dear(other, request) for other in others):
                return f"{self.provider} {words}."
            if not await self.give_up(words):
                break
        return ""

    def _is_too_dear(self, provider: Provider, request: LlmRequest) -> bool:
        return not self.ledger.affords(self._projection(provider, request)[0])

    async def _ask(self, provider: Provider, request: LlmRequest) -> LlmResponse | ModelError:
        """Return a usable answer, or the fault that remains after the last repetition."""
        fault = ModelError("gave no answer", passing=True)
        attempt, lapses = 0, 0
        while attempt <= self._patience.retries:
            if attempt:
                await asyncio.sleep(self._patience.first_delay_s * 2 ** (attempt - 1))
            projected, tokens = self._projection(provider, request)
            if (quota := self.input_quota) and tokens.total > quota:
                return ModelError(f"reads {quota} tokens at most", passing=False)
            if not self.ledger.affords(projected):
                return ModelError(f"{fault.words} and another try would pass the cost limit", passing=False)
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
    ) -> LlmResponse | ModelError:
        provider.memory.in_use = True
        await self._write(provider, request, tokens)
        attempt = attempt_of(
            request,
            provider.llm.model,
            forced=provider.name not in self._unforced,
            local=not provider.price.charges,
        )
        provider.memory.shorten(attempt, request)
        most = self.ledger.expected(provider.name, tokens.total, _limit(request))
        try:
            response = await answer_of(provider.llm, attempt, self._patience)
        except Exception as error:
            _log.debug("%s failed", provider.name, exc_info=True)
            if may_be_billed(error):
                # Nobody tells what an unanswered call is billed; a limit that holds counts the most.
                self.ledger.book(provider.name, provider.price, most, 0)
            if provider.name not in self._unforced and refuses_forced_calls(error):
                self._unforced.add(provider.name)
                return explain(error)._replace(lapsed=True)
            return explain(error)._replace(lapsed=provider.memory.has_lapsed(error))
        if response is None:
            return ModelError("gave no answer", passing=True)
        usage = self._book(provider, response, tokens, most)
        answer = read_reply(response, request)
        if isinstance(answer, LlmResponse):
            answer.usage_metadata = metadata_of(usage)
        provider.memory.learn_from(request, response, usable=isinstance(answer, LlmResponse))
        if tokens.total:
            self._scale.said(provider.name, request)
            if usage.input and (usage.cached or provider.price.charges):
                provider.memory.see(tokens.repeated, usage.cached)
            self._remembers = provider.memory.remembers
        return answer

    async def _write(self, provider: Provider, request: LlmRequest, tokens: RequestTokens) -> None:
        """Give the provider what it can remember, where that pays and the limit has room for it."""
        memory, ledger, price = provider.memory, self.ledger, provider.price
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
            written = CachedTokens(most, most, memory.lifetime_s)
        if written is not None:
            ledger.book_writing(price, written)

    def _book(
        self, provider: Provider, response: LlmResponse, tokens: RequestTokens, most: TokenUsage
    ) -> TokenUsage:
        """Book what the provider tells; where that is nothing, or can't be true, our own count."""
        ledger, received = self.ledger, count_received(response)
        message, charges = usage_of(response), provider.price.charges
        if message is not None and not is_plausible(message, most, received):
            self._note(
                f"{provider.name} reported a token use that can't be true; the product's own count is used."
            )
            message = None
        elif charges and (message is None or (received and not message.output + message.thinking)):
            self._note(f"{provider.name} reports no token use; the product's own count is used.")
        usage = message or TokenUsage(input=most.input if charges else 0, calls=1)
        if charges and not usage.output + usage.thinking:
            # Another tokenizer may count more; what a model thought and did not say nobody can count.
            usage = usage._replace(output=int(received * FIRST_MARGIN))
        ledger.book(provider.name, provider.price, usage, tokens.total if message else 0)
        if tokens.total:
            output = usage.output + usage.thinking
            ledger.account = ledger.account.after_call(tokens, usage.input, usage.cached, output)
        return usage

    def _note(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _projection(self, provider: Provider, request: LlmRequest) -> tuple[Decimal, RequestTokens]:
        tokens = self._scale.weigh(provider.name, request, self.delta)
        cached = provider.memory.held(request)
        ledger = self.ledger
        cost = ledger.projected(provider.name, provider.price, tokens.total, _limit(request), cached)
        return cost, tokens


def _limit(request: LlmRequest) -> int:
    return request.config.max_output_tokens or 0


MAX_SESSIONS = 64
"""Sessions that are kept between steps; those used least lately are let go first."""


class SessionManager:
    """Creates, finds and destroys the sessions of tasks."""

    def __init__(
        self, settings: NavigatorSettings, prices: PriceTable, handed_in: Mapping[str, BaseLlm]
    ) -> None:
        self._settings = settings
        self._prices = prices
        self._handed_in = handed_in
        self._sessions: OrderedDict[str, HybridSession] = OrderedDict()

    async def session_of(self, navigation: Navigation, is_used: Callable[[str], bool]) -> HybridSession:
        """Return the session of a navigation, if need be a new one with the models that it names.

        Where there are too many, others are destroyed, but for those that ``is_used`` spares.
        """
        navigation_id = navigation.run.navigation_id
        session = self._sessions.pop(navigation_id, None) or self._created(navigation)
        self._sessions[navigation_id] = session
        for each in [*self._sessions][: max(len(self._sessions) - MAX_SESSIONS, 0)]:
            if not is_used(each):
                await self.destroy(each)
        return session

    def _created(self, navigation: Navigation) -> HybridSession:
        settings, run = self._settings, navigation.run
        providers, planner_follows = providers_of(run.model, settings, self._prices, self._handed_in)
        limit = navigation.state.budget_config.max_spend_usd
        ledger = Ledger(limit, run.spent, run.usage, run.account)
        timeouts = RetryPolicy(
            settings.call_timeout_s, settings.retries, settings.retry_delay_s, settings.stream
        )
        return HybridSession(run.navigation_id, ledger, providers, timeouts, planner_follows=planner_follows)

    def find(self, navigation_id: str) -> HybridSession | None:
        """Return the session of a navigation that takes its steps here."""
        return self._sessions.get(navigation_id)

    async def rest(self, navigation_id: str) -> None:
        """Let the providers forget a task that has ended; a later step begins anew."""
        if session := self.find(navigation_id):
            await session.rest()

    async def destroy(self, navigation_id: str) -> None:
        """Let go of a navigation's session and of what is kept for it; a later step makes a new one."""
        if session := self._sessions.pop(navigation_id, None):
            await session.destroy()

    async def aclose(self) -> None:
        """Destroy all sessions."""
        for navigation_id in list(self._sessions):
            await self.destroy(navigation_id)
