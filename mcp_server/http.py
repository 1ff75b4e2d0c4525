"""Streamable HTTP: loopback by default, and behind bearer tokens everywhere else."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from typing import TYPE_CHECKING, Final

import uvicorn
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.app import NAME, NavigatorServer
from mcp_server.auth import Authenticator
from mcp_server.errors import one_line
from mcp_server.logs import announce
from mcp_server.sdk_private import keep_streams
from mcp_server.settings import Settings, SettingsError
from mcp_server.stdio import CLOSING_SECONDS, end_within
from navigator.loopback import is_loopback

if TYPE_CHECKING:
    from mcp_server.navigations import Navigations

logger = logging.getLogger(__name__)
PATH: Final = "/mcp"
LIVENESS: Final = "/healthz"
READINESS: Final = "/readyz"
METRICS: Final = "/metrics"
PROBED: Final = frozenset({LIVENESS, READINESS})
_READY_TIMEOUT_S: Final = 3.0
"""How long an answer is waited for; probes wait little longer."""
_LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
_IDLE_TIMEOUT_S: Final = 20
_PING_S: Final = 2.0
"""Between two signs of life of an answer under way; proxies give up on a server that is silent for longer."""
_MAX_HEAD_BYTES: Final = 16_384
_FORWARDED: Final = frozenset({b"forwarded", b"via", b"x-real-ip", b"x-forwarded-for", b"x-forwarded-host"})


def http_app(server: NavigatorServer, settings: Settings, host: str = "127.0.0.1") -> ASGIApp:
    """Return the ASGI application: the MCP endpoint at ``/mcp``, and what watches over it."""
    if not settings.asks_for_token:
        _require_loopback(settings, host)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    async def ready(_: Request) -> Response:
        is_ready = await _reaches_stores(server.navigations)
        return JSONResponse({"status": "ok" if is_ready else "not ready"}, 200 if is_ready else 503)

    server.custom_route(LIVENESS, methods=["GET"])(health)
    server.custom_route(READINESS, methods=["GET"])(ready)
    if (metrics := server.metrics) is not None:

        async def read_metrics(_: Request) -> Response:
            text, content_type = metrics.text()
            return Response(text, media_type=content_type)

        server.custom_route(METRICS, methods=["GET"])(read_metrics)
    app: ASGIApp = server.streamable_http_app(
        streamable_http_path=PATH,
        host=host,
        max_request_body_size=settings.http_max_body,
        transport_security=_allowed_addresses(settings, host),
    )
    return _behind_token(app, settings) if settings.asks_for_token else _refusing_proxies(app)


async def serve_http(server: NavigatorServer, settings: Settings, address: tuple[str, int]) -> None:
    """Serve at a host and a port until a signal ends it; calls under way get a few seconds to finish."""
    app = http_app(server, settings, address[0])
    if settings.store is not None:
        # A proxy asks the next replica where nothing listens, and would wait for one that is still loading.
        await server.navigations.navigator()
    listener = bound(*address)
    host, port = listener.getsockname()[:2]
    keep_streams(_PING_S)
    running = _Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            proxy_headers=False,
            limit_concurrency=settings.http_max_connections,
            timeout_keep_alive=_IDLE_TIMEOUT_S,
            timeout_graceful_shutdown=max(1, round(settings.http_drain_seconds)),
            h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        ),
        settings.http_drain_seconds,
    )
    # uvicorn handles the signals only while it serves, and raises them once more afterwards.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, running.handle_exit)
    announce(f"Serving MCP at http://{f'[{host}]' if ':' in host else host}:{port}{PATH}")
    await running.serve([listener])


class _Server(uvicorn.Server):
    """A server whose process ends within a few seconds of a signal, whatever its threads wait for."""

    def __init__(self, config: uvicorn.Config, drain_seconds: float) -> None:
        super().__init__(config)
        self._drain_seconds = drain_seconds

    def handle_exit(self, sig: int, frame: object) -> None:
        if not self.should_exit:
            end_within(self._drain_seconds + CLOSING_SECONDS)
        super().handle_exit(sig, None)


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``, ``[HOST]:PORT``, ``:PORT`` or ``PORT``."""
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise SettingsError(f"`{text}` is not an address; give HOST:PORT, for example 127.0.0.1:8321.")
    return host.strip("[]") or "127.0.0.1", int(port)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; raise ``SettingsError`` if the address can't be bound."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, so that what is accepted is known as TCP: asyncio sends it without delay then.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Could not listen on {host}:{port}: {error.strerror}; choose another with --http."
        ) from error
    listener.listen(socket.SOMAXCONN)
    return listener


def _require_loopback(settings: Settings, host: str) -> None:
    """Raise ``SettingsError`` for settings that serve others without a token."""
    found = "" if is_loopback(host) else f"`{host}`"
    for name, addresses in (("HOSTS", settings.http_hosts), ("ORIGINS", settings.http_origins)):
        found = found or (f"`{addresses[0]}` of REPO_NAVIGATOR_HTTP_{name}" if addresses else "")
    if found:
        raise SettingsError(
            f"{found} may serve other machines than this one, and the server requires no token; set "
            "REPO_NAVIGATOR_TOKENS to a file of tokens, or REPO_NAVIGATOR_HTTP_ISSUER to your identity "
            "provider, or serve 127.0.0.1 alone."
        )


def _allowed_addresses(settings: Settings, host: str) -> TransportSecuritySettings:
    """Return the hosts and origins of requests: loopback names, the server's own address, and what is set."""
    own = f"[{host}]" if ":" in host else host
    hosts = [rule for name in dict.fromkeys((*_LOOPBACK, own)) for rule in (name, f"{name}:*")]
    origins = [
        f"{scheme}://{rule}"
        for scheme in ("http", "https")
        for name in _LOOPBACK
        for rule in (name, f"{name}:*")
    ]
    return TransportSecuritySettings(
        allowed_hosts=[*hosts, *settings.http_hosts], allowed_origins=[*origins, *settings.http_origins]
    )


def _refusing_proxies(app: ASGIApp) -> ASGIApp:
    """Return ``app`` without requests that a proxy has passed on: they may be anyone's."""

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        is_passed_on = scope["type"] == "http" and any(name in _FORWARDED for name, _ in scope["headers"])
        if is_passed_on and scope["path"] not in PROBED:
            message = (
                "A proxy forwarded the request, and this server requires no token; set REPO_NAVIGATOR_TOKENS "
                "or REPO_NAVIGATOR_HTTP_ISSUER on the server.\n"
            )
            await PlainTextResponse(message, 403)(scope, receive, send)
        else:
            await app(scope, receive, send)

    return guarded


def _behind_token(app: ASGIApp, settings: Settings) -> ASGIApp:
    """Return ``app`` so that every path but the probes asks for a token, as RFC 6750 and RFC 9728 have it."""
    described_at, description = _description(settings)
    guarded = RequireAuthMiddleware(app, required_scopes=[], resource_metadata_url=described_at)

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in PROBED:
            await app(scope, receive, send)
        elif described_at is not None and scope["path"] == described_at.path:
            await description(scope, receive, send)
        else:
            await guarded(scope, receive, send)

    backend = BearerAuthBackend(Authenticator(settings))
    return AuthenticationMiddleware(AuthContextMiddleware(route), backend=backend)


def _description(settings: Settings) -> tuple[AnyHttpUrl | None, Response]:
    """Return where and what clients read of the identity provider (RFC 9728)."""
    if not settings.http_issuer:
        return None, Response(status_code=404)
    # The values as they are set: a URL's model would add a slash to an issuer, and clients compare it whole.
    found = {
        "resource": settings.http_resource,
        "authorization_servers": [settings.http_issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": NAME,
    }
    headers = {"cache-control": "public, max-age=3600", "access-control-allow-origin": "*"}
    return build_resource_metadata_url(AnyHttpUrl(settings.http_resource)), JSONResponse(
        found, headers=headers
    )


async def _reaches_stores(navigations: Navigations) -> bool:
    """Return True if calls can be taken; what is not known in time is no yes."""
    try:
        async with asyncio.timeout(_READY_TIMEOUT_S):
            await (await navigations.navigator()).store.reach()
    except Exception as error:
        logger.warning("Not ready: %s", one_line(error) or "no answer in time")
        return False
    return True
