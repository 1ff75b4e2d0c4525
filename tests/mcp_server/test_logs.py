"""Logs are lines on stderr that name their navigation."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest

from mcp_server.logs import about, announce, log_to_stderr
from mcp_server.settings import LogFormat


@pytest.fixture(autouse=True)
def _root_logger() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in ("repo_map", "navigator", "mcp_server", "repo_navigator"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def test_at_debug_libraries_keep_their_insides_to_themselves(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("DEBUG", "text")
    logging.getLogger("botocore.auth").debug("a signed request")
    logging.getLogger("botocore.retries").info("a retry")
    logging.getLogger("navigator.test").debug("our own")
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" ")[2].partition(" ")[2] for line in told] == [
        "INFO botocore.retries: a retry",
        "DEBUG navigator.test: our own",
    ]


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


def test_the_start_is_told_in_one_plain_line_at_every_level(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("ERROR", "text")
    announce("Serving MCP at http://127.0.0.1:8321/mcp")
    assert capsys.readouterr().err == "Serving MCP at http://127.0.0.1:8321/mcp\n"


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_client_that_left_is_not_logged(capsys: pytest.CaptureFixture[str], log_format: LogFormat) -> None:
    log_to_stderr("WARNING", log_format)
    try:
        raise ExceptionGroup("", [ExceptionGroup("", [BrokenPipeError(32, "Broken pipe")])])
    except ExceptionGroup:
        logging.getLogger("mcp.server.streamable_http").exception("Could not answer")
        assert capsys.readouterr().err == ""
        logging.getLogger("navigator.storage").exception("Could not answer")
        assert "Broken pipe" in capsys.readouterr().err


def test_a_fault_keeps_its_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr("WARNING", "text")
    try:
        raise ExceptionGroup("", [BrokenPipeError(), ValueError("a fault")])
    except ExceptionGroup:
        logging.getLogger("mcp.server").exception("Could not answer")
    assert "Traceback" in capsys.readouterr().err
