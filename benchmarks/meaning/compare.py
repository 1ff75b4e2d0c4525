"""What a learned signal adds to relevance: weights learned again with and without it, cross-validated.

    python -m benchmarks.meaning.compare embedding.bin --tasks dev/*.jsonl --trees TREES --rows ROWS
    python -m benchmarks.meaning.compare code_words.npz --lists LISTS --tasks …

ROWS are the signals that ``benchmarks.learn_weights`` keeps. With an embedding a unit's new signal is its
similarity to the goal, as a share of the best one, and a file's is that of its best unit; with code words it
is what the unit's words draw, and files get none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.learn_weights import FORMULA, cross_validate
from benchmarks.learning_report import report
from benchmarks.meaning.embedding import Embedding, Floats, read_embedding
from benchmarks.meaning.similarity import similarity
from benchmarks.signal_rows import TaskRows, load_rows
from benchmarks.tasks import read_tasks
from benchmarks.trees import materialise
from repo_map.index import build_index
from repo_map.relevance.corpus import Corpus, Ints, concatenated_ranges, corpus_of
from repo_map.relevance.goal import parse_goal


def with_meaning(rows: TaskRows, near: Floats, *, files: bool) -> TaskRows:
    """Return the rows with the similarities of their units, and, if asked, of each file's best one."""
    share = np.maximum(near, 0.0).astype(np.float64) / max(float(near.max(initial=0.0)), 1e-6)
    best = np.zeros(len(rows.files))
    np.maximum.at(best, rows.file_row, share)
    file = {**rows.file, "mean.umax": best} if files else rows.file
    return replace(rows, unit={**rows.unit, "mean.unit": share}, file=file)


Scorer = Callable[[Corpus, str, Ints], Floats]
"""Corpus, goal and units → the learned signal of each unit."""


def nearness(embedding: Embedding) -> Scorer:
    """Return how near units are to a goal."""
    return lambda corpus, goal, units: similarity(corpus, parse_goal(goal), units, embedding)


def attraction(path: Path, lists: Path) -> Scorer:
    """Return what the words of units draw, whatever the goal."""
    from benchmarks.meaning.candidates import unit_matrices  # noqa: PLC0415
    from benchmarks.meaning.code_words import columns  # noqa: PLC0415
    from benchmarks.meaning.vocabulary import read_vocabulary  # noqa: PLC0415

    with np.load(path) as stored:
        terms, weights = stored["terms"], stored["weights"]
    vocabulary = read_vocabulary(lists)
    return lambda corpus, _, units: columns(*unit_matrices(corpus, units, vocabulary), terms) @ weights


def read_both(options: argparse.Namespace, scorer: Scorer) -> Iterator[tuple[TaskRows, Floats]]:
    """Yield each task's rows and the learned signal of each of its candidate units."""
    for path in options.tasks:
        for task in read_tasks(path):
            rows = load_rows(options.rows / f"{task.id}.npz")
            corpus = corpus_of(
                build_index(materialise(task.repo, task.base_commit, options.mirrors, options.trees))
            )
            starts = corpus.index.units.file_start
            units = concatenated_ranges(starts[rows.files], starts[rows.files + 1])
            yield rows, scorer(corpus, task.goal, units)


def with_attraction(rows: TaskRows, drawn: Floats) -> TaskRows:
    """Return the rows with what the words of each unit draw."""
    return replace(rows, unit={**rows.unit, "words.unit": np.clip(drawn, -4.0, 4.0)})


def compare(both: Sequence[tuple[TaskRows, Floats]], *, attract: bool) -> Iterator[str]:
    """Yield the lines of a table without it, and one for each way to use it."""
    variants = {"without": [rows for rows, _ in both]}
    if attract:
        variants["with, on units"] = [with_attraction(rows, drawn) for rows, drawn in both]
    else:
        variants |= {
            "with, on units": [with_meaning(rows, near, files=False) for rows, near in both],
            "with, on units and files": [with_meaning(rows, near, files=True) for rows, near in both],
        }
    for title, tasks in variants.items():
        yield from report(title, tasks, cross_validate(tasks, (), FORMULA))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("learned", type=Path, help="an embedding, or code words (.npz)")
    parser.add_argument("--lists", type=Path, help="the lists that code words were learned from")
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--mirrors", type=Path, default=Path())
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    attract = options.learned.suffix == ".npz"
    scorer = (
        attraction(options.learned, options.lists)
        if attract
        else nearness(read_embedding(options.learned.read_bytes()))
    )
    sys.stdout.write("\n".join(compare(list(read_both(options, scorer)), attract=attract)) + "\n")


if __name__ == "__main__":
    main()
