"""Gemini's explicit cache: role, rules, tools, goal and the base map travel once and are then named."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from time import monotonic

from google.adk.models import Gemini
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from navigator.adk.faults import status_of
from navigator.adk.models.gemini_client import close_client
from navigator.adk.models.memory import Memory
from navigator.adk.requests import base_length, stable_texts, texts_of
from navigator.pricing import Written

LEAST_TOKENS = 2_048
"""No Gemini model caches less; where one asks for more, it says so and is not asked again."""
LOST = frozenset({400, 403, 404})
"""How the service answers a call that names a cache it no longer has."""
_log = logging.getLogger(__name__)
_Key = tuple[str, ...]


class ExplicitCache(Memory):
    """One cache at a time, made anew when the base map changes or the cache's time is over."""

    appends = False

    def __init__(self, llm: Gemini, lifetime_s: float, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(partial(close_client, llm))
        self.lifetime_s = lifetime_s
        self._llm = llm
        self._clock = clock
        self._name = ""
        self._key: _Key = ()
        self._tokens = 0
        self._ends = 0.0
        self._refused: _Key = ()

    def wants(self, request: LlmRequest, tokens: int) -> bool:
        """Tell whether the beginning is worth caching and is not cached yet, or not for much longer."""
        key = _key(request)
        if self._serves(key):
            return self._ends - self._clock() < self.lifetime_s / 2
        return tokens >= LEAST_TOKENS and base_length(request) > 0 and key != self._refused

    async def write(self, request: LlmRequest, most: int) -> Written | None:
        """Cache the beginning of ``request``, or keep its cache on; a refusal is not asked for twice."""
        key, begins = _key(request), self._clock()
        try:
            if self._serves(key):
                config = types.UpdateCachedContentConfig(ttl=self._ttl)
                await self._llm.api_client.aio.caches.update(name=self._name, config=config)
                longer, self._ends = begins + self.lifetime_s - self._ends, begins + self.lifetime_s
                return Written(0, self._tokens, longer)
            await self.forget()
            self._refused = key
            cached = await self._create(request)
        except Exception:
            # Whatever is wrong, the call itself can do without a cache, and tells of faults that last.
            _log.debug("%s made no cache", self._llm.model, exc_info=True)
            return None
        usage, self._refused = cached.usage_metadata, ()
        self._name, self._key, self._ends = cached.name or "", key, begins + self.lifetime_s
        self._tokens = (usage.total_token_count or 0) if usage else 0
        sent = self._tokens or most
        return Written(sent, sent, self.lifetime_s)

    def held(self, request: LlmRequest) -> int:
        """Return the tokens of the cache that serves ``request``."""
        return self._tokens if self._serves(_key(request)) else 0

    def shorten(self, attempt: LlmRequest, request: LlmRequest) -> None:
        """Name the cache in place of what it holds."""
        if not self._serves(_key(request)):
            return
        attempt.config.system_instruction = None
        attempt.config.tools = None
        attempt.config.cached_content = self._name
        attempt.contents = attempt.contents[base_length(request) :]

    def lapsed(self, error: BaseException) -> bool:
        """Tell whether the cache was named and may be gone."""
        if not self._name or status_of(error) not in LOST:
            return False
        self._name = ""
        return True

    async def forget(self) -> None:
        """Delete the cache; what can't be deleted ends by itself."""
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
