"""What the embedded planner says of its decisions, against what the map holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from navigator.settings import NavigationRequest
from tests.navigator.conftest import MakeNavigator

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("budget", [10, 60, 150, 400, 4_000])
async def test_a_zoom_names_only_what_the_map_shows(
    budget: int, make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    goal = "A session token never expires: token_expired compares the wrong way"
    navigation_id = await navigator.open(NavigationRequest(goal, repository, token_budget=budget))
    report = await navigator.step(navigation_id)
    drawn = (await navigator.context(navigation_id)).context_string
    named = re.findall(r"`([\w.]+)` \(", report.reasoning.partition("Zoomed in on ")[2])
    shown = set(re.findall(r"(?:def|class) (\w+)", drawn))
    assert {name.rpartition(".")[2] for name in named} <= shown
    assert bool(named) == (budget > 10)
