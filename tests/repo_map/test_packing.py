"""Packing, from a goal and a small repository to the map that its plan draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.outline.draw import RepoMap, draw_map
from repo_map.outline.pack import goal_terms, pack
from repo_map.outline.places import rank_places
from repo_map.plan.model import FlightPlan, SectionRule, VerbosityRule
from repo_map.plan.yaml import format_plan, parse_plan
from repo_map.ranking.score import score_goal
from tests.support.maps import pack_places
from tests.support.trees import write

TAX = '''"""Taxes of a cart."""

RATES = {"no": 25, "de": 19}


def rate_of(country):
    return RATES[country]


def round_tax(amount, country):
    """Round the tax to whole cents."""
    cents = amount * rate_of(country)
    return round(cents) / 100


class Receipt:
    """What a customer gets."""

    def total(self, cart):
        return sum(item.price for item in cart)

    def print_total(self, cart):
        print(self.total(cart))
'''
MAIL = "".join(
    f'def send_mail_{number}(to):\n    """Send mail {number}."""\n    return deliver(to, {number})\n\n\n'
    for number in range(60)
)
GOAL = "round_tax gives the wrong rounding of tax for Norway"


@pytest.fixture
def index(tmp_path: Path) -> Index:
    files = {"shop/tax.py": TAX, "shop/copy.py": TAX, "shop/mail.py": MAIL, "README.md": "# Shop\n"}
    return build_index(write(tmp_path, files), workers=1)


def packed(index: Index, budget: int, goal: str = GOAL, base: FlightPlan | None = None) -> FlightPlan:
    return pack_places(index, score_goal(index, goal), budget, base)


def drawn(index: Index, plan: FlightPlan) -> RepoMap:
    return draw_map(index, plan)


def test_the_function_that_the_goal_names_is_shown_whole_from_the_first_file(index: Index) -> None:
    text = drawn(index, packed(index, 300)).text
    assert "\n".join(TAX.split("\n")[8:13]) in text
    assert "shop/mail.py" not in text


@pytest.mark.parametrize("budget", [60, 150, 400, 1_000, 2_000])
def test_nothing_that_the_plan_names_is_cut(index: Index, budget: int) -> None:
    plan = packed(index, budget)
    repo_map = drawn(index, plan)
    assert plan.budget == budget
    assert repo_map.tokens <= budget
    assert not {cut.path for cut in repo_map.cuts} & {rule.pattern for rule in plan.verbosity}


def test_the_plan_draws_the_same_map_after_a_round_trip_without_the_goal(index: Index) -> None:
    plan = packed(index, 400)
    again = parse_plan(format_plan(plan))
    assert drawn(index, again).text == drawn(index, plan).text


def test_the_same_lines_of_a_copied_file_are_shown_once(index: Index) -> None:
    repo_map = drawn(index, packed(index, 600))
    assert repo_map.text.count("cents = amount * rate_of(country)") == 1
    first = rank_places(index, score_goal(index, GOAL))[0]
    assert {first.path, first.also.removeprefix("same in ").rpartition(":")[0]} == {
        "shop/tax.py",
        "shop/copy.py",
    }


def test_functions_are_asked_for_by_name(index: Index) -> None:
    plan = packed(index, 300)
    sections = [section for rule in plan.verbosity for section in rule.sections]
    assert SectionRule(pattern="round_tax", level=4) in sections


def test_a_function_too_long_for_the_budget_shows_the_lines_that_the_goal_means(tmp_path: Path) -> None:
    body = "".join(f"    step_{number}(state, {number})\n" for number in range(400))
    body = body.replace("step_200(state, 200)", "apply_discount(state, coupon)")
    index = build_index(write(tmp_path, {"run.py": f"def run(state, coupon):\n{body}"}), workers=1)
    text = drawn(index, packed(index, 600, "a coupon's discount is applied twice")).text
    assert "def run(state, coupon):" in text
    assert "apply_discount(state, coupon)" in text
    assert "step_100(" not in text


def test_what_the_base_asks_for_is_kept_within_the_budget(index: Index) -> None:
    wanted = VerbosityRule(pattern="shop/mail.py", sections=(SectionRule(pattern="send_mail_7", level=4),))
    plan = packed(index, 600, base=FlightPlan(verbosity=(wanted,)))
    repo_map = drawn(index, plan)
    assert "return deliver(to, 7)" in repo_map.text
    assert "def round_tax" in repo_map.text
    assert not repo_map.cuts


def test_a_level_of_the_base_holds_beside_its_sections(index: Index) -> None:
    section = SectionRule(pattern="round_tax", level=4)
    wanted = VerbosityRule(pattern="shop/tax.py", level=2, sections=(section,))
    plan = packed(index, 300, base=FlightPlan(verbosity=(wanted,)))
    (rule,) = (each for each in plan.verbosity if each.pattern == wanted.pattern)
    assert rule.level == 2
    assert section in rule.sections
    assert "class Receipt" in drawn(index, plan).text


def test_a_file_that_is_asked_for_and_too_large_leaves_room_for_the_rest(tmp_path: Path) -> None:
    entries = "- mail is sent only once\n\n" * 40
    log = "".join(f"## 1.{number}\n\n{entries}" for number in range(8))
    index = build_index(write(tmp_path, {"shop/tax.py": TAX, "CHANGES.md": log}), workers=1)
    wanted = FlightPlan(verbosity=(VerbosityRule(pattern="CHANGES.md", level=4),))
    own = wanted.model_copy(update={"budget": 900})
    relevance = score_goal(index, GOAL)
    latest = {"CHANGES.md": ()}
    places, terms = rank_places(index, relevance), goal_terms(relevance.goal)
    found = pack(index, own, places, 900, terms=terms, latest=latest)
    drawn = draw_map(index, found.plan)
    assert found.in_part == ("CHANGES.md",)
    assert "## 1." in drawn.text
    assert not drawn.cuts


def test_a_path_with_glob_characters_is_named_exactly(tmp_path: Path) -> None:
    files = {"app/[slug]/page.py": TAX, "app/s/page.py": MAIL}
    index = build_index(write(tmp_path, files), workers=1)
    assert "def round_tax" in drawn(index, packed(index, 300)).text


def test_a_signature_is_never_cut_and_the_head_of_a_long_function_stands_beside_what_matters(
    tmp_path: Path,
) -> None:
    settings = "".join(f"    option_{n}: str | None = None,\n" for n in range(9))
    steps = "".join(f"    step_{n} = {n}\n" for n in range(400))
    long = f"def open_shop(\n{settings}) -> None:\n{steps}    refund_voucher(option_1)\n{steps}"
    root = write(tmp_path, {"shop.py": f"{long}\n\n{long.replace('open_shop', 'close_shop')}"})
    index = build_index(root, workers=1)
    for budget in range(60, 700, 40):
        text = drawn(index, packed(index, budget, "refund_voucher is called with the wrong option")).text
        if "    option_0: str" in text:
            assert ") -> None:\n" in text, text
            assert "refund_voucher(" in text, text
