"""Model names to ADK models."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial
from typing import Final, NamedTuple

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from navigator.agent.models.http import open_client
from navigator.agent.models.model_errors import UnusableError
from navigator.agent.models.provider_cache import ProviderCache
from navigator.models.model_names import price_of
from navigator.models.vendors import Vendor, vendor_of
from navigator.settings import NavigatorSettings
from navigator.state.labels import EMBEDDED
from navigator.state.pricing import ModelPrice, PriceTable


class Provider(NamedTuple):
    """A model by its name in the catalogue."""

    name: str
    llm: BaseLlm
    price: ModelPrice
    memory: ProviderCache


LONGEST = 5
"""Times the wait for a piece that a whole answer may take: one that drips would never end."""


class RetryPolicy(NamedTuple):
    """How long to try one provider before the next."""

    timeout_s: float | None
    """Longest wait for an answer, or for its next piece where it is streamed; None for no end."""
    retries: int
    first_delay_s: float
    """Before the first repetition; each further one waits twice as long."""
    stream: bool = False


async def answer_of(llm: BaseLlm, request: LlmRequest, timeouts: RetryPolicy) -> LlmResponse | None:
    """Return the last response to ``request``: it is the whole one, also where it was streamed.

    Raises:
        TimeoutError: it did not come in time.
    """
    last: LlmResponse | None = None
    now, wait = asyncio.get_running_loop().time, timeouts.timeout_s
    ends = now() + LONGEST * wait if wait is not None else None
    async with asyncio.timeout(wait) as limit:
        answers: AsyncGenerator[LlmResponse, None]
        answers = llm.generate_content_async(request, stream=timeouts.stream)
        async with aclosing(answers):
            async for response in answers:
                last = response
                if wait is not None and ends is not None:
                    limit.reschedule(min(now() + wait, ends))
    return last


def providers_of(
    model: str, settings: NavigatorSettings, prices: PriceTable, handed_in: Mapping[str, BaseLlm]
) -> tuple[tuple[Provider, ...], bool]:
    """Return the providers to try in order, and whether the planner follows them.

    Raises:
        UnknownModelError: a name stands for nothing.
        UnpricedModelError: a model that costs money has no price.
    """
    names = [model, *settings.fallback_models, *([EMBEDDED] if settings.embedded_fallback else [])]
    planner_follows = EMBEDDED in names
    # The planner always decides: what is named after it is never asked.
    models = names[: names.index(EMBEDDED)] if planner_follows else names
    return tuple(
        _provider(name, settings, price_of(name, settings, prices, handed_in), handed_in)
        for name in dict.fromkeys(models)
    ), planner_follows


def _provider(
    name: str, settings: NavigatorSettings, price: ModelPrice, handed_in: Mapping[str, BaseLlm]
) -> Provider:
    if name in handed_in:
        return Provider(name, handed_in[name], price, ProviderCache())
    vendor = vendor_of(name)
    assert vendor is not None, "a model without a price"
    vendor.require_package(name)
    if variable := vendor.missing_key(settings.model_urls, os.environ):
        return _unavailable(name, f"has no key: set {variable}", price)
    if variable := vendor.garbled_key(os.environ):
        return _unavailable(name, f"{GARBLED} {variable}", price)
    return _OPENERS[vendor.wire](name, vendor, settings, price)


class _Unavailable(BaseLlm):
    """Stands for a model that can't be set up, so that the session may turn to the next one."""

    why: str

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Fail with the reason."""
        raise UnusableError(self.why)
        yield  # type: ignore[unreachable]  # makes this a generator


GARBLED = "has an invalid key, which holds blanks or characters that no request can carry: correct"


def _unavailable(name: str, why: str, price: ModelPrice) -> Provider:
    return Provider(name, _Unavailable(model=name, why=why), price, ProviderCache())


def _gemini(name: str, vendor: Vendor, settings: NavigatorSettings, price: ModelPrice) -> Provider:
    from navigator.agent.models import gemini  # noqa: PLC0415 - only for a model that is named

    by_interactions = settings.gemini_memory == "interactions"
    llm = gemini.open_gemini(name, vendor.url_in(settings.model_urls), interactions=by_interactions)
    if by_interactions:
        return Provider(name, llm, price, gemini.Interactions(llm))
    if settings.gemini_memory == "cache" and price.rewards_memory:
        return Provider(name, llm, price, gemini.ExplicitCache(llm, settings.memory_s))
    return Provider(
        name,
        llm,
        price,
        ProviderCache(partial(gemini.close_client, llm), has_prefix_cache=price.rewards_repetition),
    )


def _openai(name: str, vendor: Vendor, settings: NavigatorSettings, price: ModelPrice) -> Provider:
    from google.adk.integrations.openai import OpenAILlm  # noqa: PLC0415 - only for a model that is named
    from openai import AsyncOpenAI  # noqa: PLC0415 - an extra that may be missing

    url, model = vendor.url_in(settings.model_urls), name.removeprefix(vendor.prefix)
    # The client wants a key also where the server asks for none.
    key = next(filter(None, map(os.environ.get, vendor.keys)), vendor.name)
    client = AsyncOpenAI(base_url=url, api_key=key.strip(), max_retries=0, http_client=open_client())
    # A server on this machine reads a beginning that it has just read the faster, and bills nothing.
    caches = price.rewards_repetition or not price.charges
    return Provider(
        name,
        OpenAILlm(model=model, client=client),
        price,
        ProviderCache(client.close, has_prefix_cache=caches),
    )


_OPENERS: Final[Mapping[str, Callable[[str, Vendor, NavigatorSettings, ModelPrice], Provider]]] = {
    "gemini": _gemini,
    "openai": _openai,
}
"""How a model is opened, by its wire; a client that is built without its key may leave a broken task."""
