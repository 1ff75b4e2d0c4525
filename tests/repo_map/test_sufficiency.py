"""Sufficiency: how sure a choice calls itself, and what it says against itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.ranking.confidence import LIKELY, SURE, Sufficiency
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


def test_a_choice_that_the_goal_names_is_surer_than_one_that_it_does_not(index: Index) -> None:
    clear = judged(index, "`round_tax` rounds the tax of an amount to the wrong cents")
    vague = judged(index, "Requests are answered with the wrong response")
    assert clear.confidence >= SURE
    assert vague.confidence < LIKELY
    assert clear.confidence > vague.confidence


def test_a_choice_is_surer_where_the_goal_names_a_path(index: Index) -> None:
    unnamed = judged(index, "Requests are answered with the wrong response")
    named = judged(index, "Requests are answered with the wrong response in app/beta.py, app/gamma.py")
    assert unnamed.confidence < LIKELY < SURE <= named.confidence


@pytest.mark.parametrize(
    ("language", "goal"),
    [
        ("German", "Die Rundung der Steuer stimmt für manche Kunden und Länder nicht, siehe tax"),
        ("French", "L'arrondi de l'impôt est faux pour les clients dans certains pays, voir tax"),
        ("Spanish", "El redondeo del impuesto no es correcto para los clientes, ver tax"),
        ("Portuguese", "O arredondamento do imposto não está certo para os clientes, ver tax"),
        ("Chinese", "税金 计算 错误：购物车 的 舍入 不 正确 tax"),
        ("Japanese", "カートの税金の丸めが間違っている tax"),
        ("Korean", "장바구니의 세금 반올림이 잘못되었습니다 tax"),
        ("Russian", "Округление налога в корзине работает неверно, смотри tax"),
    ],
)
def test_a_goal_in_another_language_is_told_as_such_with_the_words_that_were_used(
    index: Index, language: str, goal: str
) -> None:
    relevance = score_goal(index, goal)
    assert relevance.files[0].path == "shop/tax.py"
    assert relevance.sufficiency.confidence < LIKELY
    assert relevance.sufficiency.notes[0] == (
        f"The goal reads as {language}; only these words of it could be used: `tax`; "
        "an English goal finds more."
    )


def test_a_goal_in_another_language_that_names_a_path_is_judged_by_it(index: Index) -> None:
    relevance = score_goal(index, "Die Rundung der Steuer in shop/tax.py stimmt nicht für manche Kunden")
    assert relevance.files[0].path == "shop/tax.py"
    assert "these words of it could be used: `shop/tax.py`" in relevance.sufficiency.notes[0]
    assert relevance.sufficiency.confidence >= LIKELY


SHOP = {
    "cache.py": 'class Cache:\n    def put(self, key):\n        """Keep the latest value under its key."""\n',
    "mail.py": 'def send_mail(address, text):\n    """Send a text to the address of a customer."""\n',
    "page.py": 'def show_page(request):\n    """Show the start page of the shop."""\n',
}


@pytest.fixture(scope="module")
def handful(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("handful"), SHOP), workers=1)


@pytest.mark.parametrize(
    ("goal", "held"),
    [
        ("Customers want the latest page to start in a dark text", "2 of the goal's 6 words"),
        ("Customers of the shop see a request under the wrong key", "2 of the goal's 6 words"),
    ],
)
def test_among_a_handful_of_files_a_goal_whose_words_are_scattered_is_never_sure(
    goal: str, held: str, handful: Index
) -> None:
    sufficiency = judged(handful, goal)
    assert sufficiency.confidence < LIKELY
    assert sufficiency.notes[0].startswith(f"The first of few files has only {held}")


@pytest.mark.parametrize(
    "goal",
    ["The address of a customer is sent twice", "Say in page.py that the latest key of a customer is wrong"],
)
def test_among_a_handful_of_files_a_goal_that_one_of_them_answers_is_sure(goal: str, handful: Index) -> None:
    assert judged(handful, goal).confidence >= SURE


def test_an_empty_repository_is_told_from_a_goal_that_matches_nothing(tmp_path: Path, index: Index) -> None:
    empty = judged(build_index(write(tmp_path, {}), workers=1), "Round the tax")
    assert (empty.confidence, empty.notes) == (0, ("The repository has no files.",))
    nothing = judged(index, "xyzzy plugh")
    assert not nothing.confidence
    assert nothing.notes[0].startswith("Nothing in the repository shares a word with the goal: name a")


@pytest.mark.parametrize(
    "goal", ["tax", "response", "fix the bug in request code please", "make respond better"]
)
def test_a_goal_that_says_little_is_unsure_and_told_what_would_help(index: Index, goal: str) -> None:
    sufficiency = judged(index, goal)
    assert sufficiency.confidence < LIKELY
    assert sufficiency.notes[0] == "The goal says little: name a function, a file or an error text of it."


@pytest.mark.parametrize("goal", ["round_tax", "`round_tax`", "shop/tax.py"])
def test_a_small_goal_that_names_a_place_says_enough(index: Index, goal: str) -> None:
    assert not any(note.startswith("The goal says little") for note in judged(index, goal).notes)
