"""Streamable HTTP: loopback by default, and behind a bearer token everywhere else."""

from __future__ import annotations

import hmac
import os
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import anyio
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware
from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend, RequireAuthMiddleware
from mcp.server.auth.provider import AccessToken, TokenVerifier
from mcp.server.auth.routes import build_resource_metadata_url
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl
from starlette.middleware.authentication import AuthenticationMiddleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.app import NAME, NavigatorServer
from mcp_server.logs import announce
from mcp_server.readiness import Readiness, State
from mcp_server.settings import HttpSettings, IdentitySettings, SettingsError
from mcp_server.tenancy.calls import origin_of
from mcp_server.tenancy.principal import admitted
from mcp_server.transport.connections import Server, connections_within_descriptors
from mcp_server.transport.origins import allowed_addresses, is_own_host, is_own_origin
from mcp_server.transport.request_guard import RequestGuard
from mcp_server.transport.sessions import Sessions
from mcp_server.transport.watchdog import READY, STOPPING, Watchdog
from navigator.errors import StorageError
from navigator.loopback import is_loopback

if TYPE_CHECKING:
    from mcp_server.tenancy.metrics import Metrics
    from mcp_server.tenancy.repository_access import RepositoryAccess
    from mcp_server.tenancy.webhooks import Webhooks

PATH: Final = "/mcp"
HEALTH: Final = "/health"
LIVENESS: Final = "/healthz"
READINESS: Final = "/readyz"
METRICS: Final = "/metrics"
WEBHOOKS: Final = "/webhooks/"
PROBED: Final = frozenset({HEALTH, LIVENESS, READINESS})
"""What whoever watches over the server may ask without a token."""


def http_app(server: NavigatorServer, settings: HttpSettings, readiness: Readiness | None = None) -> ASGIApp:
    """Return the ASGI application: the MCP endpoint at ``/mcp``, and what watches over it.

    Raises:
        SettingsError: Others than this machine are served, and neither a token nor a provider is set.
    """
    asks_for_token = bool(settings.tokens or settings.identity or settings.takes_stored_tokens)
    if not asks_for_token:
        _require_loopback(settings)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok"})

    readiness = readiness or Readiness(server.navigations)

    async def ready(_: Request) -> Response:
        state = await readiness.look()
        return JSONResponse({"status": state}, 503 if state is State.NOT_READY else 200)

    for path, answer in ((HEALTH, health), (LIVENESS, health), (READINESS, ready)):
        server.custom_route(path, methods=["GET"])(answer)

    webhooks = _webhooks(server, settings)
    if webhooks is not None:
        server.custom_route(f"{WEBHOOKS}{{host}}", methods=["POST"])(webhooks.take)

    if server.metrics is not None:
        server.custom_route(METRICS, methods=["GET"])(_read_metrics(server.metrics, settings.metrics_token))

    app: ASGIApp = Sessions(
        server.streamable_http_app(
            streamable_http_path=PATH,
            host=settings.host,
            max_request_body_size=settings.max_body_bytes,
            # Its rules take a host by its beginning; ours stand in front of it.
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
    )
    if asks_for_token:
        app = _behind_token(app, settings, server)
    allowed = allowed_addresses(settings.host, settings.allowed_hosts, settings.allowed_origins)
    return RequestGuard(app, allowed, probed_at=PROBED | {METRICS}, is_for_this_machine=not asks_for_token)


def _require_loopback(settings: HttpSettings) -> None:
    """Refuse settings that serve others: a proxy on this machine hands them on from loopback, as if its own.

    Raises:
        SettingsError: The address, a host or an origin is not this machine's.
    """
    hosts = [each for each in settings.allowed_hosts if not is_own_host(each)]
    pages = [each for each in settings.allowed_origins if not is_own_origin(each)]
    if not is_loopback(settings.host):
        what, instead = f"`{settings.host}` can be reached from other machines", "serve on 127.0.0.1"
    elif hosts:
        what, instead = f"By `{hosts[0]}`, of REPO_NAVIGATOR_HTTP_HOSTS, others call", "leave it out"
    elif pages:
        what, instead = f"Pages of `{pages[0]}`, of REPO_NAVIGATOR_HTTP_ORIGINS, are others'", "leave it out"
    else:
        return
    raise SettingsError(
        f"{what}, and the server requires no token; set REPO_NAVIGATOR_HTTP_TOKENS to `name:token`, with a "
        "token of 16 or more characters, or REPO_NAVIGATOR_HTTP_ISSUER to your identity provider, or "
        f"{instead}."
    )


async def serve_http(
    server: NavigatorServer, settings: HttpSettings, *, loads_first: bool = False, is_watched: bool = False
) -> None:
    """Serve until a signal ends it; calls under way get a few seconds to finish.

    Args:
        server: what is served.
        settings: where and how.
        loads_first: whether nothing listens before the navigator is loaded: whoever finds a server of several
            that does not, asks another one at once, and would wait for one that is still loading.
        is_watched: whether the log says when calls can't be taken, and when they can again, unasked.

    Raises:
        SettingsError: The address can't be bound.
    """
    readiness = Readiness(server.navigations)
    app = http_app(server, settings, readiness)
    access = server.navigations.access
    people = access.people
    if loads_first:
        await server.navigations.navigator()
        # A server that begins knows what the others know: else it would refuse whom they serve.
        with suppress(StorageError):  # Told in the log, and to whoever calls.
            if people is not None:
                await people.look()
            if access.at_hosts is not None:
                await access.at_hosts.hear()
    listener = bound(settings)
    host, port = listener.getsockname()[:2]
    shown = f"[{host}]" if ":" in host else host
    most = connections_within_descriptors(settings.max_connections)
    running = Server(app, listener, most, settings.drain_seconds)
    # uvicorn minds the signal only while it serves, and raises it once more afterwards: before and after, it
    # must not end the process by itself.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, running.handle_exit)
    announce(f"Serving MCP at http://{shown}:{port}{PATH}")
    watchdog = Watchdog(os.environ)
    watchdog.tell(READY)
    async with anyio.create_task_group() as tasks:
        if is_watched:
            tasks.start_soon(readiness.watch)
        # On while the server drains too: one that hangs then is ended as well.
        tasks.start_soon(watchdog.watch)
        if access.at_hosts is not None:
            tasks.start_soon(access.at_hosts.follow)
        if people is not None:
            tasks.start_soon(people.follow)
        await running.serve()
        watchdog.tell(STOPPING)
        tasks.cancel_scope.cancel()


def parse_address(text: str) -> tuple[str, int]:
    """Return host and port of ``HOST:PORT``, ``[HOST]:PORT``, ``:PORT`` or ``PORT``.

    Raises:
        SettingsError: It is none of these.
    """
    host, _, port = text.rpartition(":")
    if not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise SettingsError(f"`{text}` is not an address; give HOST:PORT, for example 127.0.0.1:8321.")
    return host.strip("[]") or "127.0.0.1", int(port)


def bound(settings: HttpSettings) -> socket.socket:
    """Return a socket that listens where ``settings`` say.

    Raises:
        SettingsError: The address can't be bound.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named, so that what is accepted is known as TCP: asyncio sends it without delay then.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except OSError as error:
        listener.close()
        raise SettingsError(
            f"Could not listen on {settings.host}:{settings.port}: {error.strerror}; choose another with "
            f"--http."
        ) from error
    listener.listen(socket.SOMAXCONN)
    return listener


def _read_metrics(metrics: Metrics, token: str) -> Callable[[Request], Awaitable[Response]]:
    known = f"Bearer {token}".encode()

    async def read(request: Request) -> Response:
        if not hmac.compare_digest(request.headers.get("authorization", "").encode(), known):
            return PlainTextResponse("", 401, {"www-authenticate": "Bearer"})
        from mcp_server.tenancy.metrics import CONTENT_TYPE  # noqa: PLC0415 - only where somebody may read them

        return Response(await metrics.text(), media_type=CONTENT_TYPE)

    return read


class _Tokens:
    """Verifies tokens of the settings, those that operators made, and those of an identity provider."""

    def __init__(
        self, settings: HttpSettings, issuer: TokenVerifier | None, access: RepositoryAccess
    ) -> None:
        self._access = access
        self._principals = settings.tokens
        self._groups = settings.groups
        self._issuer = issuer

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who the token admits, or None."""
        found = self._known(token)
        if found is None and self._access.people is not None:
            found = self._access.people.admits(token)
        if found is None and self._issuer is not None:
            found = await self._issuer.verify_token(token)
        return None if found is None or self._access.revokes(found.client_id) else found

    def _known(self, token: str) -> AccessToken | None:
        presented, found = token.encode(), None
        for known, principal in self._principals.items():
            # Every token is compared, in constant time, so that timing says nothing of any of them.
            if hmac.compare_digest(presented, known.encode()):
                found = admitted(token, principal, self._groups.get(principal, ()))
        return found


def _behind_token(app: ASGIApp, settings: HttpSettings, server: NavigatorServer) -> ASGIApp:
    issuer, described_at, description = _identity(settings.identity)
    guarded = RequireAuthMiddleware(app, required_scopes=[], resource_metadata_url=described_at)
    described = described_at and described_at.path

    async def route(scope: Scope, receive: Receive, send: Send) -> None:
        # The metrics have a token of their own.
        is_open = scope["type"] != "http" or _has_own_secret(scope["path"])
        if not is_open and scope["path"] == described:
            await description(scope, receive, send)
        elif is_open:
            await app(scope, receive, send)
        elif not scope["user"].is_authenticated and not _has_credentials(scope):
            await _asking(described_at)(scope, receive, send)
        else:
            if not scope["user"].is_authenticated:
                server.accounting.note_unauthorized(origin_of(scope))
            await guarded(scope, receive, send)

    verifier = _Tokens(settings, issuer, server.navigations.access)
    return AuthenticationMiddleware(AuthContextMiddleware(route), backend=BearerAuthBackend(verifier))


def _has_own_secret(path: str) -> bool:
    return path in PROBED | {METRICS} or path.startswith(WEBHOOKS)


def _webhooks(server: NavigatorServer, settings: HttpSettings) -> Webhooks | None:
    rights = server.navigations.access.at_hosts
    if rights is None or not settings.webhook_secrets:
        return None
    from mcp_server.tenancy.webhooks import Webhooks  # noqa: PLC0415 - only where git hosts call

    return Webhooks(rights, settings.webhook_secrets, settings.max_body_bytes)


def _has_credentials(scope: Scope) -> bool:
    return any(name == b"authorization" for name, _ in scope["headers"])


def _asking(described_at: AnyHttpUrl | None) -> Response:
    """Return the answer to who shows no token: without an error, as RFC 6750 (3.1) wants it."""
    where = "" if described_at is None else f' resource_metadata="{described_at}"'
    said = "Send a bearer token that admits you to this server.\n"
    return PlainTextResponse(said, 401, {"www-authenticate": f"Bearer{where}"})


def _identity(settings: IdentitySettings | None) -> tuple[TokenVerifier | None, AnyHttpUrl | None, ASGIApp]:
    """Return who verifies a provider's tokens, and where and how clients read of the provider."""
    if settings is None:
        return None, None, Router()
    from mcp_server.tenancy.identity import TokenIssuer  # noqa: PLC0415 - only where a provider is named

    resource = AnyHttpUrl(settings.resource)
    # As they are set: a URL's model would add a slash to an issuer, and clients compare it whole.
    description = {
        "resource": settings.resource,
        "authorization_servers": [settings.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": NAME,
    }
    described = JSONResponse(description, headers={"cache-control": "public, max-age=3600"})
    open_to_pages = CORSMiddleware(described, allow_origins=["*"], allow_methods=["GET"], allow_headers=["*"])
    return TokenIssuer(settings), build_resource_metadata_url(resource), open_to_pages
