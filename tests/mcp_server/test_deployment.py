"""What is shipped to run a team's server: nginx before real servers, and systemd's own look at the unit."""

from __future__ import annotations

import asyncio
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import httpx2
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from mcp_server.settings import KNOWN
from tests.mcp_server.conftest import SlowModel
from tests.mcp_server.test_http import ALICE, INITIALIZE, JSON, Served, token_file
from tests.support import nginx
from tests.support.results import object_of

DEPLOY = Path(__file__).parents[2] / "packaging/deploy"
UNITS = DEPLOY / "systemd"
UID = 10_001
SERVICES = ("repo-navigator.service",)
TURN = {"goal": "the discount on an apple", "mode": "interactive"}
needs_nginx = pytest.mark.skipif(not nginx.is_installed(), reason="nginx or openssl is not installed")


@pytest.fixture
def replicas(shop: Path, tmp_path: Path) -> Iterator[list[Served]]:
    """Two servers of one data folder, as those of one database would be."""
    shared = {
        "REPO_NAVIGATOR_DATA": str(tmp_path / "data"),
        "REPO_NAVIGATOR_TOKENS": token_file(tmp_path),
        "REPO_NAVIGATOR_METRICS": "on",
    }
    servers = [Served(shop, **shared) for _ in range(2)]
    yield servers
    for server in servers:
        server.process.kill()
        server.stop()


@asynccontextmanager
async def client_of(front: nginx.Front, era: str = "auto", token: str = ALICE) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"}
    url = f"https://127.0.0.1:{front.port}/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=front.trust) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client


def calls_of(served: Served, token: str = ALICE) -> float:
    known = {"authorization": f"Bearer {token}"}
    text = httpx2.get(f"http://127.0.0.1:{served.port}/metrics", headers=known, timeout=30).text
    counted = [line for line in text.splitlines() if line.startswith("repo_navigator_calls_total{")]
    return sum(float(line.rpartition(" ")[2]) for line in counted)


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
            key = object_of(await client.call_tool("navigate", TURN))["navigation_id"]
            for server in replicas:
                for budget in (900, 800):
                    updates = {"budget": budget + server.port % 50}
                    object_of(await client.call_tool("step", {"navigation_id": key, "updates": updates}))
                if server is replicas[0]:
                    server.process.kill()
                    server.process.wait()
            report = object_of(await client.call_tool("get_turn_report", {"navigation_id": key}))
        assert report["step_number"] == 5


@needs_nginx
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_clients_of_a_server_that_hangs_go_on_at_another_within_20_seconds(
    shop: Path, tmp_path: Path, era: str
) -> None:
    tokens = [f"client-{number}-0123456789abcdef-{number * 7919}" for number in range(6)]
    named = {f"client{number}": token for number, token in enumerate(tokens)}
    shared = {
        "REPO_NAVIGATOR_DATA": str(tmp_path / "data"),
        "REPO_NAVIGATOR_TOKENS": token_file(tmp_path, **named),
        "REPO_NAVIGATOR_METRICS": "on",
    }
    servers = [Served(shop, **shared) for _ in range(3)]
    folder = tmp_path / "nginx"
    folder.mkdir()
    try:
        with nginx.nginx_before(folder, [server.port for server in servers]) as front:

            async def ask(token: str) -> int:
                """Call until there is an answer, and return how many calls it took."""
                calls = 0
                while True:
                    calls += 1
                    with suppress(Exception):
                        async with client_of(front, era, token) as client:
                            assert len((await client.list_tools()).tools) >= 4
                            await client.call_tool("get_turn_report", {})
                            return calls

            # Each keeps a connection to every server that it is given to.
            assert [await ask(token) for token in tokens] == [1] * len(tokens)
            busiest = max(servers, key=lambda server: calls_of(server, tokens[0]))
            assert calls_of(busiest, tokens[0]) >= 2
            busiest.process.send_signal(signal.SIGSTOP)
            calls = await asyncio.wait_for(asyncio.gather(*map(ask, tokens)), 20)
            # Some were its clients; they were told once, if at all, and none has waited twice.
            assert "upstream timed out" in (folder / "error.log").read_text(encoding="utf-8")
            assert max(calls) <= 2
    finally:
        for server in servers:
            server.process.kill()
            server.stop()


@needs_nginx
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.anyio
@pytest.mark.usefixtures("_closed_connections")
async def test_a_call_that_takes_longer_than_nginx_waits_for_a_word_is_answered(
    slow_model: SlowModel, replicas: list[Served], tmp_path: Path
) -> None:
    folder = tmp_path / "nginx"
    folder.mkdir()
    change = {"updates": {"model": "openai/slow"}}
    with nginx.nginx_before(folder, [server.port for server in replicas]) as front:
        async with client_of(front, "legacy") as earlier, client_of(front) as latest:
            steps = []
            for client in (earlier, latest):
                key = object_of(await client.call_tool("navigate", TURN))["navigation_id"]
                steps.append(asyncio.create_task(client.call_tool("step", {"navigation_id": key} | change)))
            done, _ = await asyncio.wait(steps, timeout=10)
            assert not done
            slow_model.may_answer.set()
            for step in steps:
                assert object_of(await step)["turn_report"]["step_number"] == 2


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
        known = {"authorization": f"Bearer {ALICE}"}
        assert [client.get(path, headers=known).status_code for path in ("/metrics", "/")] == [404, 404]
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
@pytest.mark.parametrize("name", SERVICES)
def test_systemd_understands_the_units_and_finds_them_little_exposed(tmp_path: Path, name: str) -> None:
    # Of several on one machine each is the same unit on a port of its own.
    files = {each.relative_to(UNITS): each for each in UNITS.rglob("*") if each.is_file()}
    files[Path("repo-navigator@.service")] = UNITS / "repo-navigator.service"
    for place, each in files.items():
        text = each.read_text(encoding="utf-8").replace("/opt/repo-navigator/bin/python", sys.executable)
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text, encoding="utf-8")
    (tmp_path / "repo-navigator@8322.service").symlink_to("repo-navigator@.service")
    unit = tmp_path / name
    others = [
        str(path) for path in tmp_path.iterdir() if path.suffix in (".timer", ".path") or "@8322" in path.name
    ]
    checked = subprocess.run(
        ["systemd-analyze", "verify", str(unit), *others], capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    exposed = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--threshold=20", "--no-pager", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert exposed.returncode == 0, exposed.stdout[-200:]


def test_each_setting_that_is_shipped_is_one_and_no_name_is_misspelt() -> None:
    files = [path for path in DEPLOY.rglob("*") if path.is_file()]
    named = {name for path in files for name in re.findall(r"REPO_NAVIGATOR_[A-Z_]+", path.read_text())}
    assert {"REPO_NAVIGATOR_DATA", "REPO_NAVIGATOR_CACHE"} <= named
    assert named <= KNOWN


def test_the_image_runs_as_nobody_that_matters_and_says_whether_it_lives() -> None:
    text = (DEPLOY / "docker" / "Dockerfile").read_text()
    assert re.search(rf"^USER {UID}:{UID}$", text, re.MULTILINE)
    assert text.index("USER ") < text.index("ENTRYPOINT ")
    assert "/healthz" in text
    assert text.rstrip().endswith('CMD ["serve", "--http", "0.0.0.0:8321"]')
    kept = {
        line[1:] for line in (DEPLOY / "docker/Dockerfile.dockerignore").read_text().split() if line[0] == "!"
    }
    # Whatever is built needs, and nothing else: no tests, no history, no secrets that lie about.
    assert kept == {
        *("LICENSE", "README.md", "constraints.txt", "packaging/hatch_build.py", "pyproject.toml"),
        *("mcp_server", "navigator", "repo_map", "repo_navigator"),
    }


def test_the_compose_file_has_the_servers_that_nginx_calls_each_with_a_root_that_is_read_only() -> None:
    services = yaml.safe_load((DEPLOY / "docker" / "compose.yaml").read_text())["services"]
    called = re.findall(
        r"^    server ([\d.]+):8321", (DEPLOY / "nginx/repo-navigator.conf").read_text(), re.MULTILINE
    )
    servers = {name: each for name, each in services.items() if name.startswith("navigator-")}
    assert [each["networks"]["inside"]["ipv4_address"] for each in servers.values()] == called
    for each in servers.values():
        assert each["read_only"]
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
        # The drain of 50 seconds, and a little more.
        assert each["stop_grace_period"] == "60s"
    assert [name for name, each in services.items() if "ports" in each] == ["nginx"]
