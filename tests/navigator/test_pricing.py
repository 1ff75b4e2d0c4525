"""Prices and what calls cost."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from navigator.errors import InvalidRequestError, UnpricedModelError
from navigator.state.labels import dollars
from navigator.state.pricing import ModelPrice, load_prices
from navigator.state.usage import TokenUsage
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import fly
from tests.support.providers.minds import Say, call


def test_the_shipped_table_has_the_presets() -> None:
    prices = load_prices()
    for model, rates in {
        "gemini-2.0-flash": ("0.075", "0.30"),
        "gemini-2.0-flash-thinking": ("0.075", "0.30"),
        "gemini-1.5-pro": ("1.25", "5.00"),
        "gemini-1.5-flash": ("0.075", "0.30"),
    }.items():
        price = prices.price_of(model)
        assert (price.input, price.output) == tuple(map(Decimal, rates)), model


def test_cached_input_costs_its_own_price_and_thinking_costs_as_output() -> None:
    price = ModelPrice(input=Decimal(10), output=Decimal(20), cached_input=Decimal(1))
    usage = TokenUsage(input=1_000_000, cached=400_000, output=100_000, thinking=50_000)
    assert price.cost(usage) == Decimal("6") + Decimal("0.4") + Decimal("3")


def test_a_numbered_release_costs_what_its_family_does() -> None:
    prices = load_prices()
    assert prices.price_of("gemini-2.0-flash-001") == prices.price_of("gemini-2.0-flash")


def test_a_model_without_a_price_is_refused_with_the_way_to_give_one() -> None:
    with pytest.raises(UnpricedModelError, match="gemini-9-ultra"):
        load_prices().price_of("gemini-9-ultra")


def test_a_users_price_wins_over_the_shipped_one(tmp_path: Path) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(
        "models:\n  gemini-9-ultra: {input: 1, output: 2}\n  gemini-1.5-pro: {input: 9, output: 9}\n"
    )
    prices = load_prices(file)
    assert prices.price_of("gemini-9-ultra").output == 2
    assert prices.price_of("gemini-1.5-pro").input == 9
    assert prices.price_of("gemini-2.0-flash").input == Decimal("0.075")


@pytest.mark.parametrize(
    "text", ["models: [1]", "prices: {}", "models: {a: {input: -1, output: 2}}", "- 1", ": ["]
)
def test_a_price_file_that_is_not_well_formed_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prices.yaml"
    file.write_text(text)
    with pytest.raises(InvalidRequestError):
        load_prices(file)


def test_a_price_file_that_is_missing_is_told_by_name(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequestError, match=r"prices\.yaml"):
        load_prices(tmp_path / "prices.yaml")


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        ("0", "$0.00"),
        ("2", "$2.00"),
        ("0.05", "$0.05"),
        ("0.0022", "$0.0022"),
        ("0.00001", "$0.00001"),
        ("0.0000786", "$0.000079"),
        ("0.00000012345", "$0.00000012"),
        ("12.3456789", "$12.345679"),
        ("1E+3", "$1000.00"),
    ],
)
def test_money_is_told_with_as_much_as_matters(amount: str, message: str) -> None:
    assert dollars(Decimal(amount)) == message


@pytest.mark.anyio
async def test_a_turn_report_carries_the_tokens_of_all_calls(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")

    def mind(request: dict[str, Any], number: int) -> Say:
        update = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + number % 4}]}
        return call("update_flight_plan", {"reasoning": "again", "updates": update}, cached=300)

    usage = (await fly(make_navigator, repository, mind, max_steps=6)).reports[-1].total_usage
    assert (usage.calls, usage.input, usage.cached) == (6, 6 * 1_000, 6 * 300)
