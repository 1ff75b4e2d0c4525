"""The providers of models, and what a model's name stands for; imports no provider's library."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Literal
from urllib.parse import urlsplit

from navigator.errors import InvalidArgumentError, UnknownModelError
from navigator.loopback import is_loopback
from navigator.models.sampling import HOST
from navigator.settings import NavigatorSettings
from navigator.state.labels import EMBEDDED
from navigator.state.pricing import FREE, ModelPrice, load_prices
from repo_map.messages import install_command, is_printable, one_line

_MAX_NAME_CHARS = 80


@dataclass(frozen=True)
class Provider:
    """A service or server that runs models."""

    name: str
    """As in the setting of its base URL."""
    prefix: str
    api: Literal["gemini", "openai"] = "openai"
    key_variables: tuple[str, ...] = ()
    other_access: tuple[str, ...] = ()
    """Environment variables that give access without a key."""
    package: str = ""
    """The package to install, which is also the name of the extra; empty for none."""
    url: str | None = None
    """Base URL, where it is not the default of the client library."""
    is_free: bool = False
    """Whether its models run on the user's own machine."""
    is_free_locally: bool = False
    """Whether a base URL on this machine needs no key and no price."""

    def base_url(self, urls: Mapping[str, str]) -> str | None:
        return urls.get(self.name, self.url)

    def is_local(self, urls: Mapping[str, str]) -> bool:
        """Return True if a server on this machine stands in for the provider."""
        url = self.base_url(urls)
        return self.is_free_locally and is_loopback((urlsplit(url).hostname or "") if url else "")

    def missing_key(self, urls: Mapping[str, str], environ: Mapping[str, str]) -> str:
        """Return the variable that lacks the key; empty if none is needed or it is set."""
        if not self.key_variables or self.is_local(urls):
            return ""
        variables = (*self.key_variables, *self.other_access)
        return "" if any(environ.get(name) for name in variables) else self.key_variables[0]

    def malformed_key(self, environ: Mapping[str, str]) -> str:
        """Return the variable whose key does not fit into a header; a later error would quote the key."""
        for variable in self.key_variables:
            key = environ.get(variable, "").strip()
            if key and not (key.isascii() and key.isprintable() and " " not in key):
                return variable
        return ""

    def require_package(self, model: str) -> None:
        """Raise ``UnknownModelError`` if the package that runs ``model`` is not installed."""
        if self.package and find_spec(self.package) is None:
            raise UnknownModelError(
                f"`{model}` needs the package `{self.package}`; install it with "
                f"`{install_command(self.package)}`, or use `{EMBEDDED}`.",
                code="package_missing",
            )


GEMINI: Final = Provider(
    "gemini",
    "gemini-",
    "gemini",
    key_variables=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    other_access=("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT"),
)
OLLAMA: Final = Provider("ollama", "ollama/", package="openai", url="http://localhost:11434/v1", is_free=True)
OPENAI: Final = Provider(
    "openai", "openai/", key_variables=("OPENAI_API_KEY",), package="openai", is_free_locally=True
)
PROVIDERS: Final = (GEMINI, OLLAMA, OPENAI)

_NAMES: Final = [f"`{EMBEDDED}`", *(f"`{provider.prefix}…`" for provider in PROVIDERS)]
_CHOICES: Final = f"{', '.join(_NAMES[:-1])} or {_NAMES[-1]}"


def provider_of(model: str) -> Provider | None:
    """Return the provider of a model; None if no provider has its prefix."""
    return next((each for each in PROVIDERS if model.startswith(each.prefix) and model != each.prefix), None)


def further_models(models: Iterable[str], sample: object) -> frozenset[str]:
    """Return the names of models beside those of the catalogue."""
    return frozenset((*models, *([HOST] if sample else [])))


def price_of(name: str, settings: NavigatorSettings, custom: Container[str] = ()) -> ModelPrice:
    """Return the price of a model; free if it runs on this machine or is among the ``custom`` models.

    Raises:
        UnknownModelError: no provider has a model of that name.
        UnpricedModelError: it costs money and has no known price.
    """
    if name == EMBEDDED:
        return FREE
    prices = load_prices(settings.prices)
    if name in custom:
        return prices.models.get(name, FREE)
    is_valid = len(name) <= _MAX_NAME_CHARS and is_printable(name) and " " not in name and ".." not in name
    provider = provider_of(name) if is_valid else None
    if provider is not None and provider.is_free:
        return FREE
    if provider is None:
        raise UnknownModelError(
            f"No model is called `{one_line(name)[:_MAX_NAME_CHARS]}`; choose {_CHOICES}."
        )
    if provider.is_local(settings.model_urls):
        return prices.models.get(name, FREE)
    return prices.price_of(name)


def require_models(
    model: str,
    settings: NavigatorSettings,
    custom: Container[str] = (),
    environ: Mapping[str, str] | None = None,
) -> None:
    """Raise ``InvalidRequestError`` for a task's model, or the fallback, that can't be used.

    The key of a model that a call names must be in ``environ``. A model of the settings is checked without
    one: the fallback takes over.
    """
    if settings.prices is not None:
        load_prices(settings.prices)
    for name in (model, settings.fallback_model):
        if name in ("", EMBEDDED):
            continue
        price_of(name, settings, custom)
        provider = None if name in custom else provider_of(name)
        if provider is not None:
            provider.require_package(name)
    provider = None if model in custom or environ is None else provider_of(model)
    if provider is not None and (variable := provider.missing_key(settings.model_urls, environ or {})):
        raise InvalidArgumentError(
            "model",
            "out: the embedded planner needs none.",
            f"`{model}` can't be used because its key is missing; set {variable}, or leave ",
            code="model_key_missing",
        )
