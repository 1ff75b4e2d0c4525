"""What happens to a team's servers while they are measured: kills, hangs, restarts, upgrades."""

from __future__ import annotations

import itertools
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from tests.support.nginx import PASSED_OVER_S

if TYPE_CHECKING:
    from benchmarks.postgres import Database
    from benchmarks.team import Replica

_HUNG_S: Final = 14.0
"""Longer than nginx waits, than a lease of the run holds, and than systemd's watchdog allows."""
_AWAY_S: Final = 6.0


@dataclass
class Stage:
    """What a trouble may touch, and what is counted of it."""

    replicas: Sequence[Replica]
    database: Database | None
    programs: Mapping[str, str]
    """Version, `earlier` or `later` → the interpreter in whose environment it is installed."""
    took: dict[str, list[float]] = field(default_factory=dict)
    """By trouble, from its begin to its end."""


Trouble = Callable[[Stage, int], Awaitable[None]]
"""Is told how often it has happened before."""


async def _kill(stage: Stage, turn: int) -> None:
    """End a server without a farewell, and start it again."""
    replica = stage.replicas[turn % len(stage.replicas)]
    replica.kill()
    await anyio.to_thread.run_sync(replica.start)


async def _hang(stage: Stage, turn: int) -> None:
    """Stop a server within whatever it does; every second one wakes up, the others their watchdog ends."""
    replica = stage.replicas[(turn + 1) % len(stage.replicas)]
    replica.send(signal.SIGSTOP)
    await anyio.sleep(_HUNG_S)
    if turn % 2:
        replica.kill()
        await anyio.to_thread.run_sync(replica.start)
    else:
        replica.send(signal.SIGCONT)


async def _restart_database(stage: Stage, turn: int) -> None:
    """Take the database away for some seconds."""
    del turn
    assert stage.database is not None
    await anyio.to_thread.run_sync(stage.database.stop)
    await anyio.sleep(_AWAY_S)
    await anyio.to_thread.run_sync(stage.database.start)


async def _move_to(stage: Stage, version: str) -> None:
    for replica in stage.replicas:
        await anyio.to_thread.run_sync(replica.end)
        replica.program = stage.programs[version]
        await anyio.to_thread.run_sync(replica.start)
        # For so long nginx passes over a server that refused it.
        await anyio.sleep(PASSED_OVER_S + 0.5)


async def _upgrade(stage: Stage, turn: int) -> None:
    """Bring one server after the other to the later version."""
    del turn
    await _move_to(stage, "later")


async def _roll_back(stage: Stage, turn: int) -> None:
    """Bring one server after the other back to the earlier version."""
    del turn
    await _move_to(stage, "earlier")


TROUBLES: Final[Mapping[str, Trouble]] = {
    "kill": _kill,
    "hang": _hang,
    "database": _restart_database,
    "upgrade": _upgrade,
    "rollback": _roll_back,
}


async def trouble(stage: Stage, names: Sequence[str], every: float) -> None:
    """Let one thing happen after the other, so many seconds after the last was over, until cancelled."""
    happened = Counter[str]()
    for name in itertools.cycle(names):
        await anyio.sleep(every)
        began = time.perf_counter()
        # It is brought to its end: what was stopped runs again.
        with anyio.CancelScope(shield=True):
            await TROUBLES[name](stage, happened[name])
        happened[name] += 1
        stage.took.setdefault(name, []).append(time.perf_counter() - began)


def is_ready(program: str) -> bool:
    """Tell whether a version of the server can be started by an interpreter."""
    look = [program, "-I", "-c", "import mcp_server, asyncpg"]
    return Path(program).is_file() and not subprocess.run(look, capture_output=True, check=False).returncode
