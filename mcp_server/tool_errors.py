"""How a tool call or a prompt is refused: a code, one sentence and the argument, whatever went wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, Prompt, TextContent
from pydantic import ValidationError

from mcp_server.errors import ErrorDetails, details_of
from navigator.errors import InvalidRequestError
from repo_map.errors import UserError
from repo_map.secrets.names import mask_name


@contextmanager
def raised_as_tool_errors() -> Iterator[None]:
    """Raise each error that is written for the caller as a ``ToolError``, the only text that is passed on."""
    try:
        yield
    except (UserError, OSError) as error:
        raise ToolError(details_of(error).message) from error


@contextmanager
def echoing_no_secret() -> Iterator[None]:
    """Raise each error of the protocol without the secrets that it repeats."""
    try:
        yield
    except MCPError as error:
        if (message := mask_name(error.message)) == error.message:
            raise
        raise MCPError(error.code, message, error.data) from None


@contextmanager
def raised_as_prompt_errors() -> Iterator[None]:
    """Raise each error that is written for the caller as the protocol's own, as prompts have no results."""
    try:
        yield
    except (UserError, OSError) as error:
        raise _refused_prompt(details_of(error)) from error


def refused_call(details: ErrorDetails) -> CallToolResult:
    """Return the result of a refused call: the sentence as text, and all details as structured content."""
    text = TextContent(type="text", text=details.message)
    return CallToolResult(content=[text], structured_content=details.as_json(), is_error=True)


def refusal(tool: str, error: ToolError | UserError) -> ErrorDetails:
    """Return why a tool call is refused, below what the SDK wraps around it."""
    if isinstance(error, UnexpectedToolError):
        return ErrorDetails(
            "internal_error",
            f"{tool} failed for an internal reason, not because of your arguments; the server's log has the "
            "details. What was done before is kept: get_turn_report says how far it came.",
        )
    cause: BaseException | None = error
    while isinstance(cause, ToolError):
        cause = cause.__cause__
    match cause:
        case UserError() | OSError():
            return details_of(cause)
        case ValidationError():
            return _argument_details(tool, cause)
    # What the SDK itself refuses, such as a reply of the wrong kind to a question.
    return ErrorDetails("invalid_request", mask_name(str(error)))


def refuse_unusable_prompt(name: str, arguments: Mapping[str, Any], known: Sequence[Prompt]) -> None:
    """Raise for a prompt that does not exist, or that lacks an argument."""
    prompt = next((prompt for prompt in known if prompt.name == name), None)
    if prompt is None:
        names = ", ".join(prompt.name for prompt in known)
        raise _refused_prompt(
            ErrorDetails("unknown_prompt", f"There is no prompt `{name}`; choose one of {names}.")
        )
    for argument in prompt.arguments or ():
        if argument.required and not arguments.get(argument.name):
            message = f"{name} needs `{argument.name}`; pass it and ask again."
            raise _refused_prompt(ErrorDetails("missing_argument", message, argument.name))


def _refused_prompt(details: ErrorDetails) -> MCPError:
    return MCPError(INVALID_PARAMS, details.message, details.as_json())


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
