"""Learning weights from tasks with known answers, on tasks small enough to check by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.tasks import GoldSymbol, Task
from repo_map.index.build import build_index
from repo_map.index.store import Store
from tests.support.trees import write
from training.foreign_weights import foreign_weights
from training.learn_weights import FORMULA, cross_validate, deal_folds, lacking, learn
from training.learning_report import difference, interval, report
from training.listwise import Aim, fit, make_lists
from training.signal_rows import TaskRows, load_rows, read_rows, save_rows

WORDS = ("router", "cache", "login", "mail", "report", "upload")


def sources() -> dict[str, str]:
    """Return a small repository with a function for each word."""
    return {
        f"src/{name}.py": f"def open_{name}(path):\n    return {name}.open(path)\n\n\ndef end():\n    pass\n"
        for name in WORDS
    }


def task_of(word: str) -> Task:
    """Return a task in which the function called like the goal is gold."""
    gold = GoldSymbol(f"src/{word}.py", f"open_{word}", "function", 1, 2, 1, f"open_{word}")
    return Task(
        id=word,
        repo=f"owner/{word}",
        base_commit="0" * 40,
        language="Python",
        goal=f"The {word} opens the wrong path",
        gold_files=[gold.file],
        gold_symbols=[gold],
    )


def rows_of(folder: Path, word: str) -> TaskRows:
    """Return the signals of a task."""
    index = build_index(write(folder, sources()), store=Store(None), workers=1)
    return read_rows(task_of(word), "small", index, None)


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> list[TaskRows]:
    return [rows_of(tmp_path_factory.mktemp(word), word) for word in WORDS]


def test_a_signal_that_tells_gold_gets_weight_and_noise_gets_none() -> None:
    noise = np.array([0.0, 1.0, 0.0, 1.0])
    message = np.array([1.0, 0.0, 0.0, 0.0])
    lists = make_lists([({"told": message, "noise": noise}, message > 0)], ["told", "noise"])
    weights = fit(lists, np.zeros(2), Aim(places=1, strength=0.01), low=np.zeros(2), high=np.full(2, 9.0))
    assert weights[0] > 1.0
    assert weights[1] == 0.0


def test_more_places_ask_for_less_weight() -> None:
    message = np.array([1.0, *np.zeros(20)])
    lists = make_lists([({"told": message}, message > 0)], ["told"])
    low, high = np.zeros(1), np.full(1, 9.0)
    first = fit(lists, np.zeros(1), Aim(places=1, strength=0.01), low=low, high=high)
    among_many = fit(lists, np.zeros(1), Aim(places=30, strength=0.01), low=low, high=high)
    assert among_many[0] < first[0]


def test_tests_and_generated_files_never_gain_by_being_that(tasks: list[TaskRows]) -> None:
    learned = learn(tasks, FORMULA)
    assert learned.file["p.aux"] <= 0
    assert learned.file["p.gen"] <= 0
    assert all(weight >= 0 for name, weight in learned.file.items() if not name.startswith("p."))


def test_every_task_is_measured_with_weights_of_other_repositories(tasks: list[TaskRows]) -> None:
    folds = deal_folds(tasks)
    assert sorted(set(folds.values())) == [0, 1, 2, 3, 4]
    results = cross_validate(tasks, FORMULA)
    assert [result["Acc@1"] for result in results] == [1.0] * len(tasks)
    assert [result["body"] for result in results] == [1.0] * len(tasks)
    assert [result["reach"] for result in results] == [1.0] * len(tasks)
    assert "small" in "\n".join(report("cross-validated", tasks, results))


def test_rows_are_read_as_they_were_written(tmp_path: Path, tasks: list[TaskRows]) -> None:
    save_rows(tasks[0], tmp_path / "a.npz")
    read = load_rows(tmp_path / "a.npz")
    assert (read.id, read.gold_count) == (tasks[0].id, tasks[0].gold_count)
    assert read.file_gold().tolist() == tasks[0].file_gold().tolist()
    assert sorted(read.unit) == sorted(tasks[0].unit)


def test_differences_are_paired_and_their_intervals_repeat() -> None:
    some = [{"body": value} for value in (1.0, 0.0, 1.0, 0.5)]
    others = [{"body": value - 0.25} for value in (1.0, 0.0, 1.0, 0.5)]
    assert difference(some, others, "body") == (0.25, 0.25, 0.25)
    assert interval(some, "body") == interval(some, "body")


def test_a_repository_is_judged_by_weights_of_others(tasks: list[TaskRows]) -> None:
    weights = foreign_weights(tasks)
    assert sorted(weights) == sorted(task.repo for task in tasks)
    folds = deal_folds(tasks)
    others = [task for task in tasks if folds[task.repo] != folds["owner/router"]]
    assert weights["owner/router"].unit == learn(others, FORMULA).unit


def test_rows_that_lack_a_signal_are_not_learned_from(tasks: list[TaskRows]) -> None:
    assert lacking(tasks) == ""
    without_words = replace(tasks[0], unit={k: v for k, v in tasks[0].unit.items() if k != "b.unit"})
    assert lacking([*tasks[1:], without_words]) == "The rows of router lack b.unit, which other tasks have."
