"""The audit has a line of each call, without what was asked; the metrics count it, and tell of nobody."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import anyio.lowlevel
import httpx2
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

from mcp_server.app import build_server
from mcp_server.http import http_app
from mcp_server.settings import HttpSettings, Settings
from mcp_server.tenancy.accounting import Counted
from mcp_server.tenancy.audit import AuditLog
from mcp_server.tenancy.calls import Call
from mcp_server.tenancy.otel_metrics import OtelMetrics
from mcp_server.version import package_version
from navigator.stores.usage import Usage
from tests.mcp_server.test_http import ALICE, BOB, INITIALIZE, JSON, Served, answer, as_principal, serving

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("_closed_connections")]
GOAL = {"goal": "the discount on an apple", "mode": "interactive"}
FIELDS = [
    "time",
    "server",
    "client",
    "forwarded_for",
    "principal",
    "tool",
    "repository",
    "navigation",
    "outcome",
    "tokens",
    "model_tokens",
    "cost_usd",
    "index_ms",
    "ms",
]
READER = "metrics-0123456789abcdef"


@pytest.fixture
async def _closed_connections(anyio_backend: str) -> AsyncIterator[None]:
    """Let the loop end what the client closed last; a transport that outlives its loop warns."""
    yield
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def test_each_call_has_a_line_that_tells_nothing_of_what_was_asked(
    settings: Settings, shop: Path, tmp_path: Path
) -> None:
    path = tmp_path / "audit.jsonl"
    server = build_server(replace(settings, audit=path), working_folder=shop)
    async with Client(server) as client:
        key = answer(await client.call_tool("navigate", GOAL))["navigation_id"]
        await client.call_tool("step", {"navigation_id": key, "feedback": "show shop/mail.py and Maraschino"})
        await client.call_tool("step", {"navigation_id": "nav-of-somebody", "feedback": "Maraschino"})
        await client.call_tool("navigate", {**GOAL, "repo_path": str(tmp_path / "Maraschino")})
        await client.call_tool("navigate", {"goal": "x", "Maraschino": 1})
        await client.call_tool("Maraschino", {})
        await client.read_resource(f"navigator://{key}/context")
        with pytest.raises(MCPError):
            await client.read_resource("navigator://nav-of-somebody/context")
        await client.get_prompt("explain_context", {"navigation_id": key})
        await client.list_tools()
    told = lines(path)
    assert [list(line) for line in told] == [FIELDS] * len(told)
    about = [(line["tool"], line["outcome"], line["navigation"]) for line in told]
    assert about == [
        ("navigate", "ok", key),
        ("step", "ok", key),
        ("step", "unknown_navigation", None),
        ("navigate", "repository_not_found", None),
        ("navigate", "unknown_argument", None),
        ("unknown", "unknown_tool", None),
        ("resources/read", "ok", key),
        ("resources/read", "refused", None),
        ("prompts/get", "ok", key),
    ]
    assert {line["repository"] for line in told} == {str(shop), None}
    assert {line["principal"] for line in told} == {"local"}
    assert all(line["tokens"] > 0 for line in told[:2])
    assert told[0]["index_ms"] > 0
    assert all(line["ms"] >= 0 and line["cost_usd"] == 0 for line in told)
    written = path.read_text(encoding="utf-8")
    assert not re.search("discount|apple|Maraschino|mail|nav-of-somebody", written)
    assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_was_moved_away_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    log = AuditLog(path)
    log.write({"n": 1})
    path.rename(tmp_path / "audit.jsonl.1")
    log.write({"n": 2})
    path.unlink()
    log.write({"n": 3})
    log.close()
    log.write({"n": 4})
    log.close()
    assert lines(tmp_path / "audit.jsonl.1") == [{"n": 1}]
    assert lines(path) == [{"n": 3}, {"n": 4}]


def test_a_file_that_cannot_be_written_is_logged_and_stops_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "gone"
    AuditLog(folder / "audit.jsonl").write({"n": 1})
    assert "A call can't be audited (No such file or directory)" in caplog.text
    folder.mkdir()
    (folder / "audit.jsonl").mkdir()
    AuditLog(folder / "audit.jsonl").write({"n": 1})
    assert "A call can't be audited (Is a directory)" in caplog.text


async def test_lines_go_to_stderr_too_and_name_who_calls(shop: Path) -> None:
    tokens = f"alice:{ALICE},bob:{BOB}"
    served = Served(shop, REPO_NAVIGATOR_AUDIT="stderr", REPO_NAVIGATOR_HTTP_TOKENS=tokens)
    try:
        async with as_principal(served, BOB, "auto") as bob:
            await bob.call_tool("get_turn_report", {})
    finally:
        served.stop()
    (line,) = [json.loads(line) for line in served.log.splitlines() if line.startswith("{")]
    assert (line["principal"], line["tool"]) == ("bob", "get_turn_report")
    assert line["outcome"] == "unknown_navigation"


async def test_a_token_that_admits_nobody_has_a_line_of_nobody(shop: Path) -> None:
    served = Served(
        shop,
        REPO_NAVIGATOR_AUDIT="stderr",
        REPO_NAVIGATOR_HTTP_TOKENS=f"bob:{BOB}",
        REPO_NAVIGATOR_HTTP_METRICS_TOKEN=READER,
    )
    try:
        sent = {"x-forwarded-for": "10.1.2.3", **JSON}
        asking = httpx2.post(served.url, json=INITIALIZE, headers=sent)
        # Who shows nothing has made no error (RFC 6750, 3.1), and is no attempt.
        assert (asking.status_code, asking.headers["www-authenticate"]) == (401, "Bearer")
        for _ in range(70):
            wrong = httpx2.post(
                served.url, json=INITIALIZE, headers={**sent, "authorization": "Bearer wrong"}
            )
        assert wrong.status_code == 401
        assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
        metrics = httpx2.get(
            served.url.replace("/mcp", "/metrics"), headers={"authorization": f"Bearer {READER}"}, timeout=60
        ).text
        async with as_principal(served, BOB, "auto") as bob:
            await bob.call_tool("get_turn_report", {})
    finally:
        served.stop()
    told = [json.loads(line) for line in served.log.splitlines() if line.startswith("{")]
    assert [line["outcome"] for line in told] == ["unauthorized"] * 60 + ["unknown_navigation"]
    nobody = told[0]
    assert (nobody["principal"], nobody["tool"], nobody["repository"]) == (None, None, None)
    assert (nobody["client"], nobody["forwarded_for"]) == ("127.0.0.1", "10.1.2.3")
    assert (told[-1]["client"], told[-1]["forwarded_for"]) == ("127.0.0.1", None)
    assert nobody["server"] == socket.gethostname()
    assert 'repo_navigator_calls_total{outcome="unauthorized",tool=""} 70.0' in metrics


async def test_the_metrics_count_calls_for_whoever_has_their_token_and_name_nobody(
    settings: Settings, shop: Path
) -> None:
    http = HttpSettings(tokens={ALICE: "alice"}, metrics_token=READER)
    server = build_server(replace(settings, http=http), working_folder=shop)
    async with (
        serving(http_app(server, http), most=10) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as reader,
    ):
        for headers in ({}, {"authorization": f"Bearer {ALICE}"}, {"authorization": "Bearer"}):
            assert (await reader.get("/metrics", headers=headers)).status_code == 401
        known = {"authorization": f"Bearer {READER}"}
        before = await reader.get("/metrics", headers=known)
        assert before.status_code == 200
        assert before.headers["content-type"].startswith("text/plain; version=")
        async with as_principal(_at(port), ALICE, "auto") as alice:
            key = answer(await alice.call_tool("navigate", GOAL))["navigation_id"]
            for _ in range(2):
                await alice.call_tool("step", {"navigation_id": "nav-none"})
        # Whoever scrapes by an address is no browser's page.
        after = (await reader.get("/metrics", headers={**known, "host": "10.1.2.3:8321"})).text
    numbers = dict(line.rsplit(" ", 1) for line in after.splitlines() if not line.startswith("#"))
    assert numbers['repo_navigator_info{version="' + package_version() + '"}'] == "1.0"
    assert numbers['repo_navigator_calls_total{outcome="ok",tool="navigate"}'] == "1.0"
    assert numbers['repo_navigator_calls_total{outcome="unknown_navigation",tool="step"}'] == "2.0"
    assert numbers['repo_navigator_call_seconds_count{tool="step"}'] == "2.0"
    assert float(numbers['repo_navigator_tokens_total{to="assistant"}']) > 100
    assert float(numbers["repo_navigator_index_seconds_total"]) > 0
    for name in ("steps", "steps_waiting", "leases"):
        assert numbers[f"repo_navigator_{name}"] == "0.0"
    assert numbers["repo_navigator_navigations_live"] == "1.0"
    assert numbers['repo_navigator_store_errors_total{store="database"}'] == "0.0"
    assert numbers["repo_navigator_cost_usd_total"] == "0.0"
    for word in ("alice", key, "discount", shop.name, READER):
        assert word not in after


def test_the_numbers_of_a_call_reach_a_provider_of_opentelemetry() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    counters = OtelMetrics(provider.get_meter("test"))
    call = Call("navigate", "alice", lambda *_: None, usage=Usage(40, Decimal("0.5"), 1.5))
    for _ in range(2):
        counters.count(Counted(call, 0.25, 300))
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    told = json.loads(data.to_json())["resource_metrics"][0]["scope_metrics"][0]["metrics"]
    numbers = {
        (metric["name"], *sorted(point["attributes"].values())): point.get("value", point.get("sum"))
        for metric in told
        for point in metric["data"]["data_points"]
    }
    assert numbers == {
        ("repo_navigator.calls", "navigate", "ok"): 2,
        ("repo_navigator.call.duration", "navigate"): 0.5,
        ("repo_navigator.tokens", "assistant"): 600,
        ("repo_navigator.tokens", "model"): 80,
        ("repo_navigator.cost",): 1.0,
        ("repo_navigator.index.duration",): 3.0,
    }


async def test_open_navigations_are_those_of_the_store(settings: Settings, shop: Path) -> None:
    http = HttpSettings(metrics_token=READER)
    for expected in ("1.0", "2.0"):
        server = build_server(replace(settings, http=http), working_folder=shop)
        async with Client(server) as client:
            answer(await client.call_tool("navigate", GOAL))
            assert server.metrics is not None
            text = (await server.metrics.text()).decode()
        assert f"\nrepo_navigator_open_navigations {expected}\n" in text


def test_without_a_token_there_are_no_metrics(shop: Path) -> None:
    served = Served(shop)
    try:
        assert httpx2.get(f"http://127.0.0.1:{served.port}/metrics").status_code == 404
    finally:
        served.stop()


class _at:  # noqa: N801 - what ``as_principal`` asks of a server
    """A server that runs in this process."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/mcp"
