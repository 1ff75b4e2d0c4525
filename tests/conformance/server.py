"""``python -m tests.conformance.server``: our own wiring over HTTP, with the suite's fixtures added."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp_types import (
    Completion,
    CompletionArgument,
    CompletionContext,
    EmptyResult,
    PromptReference,
    ResourceTemplateReference,
    SetLevelRequestParams,
    SubscribeRequestParams,
    UnsubscribeRequestParams,
)

from mcp_server.app import NavigatorServer, build_server
from mcp_server.http import serve_http
from mcp_server.logs import log_to_stderr
from mcp_server.sdk_private import low_level
from mcp_server.settings import Settings
from tests.conformance.fixtures import offer_fixtures


def fixture_server(settings: Settings) -> NavigatorServer:
    """Return the product's server, with what the suite asks for added to it."""
    server = build_server(settings)
    offer_fixtures(server)
    # The product has no log messages, subscriptions and completions for hosts: these are fixtures as well.
    low = low_level(server)
    low.add_request_handler("logging/setLevel", SetLevelRequestParams, _accept)
    low.add_request_handler("resources/subscribe", SubscribeRequestParams, _accept)
    low.add_request_handler("resources/unsubscribe", UnsubscribeRequestParams, _accept)
    server.completion()(_complete)  # type: ignore[no-untyped-call]
    return server


async def _accept(ctx: ServerRequestContext[Any, Any], params: Any) -> EmptyResult:
    del ctx, params
    return EmptyResult()


async def _complete(
    reference: PromptReference | ResourceTemplateReference,
    argument: CompletionArgument,
    context: CompletionContext | None,
) -> Completion:
    del reference, context
    return Completion(values=[argument.value], total=1, has_more=False)


def main() -> None:
    """Serve on a loopback port of its own until a signal ends it."""
    log_to_stderr("WARNING", "text")
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(data_dir=Path(folder, "data"), cache_dir=Path(folder, "cache"))
        anyio.run(serve_http, fixture_server(settings), settings, ("127.0.0.1", 0))


if __name__ == "__main__":
    main()
