"""The tokens that a place of the outline is offered at are the tokens that its number adds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from navigator.navigator import Navigator
from navigator.planner.answer_size import list_tokens, plan_answer
from navigator.planner.outline import build_outline, find_tests
from navigator.planner.outline_text import outline_text
from navigator.settings import NavigationRequest
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from repo_map.ranking.score import score_goal
from tests.navigator.conftest import MakeNavigator
from tests.support.trees import write

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.ranking.score import Relevance

pytestmark = pytest.mark.anyio


def outline_of(
    index: Index, relevance: Relevance, drawn: RepoMap, first_answer: int | None = None
) -> tuple[OutlineEntry, ...]:
    answer = plan_answer(index, relevance, first_answer, 2_000)
    return build_outline(index, drawn, answer.listed)


GOAL = "login fails in the router: token_expired and the total of an invoice"


async def zoomed(navigator: Navigator, repository: Path, budget: int) -> str:
    """Return a navigation after its first step."""
    request = NavigationRequest(GOAL, repository, token_budget=budget, mode="interactive")
    navigation_id = await navigator.open(request)
    await navigator.step(navigation_id)
    return navigation_id


async def test_what_an_outline_lists_without_source_can_be_asked_for_by_its_number(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    outline = (await navigator.report(await zoomed(navigator, repository, 110))).outline
    assert len(outline) > 2
    for place in (place for place in outline if place.tokens):
        navigation_id = await zoomed(navigator, repository, 110)
        await navigator.step(navigation_id, show=[place.number], updates={"budget": 5_000})
        shown = (await navigator.context(navigation_id)).context_string
        assert re.search(rf"(?:def|class) {place.name.rpartition('.')[2]}\b", shown)


def test_an_outline_has_15_places_at_most_and_fewer_in_a_small_answer(tmp_path: Path) -> None:
    files = {
        f"{name}.py": "".join(
            f"def tariff_{name}_{at}(item):\n    return {'-' * at}item\n" for at in range(30)
        )
        for name in ("land", "sea")
    }
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    relevance = score_goal(index, "tariff_land_3 differs from tariff_sea_4")
    usual, fewer = (plan_answer(index, relevance, size, 2_000) for size in (1_000, 250))
    assert len(usual.listed) == 15
    assert 1 <= len(fewer.listed) < 15
    assert {place.path for place in usual.listed} == {"land.py", "sea.py"}
    assert "tariff_land_3" in {place.name for place in fewer.listed}
    assert list_tokens(fewer.listed) < list_tokens(usual.listed) < 450
    assert not {place.name for place in usual.listed} & {place.name for place in usual.others}


BESIDE = {
    "shop/till.py": """
from shop.rates import rate_of


class Till:
    def close(self, total):
        return 0

    def checkout(self, total):
        return self.close(total) * rate_of(total)
""",
    "shop/rates.py": "def rate_of(amount):\n    return amount // 3\n",
    "shop/kiosk.py": """
from shop.till import Till


class Kiosk(Till):
    def checkout(self, total):
        return total


def serve(till: Till, total):
    return till.checkout(total)
""",
    "tests/test_till.py": """
from shop.till import Till


def test_it():
    assert Till().checkout(3) == 0
""",
}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("rate_of", "called by Till.checkout, line 10"),
        ("Kiosk.checkout", "overrides Till.checkout"),
        ("serve", "calls Till.checkout"),
    ],
)
def test_a_short_goal_about_one_definition_lists_what_it_calls_and_who_calls_or_overrides_it(
    tmp_path: Path, name: str, why: str
) -> None:
    index = build_index(write(tmp_path, BESIDE), store=Store(None), workers=1)
    answer = plan_answer(index, score_goal(index, "What does Till.checkout do?"), 1_000, 2_000)
    places = {place.name: place for place in answer.listed}
    assert answer.listed[0].name == "Till.checkout"
    assert places[name].reason == why
    assert "test_it" not in places


SPELT = {
    "shop/inspectdb.py": "def handle(app):\n    return app\n",
    "shop/till.py": "class Till:\n    def checkout(self, total):\n        return total\n",
    "shop/rates.py": "".join(
        f"def related_name_{at}(model, related):\n    return model, related, {at}\n" for at in range(60)
    ),
}


@pytest.mark.parametrize(
    ("goal", "path", "name"),
    [
        ("inspectdb should generate related_name on related models", "shop/inspectdb.py", ""),
        ("related names of related models are wrong, see `Till.checkout`", "shop/till.py", "Till.checkout"),
        ("related names of related models are wrong in shop/till.py", "shop/till.py", ""),
    ],
)
def test_what_the_goal_spells_out_has_its_place(tmp_path: Path, goal: str, path: str, name: str) -> None:
    index = build_index(write(tmp_path, SPELT), store=Store(None), workers=1)
    out = FlightPlan.model_validate({"verbosity": [{"pattern": "**", "level": 0}]})
    outline = outline_of(index, score_goal(index, goal), draw_map(index, out), 300)
    assert [place for place in outline if place.path == path and name in ("", place.name)]
    assert {place.path for place in outline} >= {path, "shop/rates.py"}


TESTED = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    **{f"shop/part_{at}.py": f"def step_{at}(cart):\n    return cart, {at}\n" for at in range(30)},
    "shop/till.py": "def checkout(cart):\n    return cart.total\n\n\n"
    "def refund(cart):\n    return -cart.total\n",
    "tests/test_everything.py": "from shop.till import checkout, refund\n\n\n"
    "def test_all(cart):\n    assert checkout(cart) == -refund(cart)\n",
    "tests/test_refunds.py": "def test_a_refund_of_a_cart(app):\n    assert app.post('/refund').refund\n",
}


def told_tests(root: Path, files: dict[str, str], *, led: bool = True) -> str:
    """Return the line of tests to a goal that leads to ``refund``; where not ``led``, to no file of tests."""
    index = build_index(write(root, files), store=Store(None), workers=1)
    relevance = score_goal(index, "refund of a cart is refunded twice")
    places = plan_answer(index, relevance, None, 2_000).listed
    if not led:
        relevance = relevance._replace(
            files=tuple(each for each in relevance.files if "test" not in each.path)
        )
    return find_tests(index, relevance, places)


UNRELATED = "def test_it():\n    assert True\n"


@pytest.mark.parametrize(
    ("led", "changed", "file"),
    [
        pytest.param(True, {}, "tests/test_everything.py", id="goal and calls"),
        pytest.param(True, {"tests/test_everything.py": UNRELATED}, "tests/test_refunds.py", id="goal alone"),
        pytest.param(False, {}, "", id="calls alone"),
        pytest.param(False, {"tests/test_till.py": UNRELATED}, "tests/test_till.py", id="the same name"),
    ],
)
def test_one_file_of_tests_is_told_with_what_runs_it(
    tmp_path: Path, changed: dict[str, str], file: str, *, led: bool
) -> None:
    told = told_tests(tmp_path, {**TESTED, **changed}, led=led)
    assert told == (f"python -m pytest {file}" if file else "")


def test_a_module_called_tests_that_holds_none_is_not_told_as_a_file_of_tests(tmp_path: Path) -> None:
    predicates = "def refund_is_odd(cart):\n    return refund_of(cart) % 2 == 1\n"
    files = {"pyproject.toml": TESTED["pyproject.toml"], "shop/tests.py": predicates}
    assert told_tests(tmp_path / "one", {**files, "shop/till.py": TESTED["shop/till.py"]}) == ""
    files["shop/tests.py"] = (
        "class RefundTests(TestCase):\n    def test_refund(self):\n        refund(cart)\n"
    )
    told = told_tests(tmp_path / "two", {**files, "shop/till.py": TESTED["shop/till.py"]})
    assert "shop" in told


@pytest.mark.parametrize(("chance", "stars"), [(0.5, 1), (0.4, 0)])
def test_the_likeliest_place_is_marked_only_where_it_is_likely_edited(
    tmp_path: Path, chance: float, stars: int
) -> None:
    index = build_index(write(tmp_path, TESTED), store=Store(None), workers=1)
    relevance = score_goal(index, "refund of a cart is refunded twice")
    chances = iter([chance, *(0.3 for _ in relevance.units[1:])])
    units = tuple(each._replace(chance=next(chances)) for each in relevance.units)
    out = FlightPlan.model_validate({"verbosity": [{"pattern": "**", "level": 0}]})
    outline = outline_of(index, relevance._replace(units=units), draw_map(index, out))
    assert sum(place.is_sure for place in outline) == stars
    assert outline_text(outline).count("* ") == stars


def test_what_stands_word_for_word_in_a_second_file_is_told_once_with_both_places(tmp_path: Path) -> None:
    names = ("tariff_of", "tariff_name", "tariff_total", "tariff_rest")
    source = "\n\n".join(
        f"def {name}(item):\n    cost = item * {at}\n    if cost < 0:\n        cost = 0\n    return cost\n"
        for at, name in enumerate(names, 2)
    )
    other = source.replace("cost = item * 3", "cost = item * 33").replace("    if", "    if ")
    files = {
        "src/tariffs.py": source,
        "single/tariffs.py": f"import os\n\n\n{other}",
        "tests/test_tariffs.py": f"{source}\n\ndef test_it():\n    assert tariff_of(1)\n",
    }
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    relevance = score_goal(index, "the tariff of an item is negative: tariff_of and the other tariffs")
    drawn = draw_map(index, FlightPlan.model_validate({"verbosity": [{"pattern": "**", "level": 0}]}))
    outline = outline_of(index, relevance, drawn)
    told = outline_text(outline)
    first, second = ("src/tariffs.py", "single/tariffs.py")
    if told.index(second) < told.index(first):
        first, second = second, first
    ahead = {"src/tariffs.py": 0, "single/tariffs.py": 3}
    at = 1 + ahead[first], 1 + ahead[second]
    assert f"tariff_of {at[0]}-{at[0] + 4}: same in {second}:{at[1]}-{at[1] + 4}\n" in told
    # One that differs in a number is a place of its own in either file.
    assert [place.path for place in outline if place.name == "tariff_name"] == [first, second]
    assert [place.also for place in outline if place.name == "tariff_name"] == ["", ""]
    assert f"tariff_total {at[0] + 14}-{at[0] + 18}: same there:{at[1] + 14}-{at[1] + 18}" in told
    assert [place.path for place in outline if place.name == "tariff_total"] == [first]
