"""The loopback model server; the benchmark of agents runs on it as well, so it lives there."""

from benchmarks.agents.loopback import (
    Die,
    GeminiServer,
    Mind,
    Reply,
    Stall,
    call,
    fail,
    gemini,
    parts,
    say,
    text_of,
)

__all__ = [
    "Die",
    "GeminiServer",
    "Mind",
    "Reply",
    "Stall",
    "call",
    "fail",
    "gemini",
    "parts",
    "say",
    "text_of",
]
