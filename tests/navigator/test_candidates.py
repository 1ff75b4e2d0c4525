"""The tokens that a candidate is offered at are the tokens that taking it adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navigator.settings import NavigationRequest
from navigator.state.reports import Candidate
from repo_map import globs
from tests.navigator.conftest import MakeNavigator

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
