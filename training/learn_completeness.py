"""Learn from first answers how likely one holds every function that the work edits.

    python -m training.learn_completeness --rows ANSWERS --weights repo_map/ranking/weights.json [--write]

ANSWERS is the file of rows that ``python -m benchmarks answer --out`` keeps. Prints how often answers were
complete by how likely they were said to be, each task judged by models that saw no task of its repository;
``--write`` learns from all tasks and puts the models into the weights file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from benchmarks.answer import AnswerRow
from benchmarks.rows import RowFile
from repo_map.ranking.completeness import completeness, completeness_signals
from repo_map.ranking.corpus import Floats
from training.calibration import WeightsFile, brier, by_fold, fit_signals, table
from training.learn_weights import deal_folds

_BOUNDS = (0.0, 0.2, 0.4, 0.6, 0.8)
_TOLD = {"shown": "body_all", "reached": "reach_all"}
"""What is told, and the measure that says whether it is so."""


def signals_of(row: AnswerRow) -> dict[str, float]:
    """Return what tells how complete an answer is."""
    return completeness_signals(row.signals["confidence"], round(row.signals["shown"]))


def learn(rows: Sequence[AnswerRow]) -> dict[str, dict[str, float]]:
    """Return the weights of both models, by the name of what they tell."""
    signals = [signals_of(row) for row in rows]
    return {
        which: fit_signals(signals, np.array([row.measures[measure] > 0 for row in rows]))
        for which, measure in _TOLD.items()
    }


def report(rows: Sequence[AnswerRow], said: Floats, true: Floats) -> list[str]:
    """Return how often answers were complete, by how likely they were said to be; Brier scores by size."""
    lines = table("answers", said, true, _BOUNDS)
    sizes = np.array([row.most for row in rows])
    for size in sorted(set(sizes.tolist())):
        chosen = sizes == size
        score, plain = brier(said[chosen], true[chosen]), brier(true[chosen].mean(), true[chosen])
        lines.append(f"{size:6,d} tokens: Brier score {score:.3f}, of the mean alone {plain:.3f}")
    return lines


def main() -> None:
    """Run from the command line."""
    file = WeightsFile(__doc__)
    rows = [row for row in RowFile(file.rows, AnswerRow) if "reach_all" in row.measures]
    models = by_fold(rows, deal_folds(rows), learn)
    said = [completeness(signals_of(row), **models[row.repo]) for row in rows]
    for which, measure in _TOLD.items():
        mean = np.array([getattr(each, which) for each in said])
        true = np.array([row.measures[measure] for row in rows])
        sys.stdout.write("\n".join([which, *report(rows, mean, true)]) + "\n\n")
    if file.writes:
        file.save(learn(rows))


if __name__ == "__main__":
    main()
