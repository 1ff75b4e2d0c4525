"""OpenTelemetry: spans reach the collector that is named, without what was read; else nothing is sent."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from navigator.loading import export_telemetry
from repo_map.messages import install_command
from tests.mcp_server.test_stdio import GOAL, Hand

pytestmark = pytest.mark.slow


class Collector(ThreadingHTTPServer):
    """A loopback collector that keeps what it is sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: dict[str, list[bytes]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        assert isinstance(self.server, Collector)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.bodies.setdefault(self.path, []).append(body)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Stay silent."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def navigate(shop: Path) -> str:
    """Let a server of its own navigate and report, and return what it logged."""
    hand = Hand(shop, modern=False)
    hand.greet()
    # The call that loads the navigator began before anything was recorded: the next is told whole.
    for tool, arguments in (("navigate", {"goal": GOAL}), ("get_turn_report", {})):
        assert "shop/prices.py" in json.dumps(hand.call(tool, **arguments))
    _, errors = hand.process.communicate(timeout=60)
    return errors


def test_spans_of_a_navigation_reach_the_collector_without_goal_or_source(
    shop: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", f"{collector.url}/v1/traces")
    assert navigate(shop) == ""
    assert collector.bodies.keys() == {"/v1/traces"}
    sent = b"".join(collector.bodies["/v1/traces"])
    for name in (
        b"repo-navigator",
        b"tools/call get_turn_report",
        b"invoke_agent navigator",
        b"finalize_context",
    ):
        assert name in sent
    assert b"discount" not in sent


def test_nothing_is_sent_to_a_collector_that_is_not_named(shop: Path, collector: Collector) -> None:
    assert navigate(shop) == ""
    assert collector.bodies == {}


def test_a_collector_without_the_exporter_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    export_telemetry({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"})
    assert install_command("otel") in caplog.text
