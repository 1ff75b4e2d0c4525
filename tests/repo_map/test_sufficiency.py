"""Sufficiency: how sure a choice calls itself, and what it says against itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.ranking.confidence import Sufficiency
from repo_map.ranking.grade import Grade
from repo_map.ranking.score import score_goal
from tests.support.trees import write

HANDLER = '''"""Handlers of requests for {name}."""


def handle_{name}(request):
    """Answer a request."""
    response = respond(request)
    return response
'''
LETTERS = ("alpha", "beta", "gamma", "delta", "omega", "sigma", "theta", "kappa", "zeta", "lambda")
NAMES = tuple(f"{letter}{end}" for letter in LETTERS for end in ("", "_two", "_three", "_four"))
"""More handlers than an outline lists, all alike."""
TAX = '''"""Taxes of a cart."""


def round_tax(amount, country):
    """Round the tax of an amount to whole cents."""
    return round(amount * rate_of(country)) / 100
'''


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    files = {f"app/{name}.py": HANDLER.format(name=name) for name in NAMES}
    files["tests/test_late.py"] = HANDLER.format(name="late").replace(
        "response =", "# legacy_flag\n    response ="
    )
    files["shop/tax.py"] = TAX
    return build_index(write(tmp_path_factory.mktemp("shop"), files), workers=1)


def judged(index: Index, goal: str) -> Sufficiency:
    return score_goal(index, goal).sufficiency


@pytest.mark.parametrize(
    "goal",
    [
        "`round_tax` rounds the tax of an amount to the wrong cents",
        "The tax of an amount is rounded wrong in shop/tax.py",
    ],
)
def test_confidence_is_higher_for_a_goal_that_names_its_place(index: Index, goal: str) -> None:
    vague = judged(index, "Requests are answered with the wrong response")
    assert judged(index, goal).grade is Grade.HIGH
    assert vague.grade is not Grade.HIGH
    assert judged(index, goal).confidence > vague.confidence


@pytest.mark.parametrize(
    "goal",
    [
        "Die Rundung der Steuer stimmt für manche Kunden und Länder nicht, siehe tax",
        "L'arrondi de l'impôt est faux pour les clients dans certains pays, voir tax",
        "El redondeo del impuesto no es correcto para los clientes, ver tax",
        "税金 计算 错误：购物车 的 舍入 不 正确 tax",
        "カートの税金の丸めが間違っている tax",
        "Округление налога в корзине работает неверно, смотри tax",
    ],
)
def test_a_goal_in_another_language_is_found_by_its_known_words_with_low_confidence(
    index: Index, goal: str
) -> None:
    relevance = score_goal(index, goal)
    assert relevance.files[0].path == "shop/tax.py"
    assert relevance.sufficiency.grade is Grade.LOW
    assert relevance.sufficiency.notes


def test_a_goal_in_another_language_that_names_a_path_has_no_such_note(index: Index) -> None:
    relevance = score_goal(index, "Die Rundung der Steuer in shop/tax.py stimmt nicht für manche Kunden")
    assert relevance.files[0].path == "shop/tax.py"
    assert not relevance.sufficiency.notes


def test_an_empty_repository_differs_from_a_goal_that_matches_nothing(tmp_path: Path, index: Index) -> None:
    empty = judged(build_index(write(tmp_path, {}), workers=1), "Round the tax")
    nothing = judged(index, "xyzzy plugh")
    assert empty.grade is Grade.NONE
    assert nothing.grade is Grade.NONE
    assert empty.notes != nothing.notes


@pytest.mark.parametrize("goal", ["tax", "response"])
def test_a_goal_of_one_word_has_low_confidence_and_a_hint(index: Index, goal: str) -> None:
    sufficiency = judged(index, goal)
    assert sufficiency.grade is Grade.LOW
    assert len(sufficiency.notes) == 1


@pytest.mark.parametrize("goal", ["round_tax", "`round_tax`", "shop/tax.py"])
def test_a_goal_that_names_only_a_place_needs_no_hint(index: Index, goal: str) -> None:
    assert not judged(index, goal).notes
