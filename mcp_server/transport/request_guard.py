"""Which HTTP requests are let in: of a known host and origin, with a head of one meaning and bounded."""

from __future__ import annotations

import logging
from collections.abc import Collection
from http import HTTPStatus
from typing import Final, NamedTuple

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcp_server.transport.connections import HEAD_BYTES
from mcp_server.transport.origins import AllowedAddresses, Authority

Headers = dict[bytes, list[str]]
"""The values of each header, in lower case."""

_LAST_EVENT: Final = b"last-event-id"
_FORWARDED: Final = (
    b"forwarded",
    b"via",
    b"x-real-ip",
    b"x-client-ip",
    b"true-client-ip",
    b"cf-connecting-ip",
)
_FORWARDED_START: Final = b"x-forwarded-"
"""What proxies add to a request that they hand on, whoever made it."""

logger = logging.getLogger(__name__)


class Refusal(NamedTuple):
    """Why a request is not served."""

    status: HTTPStatus
    sentence: str
    closes: bool = False
    """Whether the connection is closed too: where the request ends is not known, or it goes on for long."""


class RequestGuard:
    """Stands before the application: what it refuses, or what is not sent to its end, never gets there."""

    def __init__(
        self,
        app: ASGIApp,
        allowed: AllowedAddresses,
        probed_at: Collection[str],
        *,
        is_for_this_machine: bool,
    ) -> None:
        """Let in what ``allowed`` admits; the paths ``probed_at`` may also be called by any IP address.

        Probes call a server by its address. A browser's page gains nothing by that: a name can be pointed at
        this machine, an address can't.

        Args:
            app: what is served.
            allowed: hosts and origins that are let in.
            probed_at: paths of probes.
            is_for_this_machine: whether no token is asked for, so that a request which a proxy has handed on
                is refused: it comes from loopback, and may be anybody's.
        """
        self._is_for_this_machine = is_for_this_machine
        self._app = app
        self._allowed = allowed
        self._probed_at = probed_at

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = _by_name(scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            closing = {"connection": "close"} if refusal.closes else None
            await PlainTextResponse(f"{refusal.sentence}\n", refusal.status, closing)(scope, receive, send)
            return
        try:
            await self._app(_without_resumption(scope, headers), _whole(receive), send)
        except _LeftError:
            logger.info("A client left before its request was complete")

    def _refusal(self, scope: Scope, headers: Headers) -> Refusal | None:
        if _size(scope) > HEAD_BYTES:
            return Refusal(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE,
                f"The request's line and headers have more than {HEAD_BYTES} bytes; send fewer.",
                closes=True,
            )
        if b"content-length" in headers and b"transfer-encoding" in headers:
            return Refusal(
                HTTPStatus.BAD_REQUEST,
                "The request has both Content-Length and Transfer-Encoding; send one of them.",
                closes=True,
            )
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or not self._admits_host(hosts[0], scope["path"]):
            return Refusal(
                HTTPStatus.MISDIRECTED_REQUEST,
                "This server does not answer to the request's Host; use a loopback name, or add the host to "
                "REPO_NAVIGATOR_HTTP_HOSTS.",
            )
        origins = headers.get(b"origin", [])
        if origins and (len(origins) > 1 or not self._allowed.admits_origin(origins[0])):
            return Refusal(
                HTTPStatus.FORBIDDEN,
                "Pages of the request's Origin may not call this server; if they should, add it to "
                "REPO_NAVIGATOR_HTTP_ORIGINS.",
            )
        if self._is_for_this_machine and scope["path"] not in self._probed_at and _is_forwarded(headers):
            return Refusal(
                HTTPStatus.FORBIDDEN,
                "A proxy forwarded the request, and this server requires no token; set "
                "REPO_NAVIGATOR_HTTP_TOKENS or REPO_NAVIGATOR_HTTP_ISSUER on the server.",
            )
        return None

    def _admits_host(self, host: str, path: str) -> bool:
        if self._allowed.admits_host(host):
            return True
        named = Authority.read(host)
        return path in self._probed_at and named is not None and named.port != "*" and named.is_address()


def _is_forwarded(headers: Headers) -> bool:
    return any(name in _FORWARDED or name.startswith(_FORWARDED_START) for name in headers)


class _LeftError(Exception):
    """The client is gone, and a part of its request with it."""


def _whole(receive: Receive) -> Receive:
    """Return ``receive`` of a request that raises if the client leaves before its body is there."""
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        message = await receive()
        if message["type"] == "http.disconnect" and not is_whole:
            raise _LeftError
        is_whole = is_whole or not message.get("more_body", False)
        return message

    return received


def _by_name(scope: Scope) -> Headers:
    headers: Headers = {}
    for name, value in scope["headers"]:
        headers.setdefault(name, []).append(value.decode("latin-1"))
    return headers


def _size(scope: Scope) -> int:
    """Return about how many bytes the head of a request took."""
    line = len(scope["raw_path"]) + len(scope["query_string"])
    return line + sum(len(name) + len(value) + 4 for name, value in scope["headers"])


def _without_resumption(scope: Scope, headers: Headers) -> Scope:
    """Return ``scope`` without a last event's id: events have no ids here, so there is nothing to resume.

    The protocol lets a server pass it over; the SDK would answer nothing at all.
    """
    if _LAST_EVENT not in headers:
        return scope
    return {**scope, "headers": [header for header in scope["headers"] if header[0] != _LAST_EVENT]}
