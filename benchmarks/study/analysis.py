"""The registered analysis: each arm against none on the same tasks, and how small a change can be seen.

Costs are compared as ratios: a task's is the mean of its repeats with the arm over the mean of those with
none, and tasks are averaged as logarithms. Shares of solved attempts are compared as differences. Intervals
are of 95 %, by a bootstrap over repositories, since tasks of one are alike.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np

from benchmarks.study.records import Arm, Attempt

_RESAMPLES: Final = 4_000
_LOW, _HIGH = 2.5, 97.5
_LEAST: Final = 1e-6
"""Stands for nothing spent, so that a ratio can be told."""
POWER: Final = 0.8
SPREADS: Final = (0.3, 0.5, 0.7)
"""Standard deviations of the logarithm of what two attempts at one task cost."""
EFFECT_SPREAD: Final = 0.15
"""Standard deviation of an arm's effect between tasks, as assumed in the table of power."""
SOLVED: Final = 0.5
"""Share of solved attempts for which the table of power is worst."""

Measure = Callable[[Attempt], float]
RATIOS: Final[dict[str, Measure]] = {
    "cost": lambda row: row.usd,
    "model calls": lambda row: row.calls,
    "fresh tokens": lambda row: row.fresh,
    "tokens out": lambda row: row.out,
}


class Interval(NamedTuple):
    """An estimate and its 95 % interval."""

    value: float
    low: float
    high: float


class Pair(NamedTuple):
    """What one task says: the attempts with an arm and those with none."""

    task: str
    repo: str
    mine: list[Attempt]
    none: list[Attempt]

    def log_ratio(self, measure: Measure) -> float:
        return math.log(_mean(self.mine, measure) / _mean(self.none, measure))

    def solved(self) -> float:
        """Return the share solved with the arm less that with none."""
        return _mean(self.mine, _is_solved) - _mean(self.none, _is_solved)

    def is_harmed(self, harm: float) -> bool:
        """Tell whether fewer attempts solve it, or it costs more than a share ``harm`` beyond none."""
        return self.solved() < 0 or self.log_ratio(RATIOS["cost"]) > math.log(1 + harm)


def whole_blocks(rows: Iterable[Attempt]) -> list[Attempt]:
    """Return the attempts of repeats of a task in which every arm that the host tries was tried."""
    every = list(rows)
    arms: dict[str, set[Arm]] = {}
    tried: dict[tuple[str, str, int], set[Arm]] = {}
    for row in every:
        arms.setdefault(row.key.host, set()).add(row.key.arm)
        tried.setdefault((row.key.task, row.key.host, row.key.repeat), set()).add(row.key.arm)
    return [row for row in every if tried[row.key.task, row.key.host, row.key.repeat] == arms[row.key.host]]


def pairs(rows: Sequence[Attempt], arm: Arm) -> list[Pair]:
    """Return each task's attempts with an arm and with none, in the order of the tasks."""
    found = []
    for task in dict.fromkeys(row.key.task for row in rows):
        own = [row for row in rows if row.key.task == task]
        mine = [row for row in own if row.key.arm is arm]
        none = [row for row in own if row.key.arm is Arm.NONE]
        if mine and none:
            found.append(Pair(task, own[0].repo, mine, none))
    return found


def change(found: Sequence[Pair], measure: Measure) -> Interval:
    """Return by which share a measure changes, -0.1 for a tenth less."""
    logs = _clustered(found, [pair.log_ratio(measure) for pair in found])
    return Interval(*(math.exp(each) - 1 for each in logs))


def difference(found: Sequence[Pair]) -> Interval:
    """Return the difference of the shares solved."""
    return _clustered(found, [pair.solved() for pair in found])


def spread_of_none(rows: Sequence[Attempt]) -> float:
    """Return the standard deviation of the logarithm of cost between attempts of one task without an arm.

    NaN where no task was tried twice.
    """
    squares, degrees = 0.0, 0
    for task in dict.fromkeys(row.key.task for row in rows):
        logs = [
            math.log(max(row.usd, _LEAST)) for row in rows if row.key.task == task and row.key.arm is Arm.NONE
        ]
        if len(logs) > 1:
            squares += float(np.var(logs)) * len(logs)
            degrees += len(logs) - 1
    return math.sqrt(squares / degrees) if degrees else float("nan")


def least_change(tasks: int, repeats: int, spread: float) -> float:
    """Return the smallest fall in cost, as a share, that is seen four times in five.

    Args:
        tasks: how many are paired.
        repeats: attempts with each arm at each task.
        spread: standard deviation of the logarithm of cost between attempts of one task.
    """
    error = math.sqrt((EFFECT_SPREAD**2 + 2 * spread**2 / repeats) / tasks)
    return 1 - math.exp(-_detectable() * error)


def least_gain(tasks: int, repeats: int) -> float:
    """Return the smallest difference in the share solved that is seen four times in five."""
    error = math.sqrt((EFFECT_SPREAD**2 + 2 * SOLVED * (1 - SOLVED) / repeats) / tasks)
    return _detectable() * error


def _detectable() -> float:
    normal = NormalDist()
    return normal.inv_cdf(_HIGH / 100) + normal.inv_cdf(POWER)


def _clustered(found: Sequence[Pair], values: Sequence[float]) -> Interval:
    """Return the mean of the tasks' values with its bootstrap interval over repositories."""
    repos = list(dict.fromkeys(pair.repo for pair in found))
    sums = np.zeros(len(repos))
    counts = np.zeros(len(repos))
    for pair, value in zip(found, values, strict=True):
        sums[repos.index(pair.repo)] += value
        counts[repos.index(pair.repo)] += 1
    drawn = np.random.default_rng(0).integers(0, len(repos), (_RESAMPLES, len(repos)))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.percentile(means, (_LOW, _HIGH))
    return Interval(float(sums.sum() / counts.sum()), float(low), float(high))


def _mean(rows: Sequence[Attempt], measure: Measure) -> float:
    return max(sum(map(measure, rows)) / len(rows), 0.0 if measure is _is_solved else _LEAST)


def _is_solved(row: Attempt) -> float:
    return float(row.solved)
