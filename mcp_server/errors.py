"""What went wrong, told to whoever asked: what, why and what next in one sentence, never a traceback."""

from __future__ import annotations

import difflib
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from mcp.server.mcpserver.exceptions import ToolError
from pydantic import ValidationError

from mcp_server.settings import SettingsError
from navigator.errors import ModelFailedError, NavigatorError
from repo_map.errors import RepoMapError, RepositoryNotFoundError

BAD_INPUT: Final = 2
NO_REPOSITORY: Final = 3
MODEL_FAILED: Final = 4
CANCELLED: Final = 5

TOLD: Final = (NavigatorError, RepoMapError, SettingsError)
"""Errors whose message is written for the caller."""

logger = logging.getLogger(__name__)


@contextmanager
def told_to_the_host() -> Iterator[None]:
    """Raise each error that is written for the caller as a ``ToolError``, the only text that is passed on."""
    try:
        yield
    except TOLD as error:
        raise ToolError(one_line(error)) from error
    except OSError as error:
        raise ToolError(storage_sentence(error)) from error


def one_line(error: BaseException) -> str:
    """Return the error's message on one line."""
    return " ".join(str(error).split())


def storage_sentence(error: OSError) -> str:
    """Return what to tell of a disk that can't be read or written."""
    place = f" `{error.filename}`" if error.filename else ""
    return (
        f"Could not read or write{place}: {error.strerror or error}; "
        "check its permissions and free space, or set REPO_NAVIGATOR_DATA to another folder."
    )


def exit_code(error: BaseException) -> int:
    """Return the command line's exit code for ``error``."""
    if isinstance(error, RepositoryNotFoundError):
        return NO_REPOSITORY
    return MODEL_FAILED if isinstance(error, ModelFailedError) else BAD_INPUT


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
    first = error.errors(include_url=False, include_context=False)[0]
    name = str(first["loc"][0]) if first["loc"] else "arguments"
    if first["type"] == "missing":
        return f"{tool} needs `{name}`; pass it and call again."
    reason = str(first["msg"]).removeprefix("Value error, ").rstrip(".")
    reason = reason[:1].lower() + reason[1:]
    return f"`{name}` is {_shown(first['input'])}, but {reason}; correct it and call {tool} again."


def _shown(value: Any) -> str:
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
