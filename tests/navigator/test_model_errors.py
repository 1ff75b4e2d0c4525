"""What an error of a provider's package means, by its class and not by what the class is called."""

from __future__ import annotations

import json
import sys

import httpx
import pytest

from navigator.agent.models.responses import explain, may_be_billed

REQUEST = httpx.Request("POST", "http://127.0.0.1:1")


class ConnectError(Exception):
    """Of somebody else, who means something else by it."""


def undecodable() -> json.JSONDecodeError:
    return json.JSONDecodeError("Expecting value", "<html>", 0)


@pytest.mark.parametrize(
    ("error", "passing", "billed"),
    [
        (httpx.ConnectError("no route", request=REQUEST), True, False),
        (httpx.ReadError("cut off", request=REQUEST), True, True),
        (httpx.InvalidURL("no host"), False, False),
        (ConnectionRefusedError("refused"), True, False),
        (undecodable(), False, True),
        (ConnectError("the cable is a metaphor"), False, True),
        (TimeoutError(), True, True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_an_error_is_judged_by_its_class(error: Exception, passing: bool, billed: bool) -> None:
    assert explain(error).is_temporary is passing
    assert may_be_billed(error) is billed


def test_what_led_to_an_error_counts_for_what_may_be_billed() -> None:
    wrapped = RuntimeError("the package's own words")
    wrapped.__cause__ = httpx.ConnectTimeout("no route", request=REQUEST)
    assert not may_be_billed(wrapped)


def test_an_error_of_an_extra_is_told_where_the_extra_is_there() -> None:
    openai = pytest.importorskip("openai")
    assert explain(openai.APIConnectionError(request=REQUEST)).is_temporary
    assert "openai" in sys.modules
