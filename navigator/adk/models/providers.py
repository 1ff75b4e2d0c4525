"""A provider: a model, what it costs, and what it remembers between calls."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse

from navigator.adk.models.memory import Memory
from navigator.pricing import ModelPrice


class Provider(NamedTuple):
    """A model by its name in the catalogue."""

    name: str
    llm: BaseLlm
    price: ModelPrice
    memory: Memory


class Patience(NamedTuple):
    """How long to try one provider before the next."""

    timeout_s: float | None
    """Longest wait for an answer, or for its next piece where it is streamed; None for no end."""
    retries: int
    first_delay_s: float
    """Before the first repetition; each further one waits twice as long."""
    stream: bool = False


async def answer_of(llm: BaseLlm, request: LlmRequest, patience: Patience) -> LlmResponse | None:
    """Return the last response to ``request``: it is the whole one, also where it was streamed.

    Raises:
        TimeoutError: it did not come in time.
    """
    last: LlmResponse | None = None
    async with asyncio.timeout(patience.timeout_s) as limit:
        answers: AsyncGenerator[LlmResponse, None]
        answers = llm.generate_content_async(request, stream=patience.stream)
        async with aclosing(answers):
            async for response in answers:
                last = response
                if patience.timeout_s is not None:
                    limit.reschedule(asyncio.get_running_loop().time() + patience.timeout_s)
    return last
