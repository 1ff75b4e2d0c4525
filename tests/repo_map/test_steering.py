"""Steering: feedback in words changes a plan, answers, or says more of the goal."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.drawing.draw import draw_map
from repo_map.feedback.apply import steer
from repo_map.feedback.operations import Operation
from repo_map.feedback.parse import readings
from repo_map.feedback.sentences import clauses
from repo_map.feedback.steering import Steering
from repo_map.index import RepoIndex, build_index
from repo_map.indexing.store import Store
from repo_map.packing.pack import pack
from repo_map.plan.model import FlightPlan
from repo_map.plan.update import apply_update
from repo_map.plan.yaml import parse_plan
from repo_map.relevance.score import score_goal
from tests.support.maps import HEADER
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
    "tests/test_router.py": (
        "from web.router import Router\n\n\ndef test_dispatch():\n    assert Router().dispatch(None)\n"
    ),
    "src/web/test_utils.py": (
        "from web.utils import slug\n\n\ndef test_slug():\n    assert slug('A') == 'a'\n"
    ),
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


@pytest.mark.parametrize("words", ["only .github", "only .github, please", "Only .github/."])
def test_a_name_may_begin_with_a_dot(tmp_path: Path, words: str) -> None:
    files = FILES | {".github/workflows/tests.yml": "on: push\n"}
    index = build_index(write(tmp_path, files), workers=1)
    text = text_after(index, words)
    assert ".github/workflows/tests.yml" in text
    assert "router.py" not in text


@pytest.mark.parametrize("words", ["show setup.py too", "also add setup.py as well, please"])
def test_what_is_said_by_the_way_is_no_part_of_a_name(index: RepoIndex, words: str) -> None:
    assert "name = 'web'" in text_after(index, words)


def test_dropping_the_tests_leaves_every_test_file_out(index: RepoIndex) -> None:
    text = text_after(index, "drop the tests")
    assert "test_" not in text
    assert "src/web/router.py" in text


def test_dropping_holds_when_the_goal_is_packed_again(index: RepoIndex) -> None:
    base = apply_update(FlightPlan(), steered(index, "no tests please").updates).plan
    plan = pack(index, score_goal(index, GOAL), 2_000, base=base)
    assert "test_" not in draw_map(index, plan).text


def test_deepening_a_symbol_shows_its_body(index: RepoIndex) -> None:
    plan = parse_plan("budget: 2000\nverbosity: [{pattern: '**', level: 1}]\n")
    text = text_after(index, "deepen `Router.dispatch`", plan)
    assert "return handler(request)" in text
    assert "self.routes[path]" not in text


def test_deepening_holds_when_the_goal_is_packed_again(index: RepoIndex) -> None:
    base = apply_update(FlightPlan(), steered(index, "show me the function chunked").updates).plan
    text = draw_map(index, pack(index, score_goal(index, GOAL), 2_000, base=base)).text
    assert "return [items]" in text
    assert "return handler(request)" in text


def test_only_a_folder_leaves_everything_else_out(index: RepoIndex) -> None:
    lines = (line.removeprefix(f"{HEADER} ") for line in text_after(index, "only src/web").splitlines())
    paths = [line for line in lines if line in FILES]
    assert set(paths) == {path for path in FILES if path.startswith("src/web/")}


def test_less_of_a_file_shows_its_outline(index: RepoIndex) -> None:
    plan = parse_plan("budget: 2000\nverbosity: [{pattern: 'src/web/router.py', level: 4}]\n")
    text = text_after(index, "less of router.py", plan)
    assert "def dispatch(self, request):" in text
    assert "return handler(request)" not in text


def test_more_about_a_subject_says_more_of_the_goal(index: RepoIndex) -> None:
    assert steered(index, "more about eviction of old entries").goal_addition == "eviction of old entries"


def test_more_about_a_file_boosts_it_over_every_other(index: RepoIndex) -> None:
    plan = pack(index, score_goal(index, GOAL), 2_000)
    after = apply_update(plan, steered(index, "focus on src/web/cache.py", plan).updates).plan
    assert draw_map(index, after).blocks[0].path == "src/web/cache.py"


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


def test_a_slip_of_the_fingers_is_forgiven_and_told(index: RepoIndex) -> None:
    assert steered(index, "drop `Router.dispach`").lines[0] == (
        "`Router.dispach` was read as `Router.dispatch (src/web/router.py)`."
    )


def test_an_unknown_name_changes_nothing_and_names_the_nearest(index: RepoIndex) -> None:
    steering = steered(index, "drop `Handler.dispotching`")
    assert not steering.changes
    assert steering.lines[0] == (
        "Not done: “drop `Handler.dispotching`”. Nothing in the repository is called `Handler.dispotching`."
    )
    assert "Nearest: `cache.py`" in steered(index, "drop catches.py").lines[0]


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("who calls nosuchfunction?", "nosuchfunction"),
        ("who calls the function nosuchfunction?", "nosuchfunction"),
        ("where is nosuchfunction defined?", "nosuchfunction"),
        ("which tests cover no_such_function?", "no_such_function"),
        ("what does `NoSuch` use?", "NoSuch"),
    ],
)
def test_a_question_about_a_name_that_nothing_bears_is_told_so(
    index: RepoIndex, question: str, name: str
) -> None:
    assert steered(index, question).lines == (
        f"Not answered: “{question[:-1]}”. Nothing in the repository is called `{name}`.",
    )


@pytest.mark.parametrize("question", ["who calls it?", "who calls this function?", "where is everything?"])
def test_words_that_are_no_name_are_told_as_not_understood(index: RepoIndex, question: str) -> None:
    assert steered(index, question).lines[0].startswith("Not understood, so nothing was changed by it: ")


def test_words_that_are_no_wish_change_nothing_and_say_so(index: RepoIndex) -> None:
    steering = steered(index, "it happens on Windows as well")
    assert not steering.changes
    assert steering.lines[0].startswith(
        "Not understood, so nothing was changed by it: “it happens on Windows”."
    )


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
    assert [clause.written() for clause in clauses('drop "a. b" and show `c; d`')] == [
        'drop "a. b"',
        "show `c; d`",
    ]


def repacked(index: RepoIndex, *feedback: str) -> str:
    """Return the map after feedback, as a turn makes it: each changes the user's part, then packing runs."""
    base = FlightPlan(budget=2_000)
    for words in feedback:
        base = apply_update(base, steered(index, words, base).updates).plan
    return draw_map(index, pack(index, score_goal(index, GOAL), base.budget, base=base)).text


@pytest.mark.parametrize(
    ("feedback", "shown", "hidden"),
    [
        ("without docs", "router.py", "guide.md"),
        ("I don't care about the tests", "router.py", "test_router.py"),
        ("stop showing cache.py", "router.py", "cache.py"),
        ("don't show anything under docs/", "router.py", "guide.md"),
        ("show only signatures of router.py", "def dispatch(self, request):", "return handler(request)"),
        ("just the API of router.py, please", "def find(self, path):", "return self.routes[path]"),
        ("full source of cache.py please", "return self.items[key]", ""),
        ("show me Cache.get in full", "return self.items[key]", ""),
        ("also include the callers of dispatch", "assert Router().dispatch(None)", ""),
        ("show the tests for slug", "assert slug('A') == 'a'", ""),
        ("instead of router.py show cache.py", "return self.items[key]", "src/web/router.py"),
        ("keep only src/web", "router.py", "src/data/utils.py"),
        ("forget data/utils.py but keep cache.py", "cache.py", "src/data/utils.py"),
        ("collapse router.py", "def find(self, path):", "return self.routes[path]"),
    ],
)
def test_a_wish_holds_in_the_next_packet(index: RepoIndex, feedback: str, shown: str, hidden: str) -> None:
    text = repacked(index, feedback)
    assert shown in text
    assert not hidden or hidden not in text


@pytest.mark.parametrize(
    ("feedback", "answer"),
    [
        (
            "who calls dispatch?",
            "Callers of `Router.dispatch (src/web/router.py)`: `test_dispatch` in tests/test_router.py:5.",
        ),
        ("where is slug used?", "Callers of `slug (src/web/utils.py)`: `test_slug` in "),
        ("what does Router.dispatch use?", "Definitions used by `Router.dispatch (src/web/router.py)`: "),
        ("what is Router.find?", "`Router.find` in src/web/router.py:8."),
        ("where is slug defined?", "`slug` in src/web/utils.py:1."),
        ("why is src/web/router.py ranked first?", "`src/web/router.py` ranks 1 of "),
        ("who calls Router?", "Callers of `Router (src/web/router.py)`: `test_dispatch` in "),
        ("callers of chunked?", "The index knows no callers of `chunked (src/data/utils.py)`."),
    ],
)
def test_a_question_is_answered_and_changes_nothing(index: RepoIndex, feedback: str, answer: str) -> None:
    steering = steered(index, feedback)
    assert steering.answer.startswith(answer)
    assert not steering.updates
    assert not steering.goal_addition


@pytest.mark.parametrize(
    ("feedback", "budget"),
    [
        ("smaller", 1_333),
        ("make it a bit shorter, please", 1_333),
        ("that is too long", 1_333),
        ("half the size", 1_000),
        ("bigger", 3_000),
        ("more detail", 3_000),
        ("twice as much", 4_000),
    ],
)
def test_bare_words_of_size_change_the_budget(index: RepoIndex, feedback: str, budget: int) -> None:
    assert steered(index, feedback).updates == {"budget": budget}


@pytest.mark.parametrize("words", ["more about src/auth/tokens.py", "less of `tokens`", "more on max_tokens"])
def test_a_name_that_holds_a_word_for_the_budget_is_a_name(words: str) -> None:
    found = [reading.operation for clause in clauses(words) for reading in readings(clause)]
    assert Operation.BUDGET not in found


def test_what_was_dropped_can_be_brought_back(index: RepoIndex) -> None:
    assert "test_router.py" not in repacked(index, "drop the tests")
    assert "test_router.py" in repacked(index, "drop the tests", "bring the tests back")
    assert steered(index, "bring docs back").lines == ("`docs/**` was not left out by your words.",)


def test_wishes_of_several_turns_add_up(index: RepoIndex) -> None:
    text = repacked(
        index, "drop the tests", "show only signatures of router.py", "deepen Cache.get", "3k tokens"
    )
    assert "test_" not in text
    assert "return handler(request)" not in text
    assert "return self.items[key]" in text


def test_what_was_left_out_is_told(index: RepoIndex) -> None:
    plan = apply_update(FlightPlan(), {"verbosity": [{"pattern": "src/web/router.py", "level": 0}]}).plan
    answer = steered(index, "what did you leave out?", plan).answer
    assert answer.startswith("Not shown, the most relevant first: `src/web/router.py` (")


@pytest.mark.parametrize("feedback", ["thanks", "ok"])
def test_small_talk_changes_nothing(index: RepoIndex, feedback: str) -> None:
    steering = steered(index, feedback)
    assert not steering.changes
    assert steering.lines == ("Nothing to change: say what to show, to leave out or to explain.",)


@pytest.mark.parametrize(("feedback", "steps"), [("undo", 1), ("go back 3 steps", 3), ("start over", 1_000)])
def test_changes_are_taken_back(index: RepoIndex, feedback: str, steps: int) -> None:
    assert steered(index, feedback).undo == steps


def test_an_unknown_path_is_told_and_not_searched_for(index: RepoIndex) -> None:
    steering = steered(index, "focus on src/auth")
    assert not steering.changes
    assert "Nothing in the repository is called `src/auth`" in steering.lines[0]


CALLERS = {
    "cup.c": "int strip(char *s) { return 0; }\nint wash(char *s) { return strip(s); }\n",
    "cup.py": (
        "class Cup:\n    def strip(self):\n        pass\n\n    def refill(self):\n        pass\n\n\n"
        "def clean(text, cup: Cup, other):\n    text.strip()\n    cup.strip()\n    other.refill()\n"
    ),
    "lb.go": "package lb\n\nfunc (lb *LB) tryAgain() bool { return true }\n",
    "lb.rs": "impl Pool {\n    pub fn connect() {}\n}\n",
    "lb.cpp": "void Pool::drain() {}\n",
}


@pytest.fixture(scope="module")
def languages(tmp_path_factory: pytest.TempPathFactory) -> RepoIndex:
    root = tmp_path_factory.mktemp("languages")
    for path, text in CALLERS.items():
        (root / path).write_text(text)
    return build_index(root, store=Store(None), workers=1)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who calls Cup.strip?", "Callers of `Cup.strip (cup.py)`: `clean` in cup.py:11."),
        (
            "who calls Cup.refill?",
            "Likely callers of `Cup.refill (cup.py)`, by name alone: `clean` in cup.py:12.",
        ),
    ],
)
def test_callers_are_stated_by_the_line_of_the_call_and_guessed_ones_as_likely(
    languages: RepoIndex, question: str, answer: str
) -> None:
    assert steered(languages, question).answer == answer


def test_no_caller_is_of_another_language(languages: RepoIndex) -> None:
    answer = steered(languages, "who calls strip?").answer
    assert "`wash` in cup.c" in answer
    assert "cup.py:10" not in answer


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("LB.tryAgain", "`LB.tryAgain` in lb.go:3."),
        ("(*LB).tryAgain", "`LB.tryAgain` in lb.go:3."),
        ("tryAgain", "`LB.tryAgain` in lb.go:3."),
        ("Pool::connect", "`Pool.connect` in lb.rs:2."),
        ("Pool::drain()", "`Pool.drain` in lb.cpp:1."),
    ],
)
def test_members_are_named_as_their_users_write_them(languages: RepoIndex, written: str, answer: str) -> None:
    assert steered(languages, f"where is `{written}` defined?").answer == answer
