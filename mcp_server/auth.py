"""Who is calling: bearer tokens, tokens of an identity provider, and the caller of the current request."""

from __future__ import annotations

import hashlib
import logging
import re
from contextvars import ContextVar
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import anyio.to_thread
from mcp.server.auth.provider import AccessToken
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcp_server.sdk_private import MODERN
from mcp_server.settings import Settings, SettingsError
from mcp_server.tokens import JWT_PREFIX, listed_tokens, user_of
from navigator.settings import LOCAL_USER
from repo_map.messages import install_command

if TYPE_CHECKING:
    from collections.abc import Callable

    from jwt import PyJWKClient

_ALGORITHMS: Final = [*(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)), "EdDSA"]
"""Of key pairs alone: with a shared secret, a public key would be enough to sign."""
_REQUIRED_CLAIMS: Final = ("exp", "iss", "aud", "sub")
_LEEWAY_S: Final = 30
_FETCH_TIMEOUT_S: Final = 5.0
_KEYS_LIFESPAN_S: Final = 600.0
_SAFE_SUBJECT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
"""A subject that can be a part of keys and paths as it is; any other is hashed."""
logger = logging.getLogger(__name__)


class Principal(NamedTuple):
    """The caller of one request."""

    user: str = LOCAL_USER
    session: str | None = None
    """Of the protocol where it has one, else of the connection; None for HTTP without sessions."""
    is_local: bool = False
    """Whether the process serves nobody else, over stdio."""


_current: ContextVar[Principal] = ContextVar("principal", default=Principal())  # noqa: B039 - a frozen value


def current_principal() -> Principal:
    return _current.get()


def principal_of(ctx: ServerRequestContext[Any, Any]) -> Principal:
    """Return the caller that a request's transport vouches for."""
    request = ctx.request
    if request is None:
        # One process on stdio, one connection in memory: its lifespan is the session.
        return Principal(session=f"connection-{id(ctx.lifespan_context)}", is_local=True)
    # The newest revision has no sessions: there the header is whatever a caller writes, such as another's.
    session = None if ctx.protocol_version >= MODERN else request.headers.get("mcp-session-id")
    user = request.scope.get("user")
    if user is None or not user.is_authenticated:
        return Principal(LOCAL_USER, session)
    return Principal(user.display_name, session)


async def identify_principal(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: resources get no context, so the caller travels beside them."""
    token = _current.set(principal_of(ctx))
    try:
        return await call_next(ctx)
    finally:
        _current.reset(token)


class Authenticator:
    """The SDK's token verifier: tokens of the file, then those of the identity provider for this server.

    The latter are JSON Web Tokens (RFC 7519, RFC 8707).
    """

    def __init__(self, settings: Settings) -> None:
        """Prepare the verification; keys of a provider are fetched when the first of its tokens comes."""
        self._settings = settings
        self._tokens = None if settings.tokens is None else listed_tokens(settings.tokens)
        self._keys: PyJWKClient | None = None
        if settings.http_issuer:
            if find_spec("jwt") is None:
                raise SettingsError(
                    "REPO_NAVIGATOR_HTTP_ISSUER needs a package that is not installed; run "
                    f"`{install_command('team')}`."
                )
            from jwt import PyJWKClient  # noqa: PLC0415 - only where a provider is named

            lifespan, timeout = _KEYS_LIFESPAN_S, _FETCH_TIMEOUT_S
            self._keys = PyJWKClient(settings.http_jwks, lifespan=lifespan, timeout=timeout)

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return whom the token admits, or None."""
        if self._tokens is not None and (user := user_of(token, self._tokens.entries)) is not None:
            return AccessToken(token=token, client_id=user, scopes=[])
        if self._keys is None:
            return None
        claims = await anyio.to_thread.run_sync(self._claims_of, token, self._keys)
        if claims is None:
            return None
        return AccessToken(
            token=token,
            client_id=JWT_PREFIX + self._user_of(str(claims[self._settings.http_user_claim])),
            scopes=str(claims.get("scope", "")).split(),
            # The SDK's middleware looks at the clock once more, without the leeway.
            expires_at=int(claims["exp"]) + _LEEWAY_S,
            resource=self._settings.http_resource,
            subject=str(claims["sub"]),
        )

    def _claims_of(self, token: str, keys: PyJWKClient) -> dict[str, Any] | None:
        import jwt  # noqa: PLC0415 - only where a provider is named

        decode: Callable[..., dict[str, Any]] = jwt.decode
        try:
            claims = decode(
                token,
                keys.get_signing_key_from_jwt(token).key,
                algorithms=_ALGORITHMS,
                audience=self._settings.http_resource,
                issuer=self._settings.http_issuer,
                leeway=_LEEWAY_S,
                options={"require": list(_REQUIRED_CLAIMS)},
            )
            if not str(claims[self._settings.http_user_claim]).strip() or not str(claims["sub"]).strip():
                raise ValueError("it names no user")
        except jwt.PyJWKClientConnectionError:
            logger.warning("The keys of %s can't be fetched", self._settings.http_issuer)
            return None
        except (jwt.PyJWTError, TypeError, ValueError, KeyError) as error:
            logger.info("A token was refused: %s", type(error).__name__)
            return None
        return claims

    def _user_of(self, subject: str) -> str:
        if _SAFE_SUBJECT.fullmatch(subject):
            return subject
        return hashlib.sha256(f"{self._settings.http_issuer}\n{subject}".encode()).hexdigest()[:32]
