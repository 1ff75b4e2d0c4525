"""What was answered is on disk, however the process ends."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from navigator.errors import NavigationBusyError
from navigator.settings import NavigationRequest
from navigator.stores.locks import NavigationLocks
from tests.navigator.conftest import MakeNavigator


@pytest.mark.anyio
async def test_two_processes_on_one_navigation_lose_no_step(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    one, two = (make_navigator(data_dir=tmp_path / "data") for _ in range(2))
    navigation_id = await one.open(NavigationRequest("token_expired", repository, mode="interactive"))
    taken = 0
    for number in range(5):
        # Each a change of its own: one that changes nothing would take no step.
        steps = (
            each.step(navigation_id, updates={"budget": 1_000 + 2 * number + place})
            for place, each in enumerate((one, two))
        )
        taken += len(await asyncio.gather(*steps))
    assert (await one.report(navigation_id)).step_number == taken
    assert (await two.report(navigation_id)) == (await one.report(navigation_id))


def test_a_lock_that_is_held_too_long_names_its_holder_and_that_of_the_dead_is_taken(
    tmp_path: Path,
) -> None:
    code = (
        "import asyncio, sys, time; from pathlib import Path\n"
        "from navigator.stores.locks import NavigationLocks\n"
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
        with pytest.raises(NavigationBusyError, match=str(holder.pid)):
            asyncio.run(take(locks))
        holder.kill()
        holder.wait()
        asyncio.run(take(locks))


@pytest.mark.anyio
async def test_four_hundred_navigations_are_stepped_at_once_and_leave_no_file(tmp_path: Path) -> None:
    locks = NavigationLocks(tmp_path, patience_s=0.0)
    async with AsyncExitStack() as held:
        for number in range(400):
            await held.enter_async_context(locks.hold(f"nav-{number}"))
        assert len(files_in(tmp_path)) == 400
    assert files_in(tmp_path) == []


@pytest.mark.anyio
async def test_of_many_who_want_one_navigation_each_has_it_alone(tmp_path: Path) -> None:
    # Locks of their own stand for processes: each opens the file anew.
    processes = [NavigationLocks(tmp_path) for _ in range(4)]
    inside, most, turns = 0, 0, 0

    async def step(locks: NavigationLocks) -> None:
        nonlocal inside, most, turns
        async with locks.hold("../nav/one\0"):
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1
            turns += 1

    await asyncio.gather(*(step(locks) for locks in processes for _ in range(10)))
    assert (most, turns) == (1, 40)
    assert files_in(tmp_path) == []


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


async def take(locks: NavigationLocks) -> None:
    async with locks.hold("nav-one"):
        pass
