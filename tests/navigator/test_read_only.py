"""Navigations of a data folder that can't be written any more: read as before, gone on with in memory."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from tests.navigator.conftest import write_repository

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="it has no limit of file size and no modes")

GO_ON = """
import asyncio, ctypes, json, os, resource, signal, sys
from pathlib import Path
if sys.platform == "linux" and os.geteuid() == 0 and "BOUND" not in os.environ:
    # Without CAP_DAC_OVERRIDE permissions bind root as they bind everybody; execv makes it so.
    assert ctypes.CDLL(None).prctl(24, 1, 0, 0, 0) == 0
    os.environ["BOUND"] = "1"
    os.execv(sys.executable, sys.orig_argv)
data, navigation, limit = sys.argv[1:]
if int(limit):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
from navigator.navigator import Navigator
from navigator.settings import NavigatorSettings

async def main():
    navigator = Navigator(NavigatorSettings(data_dir=Path(data), use_cache=False, workers=1))
    before = await navigator.context(navigation)
    known = [each.navigation_id for each in await navigator.navigations()]
    stepped = await navigator.step(navigation, updates={"verbosity": [{"pattern": "**", "level": 1}]})
    after = await navigator.context(navigation)
    older = await navigator.report(navigation, step=0)
    reports = len(await navigator.decisions(navigation))
    await navigator.aclose()
    print(json.dumps({
        "before": before.context_string, "known": known, "step": stepped.step_number, "reports": reports,
        "after": after.context_string, "notes": list(after.notes), "first": older.step_number,
    }))

asyncio.run(main())
"""


async def stored(data: Path, repository: Path) -> tuple[str, str]:
    """Return the id of a navigation that has taken a step, and its context."""
    navigator = Navigator(NavigatorSettings(data_dir=data, use_cache=False, workers=1))
    navigation_id = await navigator.open(NavigationRequest("token_expired", repository, mode="interactive"))
    await navigator.step(navigation_id)
    context = (await navigator.context(navigation_id)).context_string
    await navigator.aclose()
    return navigation_id, context


def go_on(data: Path, navigation_id: str, limit: int = 0) -> dict[str, Any]:
    """Read the navigation and step it, in a process of its own whose files may have ``limit`` bytes."""
    command = [sys.executable, "-c", GO_ON, str(data), navigation_id, str(limit)]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert run.returncode == 0, run.stderr
    message: dict[str, Any] = json.loads(run.stdout)
    return message


def full(_data: Path) -> int:
    return 200_000


def without_permission(data: Path) -> int:
    for folder, _, _ in os.walk(data):
        Path(folder).chmod(0o500)
    return 0


def a_read_only_database(data: Path) -> int:
    (data / "sessions.db").chmod(0o400)
    return 0


@needs_posix
@pytest.mark.parametrize("hurt", [full, without_permission, a_read_only_database])
@pytest.mark.anyio
async def test_stored_navigations_are_read_and_gone_on_with(
    tmp_path: Path, hurt: Callable[[Path], int]
) -> None:
    data = tmp_path / "data"
    navigation_id, context = await stored(data, write_repository(tmp_path / "shop"))
    leave_a_log(data, navigation_id)
    try:
        message = go_on(data, navigation_id, hurt(data))
    finally:
        for path in (data, *data.rglob("*")):
            path.chmod(0o700)
    assert message["before"] == context
    assert navigation_id in message["known"]
    assert (message["step"], message["first"], message["reports"]) == (2, 0, 3)
    assert message["after"] != context
    assert "what it holds can be read, and what is new lives in memory only" in str(message["notes"])
    # Nothing of that is on the disk, and when it can be written again the navigation goes on from there.
    navigator = Navigator(NavigatorSettings(data_dir=data, use_cache=False, workers=1))
    assert (await navigator.step(navigation_id)).step_number == 2
    assert (await navigator.context(navigation_id)).notes == ()
    await navigator.aclose()


def leave_a_log(data: Path, navigation_id: str) -> None:
    """Leave the latest state of a navigation in the database's log alone, as a server that is killed does."""
    database = data / "sessions.db"
    with closing(sqlite3.connect(database)) as connection:
        (state,) = connection.execute("SELECT state FROM sessions WHERE id = ?", (navigation_id,)).fetchone()
        connection.execute("UPDATE sessions SET state = '{}'")
        connection.commit()
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("UPDATE sessions SET state = ?", (state,))
        connection.commit()
        for ending in ("", "-wal"):
            shutil.copyfile(f"{database}{ending}", f"{database}{ending}.kept")
    for ending in ("", "-wal"):
        Path(f"{database}{ending}.kept").replace(f"{database}{ending}")
