"""The sessions of the earlier eras over HTTP: one more than there may be ends the longest unused."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any, Final

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST: Final = 1_000
"""A session takes some 40 kB. Clients seldom end theirs, and the SDK keeps it for half an hour."""
_ID: Final = b"mcp-session-id"
_VERSION: Final = b"mcp-protocol-version"
_OPENING: Final = frozenset({"", *HANDSHAKE_PROTOCOL_VERSIONS})
"""What the version says of a request that may open a session."""

logger = logging.getLogger(__name__)


@dataclass
class _Session:
    """Whose a session is, and how many of its requests are being answered."""

    user: Any
    auth: Any
    requests: int = 0


class Sessions:
    """Stands around the SDK's application, which refuses whoever comes once its sessions are too many."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._known: OrderedDict[bytes, _Session] = OrderedDict()
        """By id, the one that was used last at the end."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, having made room where it opens a session."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        session = self._known.get(headers.get(_ID, b""))
        if session is not None:
            self._known.move_to_end(headers[_ID])
            session.requests += 1
        elif _ID not in headers and headers.get(_VERSION, b"").decode("latin-1") in _OPENING:
            await self._make_room(scope)

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._note(scope, message)
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            if session is not None:
                session.requests -= 1

    def _note(self, scope: Scope, answer: Message) -> None:
        named = dict(answer["headers"]).get(_ID)
        if answer["status"] == 404 or scope["method"] == "DELETE":
            self._known.pop(dict(scope["headers"]).get(_ID, b""), None)
        elif named is not None and answer["status"] < 400 and named not in self._known:
            self._known[named] = _Session(scope.get("user"), scope.get("auth"))

    async def _make_room(self, scope: Scope) -> None:
        """End the sessions that are too many, as their own clients would, the longest unused first."""
        unused = [name for name, session in self._known.items() if not session.requests]
        for name in unused[: max(len(self._known) + 1 - MOST, 0)]:
            logger.info("A session that was not used for long ended to make room for another")
            session = self._known.pop(name)
            whose = {"user": session.user, "auth": session.auth}
            deleting = {**scope, **whose, "method": "DELETE", "headers": [(_ID, name)]}
            await self._app(deleting, _nothing, _discard)


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


async def _discard(_: Message) -> None:
    return
