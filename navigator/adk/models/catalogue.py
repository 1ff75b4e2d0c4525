"""Model names and what they stand for."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from navigator.adk.faults import UnusableError
from navigator.adk.models.embedded import EmbeddedPlanner
from navigator.adk.models.gemini_cache import ExplicitCache
from navigator.adk.models.gemini_client import close_client
from navigator.adk.models.gemini_interactions import Interactions
from navigator.adk.models.memory import Memory
from navigator.adk.models.providers import Provider
from navigator.model_names import OPENAI_KEY, is_here, missing_key, price_of, require_package
from navigator.pricing import ModelPrice, PriceTable
from navigator.settings import EMBEDDED, NavigatorSettings

if TYPE_CHECKING:
    from navigator.adk.flight import Flight

OLLAMA_URL = "http://localhost:11434/v1"


def providers_of(
    flight: Flight, settings: NavigatorSettings, prices: PriceTable, handed_in: Mapping[str, BaseLlm]
) -> tuple[Provider, ...]:
    """Return the providers to try in order: the task's model, the settings' fallbacks, the embedded planner.

    Raises:
        UnknownModelError: a name stands for nothing.
        UnpricedModelError: a model that costs money has no price.
    """
    names = [
        flight.navigation.run.model,
        *settings.fallback_models,
        *([EMBEDDED] if settings.embedded_fallback else []),
    ]
    return tuple(
        _provider(name, flight, settings, price_of(name, settings, prices, handed_in), handed_in)
        for name in dict.fromkeys(names)
    )


def _provider(
    name: str,
    flight: Flight,
    settings: NavigatorSettings,
    price: ModelPrice,
    handed_in: Mapping[str, BaseLlm],
) -> Provider:
    if name in handed_in:
        return Provider(name, handed_in[name], price, Memory())
    vendor, _, rest = name.partition("/")
    if name == EMBEDDED:
        return Provider(name, EmbeddedPlanner(flight), price, Memory())
    if vendor == "ollama":
        return _openai(name, rest, settings.model_urls.get("ollama", OLLAMA_URL), "ollama", price)
    if vendor == "openai":
        url = settings.model_urls.get("openai")
        key = os.environ.get(OPENAI_KEY) or ("none" if is_here(url) else None)
        return _openai(name, rest, url, key, price)
    return _gemini(name, settings, price)


class _Unavailable(BaseLlm):
    """Stands for a model that can't be set up, so that the session may turn to the next one."""

    why: str

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Fail with the reason."""
        raise UnusableError(self.why)
        yield  # type: ignore[unreachable]  # makes this a generator


def _gemini(name: str, settings: NavigatorSettings, price: ModelPrice) -> Provider:
    # The client reads its key itself; built without one, it leaves a broken task behind.
    if variable := missing_key(name, settings, os.environ):
        return Provider(name, _Unavailable(model=name, why=f"has no key: set {variable}"), price, Memory())
    from google.adk.models import Gemini  # noqa: PLC0415
    from google.genai.types import HttpRetryOptions  # noqa: PLC0415

    by_interactions = settings.gemini_memory == "interactions"
    llm = Gemini(
        model=name,
        base_url=settings.model_urls.get("gemini"),
        use_interactions_api=by_interactions,
        # Repetitions are the session's, within the cost limit. One attempt is one repetition to the client of
        # interactions, which therefore gets a status to repeat that no server sends.
        retry_options=HttpRetryOptions(attempts=1, http_status_codes=[599] if by_interactions else None),
    )
    if by_interactions:
        return Provider(name, llm, price, Interactions(llm))
    if settings.gemini_memory == "cache" and price.rewards_memory:
        return Provider(name, llm, price, ExplicitCache(llm, settings.memory_s))
    return Provider(name, llm, price, Memory(partial(close_client, llm)))


def _openai(name: str, model: str, url: str | None, key: str | None, price: ModelPrice) -> Provider:
    require_package(name)
    if key is None:
        return Provider(name, _Unavailable(model=name, why=f"has no key: set {OPENAI_KEY}"), price, Memory())
    from google.adk.integrations.openai import OpenAILlm  # noqa: PLC0415
    from openai import AsyncOpenAI  # noqa: PLC0415

    client = AsyncOpenAI(base_url=url, api_key=key, max_retries=0)
    return Provider(name, OpenAILlm(model=model, client=client), price, Memory(client.close))
