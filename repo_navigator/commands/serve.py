"""Serve MCP over stdio to the assistant that starts it, or over HTTP to many clients."""

from __future__ import annotations

import gc
import logging
import os
from argparse import Namespace
from pathlib import Path
from typing import Final

import anyio

from mcp_server.app import build_server
from mcp_server.logs import log_to_stderr
from mcp_server.repositories import project_roots
from mcp_server.settings import Settings, SettingsError, allowed_folders, unknown_settings
from navigator.errors import InvalidRequestError
from navigator.storage.addresses import require_packages
from repo_navigator.cli import Parser

logger = logging.getLogger(__name__)
EXAMPLES = ("", "--http 127.0.0.1:8321 --allow ~/work")
_NEW_OBJECTS: Final = 10_000
"""That are made before garbage is looked for. A step makes some thousands, and most of them go by themselves:
to look as often as Python does takes a tenth of a step's time."""


def add_arguments(parser: Parser) -> None:
    """Add how the server is reached, what it may read, and what it logs."""
    parser.add_value("--http", "HOST:PORT", "serve streamable HTTP at this address instead of stdio")
    parser.add_values("--allow", "FOLDER", "read only repositories in this folder; may be repeated")
    parser.add_argument(
        "--log-level",
        metavar="LEVEL",
        type=str.lower,
        choices=("debug", "info", "warning", "error"),
        help="lowest level to log on stderr: debug, info, warning or error",
    )
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        help="log format: lines of text, or one JSON object per line",
    )


def run(args: Namespace, settings: Settings) -> int:
    """Serve until stdin closes or a signal ends it."""
    for sentence in unknown_settings(os.environ):
        raise SettingsError(sentence)
    settings = _with_flags(args, settings)
    require_packages(settings.store, settings.bucket)
    log_to_stderr(settings.log_level, settings.log_format)
    server = build_server(settings, project=project_roots(os.environ))
    gc.enable()
    gc.set_threshold(_NEW_OBJECTS)
    try:
        if args.http is not None:
            from mcp_server.http import parse_address, serve_http  # noqa: PLC0415 - stdio must not wait for it

            anyio.run(serve_http, server, settings, parse_address(args.http))
        else:
            if settings.asks_for_token:
                logger.warning(
                    "REPO_NAVIGATOR_TOKENS and REPO_NAVIGATOR_HTTP_ISSUER apply to `--http` only; over stdio "
                    "no token is checked."
                )
            anyio.run(server.run_stdio_async, settings.grace_seconds)
    except KeyboardInterrupt:
        pass
    return 0


def _with_flags(args: Namespace, settings: Settings) -> Settings:
    for folder in args.allow:
        if not Path(folder).expanduser().is_dir():
            raise InvalidRequestError(
                f"--allow names `{folder}`, which is not a folder; name one.", argument="--allow"
            )
    given = {
        "allowed": args.allow and allowed_folders(args.allow),
        "log_level": args.log_level and args.log_level.upper(),
        "log_format": args.log_format,
    }
    return settings.model_copy(update={name: value for name, value in given.items() if value})
