"""The model that works on a task: a real one by its name, or the scripted mind on loopback."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from google.adk.models import BaseLlm, Gemini
from google.genai.types import HttpRetryOptions

from navigator.models.vendors import GEMINI, OPENAI

SCRIPTED = "scripted"
"""Stands for the loopback server with the scripted mind."""
SCRIPTED_NAME = "gemini-2.0-flash"
"""What the loopback server is called by, and priced as."""
_RETRIES = HttpRetryOptions(attempts=4, initial_delay=1.0)
"""A busy service is no fault of the variant that met it."""
_PUBLIC_URL = "https://generativelanguage.googleapis.com"
_OPENAI: Final = "openai/"
"""Begins the name of a model that answers chat completions."""
OPENAI_URL: Final = "REPO_NAVIGATOR_OPENAI_URL"
"""The variable that says where such a model answers, if not at OpenAI."""
_PUBLIC_OPENAI_URL: Final = "https://api.openai.com/v1"
_LONGEST_ANSWER: Final = 1_500
"""Tokens: a weak model may write on without end, and edits of a task's files take a few hundred."""
_ANSWER_S: Final = 3_600.0
"""A small model on a busy machine may take so long for one answer; a run has a limit of its own."""


class MissingKeyError(Exception):
    """A real model was named, and there is no key for it."""


class Endpoint(NamedTuple):
    """Where a model answers, and the key for it."""

    model: str
    url: str
    key: str

    def llm(self) -> BaseLlm:
        """Return the client, as ADK wants it."""
        if not speaks_gemini(self.model):
            return self._openai()
        return Gemini(
            model=self.model, base_url=self.url, client_kwargs={"api_key": self.key}, retry_options=_RETRIES
        )

    def _openai(self) -> BaseLlm:
        from google.adk.integrations.openai import OpenAILlm  # noqa: PLC0415 - only for a model that is named
        from openai import AsyncOpenAI  # noqa: PLC0415 - an extra that may be missing

        client = AsyncOpenAI(
            base_url=self.url, api_key=self.key, max_retries=_RETRIES.attempts or 0, timeout=_ANSWER_S
        )
        return OpenAILlm(model=self.model.removeprefix(_OPENAI), client=client, max_tokens=_LONGEST_ANSWER)


def speaks_gemini(model: str) -> bool:
    """Say whether a model is asked over Gemini's wire: written agents and ``compare`` know no other."""
    return not model.startswith(_OPENAI)


def real_endpoint(model: str, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Return the endpoint of a model, with the user's key; a server on this machine needs none.

    Raises:
        MissingKeyError: the variable that holds the key is not set.
        UnknownModelError: the package that its client needs is missing.
    """
    if not speaks_gemini(model):
        OPENAI.require_package(model)
        url = environment.get(OPENAI_URL, _PUBLIC_OPENAI_URL)
        free = "none" if OPENAI.needs_no_key({OPENAI.name: url}) else ""
        return Endpoint(model, url, _key(model, OPENAI.keys, free, environment))
    key = _key(model, GEMINI.keys, "", environment)
    return Endpoint(model, environment.get("GOOGLE_GEMINI_BASE_URL", _PUBLIC_URL), key)


def _key(model: str, variables: tuple[str, ...], otherwise: str, environment: Mapping[str, str]) -> str:
    key = next((environment[name] for name in variables if environment.get(name)), otherwise)
    if not key:
        raise MissingKeyError(
            f"`{model}` needs a key: set {variables[0]}, or leave out --models to run with the scripted mind."
        )
    return key
