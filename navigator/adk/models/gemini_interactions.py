"""Gemini's Interactions API: the provider keeps the conversation, and each step says only what is new.

Every step goes on from the interaction that was told the base map, not from the step before it: what the
provider reads stays as short as the state, however many steps there were.
"""

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
from navigator.adk.requests import base_length, says_more, stable_texts, texts_of

LOST = frozenset({400, 403, 404})
"""How the service answers a call that goes on from an interaction it no longer has."""
CARRIED_OUT = {"status": "carried out; what follows is how things stand now"}
_log = logging.getLogger(__name__)


class _Root(NamedTuple):
    """The interaction that was told the stable part and the base map."""

    id: str
    key: tuple[str, ...]
    calls: tuple[types.FunctionCall, ...]
    """What the model called in it; an interaction that goes on from it has to answer them."""


class Interactions(Memory):
    """Interactions that branch off from the one that was told the base map."""

    def __init__(self, llm: Gemini) -> None:
        super().__init__(partial(close_client, llm))
        self._llm = llm
        self._root: _Root | None = None
        self._last = ""
        self._kept: list[str] = []

    def shorten(self, attempt: LlmRequest, request: LlmRequest) -> None:
        """Go on from an interaction that knows the beginning, where there is one."""
        root = self._root
        if self._last and says_more(request):
            # ADK sends on what came after the model's turn and leaves out the rest.
            attempt.previous_interaction_id = self._last
        elif root is not None and root.key == _key(request):
            attempt.previous_interaction_id = root.id
            attempt.contents = [*_answers(root.calls), *attempt.contents[base_length(request) :]]
        else:
            # An instruction holds for one interaction only; as a part of the conversation it is remembered.
            begin = types.Part(text=stable_texts(request)[0])
            attempt.contents = [types.Content(role="user", parts=[begin]), *attempt.contents]
        attempt.config.system_instruction = None

    def hear(self, request: LlmRequest, response: LlmResponse, *, usable: bool) -> None:
        """Remember the interaction, and go on from it where it was the first one told this base map."""
        if not (interaction := response.interaction_id):
            return
        self._kept.append(interaction)
        if not usable:
            return
        self._last = interaction
        if not says_more(request) and (self._root is None or self._root.key != _key(request)):
            self._root = _Root(interaction, _key(request), tuple(response.get_function_calls()))

    def lapsed(self, error: BaseException) -> bool:
        """Tell whether the provider may have lost the interactions; the next call starts a new one."""
        if self._root is None or status_of(error) not in LOST:
            return False
        self._root, self._last = None, ""
        return True

    async def forget(self) -> None:
        """Delete the interactions; those that can't be deleted end when the provider's own time is over."""
        kept, self._kept = self._kept, []
        self._root, self._last = None, ""
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
