"""Tokens of an identity provider: whom they admit, and how a client learns where to get one."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from mcp_server.auth import Authenticator
from mcp_server.settings import Settings
from tests.mcp_server.test_http import ALICE, Served, as_principal, token_file
from tests.support.providers.server import Answer, LoopbackServer, Reply
from tests.support.results import object_of

RESOURCE = "https://navigator.example/mcp"
ASKING = {"goal": "the discount on an apple"}


class Provider(LoopbackServer):
    """An identity provider with keys that can be exchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.keys: dict[str, Any] = {
            "first": rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        }
        self.is_up = True

    def handle(self, method: str, path: str, request: dict[str, Any]) -> Answer:
        self.paths.append(path)
        if not self.is_up:
            return Reply({}, 503)
        return Reply({"keys": [_public(name, key) for name, key in self.keys.items()]})

    def token(self, key: str = "first", **changed: Any) -> str:
        """Return a token; a claim that is None is left out."""
        claims = {"iss": self.url, "aud": RESOURCE, "sub": "ann", "exp": time.time() + 600, **changed}
        said = {name: value for name, value in claims.items() if value is not None}
        signing = self.keys[key]
        algorithm = "RS256" if isinstance(signing, rsa.RSAPrivateKey) else "ES256"
        return jwt.encode(said, signing, algorithm, headers={"kid": key})


def _public(name: str, key: Any) -> dict[str, Any]:
    algorithm = (
        jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
    )
    return {**algorithm.to_jwk(key.public_key(), as_dict=True), "kid": name, "use": "sig"}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        assert isinstance(server, Provider)
        yield server


@pytest.fixture
def issuer(provider: Provider) -> Authenticator:
    return Authenticator(settings_of(provider))


def settings_of(provider: Provider, **others: str) -> Settings:
    jwks = f"{provider.url}/keys"
    return Settings(http_issuer=provider.url, http_resource=RESOURCE, http_jwks=jwks, **others)  # type: ignore[arg-type]


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_people_of_the_provider_navigate_and_do_not_see_each_other(
    provider: Provider, shop: Path, tmp_path: Path
) -> None:
    served = Served(
        shop,
        REPO_NAVIGATOR_HTTP_ISSUER=provider.url,
        REPO_NAVIGATOR_HTTP_RESOURCE=RESOURCE,
        REPO_NAVIGATOR_HTTP_JWKS=f"{provider.url}/keys",
        REPO_NAVIGATOR_TOKENS=token_file(tmp_path),
    )
    try:
        async with as_principal(served, provider.token(), "auto") as ann:
            key = object_of(await ann.call_tool("navigate", ASKING))["navigation_id"]
        async with as_principal(served, provider.token(), "auto") as ann:
            assert object_of(await ann.call_tool("get_turn_report", {}))["navigation_id"] == key
        for other in (provider.token(sub="bob"), ALICE):
            async with as_principal(served, other, "auto") as client:
                assert (await client.call_tool("get_turn_report", {"navigation_id": key})).is_error
        refused = httpx2.post(
            served.url, headers={"authorization": f"Bearer {provider.token(aud='https://other.example')}"}
        )
        assert refused.status_code == 401
        described = f"{RESOURCE.removesuffix('/mcp')}/.well-known/oauth-protected-resource/mcp"
        assert f'resource_metadata="{described}"' in refused.headers["www-authenticate"]
        path = described.removeprefix("https://navigator.example")
        document = httpx2.get(f"http://127.0.0.1:{served.port}{path}").json()
    finally:
        served.stop()
    assert document["resource"] == RESOURCE
    assert document["authorization_servers"] == [provider.url]
    assert provider.token().partition(".")[0] not in served.log


@pytest.mark.anyio
@pytest.mark.parametrize(
    "changed",
    [
        {"aud": "https://other.example/mcp"},
        {"aud": None},
        {"iss": "https://other.example"},
        {"iss": None},
        {"exp": 1},
        {"exp": None},
        {"sub": None},
        {"sub": ""},
        {"sub": " \t"},
        {"nbf": 4e9},
    ],
)
async def test_a_token_that_is_not_for_this_server_or_not_now_admits_nobody(
    changed: dict[str, Any], provider: Provider, issuer: Authenticator
) -> None:
    assert await issuer.verify_token(provider.token(**changed)) is None
    admitted = await issuer.verify_token(provider.token(aud=["https://other.example", RESOURCE]))
    assert admitted is not None
    assert (admitted.subject, admitted.resource) == ("ann", RESOURCE)


@pytest.mark.anyio
async def test_a_token_that_the_provider_did_not_sign_admits_nobody(
    provider: Provider, issuer: Authenticator
) -> None:
    head, body, signature = provider.token().split(".")
    claims = jwt.decode(provider.token(), options={"verify_signature": False})
    public = json.dumps(_public("first", provider.keys["first"]))
    unsigned = jwt.encode(claims, None, "none", headers={"kid": "first"})
    shared = jwt.encode(claims, public * 2, "HS256", headers={"kid": "first"})
    other = Provider()
    try:
        foreign = jwt.encode(claims, other.keys["first"], "RS256", headers={"kid": "first"})
    finally:
        other._http.server_close()
    changed = body[:-4] + ("AAAA" if body[-4:] != "AAAA" else "BBBB")
    for token in (unsigned, shared, foreign, f"{head}.{changed}.{signature}", f"{head}.{body}.", "a.b.c", ""):
        assert await issuer.verify_token(token) is None
    assert await issuer.verify_token(provider.token()) is not None


@pytest.mark.anyio
async def test_the_user_is_the_claim_that_is_set(provider: Provider) -> None:
    settings = settings_of(provider, http_user_claim="email")
    tokens = Authenticator(settings)
    admitted = await tokens.verify_token(provider.token(email="ann@shop.example"))
    assert admitted is not None
    assert admitted.client_id == "jwt-ann@shop.example"
    odd = await tokens.verify_token(provider.token(email="../ann"))
    assert odd is not None
    assert "/" not in odd.client_id
    assert await tokens.verify_token(provider.token()) is None


@pytest.mark.anyio
async def test_a_provider_that_can_not_be_reached_admits_nobody(provider: Provider) -> None:
    provider.is_up = False
    tokens = Authenticator(settings_of(provider))
    assert await tokens.verify_token(provider.token()) is None
