"""The embedded planner as an ADK model: no network, no key, the same tools and state as any other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import PrivateAttr

from navigator.records.decisions import EMBEDDED
from navigator.steps.planner import Finalize, decide

if TYPE_CHECKING:
    from navigator.adk.active_navigation import ActiveNavigation

_NO_TOKENS = types.GenerateContentResponseUsageMetadata(
    prompt_token_count=0, candidates_token_count=0, total_token_count=0
)


class EmbeddedPlanner(BaseLlm):
    """Decides by policy over the index instead of by language."""

    _active: ActiveNavigation = PrivateAttr()

    def __init__(self, active: ActiveNavigation) -> None:
        super().__init__(model=EMBEDDED)
        self._active = active

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Yield one tool call, as any model would."""
        active = self._active
        view = await active.view(active.navigation.state.flight_plan)
        decision = await asyncio.to_thread(decide, active.navigation, active.workspace, view)
        if isinstance(decision, Finalize):
            call = types.Part.from_function_call(name="finalize_context", args={"summary": decision.summary})
        else:
            call = types.Part.from_function_call(
                name="update_flight_plan",
                args={"reasoning": decision.reasoning, "updates": dict(decision.updates)},
            )
        yield LlmResponse(content=types.Content(role="model", parts=[call]), usage_metadata=_NO_TOKENS)
