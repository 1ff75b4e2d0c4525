"""Gemini: client, explicit cache, interactions."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from functools import partial
from time import monotonic
from typing import Any, NamedTuple

from google.adk.models import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.agent.models.http import open_client, tls_context
from navigator.agent.models.model_errors import says_gone
from navigator.agent.models.provider_cache import ProviderCache
from navigator.agent.models.replies import SLACK, WIDE
from navigator.agent.models.requests import base_length, says_more, shared_length, stable_texts, texts_of
from navigator.planner.prompt import CachedPrefix
from navigator.state.pricing import CachedTokens


def open_gemini(model: str, url: str | None, *, interactions: bool = False) -> Gemini:
    """Return a model whose client, for every endpoint, is the one that is checked."""
    # Repetitions are the session's, within the cost limit. One attempt is one repetition to the client of
    # interactions, which therefore gets a status to repeat that no server sends.
    retries = types.HttpRetryOptions(attempts=1, http_status_codes=[599] if interactions else None)
    options = types.HttpOptions(
        httpx_async_client=open_client(),
        # Nothing asks without waiting; should anything ever do so, it follows no redirect either.
        client_args={"follow_redirects": False, "verify": tls_context()},
        async_client_args={"verify": tls_context(), "ssl": tls_context()},
    )
    return Gemini(
        model=model,
        base_url=url,
        use_interactions_api=interactions,
        retry_options=retries,
        client_kwargs={"http_options": options},
    )


async def close_client(llm: Gemini) -> None:
    """Close the connection, which the package leaves open to whoever made it."""
    client = llm.api_client
    await client.aio.aclose()
    client.close()
    if own := (llm.client_kwargs or {}).get("http_options"):
        await own.httpx_async_client.aclose()


LEAST_TOKENS = 2_048
"""No Gemini model caches less; where one asks for more, it says so and is not asked again."""
_NAME = re.compile(r"(?:[\w-]+/){1,7}[\w-]{1,200}")
"""It becomes a part of an address."""
_log = logging.getLogger(__name__)
_Key = tuple[str, ...]


class ExplicitCache(ProviderCache):
    """One cache at a time, made anew when the base map changes or the cache's time is over."""

    def __init__(self, llm: Gemini, lifetime_s: float, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(partial(close_client, llm))
        self.lifetime_s = lifetime_s
        self._llm = llm
        self._clock = clock
        self._name = ""
        self._key: _Key = ()
        self._tokens = 0
        self._ends = 0.0
        self._least = LEAST_TOKENS

    @property
    def remembers(self) -> CachedPrefix:
        """The base where there is a cache for it; before it was first asked for, hardly anything else is."""
        return CachedPrefix.BASE if self._name and self._clock() < self._ends else CachedPrefix.NOTHING

    def wants(self, request: LlmRequest, tokens: int) -> bool:
        """Tell whether the beginning is worth caching and is not cached yet, or not for much longer."""
        key = _key(request)
        if self._serves(key):
            return self._ends - self._clock() < self.lifetime_s / 2
        return tokens >= self._least and base_length(request) > 0

    async def write(self, request: LlmRequest, most: int) -> CachedTokens | None:
        """Cache the beginning of ``request``, or keep its cache on; a refusal is not asked for twice."""
        key, begins = _key(request), self._clock()
        try:
            if self._serves(key):
                config = types.UpdateCachedContentConfig(ttl=self._ttl)
                await self._llm.api_client.aio.caches.update(name=self._name, config=config)
                longer, self._ends = begins + self.lifetime_s - self._ends, begins + self.lifetime_s
                return CachedTokens(0, self._tokens, longer)
            await self.forget()
            # Where that is refused, it is asked for again only when there is far more to keep.
            least, self._least = self._least, 2 * max(self._least, most)
            cached = await self._create(request)
        except Exception:
            # Whatever is wrong, the call itself can do without a cache, and tells of faults that last.
            _log.debug("%s made no cache", self._llm.model, exc_info=True)
            return None
        name, usage = cached.name or "", cached.usage_metadata
        message = (usage.total_token_count or 0) if usage else 0
        self._tokens = message if 0 < message <= WIDE * most + SLACK else most
        if _NAME.fullmatch(name):
            self._least = least
            self._name, self._key, self._ends = name, key, begins + self.lifetime_s
        return CachedTokens(self._tokens, self._tokens, self.lifetime_s)

    def held(self, request: LlmRequest) -> int:
        """Return the tokens of the cache that serves ``request``."""
        return self._tokens if self._serves(_key(request)) else 0

    def shorten(self, attempt: LlmRequest, request: LlmRequest) -> None:
        """Name the cache in place of what it holds."""
        if not self._serves(_key(request)):
            return
        attempt.config.system_instruction = None
        attempt.config.tools = None
        attempt.config.tool_config = None
        attempt.config.cached_content = self._name
        attempt.contents = attempt.contents[base_length(request) :]

    def has_lapsed(self, error: BaseException) -> bool:
        """Tell whether the cache was named and may be gone."""
        if not self._name or not says_gone(error, "cache"):
            return False
        self._name = ""
        return True

    async def _delete(self) -> None:
        name, self._name = self._name, ""
        if not name:
            return
        try:
            await self._llm.api_client.aio.caches.delete(name=name)
        except Exception:
            _log.debug("%s was not deleted", name, exc_info=True)

    async def _create(self, request: LlmRequest) -> types.CachedContent:
        config = request.config
        return await self._llm.api_client.aio.caches.create(
            model=self._llm.model,
            config=types.CreateCachedContentConfig(
                system_instruction=config.system_instruction,
                tools=[tool for tool in config.tools or [] if isinstance(tool, types.Tool)],
                tool_config=config.tool_config,
                contents=list(request.contents[: base_length(request)]),
                ttl=self._ttl,
            ),
        )

    @property
    def _ttl(self) -> str:
        return f"{self.lifetime_s:.0f}s"

    def _serves(self, key: _Key) -> bool:
        return bool(self._name) and key == self._key and self._clock() < self._ends


def _key(request: LlmRequest) -> _Key:
    return (*stable_texts(request), *texts_of(request.contents[: base_length(request)]))


_ID = re.compile(r"(?!\.)[\w.-]{1,500}")
"""It becomes a part of an address."""
CARRIED_OUT = {"status": "carried out; what follows is how things stand now"}


class _LatestInteraction(NamedTuple):
    """The latest interaction that counts."""

    id: str
    key: tuple[str, ...]
    """The stable part and the map that it knows whole."""
    contents: tuple[str, ...]
    """What it was told, content by content."""
    calls: tuple[types.FunctionCall, ...]
    """What the model called in it; the interaction that goes on from it has to answer them."""


class Interactions(ProviderCache):
    """One conversation, begun anew when the map is told whole again: so it stays as short as the state."""

    def __init__(self, llm: Gemini) -> None:
        super().__init__(partial(close_client, llm))
        self._llm = llm
        self._last: _LatestInteraction | None = None
        self._kept: list[str] = []

    @property
    def remembers(self) -> CachedPrefix:
        """The whole conversation."""
        return CachedPrefix.ALL

    def shorten(self, attempt: LlmRequest, request: LlmRequest) -> None:
        """Go on from the latest interaction where it knows the beginning."""
        self._forbid_continuation()
        last = self._last
        if last is None or last.key != _key(request):
            # An instruction holds for one interaction only; as a part of the conversation it is remembered.
            begin = types.Part(text=stable_texts(request)[0])
            attempt.contents = [types.Content(role="user", parts=[begin]), *attempt.contents]
        else:
            attempt.previous_interaction_id = last.id
            # Within a step, ADK sends on what came after the model's turn and leaves out the rest.
            if not says_more(request):
                known = shared_length(last.contents, _contents(request))
                attempt.contents = [*_answers(last.calls), *attempt.contents[known:]]
        attempt.config.system_instruction = None

    def learn_from(self, request: LlmRequest, response: LlmResponse, *, usable: bool) -> None:
        """Remember the interaction, and go on from it where its answer was of use."""
        interaction = response.interaction_id
        if not interaction or not _ID.fullmatch(interaction):
            return
        self._kept.append(interaction)
        if usable:
            calls = tuple(
                types.FunctionCall(id=call.id, name=call.name) for call in response.get_function_calls()
            )
            self._last = _LatestInteraction(interaction, _key(request), _contents(request), calls)

    def has_lapsed(self, error: BaseException) -> bool:
        """Tell whether the provider may have lost the interactions; the next call starts a new one."""
        if self._last is None or not says_gone(error, "interaction"):
            return False
        self._last = None
        return True

    def _forbid_continuation(self) -> None:
        """Have the package make one call at a time: it would go on by itself, past every limit."""
        interactions: Any = self._llm.api_client.aio.interactions
        if not isinstance(interactions.create, partial):
            interactions.create = partial(interactions.create, automatic_continuation=False)

    async def _delete(self) -> None:
        kept, self._kept = self._kept, []
        self._last = None
        for interaction in kept:
            try:
                await self._llm.api_client.aio.interactions.delete(interaction)
            except Exception:
                _log.debug("%s was not deleted", interaction, exc_info=True)


def _answers(calls: tuple[types.FunctionCall, ...]) -> list[types.Content]:
    parts = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=CARRIED_OUT))
        for call in calls
    ]
    return [types.Content(role="user", parts=parts)] if parts else []


def _contents(request: LlmRequest) -> tuple[str, ...]:
    return tuple("\n".join(texts_of([content])) for content in request.contents)
