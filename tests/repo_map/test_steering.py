"""Steering: commands change a plan or are answered; other text changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.lookup.requests import References
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from repo_map.plan.update import apply_update
from repo_map.ranking.score import score_goal
from repo_map.steering.apply import Steering, steer
from repo_map.steering.commands import NO_WISHES, UNDO_ALL, TypedWishes, has_numbers, read_numbers
from tests.support.maps import pack_places
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


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("web"), FILES), store=Store(None), workers=1)


def steered(
    index: Index, text: str = "", plan: FlightPlan | None = None, *, typed: TypedWishes = NO_WISHES
) -> Steering:
    packed = pack_places(index, score_goal(index, GOAL), 2_000)
    return steer(index, plan or packed, text, own=plan or FlightPlan(), typed=typed)


def text_after(index: Index, *texts: str) -> str:
    """Return the map after commands, as steps make it: each changes the user's part, then packing runs."""
    own = FlightPlan(budget=2_000)
    for text in texts:
        own = apply_update(own, steered(index, text, own).updates).plan
    return draw_map(index, pack_places(index, score_goal(index, GOAL), own.budget, own)).text


@pytest.mark.parametrize(
    ("text", "shown", "hidden"),
    [
        ("drop tests", "router.py", "test_"),
        ("drop tests and docs", "router.py", "guide.md"),
        ("leave out src/web/cache.py", "router.py", "cache.py"),
        ("drop utils.py", "router.py", "/utils.py"),
        ("drop docs/", "router.py", "guide.md"),
        ("show Cache.get", "return self.items[key]", ""),
        ("cache.py", "return self.items[key]", ""),
        ("Cache.get, chunked and setup.py", "return [items]", ""),
        ("add src/web/cache.py:2-3", "return self.items[key]", ""),
        ("show 'self.items[key]'", "return self.items[key]", ""),
        ("drop tests; show Cache.get", "return self.items[key]", "test_"),
    ],
)
def test_a_command_holds_when_the_goal_is_packed_again(
    index: Index, text: str, shown: str, hidden: str
) -> None:
    drawn = text_after(index, text)
    assert shown in drawn
    assert not hidden or hidden not in drawn


def test_a_field_and_its_phrase_do_the_same(index: Index) -> None:
    typed = TypedWishes(
        show=("Cache.get",), drop=("tests",), ask=(("callers", References("dispatch", "callers")),)
    )
    by_text = steered(index, "show Cache.get; drop tests; callers of dispatch")
    assert by_text == steered(index, typed=typed)
    assert by_text.updates
    assert by_text.answer


def test_what_was_dropped_can_be_brought_back(index: Index) -> None:
    assert "test_router.py" not in text_after(index, "drop tests")
    assert "test_router.py" in text_after(index, "drop tests", "bring back tests")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("who calls Router.find?", "src/web/router.py:4-6 Router.dispatch [method]"),
        ("what does Router.dispatch use?", "Router.find [method]"),
        ("where is slug used?", "Left out: 1 in tests"),
        ("where is slug defined?", "src/web/utils.py:1-2 slug [function]"),
        ("definition of dispatch", "src/web/router.py:4-6 Router.dispatch [method]"),
        ("tests for slug", "test_slug [function]"),
        ("search for routes", "    9         return self.routes[path]"),
        ("read slug", "    2     return text.lower()"),
        ("outline of src/web/cache.py", "1-3 class Cache:"),
        ("history of setup.py", "no git history"),
        ("importers of src/web/router.py", "tests/test_router.py:1"),
        ("imports of tests/test_router.py", "src/web/router.py"),
        ("what breaks if I change slug?", "slug"),
    ],
)
def test_a_question_is_answered_and_changes_nothing(index: Index, question: str, answer: str) -> None:
    steering = steered(index, question)
    assert answer in steering.answer
    assert not steering.updates
    assert not steering.not_understood


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("budget 4,500", "updates", {"budget": 4_500}),
        ("budget 16k", "updates", {"budget": 16_000}),
        ("undo", "undo", 1),
        ("Undo 3", "undo", 3),
        ("undo; undo", "undo", 2),
        ("undo all", "undo", UNDO_ALL),
        ("finish", "finish", True),
        ("Done.", "finish", True),
    ],
)
def test_budget_undo_and_finish_are_commands(index: Index, text: str, field: str, value: object) -> None:
    assert getattr(steered(index, text), field) == value


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("3", (3,)), ("3, 7", (3, 7)), ("1-3 and 9", (1, 2, 3, 9)), ("#4 #5", (4, 5)), ("x 3", ()), ("2.5", ())],
)
def test_numbers_are_read_from_a_list(text: str, numbers: tuple[int, ...]) -> None:
    assert read_numbers(text) == numbers
    assert has_numbers(f"drop tests; show {text}") == bool(numbers)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        ("drop `Handler.dispotching`", "Handler.dispotching"),
        ("callers of nosuchthing", "nosuchthing"),
        ("show 99", ""),
    ],
)
def test_an_unknown_name_changes_nothing_and_is_reported(index: Index, text: str, unknown: str) -> None:
    steering = steered(index, text)
    assert not steering.updates
    assert len(steering.not_understood) == len(steering.lines) == 1
    assert unknown in steering.not_understood[0].unknown


def test_a_text_that_is_understood_in_part_changes_nothing(index: Index) -> None:
    steering = steered(index, "drop tests; budget 9000; undo; it happens on Windows as well")
    assert not steering.updates
    assert steering.undo == 0
    assert [each.words for each in steering.not_understood] == ["it happens on Windows as well"]


WORDS = ("show", "drop", "utils.py", "of", ";", ",", "and", "3", "`", "**", "tests")


@given(st.text(max_size=200) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_any_text_leaves_a_valid_plan_and_changes_none_where_it_is_not_understood(
    index: Index, text: str
) -> None:
    plan = FlightPlan(budget=2_000)
    steering = steered(index, text, plan)
    apply_update(plan, steering.updates)
    if any(not each.unknown for each in steering.not_understood):
        assert not steering.updates
        assert steering.lines


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
def languages(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("lb"), CALLERS), store=Store(None), workers=1)


def test_no_caller_is_of_another_language(languages: Index) -> None:
    answer = steered(languages, "who calls cup.c:strip?").answer
    assert "cup.c:2 wash" in answer
    assert "cup.py" not in answer


@pytest.mark.parametrize(
    ("written", "answer"),
    [
        ("LB.tryAgain", "lb.go:3 LB.tryAgain"),
        ("(*LB).tryAgain", "lb.go:3 LB.tryAgain"),
        ("tryAgain", "lb.go:3 LB.tryAgain"),
        ("Pool::connect", "lb.rs:2 Pool.connect"),
        ("Pool::drain()", "lb.cpp:1 Pool.drain"),
    ],
)
def test_members_are_named_as_their_users_write_them(languages: Index, written: str, answer: str) -> None:
    assert steered(languages, f"where is {written} defined?").answer.count(answer) == 1


def test_steer_shows_a_path_with_a_blank(tmp_path: Path) -> None:
    files = {"docs/my file.md": "# One\n", "{{slug}}/a.py": "A = 1\n"}
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    shown = steer(index, FlightPlan(), "", typed=TypedWishes(show=("docs/my file.md", "{{slug}}/a.py")))
    assert shown.lines == ("Shown: `docs/my file.md`.", "Shown: `{{slug}}/a.py`.")


TEXTS = {
    "app/views.py": (
        "from app.data import rows\n\n\n"
        "def users_page(users):\n    return render_template('users/page.html', users=rows(users))\n"
    ),
    "app/data.py": "def rows(users):\n    return run('queries/rows.sql', users)\n",
    "app/queries/rows.sql": "select 1;\n",
    "app/templates/users/page.html": "{% extends 'base.html' %}\n",
    "app/templates/base.html": "<html></html>\n",
    "tests/test_views.py": (
        "from app.views import users_page\n\n\n"
        "def test_users_page():\n    assert users_page([]) == open('golden/page.txt').read()\n"
    ),
    "tests/golden/page.txt": "<html></html>\n",
    "app/legacy.rb": "def legacy_page\n  render 'users/page'\nend\n",
}
ASKED = {
    "who uses templates/users/page.html?": ("app/legacy.rb:1-3 legacy_page", "app/views.py:4-5 users_page"),
    "what does users_page use?": ("app/data.py:1-2 rows", "app/templates/users/page.html:1"),
    "what does legacy_page use?": ("app/templates/users/page.html:1",),
    "what does templates/users/page.html use?": ("app/templates/base.html:1",),
    "who uses base.html?": ("app/templates/users/page.html:1",),
    **{
        f"tests for {path}": ("tests/test_views.py",)
        for path in ("templates/users/page.html", "golden/page.txt", "queries/rows.sql")
    },
}


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return build_index(write(tmp_path_factory.mktemp("shop"), TEXTS), store=Store(None), workers=1)


@pytest.mark.parametrize(("question", "answer"), ASKED.items(), ids=ASKED)
def test_a_question_about_text_that_code_names(texts: Index, question: str, answer: tuple[str, ...]) -> None:
    asked = steer(texts, FlightPlan(budget=2_000), question)
    assert all(each in asked.answer for each in answer)
    assert not asked.updates
