"""The tokens that a candidate is offered at are the tokens that taking it adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navigator.planner.outline import build_candidates
from navigator.settings import NavigationRequest
from navigator.state.reports import Candidate
from repo_map import globs
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from repo_map.ranking.score import score_goal
from tests.navigator.conftest import MakeNavigator
from tests.support.trees import write

pytestmark = pytest.mark.anyio

GOAL = "login fails in the router: token_expired and the total of an invoice"


def taking(candidate: Candidate, level: int) -> dict[str, Any]:
    rule: dict[str, Any] = {"pattern": globs.escape(candidate.path)}
    if candidate.symbol:
        rule["sections"] = [{"pattern": globs.escape(candidate.symbol), "level": level}]
    else:
        rule |= {"level": level, "sections": None}
    return {"verbosity": [rule], "budget": 5_000}


@pytest.mark.parametrize("budget", [80, 300])
async def test_the_price_that_is_offered_is_the_price_that_is_paid(
    budget: int, make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    request = NavigationRequest(GOAL, repository, token_budget=budget, mode="interactive")

    async def zoomed() -> str:
        navigation_id = await navigator.open(request)
        await navigator.step(navigation_id)
        return navigation_id

    offered = (await navigator.report(await zoomed())).candidates
    assert any(candidate.symbol for candidate in offered)
    assert any(not candidate.symbol for candidate in offered)
    for candidate in offered:
        for level, price in candidate.prices.items():
            navigation_id = await zoomed()
            before = {file.path: file.tokens for file in (await navigator.context(navigation_id)).files}
            await navigator.step(navigation_id, updates=taking(candidate, level))
            after = {file.path: file.tokens for file in (await navigator.context(navigation_id)).files}
            assert after[candidate.path] - before.get(candidate.path, 0) == price, (candidate, level)


def test_a_copy_of_shown_code_in_another_file_is_offered_all_the_same(tmp_path: Path) -> None:
    source = "def tariff_of(item):\n    cost = item * 3\n    return cost\n"
    index = build_index(write(tmp_path, {"one.py": source, "two.py": source}), store=Store(None), workers=1)
    rules = [{"pattern": "one.py", "level": 4}, {"pattern": "two.py", "level": 1}]
    drawn = draw_map(index, FlightPlan.model_validate({"budget": 2_000, "verbosity": rules}))
    offered = build_candidates(index, score_goal(index, "tariff_of returns a wrong cost"), drawn)
    assert [each.path for each in offered if each.symbol == "tariff_of"] == ["two.py"]
