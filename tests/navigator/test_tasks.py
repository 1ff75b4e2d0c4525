"""What a navigation may be opened with."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from navigator.planner.request import validate
from navigator.settings import NavigationRequest, NavigatorSettings
from navigator.storage.data_folder import default_data_dir
from repo_map.plan.model import FlightPlan


def check(**parts: Any) -> Any:
    return validate(
        NavigationRequest(**{"goal": "Fix the login", "repo_path": ".", **parts}), NavigatorSettings()
    )


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
