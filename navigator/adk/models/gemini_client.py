"""The connection of a Gemini model, which opens on first use."""

from __future__ import annotations

from google.adk.models import Gemini


async def close_client(llm: Gemini) -> None:
    """Close the connection."""
    await llm.api_client.aio.aclose()
