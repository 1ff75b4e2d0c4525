"""What was answered is on disk, however the process ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from navigator.errors import NavigationBusyError
from navigator.locks import NavigationLocks
from navigator.settings import NavigationRequest
from tests.navigator.conftest import MakeNavigator


@pytest.mark.anyio
async def test_two_processes_on_one_navigation_lose_no_step(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    one, two = (make_navigator(data_dir=tmp_path / "data") for _ in range(2))
    navigation_id = await one.open(NavigationRequest("token_expired", repository, mode="interactive"))
    updates = {"verbosity": [{"pattern": "src/billing.py", "level": 4}]}
    taken = 0
    for _ in range(5):
        steps = (each.step(navigation_id, updates=updates) for each in (one, two))
        taken += len(await asyncio.gather(*steps))
    assert (await one.report(navigation_id)).step_number == taken
    assert (await two.report(navigation_id)) == (await one.report(navigation_id))


def test_a_lock_that_is_held_too_long_names_its_holder_and_that_of_the_dead_is_taken(
    tmp_path: Path,
) -> None:
    code = (
        "import asyncio, sys, time; from pathlib import Path; from navigator.locks import NavigationLocks\n"
        "async def main():\n"
        "    async with NavigationLocks(Path(sys.argv[1])).hold('nav-one'):\n"
        "        print('held', flush=True); sys.stdin.read()\n"
        "asyncio.run(main())"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        locks = NavigationLocks(tmp_path, patience_s=0.05)
        with pytest.raises(NavigationBusyError, match=f"Process {holder.pid} has been stepping `nav-one`"):
            asyncio.run(take(locks))
        holder.kill()
        holder.wait()
        asyncio.run(take(locks))


async def take(locks: NavigationLocks) -> None:
    async with locks.hold("nav-one"):
        pass
