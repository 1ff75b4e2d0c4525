"""How requests are refused: tool calls with a result, all others with the protocol's own errors."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.exceptions import MCPServerError, ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, Prompt, TextContent
from pydantic import ValidationError

from mcp_server.errors import ErrorDetails, details_of
from navigator.errors import InvalidRequestError, UnknownNavigationError
from repo_map.errors import RepositoryNotFoundError, UserError
from repo_map.messages import first_three, one_line
from repo_map.secrets.names import mask_name

_ALIKE: Final = 0.75
"""Similarity of a misspelt argument: ``max_cost`` for ``max_cost_usd``, not ``conversation_id``."""
_SHOWN_CHARS: Final = 60


def cause_of(error: BaseException) -> UserError | OSError | None:
    """Return the error for the caller that the SDK has wrapped, None for a crash."""
    found: BaseException | None = error
    while isinstance(found, MCPServerError | ValueError) and not isinstance(found, UserError):
        found = found.__cause__
    return found if isinstance(found, UserError | OSError) else None


def protocol_error(error: UserError | OSError, **data: str) -> MCPError:
    """Return the protocol's error; a right that was taken away reads as a repository that is not there."""
    is_callers = isinstance(error, InvalidRequestError | UnknownNavigationError | RepositoryNotFoundError)
    details = details_of(error)
    code = INVALID_PARAMS if is_callers else INTERNAL_ERROR
    return MCPError(code, details.message, {**data, **details.as_json()})


async def report_errors(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: errors for the caller become the protocol's, and repeat no secrets."""
    try:
        return await call_next(ctx)
    except MCPError as error:
        if (message := mask_name(error.message)) == error.message:
            raise
        raise MCPError(error.code, message, error.data) from None
    except Exception as error:
        if (cause := cause_of(error)) is None:
            raise
        raise protocol_error(cause) from error


def refused_call(details: ErrorDetails) -> CallToolResult:
    """Return the result of a refused call: the sentence as text, and all details as structured content."""
    text = TextContent(type="text", text=details.message)
    return CallToolResult(content=[text], structured_content=details.as_json(), is_error=True)


def refusal(tool: str, error: ToolError | UserError) -> ErrorDetails:
    """Return why a tool call is refused; the code is ``internal_error`` for a crash."""
    if (cause := cause_of(error)) is not None:
        return details_of(cause)
    if isinstance(error, UnexpectedToolError):
        return ErrorDetails(
            "internal_error",
            f"{tool} failed for an internal reason, not because of your arguments; the server's log has the "
            "details. What was done before is kept: get_turn_report says how far it came.",
        )
    if isinstance(error.__cause__, ValidationError):
        return _argument_details(tool, error.__cause__)
    # What the SDK itself refuses, such as a reply of the wrong kind to a question.
    return ErrorDetails("invalid_request", mask_name(str(error)))


def prompt_arguments(name: str, arguments: Mapping[str, Any], known: Sequence[Prompt]) -> dict[str, Any]:
    """Return the arguments that a prompt takes; raise if it does not exist, or lacks one."""
    prompt = next((prompt for prompt in known if prompt.name == name), None)
    if prompt is None:
        names = ", ".join(prompt.name for prompt in known)
        raise InvalidRequestError(
            f"There is no prompt `{name}`; choose one of {names}.", code="unknown_prompt"
        )
    for argument in prompt.arguments or ():
        if argument.required and not arguments.get(argument.name):
            message = f"{name} needs `{argument.name}`; pass it and ask again."
            raise InvalidRequestError(message, code="missing_argument", argument=argument.name)
    return {each.name: arguments[each.name] for each in prompt.arguments or () if arguments.get(each.name)}


def usable_arguments(
    tool: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments of a call that its tool takes, and the names of those that are ignored.

    Clients add arguments of their own, and models write an empty text for what they leave out. A near miss of
    an argument is refused: a silently dropped limit would be no limit.
    """
    known, required = schema.get("properties", {}), schema.get("required", ())
    given = {
        name: value
        for name, value in arguments.items()
        if name in required or not (isinstance(value, str) and not value.strip())
    }
    ignored = sorted(given.keys() - known.keys())
    for name in ignored:
        if meant := _meant(name, known.keys() - given.keys()):
            raise InvalidRequestError(
                f"{tool} has no argument `{name}`; did you mean `{meant}`?",
                code="unknown_argument",
                argument=name,
            )
    return {name: value for name, value in given.items() if name in known}, ignored


def _meant(name: str, known: Collection[str]) -> str:
    bare = re.sub(r"(?<=[a-z])(?=[A-Z])|-", "_", name).lower()
    return next(iter(difflib.get_close_matches(bare, sorted(known), n=1, cutoff=_ALIKE)), "")


def note_ignored(result: CallToolResult, tool: str, ignored: Sequence[str]) -> CallToolResult:
    names = first_three([f"`{mask_name(one_line(name))[:_SHOWN_CHARS]}`" for name in ignored])
    note = f"{tool} ignored {names}: it has no such argument."
    structured = result.structured_content
    if structured is not None:
        structured = {**structured, "notes": [*structured.get("notes", ()), note]}
    content = list(result.content)
    if content and isinstance(content[0], TextContent):
        content[0] = TextContent(type="text", text=f"{content[0].text}\nnote: {note}")
    return result.model_copy(update={"content": content, "structured_content": structured})


def _argument_details(tool: str, error: ValidationError) -> ErrorDetails:
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "arguments"
    if first["type"] == "missing":
        return ErrorDetails("missing_argument", f"{tool} needs `{name}`; pass it and call again.", name)
    # A validator's own words are in the context; the message has pydantic's before them.
    reason = str(first.get("ctx", {}).get("error") or first["msg"]).rstrip(".")
    reason = reason[:1].lower() + reason[1:]
    message = f"`{name}` is {_shown(first['input'])}, but {reason}; correct it and call {tool} again."
    return ErrorDetails("invalid_argument", mask_name(message), name)


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
