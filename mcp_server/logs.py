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
_PLAIN: Final = "mcp_server.started"
_MAX_CHARS: Final = 16_000
_OWN: Final = ("repo_map", "navigator", "mcp_server", "repo_navigator")
_TRANSPORTS: Final = ("mcp.", "uvicorn", "sse_starlette")
_DEPARTURES: Final = frozenset(
    {"BrokenResourceError", "CancelledError", "ClientDisconnect", "ClosedResourceError", "EndOfStream"}
)
"""Errors by name: commands that serve nobody do without the packages of their classes."""


@contextmanager
def about(navigation_id: str) -> Iterator[None]:
    """Mark the log lines of this block with ``navigation_id``."""
    token = _navigation.set(navigation_id)
    try:
        yield
    finally:
        _navigation.reset(token)


def announce(line: str) -> None:
    """Log that the server has started, at every log level: as text, or as a JSON line of the level info."""
    logging.getLogger(_PLAIN).info(line)


class _Text(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        navigation_id = _navigation.get()
        record.navigation_note = f" [{navigation_id}]" if navigation_id else ""
        return _bounded(record.getMessage() if record.name == _PLAIN else super().format(record))


class _JsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _bounded(record.getMessage()),
        }
        if navigation_id := _navigation.get():
            line["navigation_id"] = navigation_id
        if record.exc_info:
            line["traceback"] = _bounded(self.formatException(record.exc_info))
        return json.dumps(line, ensure_ascii=False)


def _bounded(text: str) -> str:
    """Return what is logged without secrets and escapes, and no longer than a line may be."""
    from repo_map.messages import printable  # noqa: PLC0415 - a server may log nothing
    from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - a server may log nothing

    # A secret that is cut in two is not recognised: the end of what is masked is cut off.
    masked = printable(mask_text(text[: 2 * _MAX_CHARS]))
    return masked if len(text) <= _MAX_CHARS else f"{masked[:_MAX_CHARS]}…"


def _without_departures(record: logging.LogRecord) -> bool:
    """Filter: a client that has left is no fault, though the transports log a traceback of it."""
    error = record.exc_info[1] if record.exc_info else None
    return error is None or not record.name.startswith(_TRANSPORTS) or not _is_departure(error)


def _is_departure(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return all(_is_departure(part) for part in error.exceptions)
    return isinstance(error, ConnectionError) or type(error).__name__ in _DEPARTURES


def log_to_stderr(level: LogLevel, log_format: LogFormat) -> None:
    """Send every log line to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_without_departures)
    handler.setFormatter(_JsonLine() if log_format == "json" else _Text(_TEXT))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # What libraries tell at debug is of their insides: thousands of lines, and requests with signatures.
    logging.getLogger().setLevel(max(logging.getLevelName(level), logging.INFO))
    for package in _OWN:
        logging.getLogger(package).setLevel(level)
    logging.getLogger(_PLAIN).setLevel(logging.INFO)
    # ADK warns at each call of a model that tells no tokens.
    logging.getLogger("google_adk.google.adk.telemetry").setLevel(logging.ERROR)
    # The SDK logs each refused call at INFO with the caller's text; our own lines tell enough.
    logging.getLogger("mcp").setLevel(max(logging.getLevelName(level), logging.WARNING))
