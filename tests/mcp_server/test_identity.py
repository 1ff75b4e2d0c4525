"""Tokens of an identity provider: whom they admit, and how a client learns where to get one."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anyio.lowlevel
import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from mcp_server.app import build_server
from mcp_server.http import http_app
from mcp_server.settings import HttpSettings, IdentitySettings, Settings
from mcp_server.tenancy.identity import TokenIssuer
from mcp_server.tenancy.principal import current_principal, groups_of
from tests.mcp_server.test_http import ALICE, BOB, Served, answer, as_principal, serving
from tests.support.providers.server import Answer, LoopbackServer, Reply

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
        if path == "/.well-known/openid-configuration":
            return Reply({"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
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
def issuer(provider: Provider) -> TokenIssuer:
    return TokenIssuer(IdentitySettings(provider.url, RESOURCE))


@pytest.fixture
async def _closed_connections(anyio_backend: str) -> AsyncIterator[None]:
    """Let the loop end what the client closed last; a transport that outlives its loop warns."""
    yield
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_people_of_the_provider_navigate_and_do_not_see_each_other(
    provider: Provider, shop: Any
) -> None:
    served = Served(
        shop,
        REPO_NAVIGATOR_HTTP_ISSUER=provider.url,
        REPO_NAVIGATOR_HTTP_RESOURCE=RESOURCE,
        REPO_NAVIGATOR_HTTP_TOKENS=f"alice:{ALICE}",
    )
    try:
        async with as_principal(served, provider.token(), "auto") as ann:
            key = answer(await ann.call_tool("navigate", ASKING))["navigation_id"]
        async with as_principal(served, provider.token(), "auto") as ann:
            assert answer(await ann.call_tool("get_turn_report", {}))["navigation_id"] == key
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
    changed: dict[str, Any], provider: Provider, issuer: TokenIssuer
) -> None:
    assert await issuer.verify_token(provider.token(**changed)) is None
    admitted = await issuer.verify_token(provider.token(aud=["https://other.example", RESOURCE]))
    assert admitted is not None
    assert (admitted.subject, admitted.resource) == ("ann", RESOURCE)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("claim", "groups"),
    [
        (["web", "core", "web"], {"core", "web"}),
        # One string is no list; a provider that means many may write them with blanks between.
        ("core", set()),
        (None, set()),
        ([], set()),
        (["core", 7], set()),
        (["core", ""], set()),
        ({"core": True}, set()),
        (["core", "x" * 257], set()),
        ([f"group-{number}" for number in range(501)], set()),
    ],
)
async def test_a_token_puts_its_bearer_in_the_groups_that_it_lists_or_in_none(
    claim: Any, groups: set[str], provider: Provider
) -> None:
    issuer = TokenIssuer(IdentitySettings(provider.url, RESOURCE, groups_claim="teams"))
    admitted = await issuer.verify_token(provider.token(teams=claim, groups=["admins"]))
    assert admitted is not None
    assert groups_of(admitted) == groups


@pytest.mark.anyio
async def test_a_token_that_the_provider_did_not_sign_admits_nobody(
    provider: Provider, issuer: TokenIssuer
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
async def test_a_new_key_is_fetched_and_strangers_make_nobody_fetch(
    provider: Provider, issuer: TokenIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr("mcp_server.tenancy.identity.monotonic", lambda: now[0])
    assert await issuer.verify_token(provider.token()) is not None
    asked = len(provider.paths)
    provider.keys["second"] = ec.generate_private_key(ec.SECP256R1())
    for _ in range(3):
        assert await issuer.verify_token(provider.token("second")) is None
    assert len(provider.paths) == asked
    now[0] += 31
    assert await issuer.verify_token(provider.token("second")) is not None
    provider.is_up = False
    now[0] += 3_600
    assert await issuer.verify_token(provider.token("second")) is not None
    assert len(provider.paths) > asked


@pytest.mark.anyio
async def test_a_provider_that_cannot_be_reached_or_names_another_admits_nobody(provider: Provider) -> None:
    provider.is_up = False
    assert await TokenIssuer(IdentitySettings(provider.url, RESOURCE)).verify_token(provider.token()) is None
    provider.is_up = True
    other = IdentitySettings(provider.url + "/", RESOURCE)
    assert await TokenIssuer(other).verify_token(provider.token(iss=provider.url + "/")) is None
    named = IdentitySettings(provider.url, RESOURCE, f"{provider.url}/keys")
    assert await TokenIssuer(named).verify_token(provider.token()) is not None


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_a_tool_learns_who_calls_it_and_in_which_groups(settings: Settings) -> None:
    server = build_server(settings)

    @server.tool()
    def whoami() -> str:
        """Tell who asks."""
        caller = current_principal()
        return f"{caller.user}: {', '.join(sorted(caller.groups))}"

    http = HttpSettings(tokens={ALICE: "alice", BOB: "bob"}, groups={"bob": ("core", "web")})
    told = []
    async with serving(http_app(server, http), most=10) as port:
        for token in (ALICE, BOB):
            headers = {"authorization": f"Bearer {token}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as client,
                Client(streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=client)) as asking,
            ):
                (block,) = (await asking.call_tool("whoami", {})).content
                assert isinstance(block, TextContent)
                told.append(block.text)
    assert told == ["alice: ", "bob: core, web"]
