"""The outline beside a packet: what it offers, and what its numbers return, over the real protocol."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import Implementation

from mcp_server.app import build_server
from mcp_server.report_text import DETAILS, wire_report
from mcp_server.settings import Settings
from navigator.state.reports import OutlineEntry, TurnReport
from repo_map.text.tokens import count
from tests.mcp_server.conftest import plant
from tests.support.results import object_of, text_of

pytestmark = pytest.mark.anyio

GOAL = "move the cart through the checkout"
STEP: dict[str, Any] = {
    "navigation_id": "nav-x",
    "step_number": 1,
    "model": "a model that writes as the planner does",
    "last_action": "update_flight_plan",
    "reasoning": "Confidence: low. In focus: cart.py",
    "budget_remaining": Decimal(1),
    "map_size_tokens": 1,
    "map_token_budget": 1,
    "map_version": 1,
    "file_count": 1,
}
"""A report of a step, as far as every report has it."""
_PLACE = re.compile(r"^(\d+)\*? (\S+) (\d+)-(\d+)(?:: .*)?$")
_FILE = re.compile(r"^(\S+)(?: \([\d,]+ more\))?$")


@pytest.fixture
def stations(tmp_path: Path) -> Path:
    """A repository of forty functions, half of them tests; the first sixteen say all of the goal."""
    files = {}
    for number in range(40):
        said = "Move the cart through part" if number < 16 else "Part"
        body = "\n".join(f'    steps.append("step {line} of {number}")' for line in range(20))
        folder, name = ("tests/test_", "test_checkout") if number % 2 else ("shop/part_", "checkout")
        files[f"{folder}{number:02}.py"] = (
            f"def {name}_{number}(cart, steps):\n"
            f'    """{said} {number} of the checkout."""\n{body}\n    return steps\n'
        )
    return plant(tmp_path / "stations", files)


def places_of(answer: dict[str, Any]) -> dict[int, tuple[str, str]]:
    """Return the path and the name at each number of an answer's outline."""
    found, path = {}, ""
    for line in answer["turn_report"]["outline"].split("\n"):
        if place := _PLACE.match(line):
            found[int(place[1])] = (path, place[2])
        elif (file := _FILE.match(line)) is not None:
            path = file[1]
    return found


def not_shown(answer: dict[str, Any]) -> dict[int, tuple[str, str]]:
    """Return the places whose source does not stand in the answer."""
    shown = defined(answer["context"])
    return {number: place for number, place in places_of(answer).items() if place[1] not in shown}


def defined(text: str) -> set[str]:
    return set(re.findall(r"def (\w+)", text))


async def test_the_numbers_of_the_outline_return_just_those_bodies(
    settings: Settings, stations: Path, era: str
) -> None:
    async with Client(build_server(settings, working_folder=stations), mode=era) as client:
        first = object_of(await client.call_tool("navigate", {"goal": GOAL}))
        places = places_of(first)
        assert list(places) == list(range(1, len(places) + 1))
        one, two, three, *_ = not_shown(first)
        second = object_of(await client.call_tool("step", {"feedback": f"{one} and {two}"}))
        third = object_of(await client.call_tool("step", {"show": [three]}))
    assert defined(second["context_delta"]) == {places[number][1] for number in (one, two)}
    # Numbers mean the outline that was sent last, and one is sent again only where the goal is another one.
    assert "outline" not in second["turn_report"]
    assert defined(third["context_delta"]) == {places[three][1]}
    assert "removed" not in second
    assert "removed" not in third


@pytest.mark.parametrize(
    ("host", "least", "most"),
    [("codex-mcp-client", 500, 1_000), ("Visual Studio Code", 500, 1_000), ("claude-ai", 1_000, 1_500)],
)
async def test_an_answer_is_as_large_as_its_host_needs(
    host: str, least: int, most: int, settings: Settings, stations: Path
) -> None:
    info = Implementation(name=host, version="1")
    async with Client(build_server(settings, working_folder=stations), client_info=info) as client:
        found = await client.call_tool("navigate", {"goal": GOAL})
        asked = await client.call_tool("navigate", {"goal": GOAL, "token_budget": 2_500})
        full = await client.call_tool("navigate", {"goal": GOAL, "fill": True})
    assert least <= count(text_of(found)) <= most
    assert count(text_of(asked)) <= 2_500
    assert 4_000 < count(text_of(full)) <= 8_000
    numbers = re.findall(r"^(\d+)\*? \S+ \d+-\d+", text_of(asked), re.MULTILINE)
    assert numbers[:5] == ["1", "2", "3", "4", "5"]


def test_a_outline_that_is_cut_keeps_the_surest_and_something_of_each_file() -> None:
    places = [
        OutlineEntry(
            number=at, path=path, name=f"f{at}", first=at, last=at, head="", tokens=1, is_sure=at == 4
        )
        for at, path in enumerate(("a.py", "a.py", "a.py", "a.py", "b.py", "c.py"), 1)
    ]
    report = TurnReport(**STEP, outline=tuple(places))
    told = wire_report(report, 1_000, DETAILS[0]._replace(outline=4)).outline or ""
    assert [line.split()[0] for line in told.split("\n") if line[0].isdigit()] == ["1", "4*", "5", "6"]
