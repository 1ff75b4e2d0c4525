"""What is shipped to run a team's server: nginx before real servers, and systemd's own look at the unit."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio.lowlevel
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks import nginx
from tests.mcp_server.test_http import ALICE, INITIALIZE, JSON, Served, answer

UNIT = Path(__file__).parents[2] / "deploy" / "systemd" / "repo-navigator.service"
TURN = {"goal": "the discount on an apple", "mode": "interactive"}
needs_nginx = pytest.mark.skipif(not nginx.is_installed(), reason="nginx or openssl is not installed")


@pytest.fixture
async def _closed_connections(anyio_backend: str) -> AsyncIterator[None]:
    """Let the loop end what the client closed last; a transport that outlives its loop warns."""
    yield
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


@pytest.fixture
def replicas(shop: Path, tmp_path: Path) -> Iterator[list[Served]]:
    """Two servers of one data folder, as those of one database would be."""
    shared = {
        "REPO_NAVIGATOR_DATA": str(tmp_path / "data"),
        "REPO_NAVIGATOR_HTTP_TOKENS": f"alice:{ALICE}",
        "REPO_NAVIGATOR_HTTP_METRICS_TOKEN": "metrics-0123456789abcdef",
    }
    servers = [Served(shop, **shared) for _ in range(2)]
    yield servers
    for server in servers:
        server.process.kill()
        server.stop()


@asynccontextmanager
async def client_of(front: nginx.Front, era: str = "auto") -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {ALICE}"}
    url = f"https://127.0.0.1:{front.port}/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=front.trust) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


@needs_nginx
def test_nginx_takes_the_configuration_that_is_shipped(tmp_path: Path) -> None:
    nginx.prepare(tmp_path, [1, 2])
    checked = nginx.check(tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr
    # A step that was taken must not be asked for a second time.
    directives = re.sub(r"#.*", "", nginx.SHIPPED.read_text(encoding="utf-8"))
    assert "non_idempotent" not in directives


@needs_nginx
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_calls_through_nginx_go_on_where_a_server_is_gone(
    replicas: list[Served], tmp_path: Path
) -> None:
    folder = tmp_path / "nginx"
    folder.mkdir()
    with nginx.nginx_before(folder, [server.port for server in replicas]) as front:
        # A session of the earlier era is known to one server alone.
        async with client_of(front, "legacy") as session:
            for _ in range(4):
                assert len((await session.list_tools()).tools) >= 4
        async with client_of(front) as client:
            key = answer(await client.call_tool("navigate", TURN))["navigation_id"]
            for server in replicas:
                for budget in (900, 800):
                    updates = {"budget": budget + server.port % 50}
                    answer(await client.call_tool("step", {"navigation_id": key, "updates": updates}))
                if server is replicas[0]:
                    server.process.kill()
                    server.process.wait()
            report = answer(await client.call_tool("get_turn_report", {"navigation_id": key}))
        assert report["step_number"] == 5


@needs_nginx
@pytest.mark.slow
def test_nginx_shows_the_endpoint_and_the_probes_and_nothing_else(
    replicas: list[Served], tmp_path: Path
) -> None:
    folder = tmp_path / "nginx"
    folder.mkdir()
    with (
        nginx.nginx_before(folder, [server.port for server in replicas]) as front,
        httpx2.Client(base_url=f"https://127.0.0.1:{front.port}", verify=front.trust, timeout=60) as client,
    ):
        known = {"authorization": "Bearer metrics-0123456789abcdef"}
        statuses = {
            path: client.get(path, headers=known).status_code for path in ("/metrics", "/health", "/")
        }
        assert statuses == {"/metrics": 404, "/health": 404, "/": 404}
        assert client.get("/healthz").status_code == 200
        assert client.get("/readyz").json()["status"] in ("ok", "not ready")
        assert client.post("/mcp", json=INITIALIZE, headers=JSON).status_code == 401
        admitted = {**JSON, "authorization": f"Bearer {ALICE}"}
        assert client.post("/mcp", content=b" " * 1_000_001, headers=admitted).status_code == 413
        assert client.post("/mcp", content=b" " * 2_000_000, headers=admitted).status_code == 413
        moved = httpx2.get(f"http://127.0.0.1:{front.plain_port}/mcp")
        assert (moved.status_code, moved.headers["location"]) == (308, "https://127.0.0.1/mcp")


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
def test_systemd_understands_the_unit_and_finds_it_little_exposed(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    text = UNIT.read_text(encoding="utf-8")
    unit.write_text(text.replace("/opt/repo-navigator/bin/python", sys.executable), encoding="utf-8")
    checked = subprocess.run(
        ["systemd-analyze", "verify", str(unit)], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    exposed = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert exposed.returncode == 0, exposed.stdout[-200:]
