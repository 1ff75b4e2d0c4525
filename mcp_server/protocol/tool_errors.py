"""How a tool call is refused: the one text that crosses the protocol, whatever went wrong."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, Prompt
from pydantic import ValidationError

from mcp_server.errors import CALLER_ERRORS, one_line, storage_sentence
from repo_map.secrets.names import mask_name


@contextmanager
def raised_as_tool_errors() -> Iterator[None]:
    """Raise each error that is written for the caller as a ``ToolError``, the only text that is passed on."""
    try:
        yield
    except CALLER_ERRORS as error:
        raise ToolError(one_line(error)) from error
    except OSError as error:
        raise ToolError(storage_sentence(error)) from error


@contextmanager
def echoing_no_secret() -> Iterator[None]:
    """Raise each refusal without the secrets that it repeats."""
    try:
        yield
    except ToolError as error:
        if (message := mask_name(str(error))) == str(error):
            raise
        raise ToolError(message) from error.__cause__
    except MCPError as error:
        if (message := mask_name(error.message)) == error.message:
            raise
        raise MCPError(error.code, message) from None


@contextmanager
def raised_as_prompt_errors() -> Iterator[None]:
    """Raise each error that is written for the caller as the protocol's own, as prompts have no results."""
    try:
        with raised_as_tool_errors():
            yield
    except ToolError as error:
        raise MCPError(INVALID_PARAMS, str(error)) from error


def refuse_unusable_prompt(name: str, arguments: Mapping[str, Any], known: Sequence[Prompt]) -> None:
    """Raise for a prompt that does not exist, or that lacks an argument."""
    prompt = next((prompt for prompt in known if prompt.name == name), None)
    if prompt is None:
        names = ", ".join(prompt.name for prompt in known)
        raise MCPError(INVALID_PARAMS, f"There is no prompt `{name}`; choose one of {names}.")
    for argument in prompt.arguments or ():
        if argument.required and not arguments.get(argument.name):
            raise MCPError(INVALID_PARAMS, f"{name} needs `{argument.name}`; pass it and ask again.")


def refuse_unknown_arguments(tool: str, arguments: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    """Raise for an argument that the tool does not have: a silently dropped limit would be no limit."""
    for name in sorted(arguments.keys() - known.keys()):
        nearest = difflib.get_close_matches(name, known, n=1)
        hint = (
            f"did you mean `{nearest[0]}`?"
            if nearest
            else f"it has {', '.join(f'`{key}`' for key in known)}."
        )
        raise ToolError(f"{tool} has no argument `{name}`; {hint}")


def argument_sentence(tool: str, error: ValidationError) -> str:
    """Return what is wrong with a tool call's arguments."""
    first = error.errors(include_url=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "arguments"
    if first["type"] == "missing":
        return f"{tool} needs `{name}`; pass it and call again."
    # A validator's own words are in the context; the message has pydantic's before them.
    reason = str(first.get("ctx", {}).get("error") or first["msg"]).rstrip(".")
    reason = reason[:1].lower() + reason[1:]
    return f"`{name}` is {_shown(first['input'])}, but {reason}; correct it and call {tool} again."


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
