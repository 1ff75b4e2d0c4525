"""The plugin that lays the map out in a model's request: what stays the same first, then what has changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.adk.agents.callback_context import CallbackContext
from google.adk.models.cache_metadata import CacheMetadata
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from navigator.instructions import base_part, changes_part
from navigator.settings import EMBEDDED

if TYPE_CHECKING:
    from navigator.adk.flight import Flight


class LayoutPlugin(BasePlugin):
    """Puts the map that is told whole at the beginning of the contents, and what has changed since behind it.

    The map stays outside the instruction, which a model obeys: it is a repository's text.
    """

    def __init__(self, flight: Flight) -> None:
        super().__init__(name="layout")
        self._flight = flight

    async def before_model_callback(
        self, *, callback_context: CallbackContext, llm_request: LlmRequest
    ) -> LlmResponse | None:
        """Lay out the request; the embedded planner sees the map itself."""
        told = self._flight.frame
        if self._flight.pilot == EMBEDDED or told is None:
            return None
        texts = [base_part(told), *map(changes_part, told.changes)]
        llm_request.contents[:0] = map(_said, texts)
        llm_request.cache_metadata = CacheMetadata(fingerprint=f"step {told.keyframe.step}", contents_count=1)
        return None


def _said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])
