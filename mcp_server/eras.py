"""The eras of the protocol: which one a call is of, and what can be done in it."""

from __future__ import annotations

from typing import Any, Final

from mcp.server.mcpserver import Context

MODERN: Final = "2026-07-28"
"""The revision that the modern era begins with; revisions are dates, and compare as text."""


def can_ask(ctx: Context[Any, Any]) -> bool:
    """Return whether the host can be asked during this call: by a second round, or over a way back."""
    return (ctx.protocol_version or "") >= MODERN or ctx.session.can_send_request
