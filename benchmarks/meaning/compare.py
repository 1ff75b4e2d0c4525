"""What the embedding adds to relevance: weights learned again with and without it, cross-validated.

    python -m benchmarks.meaning.compare embedding.bin --tasks dev/*.jsonl --trees TREES --rows ROWS

ROWS are the signals that ``benchmarks.learn_weights`` keeps. A unit's new signal is its similarity to the
goal, as a share of the best one; a file's is that of its best unit.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.learn_weights import FORMULA, cross_validate, report
from benchmarks.meaning.embedding import Embedding, Floats, read_embedding
from benchmarks.meaning.similarity import similarity
from benchmarks.signal_rows import TaskRows, load_rows
from benchmarks.tasks import read_tasks
from benchmarks.trees import materialise
from repo_map.index import build_index
from repo_map.relevance.corpus import concatenated_ranges, corpus_of
from repo_map.relevance.goal import parse_goal


def with_meaning(rows: TaskRows, near: Floats, *, files: bool) -> TaskRows:
    """Return the rows with the similarities of their units, and, if asked, of each file's best one."""
    share = np.maximum(near, 0.0).astype(np.float64) / max(float(near.max(initial=0.0)), 1e-6)
    best = np.zeros(len(rows.files))
    np.maximum.at(best, rows.file_row, share)
    file = {**rows.file, "mean.umax": best} if files else rows.file
    return replace(rows, unit={**rows.unit, "mean.unit": share}, file=file)


def read_both(options: argparse.Namespace, embedding: Embedding) -> Iterator[tuple[TaskRows, Floats]]:
    """Yield each task's rows and the similarity of each of its candidate units."""
    for path in options.tasks:
        for task in read_tasks(path):
            rows = load_rows(options.rows / f"{task.id}.npz")
            corpus = corpus_of(
                build_index(materialise(task.repo, task.base_commit, options.mirrors, options.trees))
            )
            starts = corpus.index.units.file_start
            units = concatenated_ranges(starts[rows.files], starts[rows.files + 1])
            yield rows, similarity(corpus, parse_goal(task.goal), units, embedding)


def compare(both: Sequence[tuple[TaskRows, Floats]]) -> Iterator[str]:
    """Yield the lines of three tables: without, with it on units, and on units and files."""
    variants = {
        "without": [rows for rows, _ in both],
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
    parser.add_argument("embedding", type=Path)
    parser.add_argument("--tasks", type=Path, nargs="+", required=True)
    parser.add_argument("--mirrors", type=Path, default=Path())
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--rows", type=Path, required=True)
    options = parser.parse_args()
    both = list(read_both(options, read_embedding(options.embedding.read_bytes())))
    sys.stdout.write("\n".join(compare(both)) + "\n")


if __name__ == "__main__":
    main()
