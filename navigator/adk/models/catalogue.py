"""Model names and what they stand for."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from navigator.adk.models.embedded import EmbeddedPlanner
from navigator.adk.models.session import Provider
from navigator.errors import UnknownModelError
from navigator.pricing import FREE, ModelPrice, PriceTable
from navigator.settings import EMBEDDED, NavigatorSettings

if TYPE_CHECKING:
    from google.adk.models import BaseLlm

    from navigator.adk.flight import Flight

OLLAMA_URL = "http://localhost:11434/v1"
CHOICES = "`embedded`, `gemini-…`, `ollama/…` or `openai/…`"


def providers_of(
    model: str, flight: Flight, settings: NavigatorSettings, prices: PriceTable
) -> tuple[Provider, ...]:
    """Return the providers to try in order: ``model``, the settings' fallbacks, the embedded planner last.

    Raises:
        UnknownModelError: a name stands for nothing.
        UnpricedModelError: a model that costs money has no price.
    """
    names = [model, *settings.fallback_models, *([EMBEDDED] if settings.embedded_fallback else [])]
    return tuple(_provider(name, flight, settings, prices) for name in dict.fromkeys(names))


def price_of(name: str, settings: NavigatorSettings, prices: PriceTable) -> ModelPrice:
    """Return what calls of the model cost: nothing where it runs on the user's own machine.

    Raises:
        UnknownModelError: the name stands for nothing.
        UnpricedModelError: it costs money, and how much is unknown.
    """
    vendor, _, rest = name.partition("/")
    if name == EMBEDDED or (vendor == "ollama" and rest):
        return FREE
    if (vendor == "openai" and rest) or name.startswith("gemini-"):
        return prices.price_of(name)
    raise UnknownModelError(f"No model is called `{name[:80]}`; choose {CHOICES}.")


def _provider(name: str, flight: Flight, settings: NavigatorSettings, prices: PriceTable) -> Provider:
    price = price_of(name, settings, prices)
    vendor, _, rest = name.partition("/")
    if name == EMBEDDED:
        return Provider(name, EmbeddedPlanner(flight), price)
    if vendor == "ollama":
        return Provider(name, _openai(rest, settings.model_urls.get("ollama", OLLAMA_URL), "ollama"), price)
    if vendor == "openai":
        return Provider(name, _openai(rest, settings.model_urls.get("openai"), None), price)
    return Provider(name, _gemini(name, settings.model_urls.get("gemini")), price)


def _gemini(name: str, url: str | None) -> BaseLlm:
    from google.adk.models import Gemini  # noqa: PLC0415

    return Gemini(model=name, base_url=url)


def _openai(name: str, url: str | None, key: str | None) -> BaseLlm:
    if find_spec("openai") is None:
        raise UnknownModelError(
            f"`{name}` needs the package `openai`; install it with `pip install 'repo-navigator[openai]'`, "
            "or use `embedded`."
        )
    from google.adk.integrations.openai import OpenAILlm  # noqa: PLC0415

    return OpenAILlm(model=name, base_url=url, api_key=key)
