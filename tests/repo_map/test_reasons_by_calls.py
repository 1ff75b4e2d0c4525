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


def test_what_a_likely_function_calls_is_told_with_the_line_of_the_call(relevance: Relevance) -> None:
    assert "called by `Dunning.remind`, dunning.py:8" in reasons_of(relevance, "elapsed")


def test_what_calls_a_likely_function_is_told_with_its_own_line(relevance: Relevance) -> None:
    assert "calls `Dunning.remind`, line 6" in reasons_of(relevance, "tick")


def test_what_overrides_a_likely_method_is_told_with_where_that_is(relevance: Relevance) -> None:
    assert "overrides `Dunning.remind`, dunning.py:6" in reasons_of(relevance, "Strict.remind")


def test_a_class_that_a_likely_function_makes_is_told_as_constructed(relevance: Relevance) -> None:
    assert "constructed by `Dunning.remind`, dunning.py:9" in reasons_of(relevance, "Outbox")


def test_a_decorator_of_a_likely_function_is_told_as_one(tmp_path: Path) -> None:
    files = {
        "shop.py": (
            "def twice(function):\n    return function\n\n\n"
            "@twice\ndef remind_overdue(day):\n    return day\n"
        )
    }
    reasons = reasons_of(scored(tmp_path, files, "`remind_overdue` sends twice"), "twice")
    assert "decorates `remind_overdue`, line 5" in reasons


def test_a_long_name_is_told_by_its_last_two_parts_and_a_constructor_by_its_class(tmp_path: Path) -> None:
    files = {
        "Shop.java": (
            "class Shop {\n  static class Desk {\n    Desk() { later(); }\n"
            "    void remindOverdue() { later(); }\n  }\n  static void later() { }\n}\n"
        )
    }
    goal = "`Shop.Desk.remindOverdue` sends twice"
    assert "called by `Desk.remindOverdue`, line 4" in reasons_of(scored(tmp_path, files, goal), "Shop.later")


def test_a_method_of_one_class_is_told_as_called_and_its_namesake_is_not(relevance: Relevance) -> None:
    assert "called by `Dunning.remind`, dunning.py:9" in reasons_of(relevance, "Outbox.push")
    assert not any("call" in reason for reason in reasons_of(relevance, "push"))


def test_a_call_that_nothing_written_resolves_is_told_of_nobody_where_several_bear_the_name(
    relevance: Relevance,
) -> None:
    assert not any("remind" in reason and "call" in reason for reason in reasons_of(relevance, "spin"))


def test_a_call_of_the_only_method_of_its_name_is_told_as_likely(tmp_path: Path) -> None:
    files = {
        "dunning.py": "class Dunning:\n    def remind_overdue(self, invoice):\n        return invoice\n",
        "loop.py": "def tick(all):\n    for each in all:\n        each.remind_overdue(1)\n",
    }
    reasons = reasons_of(scored(tmp_path, files, "`Dunning.remind_overdue` sends twice"), "tick")
    assert "likely calls `Dunning.remind_overdue`, line 3" in reasons


def test_the_best_function_is_not_explained_by_one_behind_it(relevance: Relevance) -> None:
    best = relevance.units[0]
    assert best.name == "Dunning.remind"
    assert not any(reason.startswith(("call", "likely", "overrid")) for reason in best.reasons)


def test_a_call_in_the_same_file_is_told_by_its_line_alone(tmp_path: Path) -> None:
    files = {
        "shop.py": "def remind_overdue(day):\n    return later(day)\n\n\ndef later(day):\n    return day\n"
    }
    assert "called by `remind_overdue`, line 2" in reasons_of(
        scored(tmp_path, files, "`remind_overdue` sends twice"), "later"
    )


def test_a_file_whose_name_others_bear_is_told_with_its_folder(tmp_path: Path) -> None:
    files = {
        "shop/api/index.js": (
            'import { later } from "../days/index.js";\n'
            "export function remindOverdue(day) {\n  return later(day);\n}\n"
        ),
        "shop/days/index.js": "export function later(day) {\n  return day;\n}\n",
    }
    assert "called by `remindOverdue`, api/index.js:3" in reasons_of(
        scored(tmp_path, files, "`remindOverdue` sends twice, some days later"), "later"
    )


def test_a_language_whose_names_are_not_resolved_speaks_of_names(tmp_path: Path) -> None:
    files = {
        "Dunning.cs": (
            "class Dunning {\n  int RemindOverdue(int day) { return Later(day); }\n"
            "  int Later(int day) { return day; }\n}\n"
        ),
    }
    reasons = reasons_of(scored(tmp_path, files, "`Dunning.RemindOverdue` sends twice"), "Dunning.Later")
    assert "likely code uses its name" in reasons


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
