"""Logs are lines on stderr that name their navigation."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from mcp_server.logs import about, log_to_stderr
from mcp_server.settings import LogFormat


@pytest.fixture(autouse=True)
def _root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def logged(capsys: pytest.CaptureFixture[str], log_format: LogFormat) -> str:
    log_to_stderr("INFO", log_format)
    with about("nav-1"):
        logging.getLogger("mcp_server.test").info("drew %d files", 3)
    out, err = capsys.readouterr()
    assert out == ""
    return err


def test_a_json_line_has_its_navigation(capsys: pytest.CaptureFixture[str]) -> None:
    line = json.loads(logged(capsys, "json"))
    assert line.pop("time")
    assert line == {
        "level": "info",
        "logger": "mcp_server.test",
        "message": "drew 3 files",
        "navigation_id": "nav-1",
    }


def test_a_text_line_has_its_navigation(capsys: pytest.CaptureFixture[str]) -> None:
    assert logged(capsys, "text").endswith("INFO mcp_server.test [nav-1]: drew 3 files\n")


def test_outside_a_navigation_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("WARNING", "json")
    logging.getLogger("mcp_server.test").warning("hello")
    assert "navigation_id" not in json.loads(capsys.readouterr().err)
