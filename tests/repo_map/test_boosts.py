"""Boosts of paths and of symbols: both weigh, and the more the weight, the more of the file is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.outline.draw import draw_map
from repo_map.plan.model import CustomQuery, FlightPlan, Focus, PathBoost, SymbolBoost, VerbosityRule
from repo_map.ranking.score import score_goal
from tests.support.maps import pack_places
from tests.support.trees import write

WEIGHTS = (0.001, 0.1, 0.9, 1.0, 5.0, 1_000_000.0)


def module(name: str) -> str:
    return "".join(
        f'def {name}_{i}(order):\n    """Handle {name} {i}."""\n    return order.{name}({i})\n\n\n'
        for i in range(8)
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    files = {f"shop/{name}.py": module(name) for name in ("billing", "cart", "mail", "tax", "users")}
    return build_index(write(tmp_path_factory.mktemp("shop"), files), workers=1)


def focus_on(kind: str, weight: float) -> Focus:
    if kind == "path":
        return Focus(paths=(PathBoost(pattern="shop/mail.py", weight=weight),))
    name = {"symbol": "mail_3", "glob of symbols": "mail_*"}[kind]
    return Focus(symbols=(SymbolBoost(name=name, weight=weight),))


def drawn_of(index: Index, plan: FlightPlan) -> int:
    """Return the tokens that the map gives to the boosted file."""
    return {file.path: file.tokens for file in draw_map(index, plan).blocks}.get("shop/mail.py", 0)


@pytest.mark.parametrize("budget", [150, 300])
@pytest.mark.parametrize("kind", ["path", "symbol", "glob of symbols"])
def test_a_higher_weight_never_shows_less_and_a_low_one_demotes(kind: str, budget: int, index: Index) -> None:
    rules = (VerbosityRule(pattern="**", level=4),)
    shown = [
        drawn_of(index, FlightPlan(budget=budget, verbosity=rules, focus=focus_on(kind, weight)))
        for weight in WEIGHTS
    ]
    assert shown == sorted(shown)
    assert shown[0] < shown[-1]
    plain = drawn_of(index, FlightPlan(budget=budget, verbosity=rules))
    assert shown[0] <= plain <= shown[-1]


@pytest.mark.parametrize("kind", ["path", "symbol", "glob of symbols"])
def test_a_packing_heeds_weights_of_both_kinds(kind: str, index: Index) -> None:
    relevance = score_goal(index, "handle billing, cart, mail, tax and users")
    shown = []
    for weight in (0.001, 1.0, 1000.0):
        plan = pack_places(index, relevance, 250, FlightPlan(focus=focus_on(kind, weight)))
        shown.append(drawn_of(index, plan))
    assert shown == sorted(shown)
    assert shown[0] < shown[-1]


QUERY = CustomQuery(pattern="shop/tax.py", query="(return_statement) @line")


def test_a_query_on_files_that_are_left_out_is_told(index: Index) -> None:
    rules = (VerbosityRule(pattern="shop/t*.py", level=0),)
    drawn = draw_map(index, FlightPlan(verbosity=rules, custom_queries=(QUERY,)))
    assert "`custom_queries[0]` draws nothing: the plan leaves out `shop/tax.py`." in drawn.notes


def test_a_packing_lets_in_what_a_query_captures(index: Index) -> None:
    relevance = score_goal(index, "handle billing and mail")
    plan = pack_places(index, relevance, 300, FlightPlan(custom_queries=(QUERY,)))
    assert "return order.tax(" in draw_map(index, plan).text
    out = FlightPlan(custom_queries=(QUERY,), verbosity=(VerbosityRule(pattern="shop/tax.py", level=0),))
    assert "tax" not in draw_map(index, pack_places(index, relevance, 300, out)).text


@pytest.mark.parametrize(
    ("rules", "note"),
    [
        (
            [{"pattern": "shop/tax.py", "level": 3}, {"pattern": "**", "level": 0}],
            "The plan leaves out every file: of the rules that match one, the last one holds.",
        ),
        (
            [{"pattern": "shop/tax.py", "level": 0, "sections": [{"pattern": "tax_1", "level": 4}]}],
            "Level 0 leaves out `shop/tax.py` with its sections; level 1 shows them.",
        ),
    ],
)
def test_what_a_rule_at_level_0_makes_vain_is_told(
    rules: list[dict[str, object]], note: str, index: Index
) -> None:
    assert note in draw_map(index, FlightPlan.model_validate({"verbosity": rules})).notes


def test_a_plan_that_leaves_nothing_out_has_no_note(index: Index, tmp_path: Path) -> None:
    assert draw_map(index, FlightPlan(custom_queries=(QUERY,))).notes == ()
    assert len(draw_map(build_index(tmp_path, workers=1), FlightPlan()).notes) == 1
