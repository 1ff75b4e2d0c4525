"""Commands as the tests of this folder run them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from repo_navigator.main import main


def ran(capfd: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> tuple[str, str]:
    """Run a command and return what it printed on stdout and on stderr."""
    capfd.readouterr()
    assert main([str(argument) for argument in arguments]) == code
    message = capfd.readouterr()
    return message.out, message.err


def navigate(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    """Run ``navigate --json`` and return what it printed."""
    answer: dict[str, Any] = json.loads(ran(capsys, "navigate", *arguments, "--json")[0])
    return answer
