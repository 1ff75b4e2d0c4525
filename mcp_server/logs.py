"""Logs on stderr, as text or JSON lines, each with its navigation; stdout belongs to the protocol.

Whoever can reach the server can make it log: the lines of one place in the code are counted, and each is
bounded.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Final

import anyio

from mcp_server.settings import LogFormat, LogLevel
from repo_map.errors import first_cause

_navigation: ContextVar[str] = ContextVar("navigation", default="")
_TEXT: Final = "%(asctime)s %(levelname)s %(name)s%(navigation_note)s: %(message)s"
_PLAIN: Final = "mcp_server.started"
_MAX_CHARS: Final = 16_000
"""Most characters of a line, a traceback included."""
_MAX_SECRET_CHARS: Final = 16_000
_AT_ONCE: Final = 10
"""Lines of one place in the code that are written in a minute; the others are counted."""
_MINUTE: Final = 60.0
_OWN: Final = ("repo_map", "navigator", "mcp_server", "repo_navigator")
_CLOSED: Final = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)

Place = tuple[str, int]
"""A file's path and a line's number in it."""


@contextmanager
def about(navigation_id: str) -> Iterator[None]:
    """Mark the log lines of this block with ``navigation_id``."""
    token = _navigation.set(navigation_id)
    try:
        yield
    finally:
        _navigation.reset(token)


def announce(line: str) -> None:
    """Tell that the server has started, at every log level: as it is, or as a JSON line of the level info."""
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
    """Return what is logged without secrets, and no longer than a line may be."""
    # What is cut in two is no secret by its format any more: the end of what is masked is cut off.
    masked = _masked(text[: _MAX_CHARS + _MAX_SECRET_CHARS])
    return masked if len(text) <= _MAX_CHARS else f"{masked[:_MAX_CHARS]}…"


def _masked(line: str) -> str:
    """Return a log line without secrets and escapes."""
    from repo_map.messages import printable  # noqa: PLC0415 - a server may log nothing
    from repo_map.secrets.masking import mask_text  # noqa: PLC0415 - a server may log nothing

    return printable(mask_text(line))


class Repeats(logging.Filter):
    """Lets the first lines of a place in the code pass in each minute, and tells how many more there were."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._counts: dict[Place, tuple[float, int]] = {}
        """Place → when its minute began, and its lines since."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether the line is written, having noted in it those that were left out before."""
        place, now = (record.pathname, record.lineno), self._clock()
        began, count = self._counts.get(place, (now, 0))
        left_out = 0
        if now - began >= _MINUTE:
            left_out, began, count = max(count - _AT_ONCE, 0), now, 0
        self._counts[place] = began, count + 1
        if count >= _AT_ONCE:
            return False
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more like it before)", None
        elif count == _AT_ONCE - 1:
            record.msg, record.args = f"{record.getMessage()} (more like it are counted for a minute)", None
        return True


def _without_departures(record: logging.LogRecord) -> bool:
    """Filter: the line itself says that a client left; where it left the code is of no use."""
    error = record.exc_info[1] if record.exc_info else None
    if error is not None and _is_departure(error):
        cause = first_cause(error)
        what = f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__
        record.msg, record.args = f"{record.getMessage().strip()} ({what})", None
        record.exc_info = record.exc_text = None
    return True


def _is_departure(error: BaseException) -> bool:
    """Return whether ``error`` says no more than that the other end of a connection is gone."""
    if isinstance(error, BaseExceptionGroup):
        return all(_is_departure(part) for part in error.exceptions)
    # By name where the class belongs to HTTP, which stdio does not import.
    return isinstance(error, (ConnectionError, asyncio.CancelledError, *_CLOSED)) or (
        type(error).__name__ == "ClientDisconnect"
    )


def log_to_stderr(level: LogLevel, log_format: LogFormat) -> None:
    """Send every log line to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_without_departures)
    if level != "DEBUG":
        handler.addFilter(Repeats())
    handler.setFormatter(_JsonLine() if log_format == "json" else _Text(_TEXT))
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # What libraries tell at debug is of their insides: thousands of lines, and requests with signatures.
    logging.getLogger().setLevel(max(logging.getLevelName(level), logging.INFO))
    for package in _OWN:
        logging.getLogger(package).setLevel(level)
    logging.getLogger(_PLAIN).setLevel(logging.INFO)
    # ADK warns at each call of a model that tells no tokens.
    logging.getLogger("google_adk.google.adk.telemetry").setLevel(logging.ERROR)
    # At DEBUG they log what they send to a bucket: signatures, tokens of a session, addresses that let in.
    for name in ("botocore", "google.auth", "urllib3"):
        logging.getLogger(name).setLevel(max(logging.getLevelName(level), logging.INFO))
    # The SDK logs each refused call at INFO with the caller's text; our own lines tell enough.
    logging.getLogger("mcp").setLevel(max(logging.getLevelName(level), logging.WARNING))
