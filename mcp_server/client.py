"""What a client can do and is asked for: its files, its open folders, and the user's wish."""

from __future__ import annotations

import logging
import re
from typing import Any, Final, Literal

from mcp.server.mcpserver import Context, Elicit, ListRoots
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import CONNECTION_CLOSED, ListRootsRequest, ListRootsResult
from pydantic import BaseModel, Field

from mcp_server.navigations import AppContext
from mcp_server.report_text import clip
from mcp_server.repositories import Root, is_whole_path, path_of
from mcp_server.sdk_private import MODERN, can_ask
from navigator.settings import FIRST_ANSWER, FIRST_ANSWER_ALONE, StepAction
from navigator.state.labels import dollars
from repo_map.messages import plural

ROOTS_SECONDS: Final = 5.0
"""Most seconds that a client has to list its open folders."""
ToolAction = Literal[StepAction, "forget"]
_READS_FILES: Final = re.compile(
    r"claude[- ]code|cursor|visual studio code|vscode|vs ?code|codex|gemini[- ]cli|copilot|windsurf|\bzed\b"
    r"|devin|cline|roo[- ]?code|continue|opencode|\bamp\b|goose|junie|jetbrains|kiro|aider",
    re.IGNORECASE,
)
_READS_NONE: Final = re.compile(r"claude-ai|claude desktop|chatgpt", re.IGNORECASE)

logger: Final = logging.getLogger(__name__)


class Direction(BaseModel):
    """How an interactive navigation shall go on."""

    action: StepAction = Field(
        default="continue", description="continue: one more turn; finish: accept the context; cancel: give up"
    )
    feedback: str = Field(default="", description="Names to show; `drop X`; `callers of X`")


def first_answer_for(ctx: Context[Any, Any], *, is_elsewhere: bool) -> int:
    """Return the most tokens of an answer that names no number: source for clients that can't read files.

    A repository that is ``elsewhere`` is on no disk of the caller's.
    """
    name, is_remote = _client_name(ctx), ctx.request_context.request is not None
    # Known clients can read files, others if they started the server.
    reads_files = bool(_READS_FILES.search(name)) or not (is_remote or _READS_NONE.search(name))
    return FIRST_ANSWER if reads_files and not is_elsewhere else FIRST_ANSWER_ALONE


def is_assistant(ctx: Context[Any, Any]) -> bool:
    """Return True for a known assistant, whose model is to read the text of an answer.

    Of text and object most of them show their model the object alone, with every line end escaped, some the
    text alone, some both (``docs/architecture.md``).
    """
    name = _client_name(ctx)
    return bool(_READS_FILES.search(name) or _READS_NONE.search(name))


def _client_name(ctx: Context[Any, Any]) -> str:
    params = ctx.session.client_params
    info = None if params is None else params.client_info
    return "" if info is None else f"{info.name} {info.title or ''}"


async def ask_roots(
    ctx: Context[AppContext, Any], repo_path: str | list[str] | None
) -> ListRoots | ListRootsResult:
    """Ask for the client's open folders where no whole path is given, as a name may be that of a root.

    A client that refuses, or is silent for ``ROOTS_SECONDS``, has none.
    """
    capabilities = ctx.client_capabilities
    named = [repo_path] if isinstance(repo_path, str) else repo_path or ()
    if (
        (named and all(map(is_whole_path, named)))
        or capabilities is None
        or capabilities.roots is None
        or not can_ask(ctx)
    ):
        return ListRootsResult(roots=[])
    if (ctx.protocol_version or "") >= MODERN:
        return ListRoots()
    try:
        listed: ListRootsResult = await ctx.session.send_request(
            ListRootsRequest(),
            ListRootsResult,
            request_read_timeout_seconds=ROOTS_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
        )
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            raise
        logger.warning("The client lists no open folders, though it says that it has some: %s", error)
        return ListRootsResult(roots=[])
    return listed


async def ask_direction(
    ctx: Context[AppContext, Any],
    navigation_id: str | None,
    feedback: str | None,
    updates: dict[str, Any] | None,
    action: ToolAction | None,
    *,
    show: Any,
    drop: Any,
    ask: Any,
) -> Elicit[Direction] | Direction:
    """Ask the user how to go on where an interactive navigation is stepped in silence."""
    if action == "forget":
        return Direction()
    direction = Direction(action=action or "continue", feedback=feedback or "")
    capabilities = ctx.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    has_forms = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    is_steered = bool(feedback or show or drop or ask) or updates is not None
    if is_steered or direction.action != "continue" or not has_forms or not can_ask(ctx):
        return direction
    selected = await ctx.request_context.lifespan_context.navigations.resolve(navigation_id)
    report = await selected.navigator.report(selected.navigation_id, user=selected.user)
    if report.mode != "interactive":
        return direction
    files, size = plural(report.file_count, "file"), plural(report.map_size_tokens, "token")
    message = (
        f"Step {report.step_number}: {clip(report.reasoning, 300)} The map has {files} and {size}; "
        f"{dollars(report.total_cost)} spent. How should it continue?"
    )
    return Elicit(message, Direction)


def folders_of(roots: ListRootsResult) -> list[Root]:
    listed = ((str(root.uri), root.name or "") for root in roots.roots)
    return [Root(path_of(uri), name) for uri, name in listed if uri.startswith("file://")]
