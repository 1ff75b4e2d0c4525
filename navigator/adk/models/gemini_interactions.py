"""Gemini's Interactions API: the provider keeps the conversation, and each step says only what is new."""

from __future__ import annotations

import logging
from functools import partial
from typing import NamedTuple

from google.adk.models import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.adk.faults import status_of
from navigator.adk.models.gemini_client import close_client
from navigator.adk.models.memory import Memory
from navigator.adk.requests import base_length, says_more, shared_length, stable_texts, texts_of

LOST = frozenset({400, 403, 404})
"""How the service answers a call that goes on from an interaction it no longer has."""
CARRIED_OUT = {"status": "carried out; what follows is how things stand now"}
_log = logging.getLogger(__name__)


class _Last(NamedTuple):
    """The latest interaction that counts."""

    id: str
    key: tuple[str, ...]
    """The stable part and the map that it knows whole."""
    contents: tuple[str, ...]
    """What it was told, content by content."""
    calls: tuple[types.FunctionCall, ...]
    """What the model called in it; the interaction that goes on from it has to answer them."""


class Interactions(Memory):
    """One conversation, begun anew when the map is told whole again: so it stays as short as the state."""

    def __init__(self, llm: Gemini) -> None:
        super().__init__(partial(close_client, llm))
        self._llm = llm
        self._last: _Last | None = None
        self._kept: list[str] = []

    def shorten(self, attempt: LlmRequest, request: LlmRequest) -> None:
        """Go on from the latest interaction where it knows the beginning."""
        last = self._last
        if last is None or last.key != _key(request):
            # An instruction holds for one interaction only; as a part of the conversation it is remembered.
            begin = types.Part(text=stable_texts(request)[0])
            attempt.contents = [types.Content(role="user", parts=[begin]), *attempt.contents]
        else:
            attempt.previous_interaction_id = last.id
            # Within a step, ADK sends on what came after the model's turn and leaves out the rest.
            if not says_more(request):
                known = shared_length(last.contents, _contents(request))
                attempt.contents = [*_answers(last.calls), *attempt.contents[known:]]
        attempt.config.system_instruction = None

    def hear(self, request: LlmRequest, response: LlmResponse, *, usable: bool) -> None:
        """Remember the interaction, and go on from it where its answer was of use."""
        if not (interaction := response.interaction_id):
            return
        self._kept.append(interaction)
        if usable:
            calls = tuple(response.get_function_calls())
            self._last = _Last(interaction, _key(request), _contents(request), calls)

    def lapsed(self, error: BaseException) -> bool:
        """Tell whether the provider may have lost the interactions; the next call starts a new one."""
        if self._last is None or status_of(error) not in LOST:
            return False
        self._last = None
        return True

    async def forget(self) -> None:
        """Delete the interactions; those that can't be deleted end when the provider's own time is over."""
        kept, self._kept = self._kept, []
        self._last = None
        for interaction in kept:
            try:
                await self._llm.api_client.aio.interactions.delete(interaction)
            except Exception:
                _log.debug("%s was not deleted", interaction, exc_info=True)


def _answers(calls: tuple[types.FunctionCall, ...]) -> list[types.Content]:
    parts = [
        types.Part(function_response=types.FunctionResponse(id=call.id, name=call.name, response=CARRIED_OUT))
        for call in calls
    ]
    return [types.Content(role="user", parts=parts)] if parts else []


def _key(request: LlmRequest) -> tuple[str, ...]:
    return (*stable_texts(request), *texts_of(request.contents[: base_length(request)]))


def _contents(request: LlmRequest) -> tuple[str, ...]:
    return tuple("\n".join(texts_of([content])) for content in request.contents)
