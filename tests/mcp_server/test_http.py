"""Streamable HTTP over a real socket: who may speak to it, and that both eras work."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import date
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_server.http import bound, parse_address
from mcp_server.tokens import hash_of, listed_tokens, user_of
from repo_navigator.main import main
from tests.mcp_server.conftest import both_eras, plant
from tests.support.errors import refusal_of
from tests.support.results import object_of

ALICE, BOB = "alice-0123456789abcdef", "bob-0123456789abcdef"
TOKENS = {"alice": ALICE, "bob": BOB}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


SERVE = (sys.executable, "-I", "-m", "mcp_server", "--http", "127.0.0.1:0")
INITIALIZING = json.dumps(INITIALIZE).encode()


def token_file(folder: Path, **tokens: str) -> str:
    """Write the hashes of users' tokens, by default of Alice's and Bob's, and return the file's path."""
    entries = [
        f"- name: {name}\n  sha256: {hashlib.sha256(token.encode()).hexdigest()}\n"
        for name, token in (tokens or TOKENS).items()
    ]
    file = folder / "tokens.yaml"
    file.write_text("".join(entries))
    return str(file)


class Served:
    """A server process on a loopback port of its own."""

    def __init__(self, folder: Path, command: Sequence[str] = SERVE, **environ: str) -> None:
        variables = {**os.environ, **environ}
        self.process = subprocess.Popen(command, cwd=folder, env=variables, stderr=subprocess.PIPE, text=True)
        self.log = ""
        """What it has logged since its start, once it has stopped."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "Serving MCP at " in line:
                self.started = line
                self.url = line.rpartition(" ")[2].strip()
                self.port = int(self.url.removesuffix("/mcp").rpartition(":")[2])
                break
        self._reading = threading.Thread(target=self._read_log, daemon=True)
        self._reading.start()

    def _read_log(self) -> None:
        assert self.process.stderr is not None
        self.log = self.process.stderr.read()

    def stop(self) -> int:
        self.process.terminate()
        code = self.process.wait(20)
        self._reading.join(20)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def say(self, sent: bytes) -> bytes:
        """Send bytes over a connection of their own, and return what comes until it is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as client:
            # What is refused early is not read to its end.
            with suppress(ConnectionError):
                client.sendall(sent)
            answer = b""
            with suppress(ConnectionError):
                while more := client.recv(65_536):
                    answer += more
        return answer

    def status(self, sent: bytes) -> int:
        """Return the status of what ``say`` is answered."""
        return int(self.say(sent).split(b" ", 2)[1])


def head(
    *headers: bytes, method: bytes = b"POST", target: bytes = b"/mcp", host: bytes | None = b"localhost"
) -> bytes:
    """Return the head of a request whose connection ends with its answer."""
    usual = [b"content-type: application/json", b"accept: application/json, text/event-stream"]
    named = [] if host is None else [b"host: " + host]
    usual.append(b"authorization: Bearer " + ALICE.encode())
    lines = [method + b" " + target + b" HTTP/1.1", *named, *usual, b"connection: close", *headers]
    return b"\r\n".join([*lines, b"", b""])


def posted(*headers: bytes, body: bytes = INITIALIZING) -> bytes:
    return head(b"content-length: %d" % len(body), *headers) + body


def chunked(*chunks: bytes) -> bytes:
    pieces = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return head(b"transfer-encoding: chunked") + pieces + b"0\r\n\r\n"


HEALTH = head(method=b"GET", target=b"/healthz")


@contextmanager
def server_in(folder: Path, **environ: str) -> Iterator[Served]:
    """Serve a repository of four files from a folder with a cache and data of its own."""
    places = {f"REPO_NAVIGATOR_{name}": str(folder / name.lower()) for name in ("DATA", "CACHE")}
    server = Served(plant(folder / "shop-repository"), **places, **environ)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server without tokens, which many tests speak to."""
    with server_in(tmp_path_factory.mktemp("served")) as server:
        yield server


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with tokens, and a host and an origin of its own, which many tests speak to."""
    folder = tmp_path_factory.mktemp("standing")
    with server_in(
        folder,
        REPO_NAVIGATOR_TOKENS=token_file(folder),
        REPO_NAVIGATOR_HTTP_HOSTS="navigator.example, other.example:*",
        REPO_NAVIGATOR_HTTP_ORIGINS="https://navigator.example, https://other.example:*",
    ) as server:
        yield server


@asynccontextmanager
async def as_principal(served: Served, token: str, era: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(served.url, http_client=http), mode=era) as client,
    ):
        yield client


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_without_a_session_a_call_that_could_mean_several_navigations_is_refused(
    served: Served,
) -> None:
    async with Client(served.url) as client:
        for goal in ("the discount on an apple", "mail a receipt"):
            key = object_of(await client.call_tool("navigate", {"goal": goal}))["navigation_id"]
        refused = await client.call_tool("get_context", {})
    assert refusal_of(refused) == ("unknown_navigation", "navigation_id")
    assert key in str(refused.content)


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_two_sessions_have_each_their_own_latest_navigation(served: Served) -> None:
    async with Client(served.url, mode="legacy") as one, Client(served.url, mode="legacy") as other:
        first = object_of(await one.call_tool("navigate", {"goal": "the discount on an apple"}))
        second = object_of(await other.call_tool("navigate", {"goal": "mail a receipt"}))
        for client, found in ((one, first), (other, second)):
            report = object_of(await client.call_tool("get_turn_report", {}))
            assert report["navigation_id"] == found["navigation_id"]


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_anothers_session_that_a_caller_of_the_newest_revision_writes_down_tells_nothing(
    standing: Served,
) -> None:
    seen: list[str] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.headers.get("mcp-session-id", ""))

    hers, his = ({"authorization": f"Bearer {token}"} for token in (ALICE, BOB))
    async with (
        httpx2.AsyncClient(timeout=60, headers=hers, event_hooks={"response": [note]}) as http,
        Client(streamable_http_client(standing.url, http_client=http), mode="legacy") as alice,
    ):
        key = object_of(await alice.call_tool("navigate", {"goal": "the discount on an apple"}))[
            "navigation_id"
        ]
        forged = his | {"mcp-session-id": next(filter(None, seen))}
        async with (
            httpx2.AsyncClient(timeout=60, headers=forged) as http_of_bob,
            Client(streamable_http_client(standing.url, http_client=http_of_bob)) as bob,
        ):
            for tool in ("get_turn_report", "get_context", "step"):
                told = await bob.call_tool(tool, {})
                assert told.is_error
                assert key not in str(told.content)


@both_eras
@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_principals_do_not_see_each_other(standing: Served, era: str) -> None:
    async with as_principal(standing, ALICE, era) as alice, as_principal(standing, BOB, era) as bob:
        hers = object_of(await alice.call_tool("navigate", {"goal": "the discount on an apple"}))[
            "navigation_id"
        ]
        stolen = await bob.call_tool("get_context", {"navigation_id": hers})
        assert stolen.is_error
        assert "class Cart" not in str(stolen.content)
        assert hers not in str((await bob.read_resource("navigator://navigations")).contents)
        assert hers in str((await alice.read_resource("navigator://navigations")).contents)


def test_health_answers_without_a_token(standing: Served) -> None:
    message = httpx2.get(standing.url.replace("/mcp", "/healthz"))
    assert message.status_code == 200
    assert message.json()["status"] == "ok"


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong-0123456789abcdef"}])
def test_without_the_token_nothing_is_served(standing: Served, headers: dict[str, str]) -> None:
    refused = httpx2.post(standing.url, json=INITIALIZE, headers=JSON | headers)
    assert refused.status_code == 401
    assert "www-authenticate" in refused.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "attacker.example"}, 421), ({"origin": "https://attacker.example"}, 403)],
)
def test_pages_of_other_origins_are_refused(served: Served, headers: dict[str, str], status: int) -> None:
    assert httpx2.post(served.url, json=INITIALIZE, headers=JSON | headers).status_code == status


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        # Without a session there is nothing to delete: 400 means that the request got past the check.
        *((host, b"", 400) for host in (b"localhost", b"127.0.0.1:65535", b"[::1]", b"other.example:99")),
        *((host, b"", 421) for host in (b"10.1.2.3", b"localhost.", b"localhost.evil.example", b"")),
        *((host, b"", 421) for host in (b"navigator.example:8321", b"user@127.0.0.1")),
        *((b"localhost", b"http://" + host, 400) for host in (b"localhost", b"[::1]:80")),
        (b"navigator.example", b"https://navigator.example", 400),
        (b"localhost", b"https://other.example:8443", 400),
        (b"localhost", b"http://localhost.evil.example", 403),
        (b"localhost", b"null", 403),
        (b"localhost", b"http://navigator.example", 403),
        (b"localhost", b"https://navigator.example:1", 403),
    ],
)
def test_hosts_and_origins_are_checked(standing: Served, host: bytes, origin: bytes, status: int) -> None:
    named = [b"origin: " + origin] if origin else []
    assert standing.status(head(*named, method=b"DELETE", host=host)) == status


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(chunked(INITIALIZING), 200, id="a body in chunks"),
        pytest.param(chunked(*[b"a" * 60_000] * 20), 413, id="chunks over the limit"),
        pytest.param(posted(body=b" " * 1_000_001), 413, id="a body over the limit"),
        pytest.param(posted(body=b"[" * 999_999), 400, id="1 MB of brackets"),
        pytest.param(posted(b"mcp-protocol-version: 2026-07-28", body=b"[" * 999_999), 400, id="the same"),
    ],
)
def test_a_malformed_request_is_refused_and_the_server_goes_on(
    standing: Served, sent: bytes, status: int
) -> None:
    assert standing.status(sent) == status
    assert standing.status(HEALTH) == 200


def test_clients_that_leave_are_logged_without_a_traceback(shop: Path) -> None:
    server = Served(shop)
    listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": {}}}
    modern = [b"mcp-protocol-version: 2026-07-28", b"mcp-method: tools/list"]
    for sent in (posted()[:-9], posted(), posted(*modern, body=json.dumps(listed).encode())):
        for _ in range(40):
            with socket.create_connection(("127.0.0.1", server.port), timeout=30) as client:
                client.sendall(sent)
                # It is torn down, not closed.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert server.status(HEALTH) == 200
    assert server.stop() == 0
    assert "Traceback" not in server.log


def test_more_connections_than_allowed_are_answered_503(shop: Path) -> None:
    server = Served(shop, REPO_NAVIGATOR_HTTP_MAX_CONNECTIONS="3")
    held = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(4)]
    for each in held:
        each.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
    answers = [each.recv(100).split(b" ")[1] for each in held]
    for each in held:
        each.close()
    assert b"503" in answers
    assert server.stop() == 0


def test_a_changed_token_file_is_read_while_the_server_runs(shop: Path, tmp_path: Path) -> None:
    server = Served(shop, REPO_NAVIGATOR_TOKENS=token_file(tmp_path, alice=ALICE))

    def status(token: str) -> int:
        headers = JSON | {"authorization": f"Bearer {token}"}
        return httpx2.post(server.url, json=INITIALIZE, headers=headers).status_code

    assert (status(ALICE), status(BOB)) == (200, 401)
    token_file(tmp_path, bob=BOB)
    ends = time.monotonic() + 10
    while status(BOB) != 200:
        assert time.monotonic() < ends
    assert status(ALICE) == 401
    server.stop()
    assert BOB not in server.log


def test_an_expired_token_admits_nobody(tmp_path: Path) -> None:
    file = Path(token_file(tmp_path, alice=ALICE))
    file.write_text(file.read_text() + "  expires: 2026-11-30\n")
    entries = listed_tokens(file).entries
    assert user_of(ALICE, entries, date(2026, 11, 30)) == "alice"
    assert user_of(ALICE, entries, date(2026, 12, 1)) is None


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("- name: alice\n  sha256: 12\n", "entry 1, sha256"),
        ("- name: alice\n  sha256: {hash}\n- name: jwt-bob\n  sha256: {hash}\n", "entry 2, name"),
        ("- name: alice\n  sha256: {hash}\n- name: bob\n  sha256: {hash}\n", "twice"),
        ("- name: local\n  sha256: {hash}\n", "entry 1, name"),
        ("tokens:\n- [", "line 2"),
        ("tokens: 1", "no list"),
    ],
)
def test_a_bad_entry_is_refused_at_start_with_its_place(
    content: str,
    place: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(content.replace("{hash}", "a" * 64))
    monkeypatch.setenv("REPO_NAVIGATOR_TOKENS", str(file))
    assert main(["serve", "--http", "127.0.0.1:0"]) == 2
    err = capsys.readouterr().err
    assert f"`{file}`" in err
    assert place in err


def test_the_token_command_prints_an_entry_that_admits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["token", "alice", "--expires", "2999-12-31"]) == 0
    out, err = capsys.readouterr()
    token = out.removesuffix("\n")
    file = tmp_path / "tokens.yaml"
    # What stderr has can be appended, also to a last line without its line break.
    file.write_text(f"- name: bob\n  sha256: {hash_of('b')}{err}", encoding="utf-8")
    entries = listed_tokens(file).entries
    assert [each.name for each in entries] == ["bob", "alice"]
    assert user_of(token, entries) == "alice"
    assert user_of(token + "x", entries) is None
    assert main(["token", "jwt-alice"]) == 2
    assert main(["token", "alice", "--expires", "2001-01-01"]) == 2


def test_metrics_count_calls_and_ask_for_a_token(shop: Path, tmp_path: Path) -> None:
    server = Served(shop, REPO_NAVIGATOR_TOKENS=token_file(tmp_path), REPO_NAVIGATOR_METRICS="on")
    url = server.url.replace("/mcp", "/metrics")
    assert httpx2.get(url).status_code == 401
    admitted = JSON | {"authorization": f"Bearer {ALICE}", "mcp-protocol-version": "2025-06-18"}
    session = httpx2.post(server.url, json=INITIALIZE, headers=admitted).headers["mcp-session-id"]
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "step", "arguments": {}}}
    httpx2.post(server.url, json=call, headers=admitted | {"mcp-session-id": session})
    text = httpx2.get(url, headers=admitted).text
    server.stop()
    counted = [line for line in text.splitlines() if line.startswith("repo_navigator_calls")]
    assert any(
        'tool="step"' in line and 'outcome="unknown_navigation"' in line and line.endswith(" 1.0")
        for line in counted
    )


@pytest.mark.slow
def test_a_signal_ends_a_server_whose_thread_hangs(shop: Path) -> None:
    hanging = (
        "import sys, threading; threading.Thread(target=threading.Event().wait).start(); "
        "from repo_navigator.main import main; sys.exit(main(['serve', '--http', '127.0.0.1:0']))"
    )
    assert Served(shop, (sys.executable, "-c", hanging)).stop() == 0


@pytest.mark.parametrize(
    ("address", "variables", "told"),
    [
        ("0.0.0.0:0", {}, "`0.0.0.0`"),
        (
            "127.0.0.1:0",
            {"HOSTS": "navigator.example"},
            "`navigator.example`",
        ),
        ("127.0.0.1:0", {"HOSTS": "10.1.2.3:*"}, "`10.1.2.3:*` REPO_NAVIGATOR_HTTP_HOSTS"),
        ("127.0.0.1:0", {"ORIGINS": "https://navigator.example"}, "REPO_NAVIGATOR_HTTP_ORIGINS"),
        ("127.0.0.1:0", {"ORIGINS": "null"}, "`null` REPO_NAVIGATOR_HTTP_ORIGINS"),
    ],
)
def test_whoever_serves_others_asks_for_a_token(
    address: str,
    variables: dict[str, str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"REPO_NAVIGATOR_HTTP_{name}", value)
    assert main(["serve", "--http", address]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in (*told.split(), "REPO_NAVIGATOR_TOKENS"))


def test_a_signal_ends_the_server_in_peace(shop: Path) -> None:
    server = Served(shop)
    assert server.stop() == 0
    assert (server.started, server.log) == (f"Serving MCP at {server.url}\n", "")


@pytest.mark.parametrize(
    "header",
    [
        b"x-forwarded-for: 10.1.2.3",
        b"X-Forwarded-Host: navigator.example",
        b"x-real-ip: 127.0.0.1",
        b"forwarded: for=10.1.2.3",
        b"via: 1.1 proxy",
        b"x-forwarded-for:",
    ],
)
def test_what_a_proxy_hands_on_is_refused_where_no_token_is_asked_for(
    served: Served, standing: Served, header: bytes
) -> None:
    said = served.say(head(header, method=b"DELETE"))
    assert said.startswith(b"HTTP/1.1 403")
    assert b"A proxy forwarded the request" in said
    # Whoever watches over the server may come through the proxy, and so may who has a token.
    assert served.status(head(header, method=b"GET", target=b"/healthz")) == 200
    assert standing.status(head(header, method=b"DELETE")) == 400


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:80", ("127.0.0.1", 80)),
        ("[::1]:80", ("::1", 80)),
        (":80", ("127.0.0.1", 80)),
        ("80", ("127.0.0.1", 80)),
    ],
)
def test_addresses_are_read_in_every_usual_form(text: str, address: tuple[str, int]) -> None:
    assert parse_address(text) == address


@pytest.mark.anyio
async def test_answers_are_sent_without_delay() -> None:
    """The system holds small writes back for 40 ms unless asyncio knows the socket as TCP."""
    seen: list[int] = []

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        seen.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = bound("127.0.0.1", 0)
    async with await asyncio.start_server(greet, sock=listener):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        await reader.read()
        writer.close()
    assert seen
    assert seen[0]
