"""What a reranker's scores bring beside the scorer, leaving one repository out.

    python -m training.measure_reranker --lists LISTS --tasks dev/*.jsonl --scores NAME=SCORES.npz[:0,2] …
        [--weights WEIGHTS --mirrors M --trees T --journal FILE]

LISTS is a folder of ``training.unit_lists``, SCORES are of ``training.encoder score``; behind the colon stand
the columns that are taken. All that is learned from the tasks is how much each column counts beside the
scorer's value, from those of other repositories. With FILE packets are made as the product does, each unit's
chance following from its new score, by WEIGHTS that ``training.unit_lists`` keeps; FILE keeps their measures,
so that a stopped run goes on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from benchmarks.kept_rows import KeptRows
from benchmarks.scoring import Answer, score
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import files_at_head, materialise
from repo_map.drawing.draw import draw_map
from repo_map.history.history import read_history
from repo_map.index import build_index
from repo_map.packing.pack import pack
from repo_map.relevance.chance import chance_signals, chances_of
from repo_map.relevance.corpus import Floats
from repo_map.relevance.model import Weights, combine
from repo_map.relevance.score import Relevance, score_goal
from training.foreign_weights import kept_weights
from training.learning_report import difference, mean
from training.listwise import Aim, fit, make_lists
from training.unit_lists import UnitList, read_lists

BUDGETS = (2000, 4000, 8000)
_OF_PACKETS = ("body", "span")
MEASURES = (
    "loss",
    "MRR",
    "R@5",
    "R@10",
    *(f"{name}@{at // 1000}k" for name in _OF_PACKETS for at in BUDGETS),
)
_SCALE = 10.0
"""Cosines of one list differ by a tenth: signals should by about one."""
_AIM = Aim(places=1, strength=0.001)
_LEAST_WEIGHT = 0.001
PLAIN = "scorer"

Columns = NDArray[np.float32]


class Score(msgspec.Struct, frozen=True):
    """The measures of one packet, as a line of the journal."""

    id: str
    system: str
    budget: int
    measures: dict[str, float]


class Ranked(NamedTuple):
    """A list and what a reranker says of its units."""

    units: UnitList
    columns: Columns
    """Shape (units, columns), larger where a unit fits better."""

    @property
    def signals(self) -> dict[str, Floats]:
        """The scorer's value and the reranker's columns, by name, each without its mean."""
        value = np.array([unit.score for unit in self.units.units])
        columns = _SCALE * (self.columns - self.columns.mean(axis=0, keepdims=True)).astype(np.float64)
        return {"value": value, **{f"column {at}": columns[:, at] for at in range(columns.shape[1])}}

    @property
    def gold(self) -> NDArray[np.bool_]:
        """Which units are gold."""
        return np.array([unit.gold for unit in self.units.units])


def mixes(ranked: Sequence[Ranked]) -> dict[str, dict[str, float]]:
    """Return for each repository how much each signal counts, as the lists of the others teach."""
    found = {}
    for repo in sorted({each.units.repo for each in ranked}):
        rest = [each for each in ranked if each.units.repo != repo]
        names = list(rest[0].signals)
        prior = np.array([1.0, *(0.0 for _ in names[1:])])
        lists = make_lists([(each.signals, each.gold) for each in rest], names)
        low, high = np.zeros(len(names)), np.full(len(names), 9.0)
        found[repo] = dict(zip(names, fit(lists, prior, _AIM, low=low, high=high).tolist(), strict=True))
    return found


def gains(each: Ranked, mix: Mapping[str, float]) -> Floats:
    """Return what is added to the score of each unit, on the scorer's own scale."""
    added = {name: values for name, values in each.signals.items() if name != "value"}
    return combine(added, mix, len(each.columns)) / max(mix["value"], _LEAST_WEIGHT)


def list_measures(task: Task, each: Ranked, gain: Floats, sharpness: float) -> dict[str, float]:
    """Return loss, MRR and recall of one list under new scores."""
    scores = sharpness * (np.array([unit.score for unit in each.units.units]) + gain)
    gold = each.gold
    order = np.argsort(-scores, kind="stable")
    found: dict[str, float] = {"MRR": 0.0}
    if gold.any():
        found["MRR"] = 1.0 / (1 + int(np.flatnonzero(gold[order])[0]))
        others = np.logaddexp.reduce(scores[~gold]) if not gold.all() else -np.inf
        found["loss"] = float(np.mean(np.logaddexp(scores[gold], others) - scores[gold]))
    functions = [symbol for symbol in task.gold_symbols if symbol.kind == "function"]
    for cut in (5, 10) if functions else ():
        first = [each.units.units[row] for row in order[:cut].tolist()]
        hit = [
            any(u.path == f.file and u.start <= f.end and u.end >= f.start for u in first) for f in functions
        ]
        found[f"R@{cut}"] = float(np.mean(hit))
    return found


def reranked(relevance: Relevance, gain: Mapping[tuple[str, int], float], weights: Weights) -> Relevance:
    """Return a relevance whose units are scored, ordered and given their chances anew."""
    units = [
        unit._replace(score=unit.score + gain.get((unit.path, unit.start), 0.0)) for unit in relevance.units
    ]
    units.sort(key=lambda unit: -unit.score)
    place = {file.path: at for at, file in enumerate(relevance.files)}
    signals = chance_signals(
        np.array([unit.score for unit in units]),
        np.array([place[unit.path] for unit in units], np.int64),
        np.array([unit.kind for unit in units], np.int64),
        relevance.sufficiency.confidence,
    )
    chances = chances_of(signals, weights.chance).tolist()
    return relevance._replace(
        units=tuple(unit._replace(chance=chance) for unit, chance in zip(units, chances, strict=True))
    )


def packet_scores(
    task: Task, tree: Path, weights: Weights, wanted: Mapping[str, Mapping[tuple[str, int], float]]
) -> Iterable[Score]:
    """Yield the measures of the packets that each named set of gains makes."""
    index = build_index(tree, workers=1)
    relevance = score_goal(index, task.goal, read_history(tree, seconds=120), weights=weights)
    paths = files_at_head(tree)
    for name, gain in wanted.items():
        order = reranked(relevance, gain, weights) if gain else relevance
        for budget in BUDGETS:
            answer = Answer(
                draw_map(index, pack(index, order, budget)).text, [file.path for file in order.files]
            )
            measures = score(task, answer, paths, lambda path: (tree / path).read_text("utf-8", "replace"))
            kept = {what: value for what, value in measures.items() if what in _OF_PACKETS}
            yield Score(task.id, name, budget, kept)
    index.release()


def variants(lists: Sequence[UnitList], wanted: Sequence[str]) -> dict[str, list[Ranked]]:
    """Read ``NAME=FILE[:COLUMNS]`` for each variant; the scorer alone comes first.

    Lists that a file lacks are left out, and units that it says nothing of.
    """
    read: dict[str, dict[str, Columns]] = {}
    for each in wanted:
        name, _, rest = each.partition("=")
        file, _, chosen = rest.partition(":")
        with np.load(file) as stored:
            known = {identity: stored[identity] for identity in stored.files}
        if chosen:
            taken = [int(at) for at in chosen.split(",")]
            known = {identity: columns[:, taken] for identity, columns in known.items()}
        read[name] = known
    kept = [each for each in lists if all(each.id in columns for columns in read.values())]
    sizes = [min([len(each.units), *(len(columns[each.id]) for columns in read.values())]) for each in kept]
    short = [
        msgspec.structs.replace(each, units=each.units[:size]) for each, size in zip(kept, sizes, strict=True)
    ]
    found = {PLAIN: [Ranked(each, np.zeros((len(each.units), 0), np.float32)) for each in short]}
    for name, columns in read.items():
        found[name] = [Ranked(each, columns[each.id][: len(each.units)]) for each in short]
    return found


def _pack(
    options: argparse.Namespace,
    tasks: Mapping[str, Task],
    ranked: Mapping[str, Sequence[Ranked]],
    learned: Mapping[str, Mapping[str, Mapping[str, float]]],
) -> list[Score]:
    weights = kept_weights([], options.weights)
    journal = KeptRows(options.journal, Score)
    known: dict[str, list[Score]] = {}
    for each in journal:
        known.setdefault(each.id, []).append(each)
    for at, plain in enumerate(ranked[PLAIN]):
        task = tasks[plain.units.id]
        done = {each.system for each in known.get(task.id, [])}
        wanted = {}
        for name, lists in ranked.items():
            if name not in done:
                gain = gains(lists[at], learned[name][task.repo])
                units = lists[at].units.units
                wanted[name] = {
                    (unit.path, unit.start): value
                    for unit, value in zip(units, gain.tolist(), strict=True)
                    if name != PLAIN
                }
        if wanted:
            tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
            scores = list(packet_scores(task, tree, weights[task.repo], wanted))
            journal.append(*scores)
            known.setdefault(task.id, []).extend(scores)
            sys.stderr.write(f"{task.id}\n")
    return [each for scores in known.values() for each in scores]


def results_of(
    tasks: Mapping[str, Task],
    ranked: Mapping[str, Sequence[Ranked]],
    learned: Mapping[str, Mapping[str, Mapping[str, float]]],
    packed: Sequence[Score],
) -> dict[str, list[dict[str, float]]]:
    """Return each variant's measures, task by task."""
    found: dict[str, list[dict[str, float]]] = {}
    for name, lists in ranked.items():
        rows = []
        for each in lists:
            mix = learned[name][each.units.repo]
            rows.append(list_measures(tasks[each.units.id], each, gains(each, mix), mix["value"]))
        place = {each.units.id: row for each, row in zip(lists, rows, strict=True)}
        for score_ in packed:
            if score_.system == name and score_.id in place:
                for measure, value in score_.measures.items():
                    place[score_.id][f"{measure}@{score_.budget // 1000}k"] = value
        found[name] = rows
    return found


def table(tasks: Sequence[Task], results: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    """Return the figures of the scorer alone, then the paired differences to it, with 95 % intervals."""
    plain = results[PLAIN]
    present = [name for name in MEASURES if any(name in row for row in plain)]
    lines = [f"| {len(tasks)} tasks | " + " | ".join(present) + " |", "|---" * (len(present) + 1) + "|"]
    lines.append(f"| {PLAIN} | " + " | ".join(f"{mean(plain, name):.3f}" for name in present) + " |")
    variants = {name: rows for name, rows in results.items() if name != PLAIN}
    for variant, rows in variants.items():
        gained = (difference(rows, plain, name) for name in present)
        cells = (f"{more:+.3f} ({low:+.3f} to {high:+.3f})" for more, low, high in gained)
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    lines += ["", "| by language | tasks | " + " | ".join(present) + " |", "|---" * (len(present) + 2) + "|"]
    for language in sorted({task.language for task in tasks}):
        mine = [at for at, task in enumerate(tasks) if task.language == language]
        for variant, rows in variants.items():
            means = (_mean_gain(rows, plain, mine, name) for name in present)
            cells = (f"{gain:+.3f}" for gain in means)
            lines.append(f"| {language}, {variant} | {len(mine)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _mean_gain(
    rows: Sequence[Mapping[str, float]], plain: Sequence[Mapping[str, float]], mine: Sequence[int], name: str
) -> float:
    gained = [rows[at][name] - plain[at][name] for at in mine if name in rows[at]]
    return float(np.mean(gained)) if gained else float("nan")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--scores", nargs="*", default=[], metavar="NAME=FILE[:COLUMNS]")
    parser.add_argument("--weights", type=Path)
    parser.add_argument("--mirrors", type=Path)
    parser.add_argument("--trees", type=Path)
    parser.add_argument("--journal", type=Path)
    options = parser.parse_args()
    tasks = {task.id: task for path in options.tasks for task in read_tasks(path)}
    lists = [each for each in read_lists(options.lists) if each.units]
    ranked = variants(lists, options.scores)
    learned = {name: mixes(each) for name, each in ranked.items()}
    for name, mix in learned.items():
        sys.stderr.write(f"{name}: {next(iter(mix.values()))}\n")
    packed = _pack(options, tasks, ranked, learned) if options.journal else []
    results = results_of(tasks, ranked, learned, packed)
    measured = [tasks[each.units.id] for each in ranked[PLAIN]]
    sys.stdout.write(table(measured, results) + "\n")


if __name__ == "__main__":
    main()
