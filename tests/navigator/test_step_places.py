"""Steps that compute get their places in turn, and none keeps the others waiting for long."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from navigator.execution.step_places import AT_ONCE, StepPlaces
from navigator.settings import NavigationRequest
from repo_map.errors import FlightPlanError
from repo_map.limits import Limits
from tests.navigator.conftest import MakeNavigator
from tests.support.trees import write

pytestmark = pytest.mark.anyio
LONG_S = 600.0
SLOW = {"custom_queries": [{"pattern": "**", "query": '((identifier) @x (#match? @x "^(a+)+$"))'}]}


class Crowd:
    """Steps that begin as they are let, and end when they are told to."""

    def __init__(self, prompt_s: float = LONG_S) -> None:
        self._places = StepPlaces(prompt_s)
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}

    async def ask(self, *names: str) -> None:
        """Ask for a place each, in this order; the first letter is the principal."""
        for name in names:
            self._ends[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._step(name))
            await self._settle()

    async def end(self, *names: str) -> None:
        for name in names:
            self._ends[name].set()
            await self.tasks[name]
            await self._settle()

    async def _step(self, name: str) -> None:
        async with self._places.hold(name[0]):
            self.begun.append(name)
            await self._ends[name].wait()

    @staticmethod
    async def one_step(places: StepPlaces) -> None:
        async with places.hold("b"):
            pass

    @staticmethod
    async def _settle() -> None:
        for _ in range(5):
            await asyncio.sleep(0)


async def ended_in_order(names: Sequence[str]) -> list[str]:
    crowd = Crowd()
    await crowd.ask(*names)
    for at in range(len(names)):
        await crowd.end(crowd.begun[at])
    return crowd.begun


async def test_principals_are_served_in_turn() -> None:
    asked = ["a1", "a2", "a3", "a4", "a5", "b1", "b2", "c1"]
    assert await ended_in_order(asked) == ["a1", "a2", "b1", "c1", "a3", "b2", "a4", "a5"]


async def test_a_place_that_is_left_early_is_given_on_once() -> None:
    places = StepPlaces(LONG_S)
    async with places.hold("a") as first, places.hold("a"):
        waiting = asyncio.create_task(Crowd.one_step(places))
        await asyncio.sleep(0)
        assert (places.held, places.waiting) == (AT_ONCE, 1)
        first.leave()
        await waiting
        assert (places.held, places.waiting) == (AT_ONCE - 1, 0)
    assert places.held == 0


async def test_one_principal_is_served_in_the_order_of_asking() -> None:
    asked = [f"a{number}" for number in range(9)]
    assert await ended_in_order(asked) == asked


async def test_who_gives_up_waiting_keeps_nobody_out() -> None:
    crowd = Crowd()
    await crowd.ask("a1", "a2", "b1", "b2", "a3")
    crowd.tasks["b1"].cancel()
    crowd.tasks["a1"].cancel()
    with pytest.raises(asyncio.CancelledError):
        await crowd.tasks["b1"]
    with pytest.raises(asyncio.CancelledError):
        await crowd.tasks["a1"]
    await crowd.end("a2", "b2", "a3")
    assert crowd.begun == ["a1", "a2", "b2", "a3"]


async def test_slow_steps_leave_places_to_others_and_the_last_of_them_to_other_principals() -> None:
    crowd = Crowd(prompt_s=0.0)
    await crowd.ask(*(f"a{number}" for number in range(20)))
    assert len(crowd.begun) == 6
    await crowd.ask("b1", "c1", "d1")
    assert crowd.begun[6:] == ["b1", "c1"]
    await crowd.end("b1")
    assert crowd.begun[8:] == ["d1"]
    for at in range(20 + 3):
        if crowd.begun[at] != "b1":
            await crowd.end(crowd.begun[at])


@pytest.mark.slow
async def test_slow_queries_of_one_client_do_not_keep_another_one_waiting(
    make_navigator: MakeNavigator, tmp_path: Path
) -> None:
    navigator = make_navigator(limits=Limits(query_seconds=2.5))
    ended: list[str] = []

    async def opened(user: str, name: str) -> str:
        root = write(tmp_path / name, {"a.py": f"{'a' * 40}b = 1\ndef total(): return 1\n"})
        return await navigator.open(NavigationRequest("total", root, mode="interactive"), user=user)

    async def slow(name: str) -> None:
        with pytest.raises(FlightPlanError):
            await navigator.step(ids[name], user="a", updates=SLOW)
        ended.append(name)

    async def ordinary() -> None:
        await navigator.step(ids["b1"], user="b", updates={"budget": 1_001})
        ended.append("b1")

    ids = {name: await opened(name[0], name) for name in ("a1", "a2", "b1")}
    both = asyncio.gather(slow("a1"), slow("a2"))
    while navigator.load().steps < AT_ONCE:  # noqa: ASYNC110 - they tell nobody
        await asyncio.sleep(0.01)
    await ordinary()
    await both
    assert ended[0] == "b1"
