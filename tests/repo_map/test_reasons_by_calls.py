"""Reasons that say how a function is joined to those that the goal asks for, on small real repositories."""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.ranking.score import Relevance, score_goal
from tests.support.trees import write

GOAL = "the dunning reminder for an overdue invoice of the shop comes twice"
DUNNING = '''from shop.mail import Outbox
from shop.days import elapsed


class Dunning:
    def remind(self, invoice):
        """Send the dunning reminder of an overdue invoice."""
        days = elapsed(invoice.due)
        return Outbox().push(days)
'''
FILES = {
    "shop/dunning.py": DUNNING,
    "shop/days.py": "def elapsed(day):\n    return day\n\n\ndef unrelated(day):\n    return day\n",
    "shop/mail.py": "class Outbox:\n    def push(self, what):\n        return what\n",
    "shop/loop.py": (
        "from shop.dunning import Dunning\n\n\ndef tick(all):\n    for each in all:\n"
        "        Dunning().remind(each)\n"
    ),
    "shop/strict.py": (
        "from shop.dunning import Dunning\n\n\nclass Strict(Dunning):\n"
        "    def remind(self, it):\n        return it\n"
    ),
    "shop/other.py": "def push(what):\n    return what\n\n\ndef spin(thing):\n    return thing.remind()\n",
}


def scored(root: Path, files: dict[str, str], goal: str = GOAL) -> Relevance:
    return score_goal(build_index(write(root, files), store=Store(None), workers=1), goal)


def reasons_of(relevance: Relevance, name: str) -> tuple[str, ...]:
    return next(unit.reasons for unit in relevance.units if unit.name == name)


@pytest.fixture(scope="module")
def relevance(tmp_path_factory: pytest.TempPathFactory) -> Relevance:
    return scored(tmp_path_factory.mktemp("shop"), FILES)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("elapsed", "called by `Dunning.remind`, dunning.py:8"),
        ("tick", "calls `Dunning.remind`, line 6"),
        ("Strict.remind", "overrides `Dunning.remind`, dunning.py:6"),
        ("Outbox", "constructed by `Dunning.remind`, dunning.py:9"),
        ("Outbox.push", "called by `Dunning.remind`, dunning.py:9"),
    ],
)
def test_a_unit_that_is_joined_to_a_likely_function_says_how_and_where(
    relevance: Relevance, name: str, reason: str
) -> None:
    assert reason in reasons_of(relevance, name)


@pytest.mark.parametrize("name", ["push", "spin", "Dunning.remind"])
def test_a_namesake_an_unresolved_call_and_the_best_function_are_joined_to_nothing(
    relevance: Relevance, name: str
) -> None:
    assert relevance.units[0].name == "Dunning.remind"
    assert not any(word in reason for reason in reasons_of(relevance, name) for word in ("call", "overrid"))


JOINED: dict[str, tuple[dict[str, str], str, str, str]] = {
    "a decorator": (
        {
            "shop.py": "def twice(function):\n    return function\n\n\n"
            "@twice\ndef remind_overdue(day):\n    return day\n"
        },
        "remind_overdue",
        "twice",
        "decorates `remind_overdue`, line 5",
    ),
    "a long name by its last two parts": (
        {
            "Shop.java": "class Shop {\n  static class Desk {\n    Desk() { later(); }\n"
            "    void remindOverdue() { later(); }\n  }\n  static void later() { }\n}\n"
        },
        "Shop.Desk.remindOverdue",
        "Shop.later",
        "called by `Desk.remindOverdue`, line 4",
    ),
    "the only method of its name is likely": (
        {
            "dunning.py": "class Dunning:\n    def remind_overdue(self, invoice):\n        return invoice\n",
            "loop.py": "def tick(all):\n    for each in all:\n        each.remind_overdue(1)\n",
        },
        "Dunning.remind_overdue",
        "tick",
        "likely calls `Dunning.remind_overdue`, line 3",
    ),
    "a call in the same file by its line alone": (
        {"shop.py": "def remind_overdue(day):\n    return later(day)\n\n\ndef later(day):\n    return day\n"},
        "remind_overdue",
        "later",
        "called by `remind_overdue`, line 2",
    ),
    "a file whose name others bear with its folder": (
        {
            "shop/api/index.js": 'import { later } from "../days/index.js";\n'
            "export function remindOverdue(day) {\n  return later(day);\n}\n",
            "shop/days/index.js": "export function later(day) {\n  return day;\n}\n",
        },
        "remindOverdue",
        "later",
        "called by `remindOverdue`, api/index.js:3",
    ),
    "a language whose names are not resolved": (
        {
            "Dunning.cs": "class Dunning {\n  int RemindOverdue(int day) { return Later(day); }\n"
            "  int Later(int day) { return day; }\n}\n"
        },
        "Dunning.RemindOverdue",
        "Dunning.Later",
        "likely code uses its name",
    ),
}


@pytest.mark.parametrize(("files", "asked", "name", "reason"), JOINED.values(), ids=JOINED)
def test_a_reason_names(tmp_path: Path, files: dict[str, str], asked: str, name: str, reason: str) -> None:
    assert reason in reasons_of(scored(tmp_path, files, f"`{asked}` sends twice, some days later"), name)


def test_a_call_of_a_guessed_language_is_likely_unless_it_can_mean_nothing_else(tmp_path: Path) -> None:
    files = {
        "dunning.cpp": (
            "int later(int day) { return day; }\n"
            "int soon(int day) { return day; }\n"
            "int soon(long day) { return 2; }\n"
            "int remind_overdue(int day) {\n  return later(day)\n    + soon(day);\n}\n"
        ),
    }
    relevance = scored(tmp_path, files, "`remind_overdue` sends twice")
    assert "called by `remind_overdue`, line 5" in reasons_of(relevance, "later")
    assert not any(reason.startswith("called by") for reason in reasons_of(relevance, "soon"))
