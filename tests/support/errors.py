"""How a user gets an error: a code, one sentence and the argument, over MCP and on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from repo_map.errors import UserError
from repo_navigator.main import main as repo_navigator


class Refusal(NamedTuple):
    """What tests compare of an error; its sentence is not among it."""

    code: str
    argument: str = ""


def refusal_of(result: CallToolResult) -> Refusal:
    """Return the code and the argument of a refused call."""
    assert result.is_error, result.content
    assert result.structured_content is not None
    (block,) = result.content
    assert isinstance(block, TextContent)
    return _checked(result.structured_content, block.text)


def refusal_of_command(
    arguments: Sequence[str],
    capfd: pytest.CaptureFixture[str],
    *,
    exit_code: int = 2,
    main: Callable[[Sequence[str]], int] = repo_navigator,
) -> Refusal:
    """Run a command with ``--json`` that fails, and return its code and argument."""
    capfd.readouterr()
    assert main([*arguments, "--json"]) == exit_code
    out, err = capfd.readouterr()
    return _checked(json.loads(out), err.splitlines()[-1].partition(": ")[2])


def refusal_of_protocol(error: MCPError) -> Refusal:
    """Return the code and the argument of an error of the protocol, as prompts and resources have them."""
    return _checked(error.data, error.message)


def refusal_of_error(error: BaseException) -> Refusal:
    """Return the code and the argument of an exception."""
    assert isinstance(error, UserError), repr(error)
    return _checked({"error": {"code": error.code, "message": str(error), "argument": error.argument}})


@contextmanager
def refused(code: str, argument: str = "") -> Iterator[pytest.ExceptionInfo[UserError]]:
    """Expect an error with this code, about this argument."""
    with pytest.raises(UserError) as caught:
        yield caught
    assert refusal_of_error(caught.value) == (code, argument)


def _checked(structured: dict[str, Any], text: str | None = None) -> Refusal:
    details = structured["error"]
    message = details["message"]
    assert text in (None, message)
    assert " " in message
    assert "\n" not in message
    assert "Traceback" not in message
    return Refusal(details["code"], details.get("argument", ""))
