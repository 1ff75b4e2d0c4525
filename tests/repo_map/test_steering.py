"""Steering: feedback in words changes a plan, answers, or says more of the goal."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.drawing import draw_map
from repo_map.flight_plan import FlightPlan
from repo_map.index import RepoIndex, build_index
from repo_map.packing import pack
from repo_map.plans.updates import apply_update
from repo_map.relevance.scoring import score_goal
from repo_map.steering import Steering, steer
from repo_map.steering.phrases import Phrase, Wish, read_phrases
from tests.support.trees import write

ROUTER = '''class Router:
    """Finds the handler of a request."""

    def dispatch(self, request):
        handler = self.find(request.path)
        return handler(request)

    def find(self, path):
        return self.routes[path]
'''
FILES = {
    "src/web/router.py": ROUTER,
    "src/web/utils.py": "def slug(text):\n    return text.lower()\n",
    "src/data/utils.py": "def chunked(items):\n    return [items]\n",
    "src/web/cache.py": "class Cache:\n    def get(self, key):\n        return self.items[key]\n",
    "tests/test_router.py": "def test_dispatch():\n    assert Router().dispatch(None)\n",
    "src/web/test_utils.py": "def test_slug():\n    assert slug('A') == 'a'\n",
    "docs/guide.md": "# Guide\n\nHow to dispatch a request.\n",
    "setup.py": "name = 'web'\n",
}
GOAL = "dispatch fails for a request without a path"


@pytest.fixture
def index(tmp_path: Path) -> RepoIndex:
    return build_index(write(tmp_path, FILES), workers=1)


def steered(index: RepoIndex, feedback: str, plan: FlightPlan | None = None) -> Steering:
    relevance = score_goal(index, GOAL)
    return steer(index, plan or pack(index, relevance, 2_000), relevance, feedback)


def text_after(index: RepoIndex, feedback: str, plan: FlightPlan | None = None) -> str:
    plan = plan or FlightPlan(budget=2_000)
    return draw_map(index, apply_update(plan, steered(index, feedback, plan).updates).plan).text


def test_dropping_the_tests_leaves_every_test_file_out(index: RepoIndex) -> None:
    text = text_after(index, "drop the tests")
    assert "test_" not in text
    assert "src/web/router.py" in text


def test_dropping_holds_when_the_goal_is_packed_again(index: RepoIndex) -> None:
    base = apply_update(FlightPlan(), steered(index, "no tests please").updates).plan
    plan = pack(index, score_goal(index, GOAL), 2_000, base=base)
    assert "test_" not in draw_map(index, plan).text


def test_deepening_a_symbol_shows_its_body(index: RepoIndex) -> None:
    plan = FlightPlan.from_yaml("budget: 2000\nverbosity: [{pattern: '**', level: 1}]\n")
    text = text_after(index, "deepen `Router.dispatch`", plan)
    assert "return handler(request)" in text
    assert "self.routes[path]" not in text


def test_deepening_holds_when_the_goal_is_packed_again(index: RepoIndex) -> None:
    base = apply_update(FlightPlan(), steered(index, "show me the function chunked").updates).plan
    text = draw_map(index, pack(index, score_goal(index, GOAL), 2_000, base=base)).text
    assert "return [items]" in text
    assert "return handler(request)" in text


def test_only_a_folder_leaves_everything_else_out(index: RepoIndex) -> None:
    paths = [line for line in text_after(index, "only src/web").splitlines() if line in FILES]
    assert set(paths) == {path for path in FILES if path.startswith("src/web/")}


def test_less_of_a_file_shows_its_outline(index: RepoIndex) -> None:
    plan = FlightPlan.from_yaml("budget: 2000\nverbosity: [{pattern: 'src/web/router.py', level: 4}]\n")
    text = text_after(index, "less router.py", plan)
    assert "def dispatch(self, request):" in text
    assert "return handler(request)" not in text


def test_more_about_a_subject_says_more_of_the_goal(index: RepoIndex) -> None:
    assert steered(index, "more about eviction of old entries").goal_addition == "eviction of old entries"


def test_more_about_a_file_boosts_it_over_every_other(index: RepoIndex) -> None:
    plan = pack(index, score_goal(index, GOAL), 2_000)
    after = apply_update(plan, steered(index, "focus on src/web/cache.py", plan).updates).plan
    assert draw_map(index, after).files[0].path == "src/web/cache.py"


def test_a_why_question_is_answered_with_the_evidence(index: RepoIndex) -> None:
    steering = steered(index, "why is router.py here?")
    assert steering.answer.startswith("`src/web/router.py` ranks 1 of")
    assert not steering.updates


def test_a_where_question_is_answered_with_places(index: RepoIndex) -> None:
    assert steered(index, "where is dispatch?").answer == "`Router.dispatch` in src/web/router.py:4."


@pytest.mark.parametrize(
    ("words", "budget"),
    [
        ("bigger budget 12000", 12_000),
        ("use 16k tokens", 16_000),
        ("a budget of 4,500", 4_500),
        ("bigger budget", 3_000),
        ("a smaller budget please", 1_333),
    ],
)
def test_the_budget_is_read_from_words(index: RepoIndex, words: str, budget: int) -> None:
    assert steered(index, words).updates == {"budget": budget}


def test_an_unknown_name_changes_nothing_and_names_the_nearest(index: RepoIndex) -> None:
    steering = steered(index, "drop `Router.dispach`")
    assert not steering.updates
    assert steering.lines == (
        "Nothing in the repository is called `Router.dispach`, so there is nothing to change.",
    )
    assert "Nearest: `cache.py`" in steered(index, "drop cach.py").lines[0]


def test_words_that_are_no_wish_say_more_of_the_goal(index: RepoIndex) -> None:
    assert steered(index, "it happens on Windows as well").goal_addition == "it happens on Windows as well"


def test_several_wishes_in_one_sentence_are_all_heard(index: RepoIndex) -> None:
    steering = steered(index, "Please drop the tests and docs, deepen Router.dispatch; why is utils.py here?")
    patterns = [rule["pattern"] for rule in steering.updates["verbosity"]]
    assert patterns == ["tests/**", "**/test_*", "docs/**", "src/web/router.py"]
    assert "utils.py" in steering.answer


def test_an_ambiguous_file_name_means_all_that_bear_it(index: RepoIndex) -> None:
    patterns = [rule["pattern"] for rule in steered(index, "drop utils.py").updates["verbosity"]]
    assert patterns == ["src/data/utils.py", "src/web/utils.py"]


@pytest.mark.parametrize(
    "feedback", ["", "   ", "?!", "drop", "`", "only", "more about", "\n\n;;", "x" * 5_000, "drop **{"]
)
def test_any_words_are_survived(index: RepoIndex, feedback: str) -> None:
    steering = steered(index, feedback)
    apply_update(FlightPlan(), steering.updates)


def test_quoted_names_are_never_cut(index: RepoIndex) -> None:
    assert list(read_phrases('drop "a. b" and show `c; d`')) == [
        Phrase(Wish.DROP, '"a. b"'),
        Phrase(Wish.DEEPEN, "`c; d`"),
    ]
