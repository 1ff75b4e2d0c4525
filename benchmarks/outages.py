"""``python -m benchmarks outages``: what callers of a team's servers see of an upgrade, a hang, a restart.

Three servers stand behind nginx as it is shipped, over a PostgreSQL of the run's own. Principals call without
end, every second one in the protocol's earlier era. Then one thing happens: each server is ended with SIGTERM
and started in turn (``rolling``), one is stopped with SIGSTOP (``hang``), or the database stops for a while
(``database``). Counted is what a host would show: calls that got no answer, and errors. A session of the
earlier era ends with its server: its client opens another, as the protocol says, and those are counted apart.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.postgres import Database, postgres_programs
from benchmarks.team import Host, Replica, bucket, hosts_of, write_tokens
from tests.support.nginx import PASSED_OVER_S, Front, free_port, is_installed, nginx_before

EVENTS: Final = ("rolling", "hang", "database")
ERAS: Final = ("auto", "legacy")
_REPLICAS: Final = 3
_AFTER_SECONDS: Final = 12.0
_PATIENCE_SECONDS: Final = 120.0
_SESSION_GONE: Final = "Session not found"
"""What a call is answered whose session ended with its server, before anything of it is done."""


@dataclass
class Outage:
    """What callers saw."""

    answered: Counter[str] = field(default_factory=Counter)
    """Calls by era."""
    cut: Counter[str] = field(default_factory=Counter)
    """Calls that got no answer, by era and what was said instead."""
    shown: Counter[str] = field(default_factory=Counter)
    """Errors that tools answered, by their beginning."""
    reopened: int = 0
    """Sessions of the earlier era that a client had to open anew."""
    longest: dict[str, float] = field(default_factory=dict)
    """Seconds from a principal's wish to its answer, tries included, after the event; by whom."""
    opened: set[str] = field(default_factory=set)
    """Principals that were answered."""
    is_over: bool = False
    has_begun: bool = False

    def summary(self) -> dict[str, Any]:
        """Return what is printed."""
        waited = sorted((round(seconds, 1), name) for name, seconds in self.longest.items())
        return {
            "calls answered": dict(sorted(self.answered.items())),
            "calls cut": dict(sorted(self.cut.items())) or 0,
            "errors shown": dict(sorted(self.shown.items())) or 0,
            "sessions opened anew": self.reopened,
            "principals answered after it began": len(waited),
            "longest waits, s": [f"{seconds} {name.partition(' ')[0]}" for seconds, name in waited[-3:]],
        }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("event", choices=EVENTS, nargs="?", default="rolling", help="what happens (rolling)")
    parser.add_argument("--principals", type=int, default=20, help="principals, who call at once (20)")
    parser.add_argument("--pause", type=float, default=0.3, help="seconds between two calls of one (0.3)")
    parser.add_argument("--away", type=float, default=6.0, help="seconds that the database is away (6)")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code is 1 where a call was cut or an error was shown."""
    if not is_installed() or postgres_programs() == Path():
        print("nginx, openssl and PostgreSQL's own programs are needed; install them.", file=sys.stderr)
        return 2
    # Another user, who runs the database, has to reach its own folder below.
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)
        outage = anyio.run(_watch, options, Path(scratch))
    print(json.dumps(outage.summary(), indent=1))
    return int(bool(outage.cut or outage.shown))


async def _watch(options: argparse.Namespace, scratch: Path) -> Outage:
    hosts, outage = hosts_of(scratch, options.principals), Outage()
    with ExitStack() as stack:
        database = Database(scratch / "database")
        stack.callback(database.stop)
        await anyio.to_thread.run_sync(database.make)
        environ = {
            **stack.enter_context(bucket()),
            "REPO_NAVIGATOR_STORE": database.address,
            "REPO_NAVIGATOR_TOKENS": write_tokens(scratch, hosts),
            "REPO_NAVIGATOR_HTTP_DRAIN_SECONDS": "50",
        }
        replicas = [Replica(scratch, free_port(), environ) for _ in range(_REPLICAS)]
        for replica in replicas:
            stack.callback(replica.kill)
            replica.start()
        (scratch / "nginx").mkdir()
        front = stack.enter_context(nginx_before(scratch / "nginx", [each.port for each in replicas]))
        async with anyio.create_task_group() as tasks:
            for host in hosts:
                tasks.start_soon(_call_without_end, host, front, outage, options.pause)
            # Each has opened its navigation by then.
            await _until(lambda: len(outage.opened) == len(hosts))
            outage.has_begun = True
            if options.event == "rolling":
                await anyio.to_thread.run_sync(_upgrade, replicas)
            elif options.event == "hang":
                replicas[0].send(signal.SIGSTOP)
                await anyio.sleep(_AFTER_SECONDS)
            else:
                await anyio.to_thread.run_sync(database.stop)
                await anyio.sleep(options.away)
                await anyio.to_thread.run_sync(database.start)
            await anyio.sleep(_AFTER_SECONDS)
            await _until(lambda: len(outage.longest) == len(hosts))
            outage.is_over = True
    return outage


async def _until(is_reached: Callable[[], bool]) -> None:
    """Wait for something, two minutes at most."""
    with anyio.move_on_after(_PATIENCE_SECONDS):
        while not is_reached():  # noqa: ASYNC110 - what is counted tells nobody
            await anyio.sleep(0.2)


def _upgrade(replicas: Sequence[Replica]) -> None:
    """Upgrade one server after the other, as docs/team.md has it."""
    for replica in replicas:
        replica.end()
        replica.start()
        time.sleep(PASSED_OVER_S + 0.5)


async def _call_without_end(host: Host, front: Front, outage: Outage, pause: float) -> None:
    """Call as a host does: over one client, which is opened anew where that has failed."""
    era = ERAS[host.number % 2]
    caller = _Caller(host, outage, pause, era)
    while not outage.is_over:
        try:
            async with _client_of(front, host.token, era) as client:
                await caller.call(client)
        except Exception as error:
            caller.note(error)
            await anyio.sleep(0.1)


class _Caller:
    """What one principal wants, whichever client asks for it."""

    def __init__(self, host: Host, outage: Outage, pause: float, era: str) -> None:
        self._host = host
        self._outage = outage
        self._pause = pause
        self._era = era
        self._navigation = ""
        self._step = 0
        self._wishes_since: float | None = None

    async def call(self, client: Client) -> None:
        """Call until it is over; raises what the client raises where a call got no answer."""
        while not self._outage.is_over:
            begun_before = self._outage.has_begun
            if self._wishes_since is None:
                self._wishes_since = time.monotonic()
            result = await client.call_tool(*self._wish())
            content = result.structured_content or {}
            if result.is_error:
                self._outage.shown[f"{self._era}: {getattr(result.content[0], 'text', '')[:90]}"] += 1
            else:
                self._outage.answered[self._era] += 1
                self._outage.opened.add(self._host.word)
                self._navigation = self._navigation or str(content["navigation_id"])
                if begun_before:
                    name, took = f"{self._era} {self._host.word}", time.monotonic() - self._wishes_since
                    self._outage.longest[name] = max(self._outage.longest.get(name, 0.0), took)
                self._wishes_since = None
            await anyio.sleep(self._pause)

    def note(self, error: BaseException) -> None:
        """Count what a call got in place of an answer."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        said = f"{type(error).__name__} {error}"[:90]
        if _SESSION_GONE in said:
            self._outage.reopened += 1
        else:
            self._outage.cut[f"{self._era}: {said}"] += 1

    def _wish(self) -> tuple[str, dict[str, Any]]:
        if not self._navigation:
            goal = f"the part that only {self._host.word} has"
            place = {"goal": goal, "repo_path": str(self._host.repository)}
            return "navigate", {**place, "mode": "interactive", "token_budget": 3_000}
        self._step += 1
        updates = {"budget": 2_000 + self._step % 900}
        return "step", {"navigation_id": self._navigation, "updates": updates}


@asynccontextmanager
async def _client_of(front: Front, token: str, era: str) -> AsyncIterator[Client]:
    headers = {"authorization": f"Bearer {token}"}
    url = f"https://127.0.0.1:{front.port}/mcp"
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60, verify=front.trust) as http,
        Client(streamable_http_client(url, http_client=http), mode=era) as client,
    ):
        yield client
