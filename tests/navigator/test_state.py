"""The state's contract."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema

from navigator.state.pricing import FREE
from navigator.state.state import (
    BudgetConfig,
    NavigatorState,
)
from repo_map.plan.model import FlightPlan

DATA = Path(__file__).parent / "data"
SCHEMA = json.loads((DATA / "navigator_state.schema.json").read_text("utf-8"))


def validate(state: Any) -> None:
    jsonschema.Draft7Validator(SCHEMA).validate(state)


def make_state(**changes: Any) -> NavigatorState:
    parts: dict[str, Any] = {
        "user_task": "Refactor the auth middleware",
        "repo_path": "/project",
        "budget_config": BudgetConfig(model_pricing_rates=FREE.rates("embedded")),
        "flight_plan": FlightPlan(budget=8000),
    }
    return NavigatorState(**{**parts, **changes})


def test_a_fresh_state_is_whole_and_valid() -> None:
    state = make_state().model_dump(mode="json")
    validate(state)
    assert set(state) == set(SCHEMA["properties"])


def test_the_contracts_example_is_understood() -> None:
    example = json.loads((DATA / "navigator_state.example.json").read_text("utf-8"))["navigator"]
    state = NavigatorState.model_validate(example)
    assert state.decision_log[0].step == 1
    assert state.budget_config.current_spend_usd == Decimal("0.0135")
