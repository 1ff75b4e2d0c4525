"""``python -m benchmarks rights``: does the time of an answer tell what a caller may not know?

A server on loopback keeps repositories that one caller may read and another may not. The other asks, by every
door, for what is there and not its own, and for what is not there, in an order drawn by chance. Where both
take as long, the ranks of their times are mixed: of a pair drawn by chance the first is slower in half of the
cases. A rank test (Mann and Whitney's) says how likely a share as far from a half is where nothing differs.

The last door is a control: it asks for a commit of a repository that the caller may read, which has the
server look. If that does not differ, the test sees nothing, and what it says of the others has no weight.
"""

from __future__ import annotations

import argparse
import random
import secrets
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from math import erfc, sqrt
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple

import anyio
import httpx2
import numpy as np
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PromptReference, ResourceTemplateReference

from benchmarks.nginx import free_port
from benchmarks.team import Replica
from navigator.workspaces.catalogue import Catalogue, RepositoryEntry
from navigator.workspaces.clones import sync

ALPHA: Final = 0.01
"""How likely one of all doors is told to differ where none does."""
_REPOSITORIES: Final = 8
_WARM_UP: Final = 10
_GOAL: Final = "Where is the vault opened?"
Ask = Callable[[Any], Awaitable[object]]


class Door(NamedTuple):
    """One way to ask, what is asked for that is there and another's, and what is not there."""

    name: str
    ask: Ask
    hidden: Sequence[Any]
    absent: Sequence[Any]
    is_control: bool = False


class Verdict(NamedTuple):
    """What the times of one door came to."""

    hidden_ms: float
    absent_ms: float
    """Medians."""
    slower: float
    """How often what is there takes longer, of pairs drawn by chance; a half where nothing differs."""
    p: float


def compared(hidden: Sequence[float], absent: Sequence[float]) -> Verdict:
    """Compare two lists of seconds by their ranks."""
    times = np.concatenate([hidden, absent])
    values, inverse, counts = np.unique(times, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    m, n = len(hidden), len(absent)
    wins = float(ranks[:m].sum()) - m * (m + 1) / 2
    ties = float((counts.astype(float) ** 3 - counts).sum())
    spread = sqrt(m * n / 12 * (m + n + 1 - ties / ((m + n) * (m + n - 1)))) if len(values) > 1 else 1.0
    p = erfc(abs(wins - m * n / 2) / spread / sqrt(2))
    return Verdict(median(hidden) * 1e3, median(absent) * 1e3, wins / (m * n), p)


async def timed(door: Door, calls: int, chance: random.Random) -> Verdict:
    """Ask for both as often, in an order drawn by chance, and compare."""
    order = [True, False] * (calls + _WARM_UP)
    chance.shuffle(order)
    times: dict[bool, list[float]] = {True: [], False: []}
    for is_hidden in order:
        asked = chance.choice(door.hidden if is_hidden else door.absent)
        begun = time.perf_counter()
        await door.ask(asked)
        times[is_hidden].append(time.perf_counter() - begun)
    return compared(times[True][_WARM_UP:], times[False][_WARM_UP:])


def _plant(work: Path) -> tuple[Catalogue, list[str]]:
    """Make the repositories: one for everybody, the others for alice alone; return the others' names."""
    catalogue = Catalogue(work / "repositories.yaml", work / "data")
    hidden = [f"vault-{secrets.token_hex(4)}" for _ in range(_REPOSITORIES)]
    for name in ("web", *hidden):
        origin = work / "origins" / name
        origin.mkdir(parents=True)
        source = f"def open_vault_{secrets.token_hex(4)}():\n    return 1\n"
        (origin / "vault.py").write_text(source, encoding="utf-8")
        _git(origin, "init", "-q", "-b", "main")
        _git(origin, "add", "-A")
        _git(origin, "commit", "-q", "-m", "A vault")
        _git(origin, "tag", "v1")
        catalogue.add(
            name,
            RepositoryEntry(address=origin.as_uri(), readers=("*",) if name == "web" else ("user:alice",)),
        )
    sync(catalogue, (), lambda _done: None)
    return catalogue, hidden


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=benchmark", "-c", "user.email=benchmark@localhost")
    done = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


async def _opened(alice: Client, names: Sequence[str]) -> list[str]:
    """Open a navigation in each repository, and return their ids."""
    ids = []
    for name in names:
        result = await alice.call_tool("navigate", {"goal": _GOAL, "repo_path": name})
        ids.append(str((result.structured_content or {})["navigation_id"]))
    return ids


def _doors(bob: Client, work: Path, hidden: list[str], navigations: list[str]) -> list[Door]:
    absent = [f"vault-{secrets.token_hex(4)}" for _ in hidden]
    nobodys = [f"nav-{secrets.token_hex(12)}" for _ in navigations]
    heads = [_git(work / "origins" / name, "rev-parse", "HEAD") for name in hidden]
    blobs = [_git(work / "origins" / name, "rev-parse", "HEAD:vault.py") for name in hidden]
    random_ids = [secrets.token_hex(20) for _ in hidden]

    def navigate(form: Callable[[str], Any]) -> Ask:
        return lambda name: bob.call_tool("navigate", {"goal": _GOAL, "repo_path": form(name)})

    async def read(navigation: str) -> None:
        with suppress(MCPError):
            await bob.read_resource(f"navigator://{navigation}/context")

    def complete_name(name: str) -> Awaitable[object]:
        return bob.complete(PromptReference(name="find_code"), {"name": "repo_path", "value": name})

    def complete_version(navigation: str) -> Awaitable[object]:
        template = ResourceTemplateReference(uri="navigator://{navigation_id}/maps/{version}")
        chosen = {"navigation_id": navigation}
        return bob.complete(template, {"name": "version", "value": ""}, context_arguments=chosen)

    def tool(name: str, **more: Any) -> Ask:
        return lambda navigation: bob.call_tool(name, {"navigation_id": navigation, **more})

    clones = work / "data" / "repositories"
    return [
        Door("`navigate`, by name", navigate(str), hidden, absent),
        Door("`navigate`, by name and tag", navigate("{}@v1".format), hidden, absent),
        Door("`navigate`, beside one's own", navigate(lambda name: ["web", name]), hidden, absent),
        Door("`navigate`, by the clone's folder", navigate(lambda name: str(clones / name)), hidden, absent),
        Door("`navigate`, a commit's id", navigate("web@{}".format), heads, random_ids),
        Door("`navigate`, a file's hash", navigate("web@{}".format), blobs, random_ids),
        Door("`get_context`", tool("get_context"), navigations, nobodys),
        Door("`step`", tool("step", feedback="show vault.py"), navigations, nobodys),
        Door("`get_turn_report`", tool("get_turn_report"), navigations, nobodys),
        Door("resource of a navigation", read, navigations, nobodys),
        Door("completion of a name", complete_name, hidden, absent),
        Door("completion of a version", complete_version, navigations, nobodys),
        Door("control: a commit of one's own", navigate(str), ["web@nothing-00"], absent, is_control=True),
    ]


async def _compare_all(work: Path, calls: int, seed: int, only: str) -> list[tuple[Door, Verdict]]:
    catalogue, hidden = _plant(work)
    tokens = {name: secrets.token_hex(16) for name in ("alice", "bob")}
    replica = Replica(
        work,
        free_port(),
        {
            "REPO_NAVIGATOR_DATA": str(work / "data"),
            "REPO_NAVIGATOR_REPOSITORIES": str(catalogue.file),
            "REPO_NAVIGATOR_HTTP_TOKENS": ",".join(f"{name}:{token}" for name, token in tokens.items()),
        },
    )
    chance = random.Random(seed)
    try:
        replica.start()
        url = f"http://127.0.0.1:{replica.port}/mcp"

        def as_caller(name: str) -> httpx2.AsyncClient:
            return httpx2.AsyncClient(headers={"authorization": f"Bearer {tokens[name]}"}, timeout=90)

        async with as_caller("alice") as hers, as_caller("bob") as his:
            async with Client(streamable_http_client(url, http_client=hers)) as alice:
                navigations = await _opened(alice, hidden)
            async with Client(streamable_http_client(url, http_client=his)) as bob:
                doors = [each for each in _doors(bob, work, hidden, navigations) if only in each.name]
                return [(door, await timed(door, calls, chance)) for door in doors]
    finally:
        replica.kill()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the measurement takes."""
    parser.add_argument("--calls", type=int, default=400, help="calls for each of both, by each door")
    parser.add_argument(
        "--only", default="", help="words that the names of the doors hold; all doors if left out"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the order in which calls are made")


def run(arguments: argparse.Namespace) -> int:
    """Compare, print a table, and return 1 where a door differs or the control does not."""
    with tempfile.TemporaryDirectory() as work:
        found = anyio.run(_compare_all, Path(work), arguments.calls, arguments.seed, arguments.only)
    level = ALPHA / max(1, sum(not door.is_control for door, _ in found))
    print("| asked for | another's, ms | nobody's, ms | slower | p |")
    print("|---|---:|---:|---:|---:|")
    is_right = True
    for door, verdict in found:
        differs = verdict.p < level
        is_right &= differs == door.is_control
        print(
            f"| {door.name} | {verdict.hidden_ms:.2f} | {verdict.absent_ms:.2f} "
            f"| {verdict.slower:.3f} | {verdict.p:.2g}{' *' if differs else ''} |"
        )
    print(f"\n{arguments.calls} calls each; * is a difference, with p below {level:.2g}.")
    return 0 if is_right else 1
