"""Tables of cross-validated results, with intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from repo_map.ranking.corpus import Floats
from training.estimated_packet import MEASURES
from training.signal_rows import TaskRows

Results = Sequence[Mapping[str, float]]
_DRAWS = 2000


def mean(results: Results, name: str) -> float:
    """Return the mean of a measure over the tasks that have it."""
    values = [result[name] for result in results if name in result]
    return float(np.mean(values)) if values else float("nan")


def interval(results: Results, name: str) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean; the seed is fixed."""
    return _interval(np.array([result[name] for result in results if name in result]))


def difference(results: Results, others: Results, name: str) -> tuple[float, float, float]:
    """Return how much more ``results`` reach than ``others`` on the same tasks, and its 95 % interval."""
    pairs = [(a[name], b[name]) for a, b in zip(results, others, strict=True) if name in a]
    gained = np.array([a - b for a, b in pairs])
    return float(gained.mean()), *_interval(gained)


def _interval(values: Floats) -> tuple[float, float]:
    draws = np.random.default_rng(0).integers(0, len(values), (_DRAWS, len(values)))
    low, high = np.quantile(values[draws].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def report(title: str, tasks: Sequence[TaskRows], results: Results) -> list[str]:
    """Return a table: all tasks with intervals, then each kind and each language."""
    lines = [f"{title:24s} {'n':>4s} " + " ".join(f"{name:>18s}" for name in MEASURES)]
    cells = [
        f"{mean(results, name):.3f} [{'-'.join(f'{x:.2f}' for x in interval(results, name))}]"
        for name in MEASURES
    ]
    lines.append(f"{'all':24s} {len(tasks):4d} " + " ".join(f"{cell:>18s}" for cell in cells))
    groups: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for task, result in zip(tasks, results, strict=True):
        groups[task.kind].append(result)
        groups[task.language].append(result)
    for group, mine in sorted(groups.items()):
        lines.append(
            f"{group:24s} {len(mine):4d} " + " ".join(f"{mean(mine, name):18.3f}" for name in MEASURES)
        )
    return lines
