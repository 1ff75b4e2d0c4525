"""What was answered is on disk, however the process ends."""

from __future__ import annotations

import asyncio
import hashlib
import random
import subprocess
import sys
from pathlib import Path

import pytest

from navigator.service import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from tests.navigator.conftest import MakeNavigator

FLYER = """
import asyncio, hashlib, sys
from pathlib import Path
from navigator.service import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings

async def main(data, repository, known):
    navigator = Navigator(NavigatorSettings(data_dir=Path(data), workers=1))
    request = NavigationRequest("token_expired is wrong", repository, mode="interactive")
    navigation_id = known or await navigator.open(request)
    print("id", navigation_id, flush=True)
    number = (await navigator.report(navigation_id)).step_number
    while True:
        number += 1
        updates = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + number % 4}]}
        report = await navigator.step(navigation_id, updates=updates)
        text = (await navigator.context(navigation_id)).context_string
        print("step", report.step_number, hashlib.sha256(text.encode()).hexdigest(), flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


def fly_until_killed(data: Path, repository: Path, known: str, after: int) -> tuple[str, dict[int, str]]:
    """Fly in a process that is killed after some steps; return those answered with their maps' digests."""
    process = subprocess.Popen(
        [sys.executable, "-c", FLYER, str(data), str(repository), known], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    answered: dict[int, str] = {}
    for line in process.stdout:
        match line.split():
            case ["id", navigation_id]:
                known = navigation_id
            case ["step", number, digest]:
                answered[int(number)] = digest
        if len(answered) == after:
            process.kill()
            break
    process.wait()
    # A step that was answered between the last line read here and the kill counts as well.
    for line in process.stdout:
        if line.startswith("step") and line.endswith("\n"):
            _, number, digest = line.split()
            answered[int(number)] = digest
    process.stdout.close()
    return known, answered


def test_every_answered_step_outlives_a_kill(tmp_path: Path, repository: Path) -> None:
    dice = random.Random(20261122)
    data, known, answered = tmp_path / "data", "", dict[int, str]()
    for _ in range(3):
        known, more = fly_until_killed(data, repository, known, dice.randrange(1, 12))
        answered |= more

    async def check() -> None:
        navigator = Navigator(NavigatorSettings(data_dir=data))
        latest = (await navigator.report(known)).step_number
        assert latest in (max(answered), max(answered) + 1)
        for step, digest in answered.items():
            version = (await navigator.report(known, step=step)).map_version
            text = await navigator.map_text(known, version=version)
            assert hashlib.sha256(text.encode()).hexdigest() == digest
        await navigator.aclose()

    asyncio.run(check())


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
