"""``python -m benchmarks team``: a team's servers behind nginx, while they or what they rely on misbehaves.

Each principal has a repository of its own with a word that no other has. It opens navigations one after the
other and steps each. A call that got no answer, or 502 to 504, is made again. At the end every
answered step is looked up at another server than nginx chose. The same is then done by one server alone, on
SQLite and without any trouble.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import secrets
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import anyio
import httpx2

from benchmarks.postgres import Database, postgres_programs
from benchmarks.troubles import TROUBLES, Stage, is_ready, trouble
from mcp_server.tokens import hash_of
from navigator.storage.addresses import DatabaseAddress, read_database_address
from tests.support.nginx import free_port, is_installed, nginx_before

STORE: Final = "postgresql+asyncpg://postgres@127.0.0.1:5432/test"
_STEPS: Final = 5
_TOKENS: Final = 3_000
_PATIENCE_SECONDS: Final = 120.0
_PAUSE_SECONDS: Final = 0.25
_TRANSIENT: Final = frozenset({502, 503, 504})
_WORD: Final = re.compile(r"canary_(\w+?)_of_one")
_MODERN: Final = "2026-07-28"
_SHOW: Final = {"verbosity": [{"pattern": "**", "level": 4}]}


@dataclass
class Flight:
    """A navigation as its principal's host sees it."""

    navigation_id: str
    answered: dict[int, int] = field(default_factory=dict)
    """Step that was answered → the budget of its map, which no other step of it has."""


@dataclass
class Host:
    """A principal, its repository and what it was answered."""

    number: int
    token: str
    repository: Path
    word: str
    flights: list[Flight] = field(default_factory=list)

    @property
    def login(self) -> str:
        """Its name."""
        return f"principal-{self.number}"


@dataclass
class Outcome:
    """What a run came to."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {"navigate": [], "step": []})
    """By tool, how long a host waited for an answer, tries included."""
    retries: Counter[str] = field(default_factory=Counter)
    """By reason."""
    refusals: Counter[str] = field(default_factory=Counter)
    """Errors that a host was told, by their beginning."""
    unanswered: Counter[str] = field(default_factory=Counter)
    """Calls that were given up."""
    wrong: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    alone: dict[str, list[float]] = field(default_factory=dict)
    """As ``seconds``, before anybody else called and anything happened."""
    troubles: dict[str, list[float]] = field(default_factory=dict)
    """Which happened, and how many seconds each took."""
    took: float = 0.0
    busy_cores: float = 0.0
    """Of the machine, whoever made it work."""
    cpu_seconds: float = 0.0
    """Of all servers, those that were killed and their starts included."""
    memory_mb: float = 0.0
    """Most that a server had."""
    database_kb: float = 0.0
    """Of a navigation."""

    @property
    def answered(self) -> int:
        """Calls that were answered."""
        return sum(map(len, self.seconds.values()))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the measurement's arguments."""
    parser.add_argument("--principals", type=int, default=30, help="principals, who call at once (30)")
    parser.add_argument("--navigations", type=int, default=300, help="navigations of all of them (300)")
    parser.add_argument("--replicas", type=int, default=3, help="servers behind nginx (3)")
    parser.add_argument("--steps", type=int, default=_STEPS, help=f"of each navigation ({_STEPS})")
    parser.add_argument(
        "--pause", type=float, default=0.0, help="seconds that a principal thinks before each call (0)"
    )
    parser.add_argument(
        "--trouble",
        default="kill",
        metavar="NAMES",
        help=f"what happens in turn, with commas between: {', '.join(TROUBLES)}; `none` for nothing (kill)",
    )
    parser.add_argument(
        "--every", type=float, default=10.0, help="seconds between the end of a trouble and the next (10)"
    )
    parser.add_argument(
        "--alone", type=int, default=0, help="principals who navigate before all others, one by one (0)"
    )
    parser.add_argument(
        "--earlier",
        default="",
        metavar="PYTHON",
        help="interpreter in whose environment an earlier version is installed, with which servers begin",
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="no navigation is opened later (30)")
    parser.add_argument("--store", default=STORE, help=f"database for a schema of its own ({STORE})")
    parser.add_argument("--no-baseline", action="store_true", help="leave the one server on SQLite out")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """Measure and print; the exit code is 1 where an answered step was lost or an answer was another's."""
    names = _troubles(options.trouble)
    if (why := _missing(options, names)) is not None:
        print(why, file=sys.stderr)
        return 2
    # Another user, who runs the database, has to reach its own folder below.
    with tempfile.TemporaryDirectory() as scratch:
        Path(scratch).chmod(0o755)
        team = anyio.run(fly_team, options, Path(scratch))
    told = {"team": _summary(team)}
    if not options.no_baseline:
        with tempfile.TemporaryDirectory() as scratch:
            told["one server, SQLite"] = _summary(anyio.run(fly_alone, options, Path(scratch)))
    if options.json:
        print(json.dumps(told))
    else:
        for name, summary in told.items():
            print(f"{name}:")
            for field_name, value in summary.items():
                print(f"  {field_name}: {value}")
    return int(bool(team.lost or team.wrong))


def _troubles(text: str) -> list[str]:
    return [] if text == "none" else [name.strip() for name in text.split(",")]


def _missing(options: argparse.Namespace, names: Sequence[str]) -> str | None:
    """Return what keeps the measurement from being made, None where nothing does."""
    if unknown := [name for name in names if name not in TROUBLES]:
        return f"`{unknown[0]}` is no trouble; name some of {', '.join(TROUBLES)}."
    if not is_installed() or ("database" in names and postgres_programs() == Path()):
        return "nginx, openssl and, to restart it, PostgreSQL's own programs are needed; install them."
    if options.earlier and not is_ready(options.earlier):
        return (
            f"`{options.earlier}` is no interpreter in whose environment a server with `[team]` is installed."
        )
    if not options.earlier and not {"upgrade", "rollback"}.isdisjoint(names):
        return "An upgrade begins at an earlier version; name its interpreter by --earlier."
    return None


def _summary(outcome: Outcome) -> dict[str, Any]:
    navigations = max(len(outcome.seconds["navigate"]), 1)
    told: dict[str, Any] = {
        "calls answered": outcome.answered,
        "CPU seconds of servers a navigation": round(outcome.cpu_seconds / navigations, 2),
        "memory of a server, MB": round(outcome.memory_mb),
        "database, kB a navigation": round(outcome.database_kb),
        "seconds": round(outcome.took, 1),
        "cores busy": f"{outcome.busy_cores:.2f} of {os.cpu_count()}, all work of the machine",
        "seconds of each trouble": {
            name: [round(each, 1) for each in took] for name, took in outcome.troubles.items()
        },
        "answered steps lost": outcome.lost[:5] or 0,
        "wrong or foreign answers": outcome.wrong[:5] or 0,
        "retries": dict(sorted(outcome.retries.items())),
        "refusals": dict(sorted(outcome.refusals.items())),
        "given up after two minutes": dict(sorted(outcome.unanswered.items())),
    }
    for tool, seconds in outcome.seconds.items():
        if len(seconds) > 1:
            told[f"{tool} p50, p95, longest"] = p50, p95, _ = _percentiles(seconds)
            alone = outcome.alone.get(tool, ())
            if len(alone) > 1:
                told[f"{tool} alone"] = at_rest = _percentiles(alone)
                told[f"{tool} against alone, p50 and p95"] = [
                    round(p50 / max(at_rest[0], 0.01), 1),
                    round(p95 / max(at_rest[1], 0.01), 1),
                ]
    return told


def _percentiles(seconds: Sequence[float]) -> list[float]:
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return [round(each, 2) for each in (cuts[9], cuts[18], max(seconds))]


async def fly_team(options: argparse.Namespace, scratch: Path) -> Outcome:
    """Let hosts call servers behind nginx while things happen to these, then look up what was answered."""
    hosts, names = hosts_of(scratch, options.principals), _troubles(options.trouble)
    with ExitStack() as stack:
        database = Database(scratch / "database") if "database" in names else None
        if database is not None:
            stack.callback(database.stop)
            await anyio.to_thread.run_sync(database.make)
        store = options.store if database is None else database.address
        environ = {
            **stack.enter_context(bucket()),
            "REPO_NAVIGATOR_STORE": stack.enter_context(_schema(store)),
            "REPO_NAVIGATOR_TOKENS": write_tokens(scratch, hosts),
            "REPO_NAVIGATOR_HTTP_DRAIN_SECONDS": "50",
        }
        programs = {"later": sys.executable, "earlier": options.earlier or sys.executable}
        ports = [free_port() for _ in range(options.replicas)]
        replicas = [Replica(scratch, port, environ, programs["earlier"]) for port in ports]
        for replica in replicas:
            stack.callback(replica.kill)
            replica.start()
        (scratch / "nginx").mkdir()
        front = stack.enter_context(nginx_before(scratch / "nginx", ports))
        stage = Stage(replicas, database, programs)
        outcome = Outcome()
        async with (
            httpx2.AsyncClient(verify=front.trust, timeout=90, limits=_ROOMY) as client,
            anyio.create_task_group() as tasks,
        ):
            caller = Caller(client, f"https://127.0.0.1:{front.port}", outcome)
            for host in hosts[: options.alone]:
                await _fly_one(host, caller, options)
            outcome.alone, outcome.seconds = outcome.seconds, {tool: [] for tool in outcome.seconds}
            if names:
                tasks.start_soon(trouble, stage, names, options.every)
            await _fly(hosts, caller, options)
            tasks.cancel_scope.cancel()
        outcome.troubles = stage.took
        for replica in replicas:
            replica.send(signal.SIGCONT)
            await anyio.to_thread.run_sync(replica.ensure)
        await _look_up(hosts, ports, outcome)
        _measure(replicas, outcome)
        size = await _database_bytes(environ["REPO_NAVIGATOR_STORE"])
        outcome.database_kb = size / 1000 / max(len(outcome.seconds["navigate"]), 1)
    return outcome


async def fly_alone(options: argparse.Namespace, scratch: Path) -> Outcome:
    """Let the same hosts call one server that keeps everything in its own folder."""
    hosts, outcome = hosts_of(scratch, options.principals), Outcome()
    replica = Replica(scratch, free_port(), {"REPO_NAVIGATOR_TOKENS": write_tokens(scratch, hosts)})
    replica.start()
    try:
        async with httpx2.AsyncClient(timeout=90, limits=_ROOMY) as client:
            caller = Caller(client, f"http://127.0.0.1:{replica.port}", outcome)
            await _fly(hosts, caller, options)
        await _look_up(hosts, [replica.port], outcome)
        _measure([replica], outcome)
    finally:
        replica.kill()
    return outcome


_ROOMY: Final = httpx2.Limits(max_connections=200, max_keepalive_connections=100)


class Caller:
    """Calls tools as a host does that tries again where it got no answer."""

    def __init__(self, client: httpx2.AsyncClient, base: str, outcome: Outcome) -> None:
        self._client = client
        self._base = base
        self._outcome = outcome

    async def answer(self, host: Host, tool: str, **arguments: Any) -> dict[str, Any] | None:
        """Return the answer to a call, None where it was refused, or nobody answered for two minutes."""
        headers = {**_HEADERS, "mcp-name": tool, "authorization": f"Bearer {host.token}"}
        ends = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < ends:
            try:
                answered = await self._client.post(
                    f"{self._base}/mcp",
                    json=_message(tool, arguments),
                    headers=headers,
                )
            except httpx2.TransportError as error:
                self._outcome.retries[type(error).__name__] += 1
            else:
                if answered.status_code not in _TRANSIENT:
                    return self._read(tool, answered)
                self._outcome.retries[str(answered.status_code)] += 1
            await anyio.sleep(_PAUSE_SECONDS)
        self._outcome.unanswered[tool] += 1
        return None

    def _read(self, tool: str, answered: httpx2.Response) -> dict[str, Any] | None:
        text = answered.text
        if text.startswith(("event:", "data:", ":")):
            text = next(line[5:] for line in reversed(text.splitlines()) if line.startswith("data:"))
        try:
            result = json.loads(text)["result"]
        except (ValueError, KeyError):
            self._outcome.refusals[f"{tool}: {answered.status_code} {text[:80]}"] += 1
            return None
        if result.get("isError"):
            self._outcome.refusals[f"{tool}: {result['content'][0]['text'][:60]}"] += 1
            return None
        content: dict[str, Any] = result["structuredContent"]
        return content


_HEADERS: Final = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": _MODERN,
    "mcp-method": "tools/call",
}


def _message(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    meta = {
        "io.modelcontextprotocol/protocolVersion": _MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    }
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def _fly(hosts: Sequence[Host], caller: Caller, options: argparse.Namespace) -> None:
    """Let all hosts call at once, each one call after the other, until so many navigations are flown."""
    left, began, busy = itertools.count(), time.perf_counter(), _busy_seconds()

    async def fly(host: Host) -> None:
        # Nobody begins the day at the same moment.
        await anyio.sleep(options.pause * host.number / len(hosts))
        while next(left) < options.navigations and time.perf_counter() - began < 60 * options.minutes:
            await _fly_one(host, caller, options)

    async with anyio.create_task_group() as tasks:
        for host in hosts:
            tasks.start_soon(fly, host)
    outcome = caller._outcome
    outcome.took = time.perf_counter() - began
    outcome.busy_cores = (_busy_seconds() - busy) / outcome.took


def _busy_seconds() -> float:
    """Return the seconds that the cores of this machine have worked, for whomever; 0 where none tells."""
    try:
        numbers = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return 0.0
    user, nice, system, _, _, irq, soft_irq, stolen = map(int, numbers)
    return (user + nice + system + irq + soft_irq + stolen) / os.sysconf("SC_CLK_TCK")


async def _fly_one(host: Host, caller: Caller, options: argparse.Namespace) -> None:
    outcome, clock = caller._outcome, time.perf_counter()
    goal = {"goal": f"the part that only {host.word} has", "repo_path": str(host.repository)}
    opened = await caller.answer(host, "navigate", **goal, mode="interactive", token_budget=_TOKENS + 2_000)
    if opened is None:
        return
    outcome.seconds["navigate"].append(time.perf_counter() - clock)
    flight = Flight(opened["navigation_id"])
    host.flights.append(flight)
    _judge(host, opened["context"], outcome)
    for number in range(options.steps):
        await anyio.sleep(options.pause)
        clock, budget = time.perf_counter(), _TOKENS - number
        updates = {**_SHOW, "budget": budget}
        stepped = await caller.answer(host, "step", navigation_id=flight.navigation_id, updates=updates)
        if stepped is None:
            continue
        outcome.seconds["step"].append(time.perf_counter() - clock)
        report = stepped["turn_report"]
        if report["navigation_id"] != flight.navigation_id or report["step_number"] in flight.answered:
            outcome.wrong.append(f"{flight.navigation_id} was answered {report['step_number']} twice")
        flight.answered[report["step_number"]] = budget
        _judge(host, stepped["context_delta"], outcome)
    await anyio.sleep(options.pause)


def _judge(host: Host, shown: str, outcome: Outcome) -> None:
    foreign = set(_WORD.findall(shown)) - {host.word}
    if foreign:
        outcome.wrong.append(f"{host.word} was shown {sorted(foreign)}")


async def _look_up(hosts: Sequence[Host], ports: Sequence[int], outcome: Outcome) -> None:
    """Ask every server in turn for what was answered: each step, its map, and nothing of others."""
    async with httpx2.AsyncClient(timeout=90) as client:
        for host, other in zip(hosts, [*hosts[1:], hosts[0]], strict=True):
            for flight, port in zip(host.flights, itertools.cycle(ports), strict=False):
                caller = Caller(client, f"http://127.0.0.1:{port}", outcome)
                key = flight.navigation_id
                for step, budget in flight.answered.items():
                    report = await caller.answer(host, "get_turn_report", navigation_id=key, step=step)
                    # A step that was asked for again, as its first answer got lost, changed nothing.
                    if report is None or report["step_number"] != step:
                        outcome.lost.append(f"step {step} of {key}, with budget {budget}")
                context = await caller.answer(host, "get_context", navigation_id=key)
                if context is None or set(_WORD.findall(context["context_string"])) != {host.word}:
                    outcome.wrong.append(f"the context of {key} is not {host.word}'s")
            if host.flights and other is not host:
                refused = outcome.refusals.copy()
                key = host.flights[0].navigation_id
                if await caller.answer(other, "get_context", navigation_id=key) is not None:
                    outcome.wrong.append(f"{other.word} can read {key} of {host.word}")
                outcome.refusals = refused


class Replica:
    """A server process at a port of its own, with a data folder of its own."""

    def __init__(
        self, scratch: Path, port: int, environ: dict[str, str], program: str = sys.executable
    ) -> None:
        self.port = port
        self.program = program
        """The interpreter that its next life is started by."""
        self._log = scratch / f"replica-{port}.log"
        self._environ = {
            **os.environ,
            "REPO_NAVIGATOR_DATA": str(scratch / f"data-{port}"),
            "REPO_NAVIGATOR_CACHE": str(scratch / f"cache-{port}"),
            **environ,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self.cpu_seconds = self.memory_mb = 0.0
        """Of all its lives that have ended; of memory, the most."""

    def launch(self) -> None:
        """Begin; what it logs goes on in its file."""
        arguments = [self.program, "-I", "-m", "mcp_server", "--http", f"127.0.0.1:{self.port}"]
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(arguments, stderr=log, env=self._environ)

    def start(self) -> None:
        """Begin, and wait until it takes calls."""
        self.launch()
        self.ensure()

    def ensure(self) -> None:
        """Wait until it takes calls."""
        while True:
            if self._process is None or self._process.poll() is not None:
                raise RuntimeError(f"A server ended: {self._log.read_text(errors='replace')[-500:]}")
            try:
                if httpx2.get(f"http://127.0.0.1:{self.port}/readyz", timeout=10).status_code == 200:
                    return
            except httpx2.TransportError:
                pass
            time.sleep(0.1)

    def end(self) -> None:
        """Ask it to end, as an upgrade does, and wait until it has."""
        self.send(signal.SIGTERM)
        if self._process is not None and self._process.returncode is None:
            self._account()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self._process is not None:
            self._process.send_signal(number)

    def kill(self) -> None:
        """End it without a farewell."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            self._account()

    def _account(self) -> None:
        """Wait until it has ended, and count what it used."""
        assert self._process is not None
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu_seconds += used.ru_utime + used.ru_stime
        self.memory_mb = max(self.memory_mb, used.ru_maxrss / 1000)


def _measure(replicas: Sequence[Replica], outcome: Outcome) -> None:
    for replica in replicas:
        replica.kill()
        outcome.cpu_seconds += replica.cpu_seconds
        outcome.memory_mb = max(outcome.memory_mb, replica.memory_mb)


def hosts_of(scratch: Path, count: int) -> list[Host]:
    """Make principals, each with a repository of its own below ``scratch``."""
    hosts = []
    for number in range(count):
        folder, word = scratch / f"repository-{number}", secrets.token_hex(4)
        (folder / "src").mkdir(parents=True)
        for part in range(5):
            body = f"def canary_{word}_of_one():\n    return {part}\n" if part == 0 else ""
            others = "".join(
                f"def part_{part}_{line}(value):\n    return value + {line}\n" for line in range(20)
            )
            (folder / "src" / f"part_{part}.py").write_text(body + others)
        subprocess.run(["git", "init", "--quiet", folder], check=True)
        hosts.append(Host(number, secrets.token_urlsafe(16), folder, word))
    return hosts


def write_tokens(scratch: Path, hosts: Sequence[Host]) -> str:
    """Write the file of the principals' tokens, and return its path."""
    entries = [f"- name: {host.login}\n  sha256: {hash_of(host.token)}\n" for host in hosts]
    file = scratch / "tokens.yaml"
    file.write_text("".join(entries))
    return str(file)


@contextmanager
def _schema(store: str) -> Iterator[str]:
    """Give the address of a schema of its own, which is removed afterwards."""
    name = f"navigator_load_{secrets.token_hex(6)}"
    try:
        yield f"{store}?schema={name}"
    finally:
        # A loop may be running in this thread.
        with ThreadPoolExecutor(1) as apart:
            apart.submit(anyio.run, _drop, read_database_address(store), name).result()


async def _database_bytes(store: str) -> int:
    address = read_database_address(store)
    query = (
        "SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = to_regnamespace($1)"
    )
    async with _connected(address) as connection:
        return int(await connection.fetchval(query, address.schema))


async def _drop(address: DatabaseAddress, name: str) -> None:
    async with _connected(address) as connection:
        await connection.execute(f'DROP SCHEMA IF EXISTS "{name}" CASCADE')


@asynccontextmanager
async def _connected(address: DatabaseAddress) -> AsyncIterator[Any]:
    import asyncpg  # noqa: PLC0415 - of the extra for teams

    connection = await asyncpg.connect(
        host=address.host, port=address.port, user=address.user, database=address.database
    )
    try:
        yield connection
    finally:
        await connection.close()


@contextmanager
def bucket() -> Iterator[dict[str, str]]:
    """Serve S3 on loopback, with a bucket; give the variables that lead there."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    arguments = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            while not _is_made(f"{url}/navigations"):
                time.sleep(0.1)
            yield {
                "REPO_NAVIGATOR_ARTIFACTS": "s3://navigations/team",
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test-only",
                "AWS_DEFAULT_REGION": "us-east-1",
                "AWS_ENDPOINT_URL_S3": url,
                "AWS_EC2_METADATA_DISABLED": "true",
            }
        finally:
            process.kill()


def _is_made(url: str) -> bool:
    try:
        return httpx2.put(url, timeout=30).status_code == 200
    except httpx2.TransportError:
        return False
