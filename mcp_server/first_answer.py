"""How large a first answer is: places for assistants that read files, source for those that can't."""

from __future__ import annotations

import re
from typing import Any, Final

from mcp.server.mcpserver import Context

from navigator.settings import FIRST_ANSWER, FIRST_ANSWER_ALONE

_READS_FILES: Final = re.compile(
    r"claude[- ]code|cursor|visual studio code|vscode|vs ?code|codex|gemini[- ]cli|copilot|windsurf|\bzed\b"
    r"|devin|cline|roo[- ]?code|continue|opencode|\bamp\b|goose|junie|jetbrains|kiro|aider",
    re.IGNORECASE,
)
_READS_NONE: Final = re.compile(r"claude-ai|claude desktop|chatgpt", re.IGNORECASE)


def first_answer_for(ctx: Context[Any, Any], *, is_elsewhere: bool) -> int:
    """Return the most tokens of an answer that names no number.

    Args:
        ctx: of the call.
        is_elsewhere: whether the repository is one that the server knows by name, on no disk of the caller's.
    """
    return FIRST_ANSWER if reads_files(ctx) and not is_elsewhere else FIRST_ANSWER_ALONE


def reads_files(ctx: Context[Any, Any]) -> bool:
    """Say whether the caller can read a repository's files: known hosts can; others where they started us."""
    params = ctx.session.client_params
    info = None if params is None else params.client_info
    name = "" if info is None else f"{info.name} {info.title or ''}"
    if _READS_FILES.search(name):
        return True
    is_remote = ctx.request_context.request is not None
    return not is_remote and _READS_NONE.search(name) is None
