"""What a model's name stands for; apart from the models themselves, so that a wrong name is told at once."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from importlib.util import find_spec
from urllib.parse import urlsplit

from navigator.errors import InvalidArgumentError, UnknownModelError
from navigator.loopback import is_loopback
from navigator.models.model_text import MOST_NAME, cleaned_name
from navigator.records.decisions import EMBEDDED
from navigator.records.pricing import FREE, ModelPrice, PriceTable, load_prices
from navigator.settings import NavigatorSettings
from repo_map.messages import is_printable

CHOICES = "`embedded`, `gemini-…`, `ollama/…` or `openai/…`"

OPENAI_KEY = "OPENAI_API_KEY"
GEMINI_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_GEMINI_VARIABLES = (*GEMINI_KEYS, "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT")


def missing_key(name: str, settings: NavigatorSettings, environ: Mapping[str, str]) -> str:
    """Return the variable that lacks the model's key, empty where none is needed or it is there."""
    vendor = name.partition("/")[0]
    if name.startswith("gemini-") and not any(environ.get(variable) for variable in _GEMINI_VARIABLES):
        return _GEMINI_VARIABLES[0]
    if vendor == "openai" and not environ.get(OPENAI_KEY) and not is_here(settings.model_urls.get("openai")):
        return OPENAI_KEY
    return ""


def garbled_key(variables: Iterable[str], environ: Mapping[str, str]) -> str:
    """Return the variable whose key no header can carry: the error that it raised later would quote it."""
    for variable in variables:
        key = environ.get(variable, "").strip()
        if key and not (key.isascii() and key.isprintable() and " " not in key):
            return variable
    return ""


def require_key(model: str, settings: NavigatorSettings, environ: Mapping[str, str]) -> None:
    """Refuse a model that a call names and that can't be asked; one of the settings gives way to the next.

    Raises:
        InvalidRequestError: its key is missing.
    """
    if variable := missing_key(model, settings, environ):
        raise InvalidArgumentError(
            "model",
            "out: the embedded planner needs none.",
            f"`{model}` can't be asked because its key is missing; set {variable}, or leave ",
        )


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
    if len(name) > MOST_NAME or not is_printable(name) or " " in name or ".." in name:
        raise UnknownModelError(f"No model is called `{cleaned_name(name)}`; choose {CHOICES}.")
    if name == EMBEDDED or (vendor == "ollama" and rest):
        return FREE
    if vendor == "openai" and rest and is_here(settings.model_urls.get("openai")):
        return prices.models.get(name, FREE)
    if (vendor == "openai" and rest) or name.startswith("gemini-"):
        return prices.price_of(name)
    raise UnknownModelError(f"No model is called `{name}`; choose {CHOICES}.")


def require_models(model: str, settings: NavigatorSettings, handed_in: Container[str] = ()) -> None:
    """Refuse a task's model, or one that would follow it, before anything takes time.

    Raises:
        UnknownModelError: a name stands for nothing, or its package is missing.
        UnpricedModelError: it costs money, and how much is unknown.
        InvalidRequestError: the user's price file can't be used.
    """
    names = [name for name in (model, *settings.fallback_models) if name != EMBEDDED]
    if not names and settings.prices is None:
        return
    prices = load_prices(settings.prices)
    for name in names:
        price_of(name, settings, prices, handed_in)
        if name not in handed_in:
            require_package(name)


def require_package(name: str) -> None:
    """Raise where the package that would run a model is not installed."""
    if name.partition("/")[0] in ("ollama", "openai") and find_spec("openai") is None:
        raise UnknownModelError(
            f"`{name}` needs the package `openai`; install it with `pip install 'repo-navigator[openai]'`, "
            "or use `embedded`."
        )


def is_here(url: str | None) -> bool:
    """Tell whether a server is on this machine, so that nobody charges for it."""
    return is_loopback((urlsplit(url).hostname or "") if url else "")
