"""What a model's name stands for; apart from the models themselves, so that a wrong name is told at once."""

from __future__ import annotations

from collections.abc import Container, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from navigator.errors import UnknownModelError
from navigator.pricing import FREE, ModelPrice, PriceTable
from navigator.settings import EMBEDDED, NavigatorSettings

CHOICES = "`embedded`, `gemini-…`, `ollama/…` or `openai/…`"

OPENAI_KEY = "OPENAI_API_KEY"
_GEMINI_VARIABLES = ("GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT")


def missing_key(name: str, settings: NavigatorSettings, environ: Mapping[str, str]) -> str:
    """Return the variable that lacks the model's key, empty where none is needed or it is there."""
    vendor = name.partition("/")[0]
    if name.startswith("gemini-") and not any(environ.get(variable) for variable in _GEMINI_VARIABLES):
        return _GEMINI_VARIABLES[0]
    if vendor == "openai" and not environ.get(OPENAI_KEY) and not is_here(settings.model_urls.get("openai")):
        return OPENAI_KEY
    return ""


def price_of(
    name: str, settings: NavigatorSettings, prices: PriceTable, handed_in: Container[str] = ()
) -> ModelPrice:
    """Return what calls of the model cost: nothing where somebody else pays or it runs on this machine.

    Raises:
        UnknownModelError: the name stands for nothing.
        UnpricedModelError: it costs money, and how much is unknown.
    """
    vendor, _, rest = name.partition("/")
    if name in handed_in:
        return prices.models.get(name, FREE)
    if name == EMBEDDED or (vendor == "ollama" and rest):
        return FREE
    if vendor == "openai" and rest and is_here(settings.model_urls.get("openai")):
        return prices.models.get(name, FREE)
    if (vendor == "openai" and rest) or name.startswith("gemini-"):
        return prices.price_of(name)
    raise UnknownModelError(f"No model is called `{name[:80]}`; choose {CHOICES}.")


def is_here(url: str | None) -> bool:
    """Tell whether a server is on this machine, so that nobody charges for it."""
    host = (urlsplit(url).hostname or "") if url else ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
