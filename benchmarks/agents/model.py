"""The model that works on a task: Gemini by its name, or the scripted model on loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from google.adk.models import BaseLlm, Gemini
from google.genai.types import GenerateContentResponseUsageMetadata, HttpRetryOptions

from navigator.models.catalogue import GEMINI
from navigator.state.pricing import ModelPrice, load_prices
from navigator.state.usage import TokenUsage

SCRIPTED = "scripted"
"""Stands for the loopback server with the scripted model."""
SCRIPTED_NAME = "gemini-2.0-flash"
"""What the loopback server is called by, and priced as."""
_RETRIES = HttpRetryOptions(attempts=4, initial_delay=1.0)
"""A busy service is no fault of the variant that met it."""
_PUBLIC_URL = "https://generativelanguage.googleapis.com"


class MissingKeyError(Exception):
    """A real model was named, and there is no key for it."""


class Endpoint(NamedTuple):
    """Where a model answers, and the key for it."""

    model: str
    url: str
    key: str

    def llm(self) -> BaseLlm:
        """Return the client, as ADK wants it."""
        return Gemini(
            model=self.model, base_url=self.url, client_kwargs={"api_key": self.key}, retry_options=_RETRIES
        )


def real_endpoint(model: str, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Return the endpoint of a model, with the user's key.

    Raises:
        MissingKeyError: the variable that holds the key is not set.
    """
    key = next((environment[name] for name in GEMINI.key_variables if environment.get(name)), "")
    if not key:
        raise MissingKeyError(
            f"`{model}` needs a key: set {GEMINI.key_variables[0]}, or omit --models for the scripted one."
        )
    return Endpoint(model, environment.get("GOOGLE_GEMINI_BASE_URL", _PUBLIC_URL), key)


def price_of_model(model: str) -> ModelPrice:
    """Return the price of a model; the scripted one is priced as the model that it is called by.

    Raises:
        NavigatorError: it has no price.
    """
    own = os.environ.get("REPO_NAVIGATOR_PRICES")
    prices = load_prices(Path(own) if own else None)
    return prices.price_of(SCRIPTED_NAME if model == SCRIPTED else model)


def usage_of(metadata: GenerateContentResponseUsageMetadata | None) -> TokenUsage:
    """Return the tokens of one model call as the provider counted them."""
    if metadata is None:
        return TokenUsage(calls=1)
    return TokenUsage(
        input=metadata.prompt_token_count or 0,
        cached=metadata.cached_content_token_count or 0,
        output=metadata.candidates_token_count or 0,
        thinking=metadata.thoughts_token_count or 0,
        calls=1,
    )
