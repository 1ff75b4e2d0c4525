"""Streamable HTTP over a real socket: who may speak to it, and that both eras work."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio.lowlevel
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from mcp_server.cli import main
from mcp_server.http import bound, parse_address
from mcp_server.settings import HttpSettings, SettingsError

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


class Served:
    """A server process on a loopback port of its own."""

    def __init__(self, folder: Path, **environ: str) -> None:
        import os

        command = [sys.executable, "-m", "mcp_server", "--http", "127.0.0.1:0"]
        variables = {**os.environ, **environ}
        self.process = subprocess.Popen(command, cwd=folder, env=variables, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        for line in self.process.stderr:
            if "Serving MCP at " in line:
                self.url = line.rpartition(" ")[2].strip()
                break

    def stop(self) -> int:
        self.process.terminate()
        code = self.process.wait(20)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


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
    told = httpx2.get(guarded.url.replace("/mcp", "/health"))
    assert told.status_code == 200
    assert told.json()["status"] == "ok"


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


def test_a_body_over_the_limit_is_refused(served: Served) -> None:
    assert httpx2.post(served.url, content=b" " * 1_000_001, headers=JSON).status_code == 413


def test_a_signal_ends_the_server_in_peace(shop: Path) -> None:
    assert Served(shop).stop() == 0


def test_another_address_without_a_token_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--http", "0.0.0.0:0"]) == 2
    assert "can be reached from other machines; set REPO_NAVIGATOR_HTTP_TOKENS" in capsys.readouterr().err


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
    with pytest.raises(SettingsError, match="is no address; give HOST:PORT"):
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
