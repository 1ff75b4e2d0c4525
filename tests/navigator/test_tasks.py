"""What a navigation may be opened with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from navigator.planner.request import validate
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.storage.data_folder import default_data_dir
from repo_map.errors import FlightPlanError
from repo_map.plan.model import FlightPlan
from tests.support.errors import refused


def check(**parts: Any) -> Any:
    return validate(
        NavigationRequest(**{"goal": "Fix the login", "repo_path": ".", **parts}), NavigatorSettings()
    )


@pytest.mark.parametrize(
    ("parts", "argument"),
    [
        ({"goal": " \n "}, "goal"),
        ({"goal": "x" * 100_001}, "goal"),
        ({"token_budget": 0}, "token_budget"),
        ({"token_budget": -5}, "token_budget"),
        ({"max_cost_usd": -1}, "max_cost_usd"),
        ({"max_cost_usd": 0}, "max_cost_usd"),
        ({"max_cost_usd": float("nan")}, "max_cost_usd"),
        ({"max_steps": 0}, "max_steps"),
        ({"mode": "hasty"}, "mode"),
    ],
)
def test_a_bad_request_is_refused(parts: dict[str, Any], argument: str) -> None:
    with refused("invalid_argument", argument):
        check(**parts)


@pytest.mark.parametrize("plan", ["budget: 0", "verbosity: 3", "budgets: 1", ": [", {"budget": -1}, {"x": 1}])
def test_a_broken_plan_is_told_with_the_place_of_its_fault(plan: Any) -> None:
    with pytest.raises(FlightPlanError):
        check(flight_plan=plan)


def test_the_token_budget_is_8000_unless_the_request_or_its_plan_says_otherwise() -> None:
    assert check().plan.budget == 8_000
    assert check(flight_plan=FlightPlan(budget=500)).plan.budget == 500
    assert check(flight_plan="budget: 500", token_budget=700).plan.budget == 700


def test_money_is_exact() -> None:
    assert check(max_cost_usd=0.1).task.max_cost_usd == Decimal("0.1")


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"REPO_NAVIGATOR_DATA": "/data/x", "HOME": "/home/ann"}, "linux", "/data/x"),
        ({"HOME": "/home/ann"}, "linux", "/home/ann/.local/share/repo-navigator"),
        ({"HOME": "/home/ann", "XDG_DATA_HOME": "/xdg"}, "linux", "/xdg/repo-navigator"),
        ({"HOME": "/Users/ann"}, "darwin", "/Users/ann/Library/Application Support/repo-navigator"),
        ({"LOCALAPPDATA": "/local"}, "win32", "/local/repo-navigator"),
    ],
)
def test_data_goes_where_the_platform_keeps_it(environ: dict[str, str], platform: str, expected: str) -> None:
    assert default_data_dir(environ, platform).as_posix() == expected
