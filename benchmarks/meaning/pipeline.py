"""Whether a learned signal helps where it would stand: on the whole scorer's candidates, beside its score.

    python -m benchmarks.meaning.pipeline --tasks dev/*.jsonl --mirrors M --trees TREES --rows ROWS \
        --lists LISTS [--code-words F] [--expansion F] [--late F]

Of each task the first 400 units by the weights that ship are taken. The weight of the score and of each
signal is learned on four fifths of the repositories and measured on the last; ROWS are those that
``benchmarks.learn_weights`` keeps. Needs scipy and numba.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from benchmarks.meaning.code_words import columns
from benchmarks.meaning.corpus import Bags, Floats, Ints
from benchmarks.meaning.lists import NAME, SIGNATURE, field_matrix, goal_matrix, unit_matrix
from benchmarks.meaning.similarity import inverse_frequency
from benchmarks.signal_rows import load_rows
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import materialise
from repo_map.index import build_index
from repo_map.relevance.corpus import Corpus, concatenated_ranges, corpus_of
from repo_map.relevance.goal import Source, parse_goal
from repo_map.relevance.model import default_weights
from repo_map.relevance.scoring import score_units

MOST_UNITS = 400
FOLDS = 5
CUTS = (5, 10, 20)
_PULL = 1e-3
_SOURCES = tuple(Source)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The first units of one task, in the vocabulary of the lists."""

    repo: str
    language: str
    score: Floats
    """What the whole scorer says, best first."""
    gold: NDArray[np.bool_]
    wanted: int
    """Gold units, those that are no candidates included."""
    goal: csr_matrix
    units: csr_matrix
    names: csr_matrix
    signatures: csr_matrix


Signal = Callable[[Candidates], Floats]


def read_candidates(options: argparse.Namespace, rows: Mapping[bytes, int]) -> Iterator[Candidates]:
    """Yield the candidates of every task; ``rows`` gives the column of a term."""
    for path in options.tasks:
        for task in read_tasks(path):
            tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
            yield _candidates(task, corpus_of(build_index(tree)), options.rows, rows)


def _candidates(task: Task, corpus: Corpus, folder: Path, rows: Mapping[bytes, int]) -> Candidates:
    signals, weights, index = load_rows(folder / f"{task.id}.npz"), default_weights(), corpus.index
    score = score_units(signals.columns, signals.file_scores(weights.file), weights)
    first = np.argsort(-score, kind="stable")[:MOST_UNITS]
    starts = index.units.file_start
    chosen = concatenated_ranges(starts[signals.files], starts[signals.files + 1])[first]
    units, names, signatures = unit_matrices(corpus, chosen, rows)
    gold = signals.unit_gold()
    return Candidates(
        repo=task.repo,
        language=task.language,
        score=score[first],
        gold=gold[first],
        wanted=int(gold.sum()),
        goal=_goal(task.goal, corpus, rows),
        units=units,
        names=names,
        signatures=signatures,
    )


def unit_matrices(
    corpus: Corpus, chosen: Ints, rows: Mapping[bytes, int]
) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
    """Return the terms of units, of their names and of their signatures, as ``Lists`` has them."""
    index, size = corpus.index, len(rows)
    at = concatenated_ranges(index.postings.unit_start[chosen], index.postings.unit_start[chosen + 1])
    lengths = np.diff(index.postings.unit_start)[chosen].astype(np.float32)
    known = np.array([rows.get(term, size) for term in index.terms.iter_bytes()], np.int64)
    bags = Bags(
        np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
        known[index.postings.term[at]].astype(np.int32),
        index.postings.field[at],
        index.postings.count[at],
    )
    idf = np.zeros(size + 1, np.float32)
    idf[known] = inverse_frequency(corpus, corpus.term_postings)
    units = unit_matrix(bags, lengths, max(float(lengths.mean()), 20.0), size)
    units.data *= idf[units.indices] / 6
    names, signatures = field_matrix(bags, NAME, size), field_matrix(bags, SIGNATURE, size)
    return units, names, signatures


def _goal(text: str, corpus: Corpus, rows: Mapping[bytes, int]) -> csr_matrix:
    table, terms, sources, frequency = corpus.index.terms, [], [], []
    for source, counts in parse_goal(text).terms.items():
        for term in counts:
            found = table.get(term)
            terms.append(rows.get(term.encode("utf-8", "replace"), len(rows)))
            sources.append(_SOURCES.index(source))
            frequency.append(0 if found is None else int(corpus.term_postings[found]))
    idf = inverse_frequency(corpus, np.array(frequency, np.int64))
    owner = np.zeros(len(terms), np.int64)
    shape = 1, len(rows)
    return goal_matrix(owner, np.array(terms, np.int64), np.array(sources, np.int64), idf, shape)


def standard(values: Floats) -> Floats:
    """Shift and scale a signal to mean 0 and deviation 1 within one task."""
    scaled: Floats = (values - values.mean()) / (values.std() + 1e-6)
    return scaled


def loss_of(task: Candidates, scores: Floats) -> tuple[float, Floats]:
    """Return the loss of one task and its derivative by each score: as ``list_loss.one_list``."""
    odds = np.exp(scores - scores.max())
    gold = task.gold
    others = odds[~gold].sum()
    chance = odds[gold] / (odds[gold] + others)
    slope = np.zeros(len(scores))
    slope[gold] = -(1 - chance) / gold.sum()
    slope[~gold] = odds[~gold] * (1 / (odds[gold] + others)).mean()
    return float(-np.log(np.maximum(chance, 1e-30)).mean()), slope


def blend(tasks: Sequence[Candidates], matrices: Sequence[Floats]) -> Floats:
    """Learn the weight of each column; the first is the scorer's own score, all are at least 0."""
    start = np.zeros(matrices[0].shape[1])
    start[0] = 1
    useful = [(t, m) for t, m in zip(tasks, matrices, strict=True) if t.gold.any() and not t.gold.all()]

    def objective(weights: Floats) -> tuple[float, Floats]:
        loss, gradient = 0.0, np.zeros(len(weights))
        for task, matrix in useful:
            mine, slope = loss_of(task, matrix @ weights)
            loss += mine / len(useful)
            gradient += matrix.T @ slope / len(useful)
        away = weights - start
        return loss + _PULL * float(away @ away), gradient + 2 * _PULL * away

    bounds = [(0.0, None)] * len(start)
    found: Floats = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    return found


def cross_validated(tasks: Sequence[Candidates], matrices: Sequence[Floats]) -> tuple[list[Floats], Floats]:
    """Return each task's scores under weights from other repositories, and the mean weights."""
    repos = sorted({task.repo for task in tasks})
    fold = {repo: at % FOLDS for at, repo in enumerate(repos)}
    scores: list[Floats] = [np.zeros(0)] * len(tasks)
    learned = []
    for number in range(FOLDS):
        rest = [at for at, task in enumerate(tasks) if fold[task.repo] != number]
        weights = blend([tasks[at] for at in rest], [matrices[at] for at in rest])
        learned.append(weights)
        for at, task in enumerate(tasks):
            if fold[task.repo] == number:
                scores[at] = matrices[at] @ weights
    return scores, np.mean(learned, axis=0)


def measure(tasks: Sequence[Candidates], scores: Sequence[Floats]) -> NDArray[np.float64]:
    """Return the loss, MRR and recall at ``CUTS`` of each task that has gold among its candidates."""
    table = []
    for task, mine in zip(tasks, scores, strict=True):
        if task.gold.any() and not task.gold.all():
            place = np.argsort(np.argsort(-mine, kind="stable"), kind="stable")[task.gold]
            recall = [float((place < cut).sum()) / task.wanted for cut in CUTS]
            table.append([loss_of(task, mine)[0], 1 / (1 + float(place.min())), *recall])
    return np.array(table)


def compare(tasks: Sequence[Candidates], signals: Mapping[str, Signal]) -> Iterator[str]:
    """Yield a line for the score alone, for each signal beside it, and for all."""
    found = {name: [standard(signal(task)) for task in tasks] for name, signal in signals.items()}
    alone, _ = cross_validated(tasks, [task.score[:, None] for task in tasks])
    before = measure(tasks, alone)
    yield f"{len(before)} tasks: loss, MRR, {', '.join(f'R@{cut}' for cut in CUTS)}"
    yield f"{'score':24s} " + " ".join(f"{value:.3f}" for value in before.mean(axis=0))
    sets = [(name,) for name in found] + ([tuple(found)] if len(found) > 1 else [])
    for names in sets:
        columns_of = zip(tasks, *(found[name] for name in names), strict=True)
        matrices = [np.column_stack([task.score, *values]) for task, *values in columns_of]
        scores, weights = cross_validated(tasks, matrices)
        after = measure(tasks, scores)
        change = after[:, 0] - before[:, 0]
        yield (
            f"{' + '.join(names):24s} "
            + " ".join(f"{value:.3f}" for value in after.mean(axis=0))
            + (
                f"  loss {change.mean():+.3f} ± {change.std() / len(change) ** 0.5:.3f},"
                f" weights {' '.join(f'{weight:.2f}' for weight in weights)}"
            )
        )


def code_word_signal(path: Path) -> Signal:
    """Return what the words of a unit draw, goal or no goal."""
    with np.load(path) as stored:
        terms, weights = stored["terms"], stored["weights"]
    return lambda task: columns(task.units, task.names, task.signatures, terms) @ weights


def expansion_signals(path: Path, size: int) -> dict[str, Signal]:
    """Return what other words and the goal's own are worth under a learned expansion."""
    with np.load(path) as stored:
        table = csr_matrix((stored["weight"], stored["at"], stored["row"]), shape=(size, size))
    own = np.repeat(np.arange(size), np.diff(table.indptr)) == table.indices
    parts = {"own words": np.where(own, table.data, 0), "other words": np.where(own, 0, table.data)}

    def signal(weights: Floats) -> Signal:
        part = csr_matrix((weights.astype(np.float32), table.indices, table.indptr), shape=table.shape)
        return lambda task: (task.units @ (task.goal @ part).T).toarray()[:, 0]

    return {name: signal(weights) for name, weights in parts.items()}


def late_signal(path: Path) -> Signal:
    """Return the late interaction of words."""
    from benchmarks.meaning.late_interaction import LateInteraction, Shape  # noqa: PLC0415
    from benchmarks.meaning.lists import Lists  # noqa: PLC0415

    with np.load(path) as stored:
        model = LateInteraction(stored["goal"], Shape(goal_words=48, unit_words=128))
        model.code, model.gate = stored["code"], stored["gate"]

    def signal(task: Candidates) -> Floats:
        count = task.units.shape[0]
        ends, one = np.array([0, count]), np.ones(1, np.int64)
        nothing = np.zeros(count)
        matrices = task.goal, task.units, task.names, task.signatures
        lists = Lists(*matrices, nothing, np.arange(count), ends, one, nothing[:, None])
        return model.scores(lists, nothing, np.arange(1), 0.0)

    return signal


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--mirrors", type=Path, default=Path())
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--lists", type=Path, required=True)
    for name in ("--code-words", "--expansion", "--late"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args()
    terms = (options.lists / "terms.txt").read_text("utf-8").split("\n")
    signals: dict[str, Signal] = {}
    if options.code_words:
        signals["code words"] = code_word_signal(options.code_words)
    if options.expansion:
        signals |= expansion_signals(options.expansion, len(terms))
    if options.late:
        signals["late interaction"] = late_signal(options.late)
    tasks = list(read_candidates(options, {term.encode(): row for row, term in enumerate(terms)}))
    sys.stdout.write("\n".join(compare(tasks, signals)) + "\n")


if __name__ == "__main__":
    main()
