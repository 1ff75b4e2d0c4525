"""Relevance, goal in and scored files and units out, on small real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.ranking.score import Relevance, score_goal
from tests.support.trees import write

ROUTER = '''"""Routing."""

class Router:
    """Sends requests to handlers."""

    def dispatch(self, request):
        """Find the handler of a request."""
        return self.handlers[request.path]

    def add(self, path, handler):
        self.handlers[path] = handler
'''
CACHE = '''"""Caching."""

def cache_key(request):
    """Return what a response is stored under."""
    return request.path

def evict(cache):
    raise KeyError("no such entry in the cache")
'''
LOGIN = """
def authenticate(user, password):
    return check(user, password)

def check(user, password):
    return user.secret == password
"""
FILES = {
    "src/app/router.py": ROUTER,
    "src/app/cache.py": CACHE,
    "src/app/accounts.py": LOGIN,
    "tests/test_router.py": "from app import Router\n\ndef test_dispatch():\n    Router().dispatch()\n",
    "docs/guide.md": "# Guide\n\nThe router and its cache key, dispatch and requests.\n",
    "dist/bundle.js": "function dispatch(router, request) { return cache_key(router, request) }\n" * 3,
}


def index_of(root: Path) -> Index:
    return build_index(root, store=Store(None), workers=1)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    return index_of(write(tmp_path_factory.mktemp("shop"), FILES))


def first(relevance: Relevance) -> str:
    return relevance.files[0].path


@pytest.mark.parametrize(
    ("goal", "path", "name"),
    [
        ("Requests are dispatched to the wrong handler", "src/app/router.py", "Router.dispatch"),
        ("The cache key ignores the method", "src/app/cache.py", "cache_key"),
        ('It fails with "no such entry in the cache"', "src/app/cache.py", "evict"),
        ("Deprecate Router.add", "src/app/router.py", "Router.add"),
    ],
)
def test_a_goal_finds_the_file_and_the_function(index: Index, goal: str, path: str, name: str) -> None:
    relevance = score_goal(index, goal)
    assert (first(relevance), relevance.units[0].name) == (path, name)


def test_a_file_that_the_goal_names_comes_first(index: Index) -> None:
    relevance = score_goal(index, "The router cache key dispatch is odd, start in src/app/accounts.py")
    assert first(relevance) == "src/app/accounts.py"
    assert score_goal(index, "Deprecate Router.add").units[0].name == "Router.add"


def test_a_goal_about_the_tests_does_not_demote_them(index: Index) -> None:
    assert first(score_goal(index, "Add a test of dispatch to test_router.py")) == "tests/test_router.py"


def test_the_same_goal_gives_the_same_answer_twice(tmp_path: Path, index: Index) -> None:
    again = index_of(write(tmp_path, FILES))
    goal = "Cache the dispatch of requests"
    one, two = score_goal(index, goal), score_goal(again, goal)
    assert (one.files, one.units, one.sufficiency) == (two.files, two.units, two.sufficiency)


@pytest.mark.parametrize(
    "goal", ["", " \n\t", "???", "`" * 99, "😀 修复", "a" * 50_000, "at x.y(Z.java:1)\n" * 300]
)
def test_a_goal_without_a_word_of_the_code_chooses_nothing_and_says_what_to_write(
    index: Index, goal: str
) -> None:
    relevance = score_goal(index, goal)
    assert relevance.files == relevance.units == ()
    assert not relevance.sufficiency.confidence
    (note,) = relevance.sufficiency.notes
    assert "`names`" in note


@pytest.mark.parametrize(
    "around", ["{}", "???{}???", "😀 {} 修复", "{}\n" + "a" * 50_000, "```{}```" + "`" * 99]
)
def test_one_word_of_the_code_is_found_amid_anything(index: Index, around: str) -> None:
    relevance = score_goal(index, around.format(" dispatch "))
    assert "dispatch" in index.sources.content(index.paths.index(first(relevance))).decode()
    assert relevance.sufficiency.confidence


def test_identifiers_that_the_repository_lacks_are_reported(index: Index) -> None:
    sufficiency = score_goal(index, "`dispatch` should call `fooBarBaz`").sufficiency
    assert any("`fooBarBaz`" in note for note in sufficiency.notes)


def test_copies_and_manuals_that_repeat_the_goal_do_not_dwarf_the_code(tmp_path: Path) -> None:
    goal = "cache key of a request is wrong\n\nThe cache key ignores the query of the request."
    bare = score_goal(index_of(write(tmp_path / "bare", {"src/cache.py": CACHE})), goal)
    manual = "# The cache key\n\nThe cache key of a request ignores the query of the request.\n" * 20
    copy = "function cacheKey(request) { return query(request) } // cache key of the request\n" * 20
    crowd = {"docs/cache.md": manual, "dist/cache.js": copy}
    crowded = score_goal(index_of(write(tmp_path / "crowded", {"src/cache.py": CACHE, **crowd})), goal)
    assert crowded.files[0].path == bare.files[0].path == "src/cache.py"
    assert crowded.units[0].name == bare.units[0].name == "cache_key"


def test_of_two_functions_with_the_words_the_one_that_is_called_so_comes_first(tmp_path: Path) -> None:
    body = "    entry = store.evict(oldest)\n    return entry\n"
    source = (
        f"def evict_oldest(store, oldest):\n{body}\n\ndef handle_tick_of_scheduler(store, oldest):\n{body}"
    )
    scored = score_goal(
        index_of(write(tmp_path, {"src/store.py": source})), "evict oldest returns wrong entry"
    )
    assert scored.units[0].name == "evict_oldest"
