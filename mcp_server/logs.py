"""Logs on stderr, as text or JSON lines, each with its navigation; stdout belongs to the protocol."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

from mcp_server.settings import LogFormat, LogLevel

_navigation: ContextVar[str] = ContextVar("navigation", default="")
_TEXT: Final = "%(asctime)s %(levelname)s %(name)s%(navigation_note)s: %(message)s"


@contextmanager
def about(navigation_id: str) -> Iterator[None]:
    """Mark the log lines of this block with ``navigation_id``."""
    token = _navigation.set(navigation_id)
    try:
        yield
    finally:
        _navigation.reset(token)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        navigation_id = _navigation.get()
        record.navigation_note = f" [{navigation_id}]" if navigation_id else ""
        return _masked(super().format(record))


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if navigation_id := _navigation.get():
            line["navigation_id"] = navigation_id
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return _masked(json.dumps(line, ensure_ascii=False))


def _masked(line: str) -> str:
    """Return a log line without secrets, whoever wrote it."""
    # Imported here: a server that logs nothing should not wait for it.
    from repo_map.secrecy.masking import mask_text  # noqa: PLC0415

    return mask_text(line)


def log_to_stderr(level: LogLevel, log_format: LogFormat) -> None:
    """Send every log line to stderr, whoever wrote it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_JsonLine() if log_format == "json" else _Text(_TEXT))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # ADK warns at each call of a model that tells no tokens, such as the embedded planner's.
    logging.getLogger("google_adk.google.adk.telemetry").setLevel(logging.ERROR)
    # The SDK logs each refused call at INFO with the caller's text; our own lines tell enough.
    logging.getLogger("mcp").setLevel(max(logging.getLevelName(level), logging.WARNING))
