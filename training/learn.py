"""Learn the weights of the ranking from tasks with known answers.

    python -m training.learn training/questions.jsonl training/edits.jsonl --mirrors M --trees T --store S
        [--write repo_map/ranking/weights.json]

Each task is read twice, with the names that were guessed from its goal alone and without. The indexes are
kept in ``--store``, so that learning again takes minutes. Only repositories that no test set has
may be named.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.tasks import Task
from benchmarks.trees import MirrorNotFoundError, find_mirror, materialise
from repo_map.index.build import build_index
from repo_map.index.index import Index
from repo_map.index.store import Store
from repo_map.ranking.confidence import LISTED, confidence_features
from repo_map.ranking.corpus import Floats, corpus_of
from repo_map.ranking.features import Features, read_features
from repo_map.ranking.goal import parse_goal
from repo_map.ranking.mentions import files_at
from repo_map.ranking.score import Weights, WeightTable, chance_features, default_weights, weighted_sum

_MAX_ROWS: Final = 500
"""Units of a task that are learned from: the best by the present weights, and the gold ones."""
_PLACES: Final = {"file": 3.0, "definition": 8.0}
"""About how many places count as found."""
_STRENGTH: Final = {"file": 0.1, "definition": 0.02}
"""Price of the squared distance to the present weights; .003 to .1 do equally well on repositories apart."""
_FLOOR: Final = 0.5
"""Share of its present weight that a match has at least: questions that avoid the words of their answer teach
that such words speak against a place."""
_STEPS, _RATE, _DECAY = 200, 0.05, (0.9, 0.999)


class LearningTask(Task, frozen=True):
    """A task with the identifiers that were guessed from its goal."""

    names: tuple[str, ...] = ()


class Rows(NamedTuple):
    """The candidates of a task: their features, and which of them the answer has."""

    features: Features
    gold_files: NDArray[np.bool_]
    gold_units: NDArray[np.int64]
    """The number of the answer's function in each unit, from 1; 0 for none."""
    functions: int


class Lists(NamedTuple):
    """Candidates of several tasks, one task after another."""

    features: NDArray[np.float32]
    gold: NDArray[np.bool_]
    first: NDArray[np.int64]
    """First row of each task."""


def read_rows(task: LearningTask, index: Index, names: Sequence[str]) -> Rows:
    """Compute the features of a task's candidates and mark those of the answer."""
    corpus = corpus_of(index)
    goal = parse_goal(task.goal, lambda path: bool(files_at(corpus, path)), corpus.template_lines, names)
    features = read_features(corpus, goal)
    candidates = features.candidates
    start, end = index.units.start[candidates.units], index.units.end[candidates.units]
    gold_files = np.zeros(len(candidates.files), np.bool_)
    gold_units = np.zeros(len(candidates.units), np.int64)
    functions = [each for each in task.gold_symbols if each.kind == "function"]
    for number, each in enumerate(functions, 1):
        is_file = candidates.files == index.file_id(each.file)
        gold_files |= is_file
        inside = is_file[candidates.file_row] & (start <= each.sig_line) & (end >= each.sig_line)
        gold_units[inside] = number
    return Rows(features, gold_files, gold_units, len(functions))


def make_lists(
    tasks: Sequence[tuple[Mapping[str, Floats], NDArray[np.bool_]]], names: Sequence[str]
) -> Lists:
    """Put tasks that have both gold and other candidates behind one another."""
    kept = [task for task in tasks if task[1].any() and not task[1].all()]
    sizes = [len(gold) for _, gold in kept]
    matrices = [
        np.stack([features.get(name, np.zeros(len(gold))) for name in names], axis=1, dtype=np.float32)
        for features, gold in kept
    ]
    return Lists(
        np.concatenate(matrices), np.concatenate([gold for _, gold in kept]), np.cumsum([0, *sizes[:-1]])
    )


def fit(lists: Lists, prior: Floats, places: float, strength: float) -> Floats:
    """Return the weights that bring most gold into the first places.

    The loss of a task is the mean over its gold candidates g of ``-log(e^s(g) / (e^s(g) + sum of e^s over the
    others / places))``, plus ``strength`` times the squared distance to the prior. Plain Adam on all rows.
    """
    weights, best, best_loss = prior.copy(), prior.copy(), np.inf
    first_moment, second_moment = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _STEPS + 1):
        loss, gradient = _loss(lists, weights, places)
        loss += strength * float(((weights - prior) ** 2).sum())
        gradient += 2 * strength * (weights - prior)
        if loss < best_loss:
            best, best_loss = weights.copy(), loss
        first_moment = _DECAY[0] * first_moment + (1 - _DECAY[0]) * gradient
        second_moment = _DECAY[1] * second_moment + (1 - _DECAY[1]) * gradient**2
        size = np.sqrt(second_moment / (1 - _DECAY[1] ** step)) + 1e-8
        weights = weights - _RATE * first_moment / (1 - _DECAY[0] ** step) / size
    return best


def _loss(lists: Lists, weights: Floats, places: float) -> tuple[float, Floats]:
    scores = (lists.features @ weights.astype(np.float32)).astype(np.float64)
    sizes = np.diff([*lists.first, len(scores)])
    odds = np.exp(scores - np.repeat(np.maximum.reduceat(scores, lists.first), sizes))
    beside = np.repeat(np.add.reduceat(np.where(lists.gold, 0.0, odds), lists.first) / places, sizes)
    golds = np.add.reduceat(lists.gold.astype(np.float64), lists.first)
    share = np.repeat(1.0 / golds, sizes) / len(golds)
    chance = np.where(lists.gold, odds / (odds + beside), 1.0)
    loss = float(-(share * np.log(np.maximum(chance, 1e-300)))[lists.gold].sum())
    # d loss / d score: chance - 1 for gold; for another, its odds over each gold's denominator, summed.
    inverse = np.add.reduceat(np.where(lists.gold, share / (odds + beside), 0.0), lists.first)
    slope = np.where(lists.gold, share * (chance - 1.0), odds / places * np.repeat(inverse, sizes))
    return loss, (slope.astype(np.float32) @ lists.features).astype(np.float64)


def fit_logistic(features: Sequence[Mapping[str, float]], right: Sequence[bool]) -> dict[str, float]:
    """Return the weights of a logistic model, by Newton's method with a light penalty."""
    names = list(features[0])
    values = np.array([[each[name] for name in names] for each in features])
    wanted, weights = np.asarray(right, np.float64), np.zeros(len(names))
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-values @ weights))
        gradient = values.T @ (chance - wanted) / len(wanted) + 1e-3 * weights
        curvature = (values * (chance * (1 - chance))[:, None]).T @ values / len(wanted)
        weights -= np.linalg.solve(curvature + 1e-3 * np.eye(len(names)), gradient)
    return {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True)}


def learn_kinds(tasks: Sequence[Rows], present: WeightTable) -> WeightTable:
    """Return the weights of each kind of goal: of ``default`` from all, of ``question`` from those without
    names, near the default ones: a question may have the words of the code as well as not.
    """
    base, own = present["default"], present["question"]
    own = own._replace(
        file={**own.file, **base.file},
        definition={name: base.definition.get(name, weight) for name, weight in own.definition.items()},
    )
    without_names = [each for each in tasks if not each.features.goal.names]
    return {"default": learn(tasks, base), "question": learn(without_names, own)}


def learn(tasks: Sequence[Rows], present: Weights) -> Weights:
    """Return new weights, near the present ones: of files, then of definitions, then the chances."""
    file = _fit("file", [(each.features.file, each.gold_files) for each in tasks], present.file)
    units: list[tuple[Mapping[str, Floats], NDArray[np.bool_]]] = []
    for rows in tasks:
        scores = weighted_sum(rows.features.file, file, len(rows.gold_files))
        known = {**rows.features.unit, **rows.features.given_files(scores)}
        order = np.argsort(-weighted_sum(known, present.definition, len(rows.gold_units)), kind="stable")
        kept = np.union1d(order[:_MAX_ROWS], np.flatnonzero(rows.gold_units))
        units.append(({name: values[kept] for name, values in known.items()}, rows.gold_units[kept] > 0))
    definition = _fit("definition", units, present.definition)
    surety, held = [], []
    best: list[tuple[Floats, NDArray[np.int64]]] = []
    for rows in tasks:
        scores = weighted_sum(rows.features.file, file, len(rows.gold_files))
        known = {**rows.features.unit, **rows.features.given_files(scores)}
        of_units = weighted_sum(known, definition, len(rows.gold_units))
        order = np.argsort(-of_units, kind="stable")[:_MAX_ROWS]
        best.append((of_units[order], order))
        surety.append(confidence_features(rows.features, of_units[order], order))
        held.append(len(set(rows.gold_units[order[:LISTED]].tolist()) - {0}) == rows.functions)
    confidence = fit_logistic(surety, held)
    examples: list[dict[str, float]] = []
    right: list[bool] = []
    for rows, (scores, order), known_surety in zip(tasks, best, surety, strict=True):
        total = sum(confidence[name] * value for name, value in known_surety.items())
        candidates = rows.features.candidates
        kinds = candidates.corpus.index.units.kind[candidates.units[order]]
        columns = chance_features(scores, kinds, float(1.0 / (1.0 + np.exp(-total))))
        examples += [
            {name: float(values[at]) for name, values in columns.items()} for at in range(len(order))
        ]
        right += (rows.gold_units[order] > 0).tolist()
    return Weights(file, definition, fit_logistic(examples, right), confidence)


def _fit(
    kind: str, tasks: Sequence[tuple[Mapping[str, Floats], NDArray[np.bool_]]], present: Mapping[str, float]
) -> dict[str, float]:
    names = list(present)
    prior = np.array([present[name] for name in names])
    learned = fit(make_lists(tasks, names), prior, _PLACES[kind], _STRENGTH[kind])
    is_match = np.array([not name.startswith("p.") for name in names])
    learned = np.where(is_match & (prior > 0), np.maximum(learned, _FLOOR * prior), learned)
    return {name: round(float(weight), 3) for name, weight in zip(names, learned, strict=True)}


def read_tasks(paths: Sequence[Path]) -> list[LearningTask]:
    """Read task files of JSON lines."""
    lines = (line for path in paths for line in path.read_bytes().splitlines() if line.strip())
    return [msgspec.json.decode(line, type=LearningTask) for line in lines]


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="+", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--store", type=Path, required=True, help="folder that keeps the indexes")
    parser.add_argument("--write", type=Path, help="write the weights here")
    arguments = parser.parse_args()
    store = Store(arguments.store)
    rows: list[Rows] = []
    for task in read_tasks(arguments.tasks):
        try:
            find_mirror(task.repo, arguments.mirrors)
        except MirrorNotFoundError:
            continue
        tree = materialise(task.repo, task.base_commit, arguments.mirrors, arguments.trees)
        index = build_index(tree, store=store, workers=1)
        rows += [read_rows(task, index, names) for names in ((), task.names)]
    weights = learn_kinds(rows, default_weights())
    text = json.dumps({kind: own._asdict() for kind, own in weights.items()}, indent=1) + "\n"
    if arguments.write:
        arguments.write.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
