"""The vendors of models, one record each: what their models are called, and what asking one takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final, Literal
from urllib.parse import urlsplit

from navigator.errors import UnknownModelError
from navigator.loopback import is_loopback


@dataclass(frozen=True)
class Vendor:
    """Who answers calls of models."""

    name: str
    """As settings name it, for its base URL."""
    prefix: str
    """What its models' names begin with."""
    wire: Literal["gemini", "openai"] = "openai"
    """How its models are spoken to; ``adk.models.catalogue`` opens one for each wire."""
    keys: tuple[str, ...] = ()
    """Environment variables that may hold its key, empty where it needs none."""
    other_access: tuple[str, ...] = ()
    """Environment variables that let in without a key of ours."""
    package: str = ""
    """What has to be installed, which is also the extra that brings it; ``""`` for nothing."""
    url: str | None = None
    """Base URL, where it is not the client's own."""
    is_free: bool = False
    """Whether its models run on the user's own machine."""
    is_free_here: bool = False
    """Whether a base URL on this machine needs no key, and costs nothing that no price file names."""

    def url_in(self, urls: Mapping[str, str]) -> str | None:
        """Return the base URL, as the settings have it."""
        return urls.get(self.name, self.url)

    def needs_no_key(self, urls: Mapping[str, str]) -> bool:
        """Tell whether a server on this machine stands in, so that nobody charges for it."""
        url = self.url_in(urls)
        return self.is_free_here and is_loopback((urlsplit(url).hostname or "") if url else "")

    def missing_key(self, urls: Mapping[str, str], environ: Mapping[str, str]) -> str:
        """Return the variable that lacks the key, empty where none is needed or it is there."""
        if not self.keys or self.needs_no_key(urls):
            return ""
        return "" if any(environ.get(each) for each in (*self.keys, *self.other_access)) else self.keys[0]

    def garbled_key(self, environ: Mapping[str, str]) -> str:
        """Return the variable whose key no header can carry: a later error would quote it."""
        for variable in self.keys:
            key = environ.get(variable, "").strip()
            if key and not (key.isascii() and key.isprintable() and " " not in key):
                return variable
        return ""

    def require_package(self, model: str) -> None:
        """Raise where the package that would run a model is not installed.

        Raises:
            UnknownModelError: it is not.
        """
        if self.package and find_spec(self.package) is None:
            raise UnknownModelError(
                f"`{model}` needs the package `{self.package}`; install it with "
                f"`pip install 'repo-navigator[{self.package}]'`, or use `embedded`.",
                code="package_missing",
            )


GEMINI: Final = Vendor(
    "gemini",
    "gemini-",
    "gemini",
    keys=("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    other_access=("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT"),
)
OLLAMA: Final = Vendor("ollama", "ollama/", package="openai", url="http://localhost:11434/v1", is_free=True)
OPENAI: Final = Vendor("openai", "openai/", keys=("OPENAI_API_KEY",), package="openai", is_free_here=True)
VENDORS: Final = (GEMINI, OLLAMA, OPENAI)


def vendor_of(model: str) -> Vendor | None:
    """Return who answers calls of a model, None where its name is nobody's."""
    return next((each for each in VENDORS if model.startswith(each.prefix) and model != each.prefix), None)
