"""Flight plans as text: read strictly, written for people, updated in parts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_map.errors import FlightPlanError
from repo_map.plan.model import (
    CustomQuery,
    FlightPlan,
    Focus,
    PathBoost,
    SectionRule,
    SymbolBoost,
    TreeStamp,
    VerbosityRule,
)
from repo_map.plan.update import apply_update, compare_plans
from repo_map.plan.yaml import format_plan, parse_plan

WORDS = st.text(alphabet="abz_/.*: #'\"-é{}é0", min_size=1, max_size=12).filter(
    lambda text: text.strip() == text and text.count("{") == text.count("}") == 0
)
PATTERNS = WORDS.filter(lambda text: text.strip("./") != "")
LEVELS = st.integers(0, 4)
WEIGHTS = st.floats(0.01, 100).map(lambda weight: round(weight, 3))
REASONS = st.none() | st.sampled_from(["calls Till.close", "matches rate", "a: {b} # 'c'"])
SECTIONS = st.one_of(
    st.builds(SectionRule, pattern=WORDS, level=LEVELS, why=REASONS),
    st.builds(SectionRule, lines=st.sampled_from(["1-2", "30-41"]), level=LEVELS, why=REASONS),
)


def unique(items: st.SearchStrategy[object], key: str) -> st.SearchStrategy[list[object]]:
    return st.lists(items, max_size=3, unique_by=lambda item: getattr(item, key))


RULES = st.builds(
    VerbosityRule,
    pattern=PATTERNS,
    level=LEVELS,
    sections=st.lists(SECTIONS, max_size=3, unique_by=lambda s: (s.pattern, s.lines)),
    why=REASONS,
)
QUERIES = st.builds(CustomQuery, pattern=PATTERNS, query=st.just("(a) @b\n(c) @d") | WORDS, level=LEVELS)
FOCUS = st.builds(
    Focus,
    paths=unique(st.builds(PathBoost, pattern=PATTERNS, weight=WEIGHTS), "pattern"),
    symbols=unique(st.builds(SymbolBoost, name=WORDS, weight=WEIGHTS), "name"),
).filter(lambda focus: bool(focus.paths or focus.symbols))
PLANS = st.builds(
    FlightPlan,
    budget=st.integers(1, 10**6),
    focus=st.none() | FOCUS,
    verbosity=unique(RULES, "pattern"),
    custom_queries=st.lists(QUERIES, max_size=2, unique_by=lambda q: (q.pattern, q.query)),
    tree=st.none() | st.just(TreeStamp(fingerprint="ab12", files={"a b.py": "00000012", "c.py": "1e5"})),
)


@given(PLANS)
def test_a_plan_survives_being_written_and_read(plan: FlightPlan) -> None:
    assert parse_plan(format_plan(plan)) == plan


@given(PLANS, PLANS)
def test_the_diff_between_two_plans_makes_the_same_change_when_applied(
    old: FlightPlan, new: FlightPlan
) -> None:
    change = compare_plans(old, new)
    again = apply_update(old, change.diff)
    assert compare_plans(again.plan, new).diff == {}
    assert again.diff == change.diff
    assert bool(change.diff) == bool(change.lines)


def test_a_written_plan_reads_like_one() -> None:
    text = """\
budget: 8000
focus:
  paths:
    - {pattern: src/auth/**, weight: 3.0}
verbosity:
  - {pattern: '**', level: 1}
  - pattern: src/a.py
    sections:
      - {pattern: Router.*, level: 4}
custom_queries:
  - pattern: '**/*.py'
    query: |-
      (call) @a
      (class_definition) @b
"""
    assert format_plan(parse_plan(text)).split("\n", 1)[1] == text


def test_a_mapping_that_sets_nothing_is_the_default_plan_and_no_mapping_is_none() -> None:
    assert parse_plan("{}") == parse_plan("# nothing\n{}\n") == FlightPlan()
    for text in ("", "# nothing\n", "null"):
        with pytest.raises(FlightPlanError):
            parse_plan(text)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("verbosity: [{pattern: a, level: 7}]", "`verbosity[0].level`"),
        ("verbosity: [{pattern: a, level: yes}]", "`verbosity[0].level`"),
        ("verbosity: [{pattern: a, lvl: 2}]", "did you mean `level`?"),
        ("budgett: 3", "did you mean `budget`?"),
        ("focus: {zzz: 1}", "`focus.zzz`"),
        ("verbosity: [{pattern: 'src/[a', level: 2}]", "`verbosity[0].pattern`"),
        ("verbosity: [{level: 2}]", "`verbosity[0].pattern`"),
        ("verbosity: [{pattern: a}]", "`verbosity[0]`"),
        ("verbosity: [{pattern: a, sections: [{lines: 9, level: 1}]}]", "`verbosity[0].sections[0].lines`"),
        ("verbosity: [{pattern: a, sections: [{lines: 0-9, level: 1}]}]", "`verbosity[0].sections[0].lines`"),
        ("verbosity: {a: 1}", "`verbosity`"),
        ("budget: 0", "`budget`"),
        ("budget: yes", "`budget`"),
        ("budget: much", "`budget`"),
        ("budget: 1\nbudget: 2", "line 2, column 1"),
        ("? [a]\n: 1", "line 1, column 3"),
        ("a: &x 1", "line 1, column 4"),
        ("- 1", "`budget: 20000`"),
        ("hello", "`hello`"),
        ("[" * 300, "line 1, column 21"),
        ("budget: 0\nverbosity: 3", "`budget`"),
    ],
)
def test_a_bad_plan_is_refused_with_the_place_of_its_fault(text: str, place: str) -> None:
    with pytest.raises(FlightPlanError) as refused:
        parse_plan(text)
    assert place in str(refused.value)


def test_an_update_adds_replaces_and_removes_by_pattern() -> None:
    plan = parse_plan(
        "verbosity: [{pattern: src/**, level: 2}, {pattern: tests/**, level: 1},"
        " {pattern: app.py, level: 1, sections: [{pattern: Router.run, level: 4}, {lines: 1-20, level: 4}]}]"
    )
    sections = [{"lines": "1-20", "level": None}, {"pattern": "main", "level": 3}]
    rules = [
        {"pattern": "src/**", "level": 4},
        {"pattern": "tests/**", "level": None},
        {"pattern": "app.py", "sections": sections},
        {"pattern": "docs/**", "level": 0},
    ]
    boosts = {"paths": [{"pattern": "src/**", "weight": 5}]}
    change = apply_update(plan, {"budget": 8000, "verbosity": rules, "focus": boosts})
    assert change.lines == (
        "budget 20,000 → 8,000",
        "+ focus src/** ×5",
        "- tests/**",
        "src/** outline → source",
        "- app.py § 1-20",
        "+ app.py § main signatures",
        "+ docs/** left out",
    )
    assert [rule.pattern for rule in change.plan.verbosity] == ["src/**", "app.py", "docs/**"]
    assert [section.pattern for section in change.plan.verbosity[1].sections] == ["Router.run", "main"]
    assert change.diff["budget"] == 8000


@pytest.mark.parametrize(
    ("updates", "place"),
    [
        ({"verbosity": [{"pattern": "a", "level": 9}]}, "`verbosity[0].level`"),
        ({"verbosity": [{"pattern": "a"}]}, "`verbosity[0]`"),
        ({"bugdet": 3}, "did you mean `budget`?"),
        ({"verbosity": [{"pattern": "a", "sections": [{"lines": "x", "level": 3}]}]}, "sections[0].lines`"),
        ({"custom_queries": [{"pattern": "**/*.py", "query": " "}]}, "`custom_queries[0].query`"),
        ({"focus": {"paths": [{"pattern": "a", "weight": 1e308}]}}, "`focus.paths[0].weight`"),
    ],
)
def test_a_bad_update_is_refused_with_the_place_of_its_fault(updates: dict[str, object], place: str) -> None:
    with pytest.raises(FlightPlanError) as refused:
        apply_update(FlightPlan(), updates)
    assert place in str(refused.value)
