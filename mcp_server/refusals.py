"""How requests are refused: tool calls with a result, all others with the protocol's own errors."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver.exceptions import MCPServerError, ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, Prompt, TextContent
from pydantic import ValidationError

from mcp_server.errors import ErrorDetails, details_of
from navigator.errors import InvalidRequestError, UnknownNavigationError
from repo_map.errors import RepositoryNotFoundError, UserError
from repo_map.secrets.names import mask_name


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


def refuse_unusable_prompt(name: str, arguments: Mapping[str, Any], known: Sequence[Prompt]) -> None:
    """Raise for a prompt that does not exist, or that lacks an argument."""
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


def refuse_unknown_arguments(tool: str, arguments: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise for an argument that the tool does not have: a silently dropped limit would be no limit."""
    for name in sorted(arguments.keys() - known.keys()):
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = (
            f"did you mean `{nearest[0]}`?"
            if nearest
            else f"it has {', '.join(f'`{key}`' for key in known)}."
        )
        raise InvalidRequestError(
            f"{tool} has no argument `{name}`; {hint}", code="unknown_argument", argument=name
        )


def _argument_details(tool: str, error: ValidationError) -> ErrorDetails:
    """Return what is wrong with a tool call's arguments."""
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
