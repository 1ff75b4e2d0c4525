"""The model that works on a task: a real one by its name, or the scripted mind on loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from google.adk.models import BaseLlm, Gemini
from google.genai.types import HttpRetryOptions

SCRIPTED = "scripted"
"""Stands for the loopback server with the scripted mind."""
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
    """Return the endpoint of a Gemini model, with the user's key.

    Raises:
        MissingKeyError: neither GOOGLE_API_KEY nor GEMINI_API_KEY is set.
    """
    key = environment.get("GOOGLE_API_KEY") or environment.get("GEMINI_API_KEY")
    if not key:
        raise MissingKeyError(
            f"`{model}` needs a key: set GOOGLE_API_KEY, or leave out --models to run with the scripted mind."
        )
    return Endpoint(model, environment.get("GOOGLE_GEMINI_BASE_URL", _PUBLIC_URL), key)
