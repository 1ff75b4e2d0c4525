"""No source, however its names are entangled, makes a question about relations slow."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from repo_map.check.impact import find_impact
from repo_map.check.model import ChangedPart, Changes
from repo_map.check.report import describe_changes
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.limits import DEFAULT, Limits
from repo_map.plan.model import FlightPlan
from repo_map.ranking.score import score_goal
from repo_map.relations.model import Confidence, Place, Relation
from repo_map.relations.resolve import relations_of
from repo_map.steering.apply import steer
from tests.safety.involved import INVOLVED
from tests.support.maps import pack_places
from tests.support.trees import write

_SECONDS = 2.0
"""CPU time for each question, many times what the slowest takes."""
_LEFT_OPEN = "too complex to resolve, and left open."
_ALIASES = "pair of kotlin"
"""Two aliases of each other, and three calls of what they are."""


def _answers(index: Index, place: Place) -> dict[str, tuple[Relation, ...]]:
    """Ask everything about a definition; fail where one question takes too long."""
    relations = relations_of(index)
    likely = Confidence.LIKELY
    questions: dict[str, Callable[[], tuple[Relation, ...]]] = {
        "callers": lambda: relations.callers_of(place, likely),
        "uses": lambda: relations.uses_of(place, likely),
        "used": lambda: relations.used_in(place, likely),
        "overrides": lambda: relations.overrides_of(place),
        "overridden by": lambda: relations.overridden_by(place),
        "implementations": lambda: relations.implementations_of(place),
        "tests": lambda: relations.tests_reaching(place),
        "importers": lambda: relations.importers_of(place[0]),
    }
    found = {}
    for name, ask in questions.items():
        before = time.thread_time()
        found[name] = ask()
        assert time.thread_time() - before < _SECONDS, name
    return found


def _places(index: Index) -> list[Place]:
    """Return two definitions of `foo`, and two of those that everything rests on."""
    named = [
        (file, row, each.name.rpartition(".")[2])
        for file in range(len(index))
        for row, each in enumerate(index.definitions(file))
    ]
    tops = {"a0", "Aa0", "A", "C0"}
    return [
        *[(file, row) for file, row, name in named if name == "foo"][:2],
        *[(file, row) for file, row, name in named if name in tops][:2],
    ]


def _index_of(root: Path, name: str, limits: Limits = DEFAULT) -> Index:
    return build_index(write(root, INVOLVED[name]), store=Store(None), workers=1, limits=limits)


@pytest.mark.parametrize("name", INVOLVED)
def test_a_question_about_involved_names_ends_soon(name: str, tmp_path: Path) -> None:
    index = _index_of(tmp_path, name)
    places = _places(index)
    assert places
    for place in places:
        _answers(index, place)


def test_what_is_left_open_is_the_same_each_time(tmp_path: Path) -> None:
    told = []
    for _ in range(2):
        index = _index_of(tmp_path, _ALIASES)
        told.append([(_answers(index, place), relations_of(index).left_open) for place in _places(index)])
    assert told[0] == told[1]
    assert told[0]


_LONG_NUMBER = "9" * 5_000
MANIFESTS = {
    "package.json of quotes": ("package.json", '"\\\\' * 49_000),
    "package.json of open quotes": ("package.json", '"\\\\"\\\\' * 24_000 + '"'),
    "package.json of comments": ("package.json", "/*" * 49_000),
    "package.json nested deep": ("package.json", '{"name":' * 12_000),
    "package.json with a long number": ("package.json", f'{{"name": {_LONG_NUMBER}}}'),
    "tsconfig.json of commas": ("tsconfig.json", ",\n" * 49_000),
    "pnpm-workspace.yaml of blank lines": ("pnpm-workspace.yaml", "\n" * 99_000),
    "pnpm-workspace.yaml of blanks": ("pnpm-workspace.yaml", "  - \n" * 19_000),
    "Cargo.toml nested deep": ("Cargo.toml", "a = " + "[" * 3_000 + "]" * 3_000),
    "Cargo.toml with a long number": ("Cargo.toml", f"[package]\nname = 'x'\na = {_LONG_NUMBER}\n"),
    "Cargo.toml of long tables": ("Cargo.toml", "".join(f"[a{'.b' * each}]\n" for each in range(1_200))),
    "composer.json nested deep": ("composer.json", "[" * 90_000),
    "go.mod of a long name": ("go.mod", "module " + "a/" * 49_000),
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_no_manifest_makes_a_question_slow_or_fail(name: str, tmp_path: Path) -> None:
    path, text = MANIFESTS[name]
    files = {
        "src/lib.rs": "pub fn foo() { foo(); }\n",
        "a.ts": "import { b } from 'b';\nexport function foo() { foo(); b(); }\n",
        "a.php": "<?php\nfunction foo() { foo(); }\n",
        "a.go": 'package a\nimport "a/b"\nfunc foo() { foo(); b.b() }\n',
    }
    index = build_index(write(tmp_path, files | {path: text}), store=Store(None), workers=1)
    places = [(file, 0) for file in range(len(index)) if index.definitions(file)]
    assert len(places) >= len(files)
    for place in places:
        _answers(index, place)


def _answer(index: Index, feedback: str) -> str:
    relevance = score_goal(index, "foo")
    return steer(index, pack_places(index, relevance, 2_000), feedback, own=FlightPlan()).answer


@pytest.mark.parametrize("feedback", ["who calls foo?", "what does foo use?", "what breaks if I change foo?"])
def test_an_answer_says_how_many_uses_were_too_involved_to_follow(feedback: str, tmp_path: Path) -> None:
    assert _LEFT_OPEN in _answer(_index_of(tmp_path, _ALIASES), feedback)


def test_an_answer_that_followed_everything_says_nothing_of_it(tmp_path: Path) -> None:
    index = _index_of(tmp_path, "ladder of kotlin functions")
    answer = _answer(index, "who calls foo?")
    assert answer.startswith("A.kt:48 use [function]")
    assert _LEFT_OPEN not in answer


def test_a_change_is_not_said_to_be_safe_where_its_users_were_not_followed(tmp_path: Path) -> None:
    index = _index_of(tmp_path, _ALIASES)
    file, row = _places(index)[0]
    first = index.definitions(file)[row].start
    changes = Changes((ChangedPart(index.paths[file], index.qualified_name(file, row), first, first),))
    sentences = describe_changes(index, find_impact(index, changes), changes)
    assert not [each for each in sentences if each.startswith("No code")]


def test_the_last_limit_is_the_time_and_what_it_cut_is_told(tmp_path: Path) -> None:
    name = "ladder of python functions"
    assert _LEFT_OPEN not in _answer(_index_of(tmp_path / "one", name), "who calls foo?")
    index = _index_of(tmp_path / "two", name, Limits(relation_seconds=1e-9))
    assert "1 use of a name is too complex to resolve, and left open." in _answer(index, "who calls foo?")
