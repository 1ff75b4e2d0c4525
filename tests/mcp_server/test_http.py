"""Streamable HTTP over a real socket: who may speak to it, and that both eras work."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import anyio.abc
import anyio.lowlevel
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult
from starlette.types import ASGIApp, Receive, Scope, Send

from mcp_server.app import build_server
from mcp_server.http import bound, http_app, parse_address
from mcp_server.settings import HttpSettings, Settings, SettingsError
from mcp_server.transport import connections, sessions
from repo_navigator.main import main

ALICE, BOB = "alice-0123456789abcdef", "bob-0123456789abcdef"
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


HEALTH = head(method=b"GET", target=b"/health")


@pytest.fixture
async def _closed_connections(anyio_backend: str) -> AsyncIterator[None]:
    """Let the loop end what the client closed last; a transport that outlives its loop warns."""
    yield
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


@pytest.fixture
def served(shop: Path) -> Iterator[Served]:
    server = Served(shop)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that many tests speak to, with a host and an origin of its own."""
    folder = tmp_path_factory.mktemp("standing")
    server = Served(
        folder,
        REPO_NAVIGATOR_DATA=str(folder / "data"),
        REPO_NAVIGATOR_CACHE=str(folder / "cache"),
        REPO_NAVIGATOR_HTTP_TOKENS=f"alice:{ALICE}",
        REPO_NAVIGATOR_HTTP_HOSTS="navigator.example, other.example:*, bücher.example:8443",
        REPO_NAVIGATOR_HTTP_ORIGINS="https://navigator.example, https://other.example:*",
    )
    yield server
    server.stop()


@pytest.fixture
def guarded(shop: Path) -> Iterator[Served]:
    server = Served(shop, REPO_NAVIGATOR_HTTP_TOKENS=f"alice:{ALICE},bob:{BOB}")
    yield server
    server.stop()


def answer(result: CallToolResult) -> dict[str, Any]:
    assert not result.is_error, result.content
    assert result.structured_content is not None
    return result.structured_content


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
async def test_a_client_navigates_in_either_era(served: Served, era: str) -> None:
    async with Client(served.url, mode=era) as client:
        found = answer(await client.call_tool("navigate", {"goal": "the discount on an apple"}))
        report = answer(await client.call_tool("get_turn_report", {}))
    assert "def discount" in found["context"]
    assert report["navigation_id"] == found["navigation_id"]


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_two_sessions_have_each_their_own_latest_navigation(served: Served) -> None:
    async with Client(served.url, mode="legacy") as one, Client(served.url, mode="legacy") as other:
        first = answer(await one.call_tool("navigate", {"goal": "the discount on an apple"}))
        second = answer(await other.call_tool("navigate", {"goal": "mail a receipt"}))
        for client, found in ((one, first), (other, second)):
            report = answer(await client.call_tool("get_turn_report", {}))
            assert report["navigation_id"] == found["navigation_id"]


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_anothers_session_that_a_caller_of_the_newest_revision_writes_down_tells_nothing(
    guarded: Served,
) -> None:
    seen: list[str] = []

    async def note(response: httpx2.Response) -> None:
        seen.append(response.headers.get("mcp-session-id", ""))

    hers, his = ({"authorization": f"Bearer {token}"} for token in (ALICE, BOB))
    async with (
        httpx2.AsyncClient(timeout=60, headers=hers, event_hooks={"response": [note]}) as http,
        Client(streamable_http_client(guarded.url, http_client=http), mode="legacy") as alice,
    ):
        key = answer(await alice.call_tool("navigate", {"goal": "the discount on an apple"}))["navigation_id"]
        forged = his | {"mcp-session-id": next(filter(None, seen))}
        async with (
            httpx2.AsyncClient(timeout=60, headers=forged) as http_of_bob,
            Client(streamable_http_client(guarded.url, http_client=http_of_bob)) as bob,
        ):
            for tool in ("get_turn_report", "get_context", "step"):
                told = await bob.call_tool(tool, {})
                assert told.is_error
                assert key not in str(told.content)


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_principals_do_not_see_each_other(guarded: Served, era: str) -> None:
    async with as_principal(guarded, ALICE, era) as alice, as_principal(guarded, BOB, era) as bob:
        hers = answer(await alice.call_tool("navigate", {"goal": "the discount on an apple"}))[
            "navigation_id"
        ]
        stolen = await bob.call_tool("get_context", {"navigation_id": hers})
        assert stolen.is_error
        assert "class Cart" not in str(stolen.content)
        assert hers not in str((await bob.read_resource("navigator://navigations")).contents)
        assert hers in str((await alice.read_resource("navigator://navigations")).contents)


def test_health_answers_without_a_token(guarded: Served) -> None:
    message = httpx2.get(guarded.url.replace("/mcp", "/health"))
    assert message.status_code == 200
    assert message.json()["status"] == "ok"


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong-0123456789abcdef"}])
def test_without_the_token_nothing_is_served(guarded: Served, headers: dict[str, str]) -> None:
    refused = httpx2.post(guarded.url, json=INITIALIZE, headers=JSON | headers)
    assert refused.status_code == 401
    assert "www-authenticate" in refused.headers


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"host": "attacker.example"}, 421), ({"origin": "https://attacker.example"}, 403)],
)
def test_pages_of_other_origins_are_refused(served: Served, headers: dict[str, str], status: int) -> None:
    assert httpx2.post(served.url, json=INITIALIZE, headers=JSON | headers).status_code == status


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:1",
        "127.0.0.1:65535",
        "[::1]",
        "[0:0:0:0:0:0:0:1]:8321",
        "navigator.example",
        "other.example",
        "other.example:99",
        "xn--bcher-kva.example:8443",
    ],
)
def test_a_host_is_known_by_its_whole_name(standing: Served, host: str) -> None:
    # Without a session there is nothing to delete: it got past the door.
    assert standing.status(head(method=b"DELETE", host=host.encode())) == 400


@pytest.mark.parametrize(
    "host",
    [
        b"127.0.0.1:8321.evil.example",
        b"127.0.0.1:8321,evil.example",
        b"127.0.0.1:evil",
        b"127.0.0.1:",
        b"127.0.0.1:0",
        b"127.0.0.1:65536",
        b"127.0.0.1:*",
        b"127.0.0.1 .evil.example",
        b"127.0.0.1\r\n .evil.example",
        b"127.0.0.1@evil.example",
        b"user@127.0.0.1",
        b"localhost.",
        b"localhost/",
        b"localhost.evil.example",
        b"0x7f.1",
        b"2130706433",
        b"[::1",
        b"[::1%lo]",
        b"[::ffff:127.0.0.1]",
        b"10.1.2.3",
        b"navigator.example:8321",
        b"navigator.example.evil.example",
        b"xn--bcher-kva.example",
        b"b\xc3\xbccher.example:8443",
        b"",
    ],
)
def test_a_host_that_only_begins_like_ours_is_refused(standing: Served, host: bytes) -> None:
    assert standing.status(head(method=b"DELETE", host=host)) == 421


@pytest.mark.parametrize(
    ("host", "status"), [(b"10.1.2.3:8321", 200), (b"[fd00::1]", 200), (b"evil.example", 421), (b"", 421)]
)
def test_a_probe_may_ask_for_the_health_by_address_but_no_page_by_a_name(
    standing: Served, host: bytes, status: int
) -> None:
    assert standing.status(head(method=b"GET", target=b"/health", host=host)) == status


@pytest.mark.parametrize("path", [b"/mcp", b"/health"])
@pytest.mark.parametrize(
    "origin",
    [
        b"http://localhost:x",
        b"http://localhost:1/evil",
        b"http://localhost:",
        b"http://localhost/",
        b"http://localhost.evil.example",
        b"http://localhost@evil.example",
        b"http://user@localhost",
        b"http://localhost:1 http://evil.example",
        b"localhost",
        b"null",
        b"file://",
        b"ftp://localhost",
        b"http://navigator.example",
        b"https://navigator.example:1",
        b"\xff",
        b"",
        b"http://localhost\r\norigin: http://localhost",
    ],
)
def test_an_origin_that_only_begins_like_ours_is_refused(
    standing: Served, origin: bytes, path: bytes
) -> None:
    for method in (b"GET", b"DELETE", b"OPTIONS", b"POST"):
        assert standing.status(head(b"origin: " + origin, method=method, target=path)) == 403


@pytest.mark.parametrize(
    "origin",
    [
        b"http://localhost",
        b"https://LOCALHOST:5173",
        b"http://[::1]:80",
        b"https://navigator.example",
        b"https://other.example:8443",
    ],
)
def test_an_origin_is_known_by_its_whole_name(standing: Served, origin: bytes) -> None:
    assert standing.status(head(b"origin: " + origin, method=b"DELETE")) == 400


BOTH = b"content-length: %d" % len(INITIALIZING)
ONE_CHUNK = b"%x\r\n%b\r\n0\r\n\r\n" % (len(INITIALIZING), INITIALIZING)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        pytest.param(posted(b"x: " + b"a" * 100_000), 431, id="one header of 100 kB"),
        pytest.param(posted(*(b"x%d: abcdefgh" % n for n in range(1_200))), 431, id="1,200 headers"),
        pytest.param(head(target=b"/mcp?" + b"a" * 20_000), 431, id="a target of 20 kB"),
        pytest.param(b"GET /health HTTP/1.1\r\nx: " + b"a" * 20_000, 431, id="a header without an end"),
        pytest.param(
            head(BOTH, b"transfer-encoding: chunked") + ONE_CHUNK, 400, id="length and transfer encoding"
        ),
        pytest.param(posted(b"content-length: 5"), 400, id="two lengths"),
        pytest.param(head(b"content-length: +5"), 400, id="a length with a sign"),
        pytest.param(head(b"transfer-encoding: gzip, chunked"), 501, id="an unknown encoding"),
        pytest.param(chunked(INITIALIZING), 200, id="a body in chunks"),
        pytest.param(chunked(*[b"a" * 60_000] * 20), 413, id="chunks over the limit"),
        pytest.param(head(b"transfer-encoding: chunked") + b"zz\r\n", 400, id="a chunk of no size"),
        pytest.param(posted(b"x: 1\r\n 2"), 200, id="a folded header"),
        pytest.param(posted(b"x: 1\x002"), 400, id="a NUL"),
        pytest.param(posted(b"x y: 1"), 400, id="a blank in a name"),
        pytest.param(head(b"host: localhost"), 400, id="two hosts"),
        pytest.param(head(host=None), 400, id="no host"),
        pytest.param(HEALTH.replace(b"1.1", b"1.0"), 200, id="HTTP/1.0"),
        pytest.param(b"GET /health HTTP/1.0\r\n\r\n", 421, id="HTTP/1.0 without a host"),
        pytest.param(head(method=b"OPTIONS"), 405, id="OPTIONS"),
        pytest.param(head(method=b"TRACE"), 405, id="TRACE"),
        pytest.param(head(method=b"NONSENSE"), 405, id="a method of no meaning"),
        pytest.param(head(method=b"CONNECT", target=b"evil.example:80"), 404, id="CONNECT"),
        pytest.param(
            head(method=b"GET", target=b"http://evil.example/health"), 404, id="a target with a host"
        ),
        pytest.param(posted(body=b"[" * 999_999), 400, id="1 MB of brackets"),
        pytest.param(posted(b"mcp-protocol-version: 2026-07-28", body=b"[" * 999_999), 400, id="the same"),
        pytest.param(posted(body=INITIALIZING.replace(b"1", b"1" * 6_000, 1)), 400, id="a huge number"),
        pytest.param(b"\x16\x03\x01\x02" * 50, 400, id="TLS"),
    ],
)
def test_every_request_has_one_meaning_and_an_end(standing: Served, sent: bytes, status: int) -> None:
    assert standing.status(sent) == status
    assert standing.status(HEALTH) == 200


def test_requests_in_a_row_are_answered_in_a_row_each_within_its_limits(standing: Served) -> None:
    one = HEALTH.replace(b"connection: close\r\n", b"")
    assert standing.say(one * 1_000 + HEALTH).count(b" 200 OK") == 1_001
    long = one.replace(b"\r\n\r\n", b"\r\nx: " + b"a" * 20_000 + b"\r\n\r\n")
    said = standing.say(one * 2 + long + one)
    assert (said.count(b" 200 OK"), said.count(b" 431 ")) == (2, 1)


def test_a_stream_that_cannot_be_resumed_is_opened_anew(standing: Served) -> None:
    admitted = JSON | {"authorization": f"Bearer {ALICE}"}
    opened = httpx2.post(standing.url, json=INITIALIZE, headers=admitted)
    headers = admitted | {"mcp-session-id": opened.headers["mcp-session-id"], "last-event-id": "7"}
    with httpx2.stream("GET", standing.url, headers=headers) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")


def test_connections_that_say_nothing_keep_nobody_out(shop: Path) -> None:
    limited = ("sh", "-c", 'ulimit -n 128; exec "$0" "$@"', *SERVE)
    server = Served(shop, limited)
    half = (b"", b"POST /mcp HT", head(b"content-length: 9")[:-2], head(b"content-length: 9") + b"{")
    held = []
    for number in range(400):
        client = socket.create_connection(("127.0.0.1", server.port), timeout=30)
        held.append(client)
        # Some are closed already, to make room for those after them.
        with suppress(ConnectionError):
            client.sendall(half[number % len(half)])
    try:
        assert [server.status(HEALTH) for _ in range(5)] == [200] * 5
    finally:
        for client in held:
            client.close()
        assert server.stop() == 0
    assert server.log == ""


def test_clients_that_leave_are_told_in_few_lines_without_a_traceback(shop: Path) -> None:
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
    assert len(server.log.splitlines()) < 20


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
@pytest.mark.parametrize(
    ("limit", "sent"),
    [
        ("HEAD_SECONDS", b""),
        ("HEAD_SECONDS", b"GET / HTTP/1.1\r\nhost: "),
        ("HEAD_SECONDS", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"),
        ("BODY_SECONDS", b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"),
        ("TAKING_SECONDS", b"GET /much HTTP/1.1\r\nhost: x\r\n\r\n"),
    ],
    ids=["silent", "slow head", "idle after an answer", "slow body", "takes nothing"],
)
async def test_a_client_that_lets_the_server_wait_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, limit: str, sent: bytes
) -> None:
    monkeypatch.setattr(connections, limit, 0.1)
    ended = anyio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if scope["path"] == "/much":
            for _ in range(1_000):
                await send({"type": "http.response.body", "body": b"a" * 100_000, "more_body": True})
            ended.set()
            return
        await send({"type": "http.response.body", "body": b"enough"})

    async with serving(with_lifespan(app), most=10) as port:
        with anyio.fail_after(30):
            async with await anyio.connect_tcp("127.0.0.1", port) as client:
                await client.send(sent)
                if limit == "TAKING_SECONDS":
                    await ended.wait()
                with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                    while True:
                        await client.receive()


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_where_every_connection_has_a_call_the_next_is_refused_and_a_stream_gives_way() -> None:
    let_go, calls = anyio.Event(), 0

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        nonlocal calls
        calls += 1
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        await let_go.wait()
        await send({"type": "http.response.body", "body": b"done"})

    async def begin(port: int, method: str) -> anyio.abc.SocketStream:
        client = await anyio.connect_tcp("127.0.0.1", port)
        await client.send(f"{method} / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        return client

    async def whole(client: anyio.abc.SocketStream) -> bytes:
        said = b""
        async with client:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    said += await client.receive()
        return said

    with anyio.fail_after(30):
        async with serving(with_lifespan(app), most=2) as port:
            stream, call = await begin(port, "GET"), await begin(port, "POST")
            assert b"begun" in await stream.receive()
            assert b"begun" in await call.receive()
            another = await begin(port, "POST")
            assert b"begun" in await another.receive()
            assert await whole(stream) == b""
            assert (await whole(await begin(port, "POST"))).startswith(b"HTTP/1.1 503 ")
            let_go.set()
            assert b"done" in await whole(call)
            assert b"done" in await whole(another)
    assert calls == 3


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_sessions_that_nobody_ends_keep_nobody_out(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr(sessions, "MOST", 3)
    http_settings = HttpSettings(tokens={ALICE: "alice", BOB: "bob"})
    app = http_app(build_server(settings), http_settings)
    async with serving(app, most=10) as port, httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http:

        async def ask(token: str, message: dict[str, Any], session: str | None = None) -> httpx2.Response:
            named = {"authorization": f"Bearer {token}"} | ({"mcp-session-id": session} if session else {})
            return await http.post("/mcp", json=message, headers=JSON | named)

        async def opened(token: str) -> str:
            return str((await ask(token, INITIALIZE)).headers["mcp-session-id"])

        ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
        first, second, third = await opened(ALICE), await opened(BOB), await opened(ALICE)
        assert (await ask(ALICE, ping, first)).status_code == 200
        fourth = await opened(BOB)
        # The second was not used for longest.
        assert (await ask(BOB, ping, second)).status_code == 404
        for token, session in ((ALICE, first), (ALICE, third), (BOB, fourth)):
            assert (await ask(token, ping, session)).status_code == 200
        for _ in range(20):
            await opened(BOB)
        assert (await ask(ALICE, ping, first)).status_code == 404


@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_a_call_that_is_on_its_way_when_the_server_ends_is_answered() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"6")]})
        await send({"type": "http.response.body", "body": b"enough"})

    async def is_answered(receive: Callable[[], Awaitable[bytes]]) -> bool:
        said = b""
        while not said.endswith(b"enough") and (more := await receive()):
            said += more
        return said.endswith(b"enough")

    called = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"
    listener = bound(HttpSettings(port=0))
    port = listener.getsockname()[1]
    server = connections.Server(with_lifespan(app), listener, most=10, drain_seconds=10)
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup()
    with anyio.fail_after(30):
        async with await anyio.connect_tcp("127.0.0.1", port) as kept, anyio.create_task_group() as tasks:
            await kept.send(called)
            assert await is_answered(kept.receive)
            # One is known to the system alone, the other is kept open by a proxy.
            with socket.create_connection(("127.0.0.1", port), timeout=30) as late:
                late.sendall(called)
                tasks.start_soon(server.shutdown)
                assert await is_answered(partial(anyio.to_thread.run_sync, late.recv, 1_000))
            await kept.send(called)
            assert await is_answered(kept.receive)
            with pytest.raises(anyio.EndOfStream):
                await kept.receive()


@asynccontextmanager
async def serving(app: ASGIApp, most: int) -> AsyncIterator[int]:
    """Serve ``app`` in this process, and yield the port."""
    listener = bound(HttpSettings(port=0))
    port = listener.getsockname()[1]
    server = connections.Server(app, listener, most)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve)
        yield port
        server.should_exit = True


def with_lifespan(app: ASGIApp) -> ASGIApp:
    async def both(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await app(scope, receive, send)
            return
        for part in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{part}.complete"})

    return both


def test_a_body_over_the_limit_is_refused(served: Served) -> None:
    assert httpx2.post(served.url, content=b" " * 1_000_001, headers=JSON).status_code == 413


def test_a_signal_ends_the_server_in_peace(shop: Path) -> None:
    server = Served(shop)
    assert server.stop() == 0
    assert server.started == f"Serving MCP at {server.url}\n"
    assert server.log == ""


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
        ("127.0.0.1:0", {"HOSTS": "localhost, 10.1.2.3:*"}, "`10.1.2.3:*` REPO_NAVIGATOR_HTTP_HOSTS"),
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
    assert all(word in said for word in (*told.split(), "REPO_NAVIGATOR_HTTP_TOKENS"))


@pytest.mark.parametrize("own", ["localhost:*", "127.0.0.2", "[::1]:8321"])
def test_other_names_of_this_machine_need_no_token(own: str, shop: Path) -> None:
    server = Served(shop, REPO_NAVIGATOR_HTTP_HOSTS=own, REPO_NAVIGATOR_HTTP_ORIGINS="http://127.0.0.2:*")
    assert server.stop() == 0


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


@pytest.mark.parametrize("text", ["", "host", "host:", "host:port", "host:70000"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_address(text)


@pytest.mark.anyio
async def test_answers_are_sent_without_delay() -> None:
    """The system holds small writes back for 40 ms unless asyncio knows the socket as TCP."""
    seen: list[int] = []

    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        seen.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = bound(HttpSettings(port=0))
    async with await asyncio.start_server(greet, sock=listener):
        reader, writer = await asyncio.open_connection(*listener.getsockname())
        await reader.read()
        writer.close()
    assert seen
    assert seen[0]
