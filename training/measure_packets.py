"""Measure packets of tasks with weights that saw no task of their repository.

    python -m training.measure_packets --rows ROWS --tasks dev/*.jsonl --mirrors M --trees T --out OUT

ROWS is the folder of signals that ``training.learn_weights`` keeps; tasks without rows are left out. The
repositories are dealt into five folds: a task's order and chances are learned from the other four. OUT keeps
every score, so that a run that was stopped goes on. ``python -m benchmarks localize`` measures the weights
that are shipped, which saw the development tasks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.figures import BY_NEED, NAVIGATOR, Row, table
from benchmarks.scoring import Answer, Place, score
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import files_at_head, materialise
from navigator.steps.menu import menu_of
from navigator.steps.menu_text import menu_text
from repo_map.drawing.draw import draw_map
from repo_map.history.history import read_history
from repo_map.index import RepoIndex, build_index
from repo_map.packing.pack import pack
from repo_map.relevance.model import Weights, default_weights
from repo_map.relevance.score import Relevance, score_goal
from repo_map.text import tokens
from training import learn_chance
from training.calibration import by_fold
from training.learn_weights import FORMULA, deal_folds, learn_folds
from training.signal_rows import TaskRows, read_folder


class Score(msgspec.Struct, frozen=True):
    """The measures of one packet, as a line of the file of scores."""

    id: str
    system: str
    budget: int
    measures: dict[str, float]


def foreign_weights(tasks: Sequence[TaskRows]) -> dict[str, Weights]:
    """Return for each repository the weights of order and chance that the other folds teach."""
    shipped = default_weights()
    learned = {
        repo: each._replace(surety=shipped.surety) for repo, each in learn_folds(tasks, [], FORMULA).items()
    }
    units = [learn_chance.read_example(task, learned[task.repo]) for task in tasks]
    chances = by_fold(units, deal_folds(tasks), learn_chance.learn)
    return {repo: each._replace(chance=chances[repo]) for repo, each in learned.items()}


def packets(
    index: RepoIndex, relevance: Relevance, budgets: Sequence[int]
) -> Iterator[tuple[str, int, Answer]]:
    """Yield a filled packet of each size, then the one by need within the largest, with its menu."""
    ranked = [file.path for file in relevance.files]
    for budget in budgets:
        yield NAVIGATOR, budget, Answer(draw_map(index, pack(index, relevance, budget)).text, ranked)
    drawn = draw_map(index, pack(index, relevance, budgets[-1], fill=False))
    menu = menu_of(index, relevance, drawn)
    places = [Place(each.path, each.first, each.last, each.tokens) for each in menu]
    yield BY_NEED, budgets[-1], Answer(drawn.text, ranked, places, tokens.count(menu_text(menu), "cl100k"))


def measure(task: Task, tree: Path, weights: Weights, budgets: Sequence[int]) -> Iterator[Score]:
    """Yield the scores of a task's packets."""
    index = build_index(tree, workers=1)
    relevance = score_goal(index, task.goal, read_history(tree, seconds=120), weights=weights)
    paths = files_at_head(tree)
    for system, budget, answer in packets(index, relevance, budgets):
        measures = score(task, answer, paths, lambda path: (tree / path).read_text("utf-8", "replace"))
        yield Score(task.id, system, budget, measures)
    index.release()


def read_journal(journal: Path) -> dict[str, list[Score]]:
    """Read the scores that are known, by task."""
    found: dict[str, list[Score]] = {}
    for line in journal.read_bytes().splitlines() if journal.exists() else ():
        each = msgspec.json.decode(line, type=Score)
        found.setdefault(each.id, []).append(each)
    return found


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True, help="file of scores, kept and resumed from")
    parser.add_argument("--tokens", default="2000,4000,8000", metavar="N,…")
    options = parser.parse_args()
    budgets = sorted(int(each) for each in options.tokens.split(","))
    learned = [task for task in read_folder(options.rows) if len(task.files)]
    weights, known = foreign_weights(learned), read_journal(options.out)
    ids = {task.id for task in learned}
    rows: list[Row] = []
    for file in options.tasks:
        for task in (each for each in read_tasks(file) if each.id in ids):
            scores = known.get(task.id)
            if scores is None:
                tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
                scores = list(measure(task, tree, weights[task.repo], budgets))
                with options.out.open("ab") as journal:
                    journal.write(b"".join(msgspec.json.encode(each) + b"\n" for each in scores))
                sys.stderr.write(f"{task.id}\n")
            rows += [Row(task, each.system, each.budget, each.measures) for each in scores]
    sys.stdout.write(table(rows, "language") + "\n")


if __name__ == "__main__":
    main()
