"""The HTTP client of a provider: it goes to the address it was given alone, and reads within limits.

A redirect would carry the key and the source to a host that nobody named, so none is followed. Proxies of the
environment (``HTTPS_PROXY``, ``NO_PROXY``, …) hold: they are the user's own way out.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import AsyncIterator
from functools import lru_cache

import httpx

from navigator.agent.models.model_errors import RedirectError, RefusedAnswerError

MOST_BYTES = 4_000_000
"""Of one answer. The longest that a call may ask for is some 4,000 tokens, told piece by piece."""
_PLAIN = frozenset({"", "identity"})


def open_client() -> httpx.AsyncClient:
    """Return a client whose every answer is checked as it comes; the call itself says how long it may take.

    Raises:
        RefusedAnswerError: from a request, where its answer leads elsewhere, is compressed or too long.
    """
    return httpx.AsyncClient(
        verify=tls_context(),
        follow_redirects=False,
        timeout=None,
        event_hooks={"request": [_ask_plainly], "response": [_check]},
    )


def tls_context() -> ssl.SSLContext:
    """Return whom all providers' clients trust: the certificates that come with httpx, or the user's own.

    The user's own are those of ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, as everywhere.
    """
    return _read_certificates(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=4)
def _read_certificates(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    # Reading them takes some 30 ms of CPU, and a client of Gemini alone would do it three times.
    return httpx.create_ssl_context()


async def _ask_plainly(request: httpx.Request) -> None:
    # A compressed answer can be a thousand times as long as its bytes tell.
    request.headers["accept-encoding"] = "identity"


async def _check(response: httpx.Response) -> None:
    if response.is_redirect or 300 <= response.status_code < 400:
        raise RedirectError(
            f"was not asked: its address answered with a redirect to {_place(response)}, where nothing was "
            "sent; set the final address"
        )
    if response.headers.get("content-encoding", "").strip().lower() not in _PLAIN:
        raise RefusedAnswerError("gave an answer that is compressed, which nobody asked for")
    if int(response.headers.get("content-length") or 0) > MOST_BYTES:
        raise _too_long()
    response.stream = _Bounded(response.stream)


class _Bounded(httpx.AsyncByteStream):
    """The bytes of an answer, up to the most that is read."""

    def __init__(self, stream: httpx.SyncByteStream | httpx.AsyncByteStream) -> None:
        assert isinstance(stream, httpx.AsyncByteStream)
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        taken = 0
        async for piece in self._stream:
            taken += len(piece)
            if taken > MOST_BYTES:
                raise _too_long()
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def _too_long() -> RefusedAnswerError:
    return RefusedAnswerError(f"gave an answer of more than {MOST_BYTES:,} bytes")


def _place(response: httpx.Response) -> str:
    """Return the host that a redirect leads to, in characters that a host may have."""
    try:
        url = response.url.join(response.headers.get("location", ""))
        host = url.netloc.decode("ascii", "replace")
    except (httpx.InvalidURL, ValueError):
        host = ""
    return f"`{host[:100]}`" if host and host.isprintable() else "another place"
