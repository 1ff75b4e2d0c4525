"""Maps and budgets: what fits, what is cut, what is told."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from repo_map.errors import BudgetError
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan, SectionRule, VerbosityRule
from repo_map.text import tokens
from tests.support.maps import draw, index_of

SHOP = {
    "shop/cart.py": (
        "class Cart:\n"
        "    def add_item(self, item):\n        self.items.append(item)\n"
        "        return self.total_price()\n\n"
        "    def total_price(self):\n        return sum(item.price for item in self.items)\n"
    ),
    "shop/checkout.py": (
        "from shop.cart import Cart\n\n\ndef check_out(cart: Cart):\n    return cart.total_price()\n"
    ),
    "shop/mail.py": "def send_mail(to, subject):\n    print(to, subject)\n",
    "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    Cart().total_price()\n",
    "docs/guide.md": "# Guide\n\nHow to shop.\n\n## Cart\n\nPut things in.\n",
    "data.bin": b"\0\1\2",
    "notes.txt": "remember the milk\n",
}
PATTERNS = st.sampled_from(
    ["**", "shop/**", "shop/cart.py", "tests/**", "docs/guide.md", "*.txt", "data.bin"]
)
SECTIONS = st.one_of(
    st.builds(
        SectionRule,
        pattern=st.sampled_from(["Cart", "*.add*", "total_price", "Guide", "zzz"]),
        level=st.integers(0, 4),
    ),
    st.builds(SectionRule, lines=st.sampled_from(["1-2", "3-5", "2-900", "9-4"]), level=st.integers(0, 4)),
)
RULES = st.builds(
    VerbosityRule,
    pattern=PATTERNS,
    level=st.integers(0, 4),
    sections=st.lists(SECTIONS, max_size=3).map(tuple),
)
CODE = st.text(alphabet="ab_ \n\t():.#'\"=⋮/é\r\x1b1", max_size=200)
REPOS = st.dictionaries(
    st.sampled_from(["a.py", "b/c.py", "d.md", "e.txt", "f/g.go", "⋮ h.py", "i j.js"]),
    st.one_of(CODE, st.sampled_from([str(content) for content in SHOP.values()])),
    max_size=5,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPOS, st.lists(RULES, max_size=3), st.integers(1, 120) | st.integers(1, 3000), st.booleans())
def test_the_text_never_counts_more_tokens_than_the_budget(
    repo: dict[str, str], rules: list[VerbosityRule], budget: int, show_costs: bool
) -> None:
    plan = FlightPlan(budget=budget, verbosity=tuple(rules))
    try:
        drawn = draw_map(index_of(repo), plan, show_costs=show_costs)
    except BudgetError:
        drawn = None
    if drawn is None:
        assert budget < 40
        return
    assert tokens.count(drawn.text) == drawn.tokens <= budget


@settings(max_examples=30, deadline=None)
@given(st.lists(RULES, max_size=3), st.integers(1, 3000))
def test_every_file_that_the_plan_lets_in_is_drawn_or_counted(
    rules: list[VerbosityRule], budget: int
) -> None:
    index = index_of(SHOP)
    try:
        drawn = draw_map(index, FlightPlan(budget=budget, verbosity=tuple(rules)))
    except BudgetError:
        return
    assert len(drawn.blocks) + drawn.left_out + drawn.excluded == len(index.paths)
    assert (f"⋮ {drawn.left_out} more file" in drawn.text) == bool(drawn.left_out)


def test_a_plan_without_rules_shows_structure_where_it_is_worth_most() -> None:
    drawn = draw(SHOP, "budget: 75")
    assert drawn.blocks[0].path == "shop/cart.py"
    assert "class Cart:" in drawn.text
    assert drawn.left_out + len(drawn.blocks) == len(SHOP)


def test_files_come_by_focus_weight_then_rank_then_path() -> None:
    plan = "focus: {paths: [{pattern: notes.txt, weight: 3}, {pattern: 'docs/**', weight: 2}]}"
    paths = [file.path for file in draw(SHOP, plan).blocks]
    assert paths[:3] == ["notes.txt", "docs/guide.md", "shop/cart.py"]


def test_what_rules_ask_to_see_whole_outlasts_everything_else() -> None:
    drawn = draw(
        SHOP, "{budget: 70, verbosity: [{pattern: '**', level: 3}, {pattern: shop/mail.py, level: 4}]}"
    )
    assert "print(to, subject)" in drawn.text
    assert drawn.cut_files > 0
    assert all(cut.drawn < cut.wanted for cut in drawn.cuts)


def test_a_cut_says_what_adding_it_would_cost() -> None:
    drawn = draw(
        SHOP, "{budget: 40, verbosity: [{pattern: '**', level: 0}, {pattern: shop/cart.py, level: 4}]}"
    )
    (cut,) = drawn.cuts
    assert (cut.path, cut.wanted) == ("shop/cart.py", 4)
    whole = draw(SHOP, "verbosity: [{pattern: '**', level: 0}, {pattern: shop/cart.py, level: 4}]")
    assert cut.tokens_to_add == pytest.approx(whole.tokens - drawn.tokens, abs=12)


def test_strict_refuses_what_does_not_fit_and_names_what_is_largest() -> None:
    plan = "{budget: 60, verbosity: [{pattern: 'shop/**', level: 4}]}"
    with pytest.raises(BudgetError, match=r"`shop/cart\.py`"):
        draw(SHOP, plan, strict=True)


def test_strict_lets_files_that_no_rule_names_step_down() -> None:
    drawn = draw(SHOP, "{budget: 60, verbosity: [{pattern: shop/mail.py, level: 4}]}", strict=True)
    assert "print(to, subject)" in drawn.text


def test_a_budget_below_one_line_is_refused_by_name() -> None:
    with pytest.raises(BudgetError):
        draw(SHOP, "budget: 1")


def test_a_plan_that_excludes_everything_draws_nothing() -> None:
    drawn = draw(SHOP, "{budget: 1, verbosity: [{pattern: '**', level: 0}]}")
    assert (drawn.text, drawn.tokens, drawn.excluded) == ("", 0, len(SHOP))


def test_a_cut_section_costs_what_the_section_costs() -> None:
    body = "".join(f"    value_{i} = compute_value({i})\n" for i in range(60))
    repo = {
        "a.py": f"def large():\n{body}\n\ndef small():\n    return 1\n\n\ndef huge():\n{body}{body}{body}"
    }
    sections = "[{pattern: small, level: 4}, {pattern: large, level: 4}]"
    plan = f"{{budget: 100, verbosity: [{{pattern: a.py, sections: {sections}}}]}}"
    drawn = draw(repo, plan)
    assert "def small():\n    return 1\n" in drawn.text
    (cut,) = drawn.cuts
    assert (cut.wanted, cut.drawn) == (4, 3)
    whole = draw(repo, plan.replace("budget: 100", "budget: 9000"))
    assert cut.tokens_to_add == pytest.approx(whole.tokens - drawn.tokens, rel=0.1)


def test_threads_on_one_index_draw_what_one_thread_draws() -> None:
    plans = [FlightPlan(budget=budget) for budget in (40, 70, 100, 130, 160, 190)] * 4
    index = index_of({**SHOP, "threads.txt": "x\n"})
    expected = [draw_map(index_of({**SHOP, "threads.txt": "x\n"}), plan).text for plan in plans]
    fresh = build_index(index.build.source, store=Store(None), workers=1)
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(lambda plan: draw_map(fresh, plan).text, plans)) == expected
