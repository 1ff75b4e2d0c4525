"""Tokens that a team's identity provider has signed: this server is the resource they were issued for."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from time import monotonic
from typing import Any, Final

import httpx2
import jwt
from mcp.server.auth.provider import AccessToken

from mcp_server.settings import IdentitySettings, is_trusted_url
from mcp_server.tenancy.principal import GROUPS, LOGIN

_ALGORITHMS: Final = (
    "RS256",
    "RS384",
    "RS512",
    "PS256",
    "PS384",
    "PS512",
    "ES256",
    "ES384",
    "ES512",
    "EdDSA",
)
"""Of key pairs alone: with a shared secret, whoever knows a public key could sign."""
_CLAIMS: Final = ("exp", "iss", "aud", "sub")
_LEEWAY_SECONDS: Final = 30
_FETCH_SECONDS: Final = 5.0
_FRESH_SECONDS: Final = 600.0
"""How long keys are used before they are fetched again."""
_PAUSE_SECONDS: Final = 30.0
"""Between two fetches, whatever keys tokens name: a stranger must not make this server call another."""
_LARGEST_BYTES: Final = 1_000_000
_MOST_GROUPS: Final = 500
_LONGEST_GROUP: Final = 256
"""Characters of a group's name."""
logger = logging.getLogger(__name__)


class TokenIssuer:
    """Verifies the tokens of one identity provider, whose public keys it fetches and keeps."""

    def __init__(self, settings: IdentitySettings) -> None:
        self._settings = settings
        self._keys: dict[str | None, jwt.PyJWK] = {}
        self._fetched_at = self._tried_at = -_FRESH_SECONDS
        self._fetching = asyncio.Lock()

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return who the token admits, or None."""
        try:
            header = jwt.get_unverified_header(token)
            key = await self._key(header.get("kid"))
            if key is None or header.get("alg") not in _ALGORITHMS:
                return None
            claims = jwt.decode(
                token,
                key,
                algorithms=[header["alg"]],
                audience=self._settings.resource,
                issuer=self._settings.issuer,
                leeway=_LEEWAY_SECONDS,
                options={"require": list(_CLAIMS)},
            )
            if not claims["sub"].strip():
                raise ValueError("It names nobody.")
        except (jwt.InvalidTokenError, TypeError, ValueError) as error:
            logger.info("A token was refused: %s", type(error).__name__)
            return None
        return self._admitted(token, claims)

    def _admitted(self, token: str, claims: dict[str, Any]) -> AccessToken:
        issuer, subject = self._settings.issuer, str(claims["sub"])
        # A name of a fixed form: it is part of keys and paths, and no token's name can be the same.
        person = hashlib.sha256(f"{issuer}\n{subject}".encode()).hexdigest()[:32]
        return AccessToken(
            token=token,
            client_id=f"jwt-{person}",
            scopes=str(claims.get("scope", "")).split(),
            # The middleware looks at the clock once more, without the leeway.
            expires_at=int(claims["exp"]) + _LEEWAY_SECONDS,
            resource=self._settings.resource,
            subject=subject,
            claims={
                "iss": issuer,
                GROUPS: _groups(claims.get(self._settings.groups_claim)),
                LOGIN: self._login(claims),
            },
        )

    def _login(self, claims: dict[str, Any]) -> str:
        login = claims.get(self._settings.login_claim) if self._settings.login_claim else None
        return login if isinstance(login, str) and len(login) <= _LONGEST_GROUP else ""

    async def _key(self, name: object) -> jwt.PyJWK | None:
        """Return the provider's key of that name; of one without names, the only one."""
        wanted = name if isinstance(name, str) else None
        async with self._fetching:
            now = monotonic()
            is_stale = now - self._fetched_at > _FRESH_SECONDS or self._find(wanted) is None
            if is_stale and now - self._tried_at > _PAUSE_SECONDS:
                self._tried_at = now
                await self._fetch()
            return self._find(wanted)

    def _find(self, name: str | None) -> jwt.PyJWK | None:
        if name is None:
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(name)

    async def _fetch(self) -> None:
        """Fetch the keys; where that fails those that are known stay good."""
        try:
            async with httpx2.AsyncClient(timeout=_FETCH_SECONDS, follow_redirects=False) as client:
                url = self._settings.keys_url or await self._discovered(client)
                document = await _json_at(client, url)
            self._keys = {key.key_id: key for key in jwt.PyJWKSet.from_dict(document).keys if _signs(key)}
            self._fetched_at = monotonic()
        except (httpx2.HTTPError, jwt.PyJWTError, ValueError, KeyError, TypeError, AttributeError) as error:
            logger.warning(
                "The keys of %s can't be fetched (%s)", self._settings.issuer, type(error).__name__
            )

    async def _discovered(self, client: httpx2.AsyncClient) -> str:
        issuer = self._settings.issuer
        document = await _json_at(client, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
        url = str(document["jwks_uri"])
        if document["issuer"] != issuer or not is_trusted_url(url):
            raise ValueError("Another provider's document.")
        return url


def _groups(claim: object) -> list[str]:
    """Return the groups that a claim lists: all of them, or none of one that is no short list of names."""
    listed: Any = [] if claim is None else claim
    is_readable = (
        isinstance(listed, list)
        and len(listed) <= _MOST_GROUPS
        and all(isinstance(name, str) and 0 < len(name) <= _LONGEST_GROUP for name in listed)
    )
    if not is_readable:
        # Fewer rights than the provider meant are safe; rights that were guessed are not.
        logger.warning("A token's claim of groups is no list of at most %d names; none is used", _MOST_GROUPS)
        return []
    return sorted(set(listed))


def _signs(key: jwt.PyJWK) -> bool:
    return key.algorithm_name in _ALGORITHMS and key.public_key_use in (None, "sig")


async def _json_at(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    answer = await client.get(url)
    answer.raise_for_status()
    if len(answer.content) > _LARGEST_BYTES:
        raise ValueError("The document is too large.")
    document = answer.json()
    if not isinstance(document, dict):
        raise ValueError("The document is no object.")
    return document
