"""``repo-navigator serve``: MCP over stdio, or over HTTP."""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import anyio

from mcp_server.app import build_server
from mcp_server.logs import log_to_stderr
from mcp_server.setting_names import require_known
from mcp_server.settings import Settings, allowed_folders, log_level
from navigator.errors import InvalidRequestError
from navigator.stores.store_address import require_packages
from repo_navigator.terminal import FlagParser


def add_arguments(parser: FlagParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--http", metavar="HOST:PORT", help="serve streamable HTTP there instead of stdio")
    parser.add_argument(
        "--allow",
        metavar="FOLDER",
        action="append",
        default=[],
        help="folder that repositories must lie in; may be given more than once",
    )
    parser.add_argument(
        "--log-level",
        metavar="LEVEL",
        help="the least that is logged on stderr: debug, info, warning or error",
    )
    parser.add_argument(
        "--log-format",
        choices=("text", "json"),
        help="how it is logged: lines of text, or a JSON object a line",
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Serve until stdin closes or a signal ends it."""
    require_known(os.environ)
    settings = _with_flags(options, settings)
    require_packages(settings.store, settings.bucket)
    log_to_stderr(settings.log_level, settings.log_format)
    server = build_server(settings)
    try:
        if options.http is not None:
            from mcp_server.http import serve_http  # noqa: PLC0415 - stdio must not wait for it

            is_team = bool(settings.store or settings.bucket or settings.repositories)
            has_others = settings.store is not None
            serve = partial(serve_http, server, settings.http, loads_first=has_others, is_watched=is_team)
            anyio.run(serve)
        else:
            anyio.run(server.run_stdio_async, settings.grace_seconds)
    except KeyboardInterrupt:
        pass
    return 0


def _with_flags(options: argparse.Namespace, settings: Settings) -> Settings:
    for folder in options.allow:
        if not Path(folder).expanduser().is_dir():
            raise InvalidRequestError(f"--allow names `{folder}`, which is no folder; name one.")
    if options.allow:
        settings = replace(settings, allowed=allowed_folders(options.allow))
    if options.log_level:
        settings = replace(settings, log_level=log_level(options.log_level))
    if options.log_format:
        settings = replace(settings, log_format=options.log_format)
    if options.http is not None:
        from mcp_server.http import parse_address  # noqa: PLC0415 - as above

        host, port = parse_address(options.http)
        settings = replace(settings, http=replace(settings.http, host=host, port=port))
    return settings
