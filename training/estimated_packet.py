"""What some weights would show of a task: its files in order, and an estimate of the packet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.places import LISTED
from repo_map.ranking.corpus import Floats, Ints
from repo_map.ranking.model import Weights
from training.signal_rows import TaskRows

MEASURES = ("Acc@1", "Acc@5", "Acc@10", "reach", "body")
UNIT_FILES = 40
"""Files whose units are learned from and shown: those beyond are seldom right."""
_BUDGET = 8_000
_LISTED_PATHS = 12
_SKETCH_TOKENS = 300
_TOKEN_PENALTY = 0.3
_OUTLINED_FILES = 10


def among_best(task: TaskRows, scores: Floats) -> NDArray[np.bool_]:
    """Tell which units are in the best files."""
    best = np.zeros(len(scores), np.bool_)
    best[np.argsort(-scores, kind="stable")[:UNIT_FILES]] = True
    return best[task.file_row]


def measure(task: TaskRows, weights: Weights) -> dict[str, float]:
    """Return the measures of one task under some weights."""
    ordered = task.order(weights)
    order = np.argsort(-ordered.files, kind="stable")
    found = task.file_gold()[order]
    measures = {f"Acc@{cut}": float(found[:cut].sum() == task.gold_count) for cut in (1, 5, 10)}
    if len(task.gold_functions):
        listed = _listed(task, order, ordered.rows)
        measures["reach"] = float(
            np.mean([_names(task, listed, *gold[:2]) for gold in task.gold_functions.tolist()])
        )
        shown = _packed(task, order, np.where(among_best(task, ordered.files), ordered.units, -np.inf))
        measures["body"] = float(
            np.mean([_holds(task, shown, gold) for gold in task.gold_functions.tolist()])
        )
    return measures


def _listed(task: TaskRows, order: Ints, rows: Ints) -> Ints:
    """Return the rows of the best definitions in the best files of main code, as an outline has them."""
    in_main = (task.file["p.aux"] <= 0) & (task.file["p.code"] > 0)
    best = [row for row in order.tolist() if in_main[row]][:_OUTLINED_FILES]
    is_defined = task.unit["p.gap"][rows] == 0
    return np.asarray(rows[is_defined & np.isin(task.file_row[rows], best)][:LISTED], np.int64)


def _names(task: TaskRows, listed: Ints, file: int, line: int) -> bool:
    mine = task.files[task.file_row[listed]] == file
    return bool((mine & (task.start[listed] <= line) & (task.end[listed] >= line)).any())


def _packed(task: TaskRows, order: Ints, units: Floats) -> NDArray[np.bool_]:
    """Choose units as packing does: by score less a little for length, until the budget is spent."""
    listed = set(order[:_LISTED_PATHS].tolist())
    left = _BUDGET - float(task.path_tokens[order[:_LISTED_PATHS]].sum()) - _SKETCH_TOKENS
    worth = units - _TOKEN_PENALTY * np.log(np.maximum(task.tokens, 20.0))
    shown = np.zeros(len(units), np.bool_)
    for row in np.argsort(-worth, kind="stable").tolist():
        if not np.isfinite(worth[row]) or left < 40:
            break
        file = int(task.file_row[row])
        price = float(task.tokens[row]) + (0.0 if file in listed else float(task.path_tokens[file]))
        if price <= left:
            shown[row] = True
            listed.add(file)
            left -= price
    return shown


def _holds(task: TaskRows, shown: NDArray[np.bool_], gold: Sequence[int]) -> bool:
    file, first, last = gold
    mine = shown & (task.files[task.file_row] == file) & (task.start <= last) & (task.end >= first)
    lines = sum(
        min(int(end), last) - max(int(start), first) + 1
        for start, end in zip(task.start[mine], task.end[mine], strict=True)
    )
    return lines >= (last - first + 1) * 0.97
