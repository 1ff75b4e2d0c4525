"""A linear ranker learned from lists: each gold candidate against every candidate of its task that is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.corpus import Floats

_STEPS = 200
_RATE = 0.05
_DECAY = (0.9, 0.999)


class Lists(NamedTuple):
    """Candidates of several tasks, one task after another."""

    signals: NDArray[np.float32]
    """Shape (candidates, signals)."""
    gold: NDArray[np.bool_]
    first: NDArray[np.int64]
    """First row of each task."""


def make_lists(
    tasks: Sequence[tuple[Mapping[str, Floats], NDArray[np.bool_]]], names: Sequence[str]
) -> Lists:
    """Put tasks that have both gold and other candidates behind one another."""
    kept = [task for task in tasks if task[1].any() and not task[1].all()]
    matrices = [
        np.stack([signals.get(name, np.zeros(len(gold))) for name in names], axis=1) for signals, gold in kept
    ]
    sizes = [len(gold) for _, gold in kept]
    return Lists(
        # Half the memory and half the time of 64 bits.
        signals=np.concatenate(matrices).astype(np.float32),
        gold=np.concatenate([gold for _, gold in kept]),
        first=np.cumsum([0, *sizes[:-1]]),
    )


class Aim(NamedTuple):
    """What weights are fitted for."""

    places: float
    """About how many places count as found: the first 3 files, the first 30 functions."""
    strength: float
    """Price of the squared distance to the prior."""


def fit(lists: Lists, prior: Floats, aim: Aim, *, low: Floats, high: Floats) -> Floats:
    """Return the weights between ``low`` and ``high`` that bring most gold into the first places.

    The loss of a task is the mean over its gold candidates g of ``-log(e^s(g) / (e^s(g) + sum of e^s over the
    others that are not gold / places))``. Plain Adam on all rows, projected into the bounds: there is no
    randomness.
    """
    weights = prior.copy()
    first_moment, second_moment = np.zeros_like(weights), np.zeros_like(weights)
    best, best_loss = weights.copy(), np.inf
    for step in range(1, _STEPS + 1):
        loss, gradient = _loss(lists, weights, aim.places)
        loss += aim.strength * float(((weights - prior) ** 2).sum())
        gradient += 2 * aim.strength * (weights - prior)
        if loss < best_loss:
            best, best_loss = weights.copy(), loss
        first_moment = _DECAY[0] * first_moment + (1 - _DECAY[0]) * gradient
        second_moment = _DECAY[1] * second_moment + (1 - _DECAY[1]) * gradient**2
        direction = first_moment / (1 - _DECAY[0] ** step)
        size = np.sqrt(second_moment / (1 - _DECAY[1] ** step)) + 1e-8
        weights = np.clip(weights - _RATE * direction / size, low, high)
    return best


def _loss(lists: Lists, weights: Floats, places: float) -> tuple[float, Floats]:
    scores = (lists.signals @ weights.astype(np.float32)).astype(np.float64)
    sizes = np.diff([*lists.first, len(scores)])
    scores = scores - np.repeat(np.maximum.reduceat(scores, lists.first), sizes)
    odds = np.exp(scores)
    others = np.add.reduceat(np.where(lists.gold, 0.0, odds), lists.first) / places
    golds = np.add.reduceat(lists.gold.astype(np.float64), lists.first)
    share = np.repeat(1.0 / golds, sizes) / len(golds)
    beside = np.repeat(others, sizes)
    chance = np.where(lists.gold, odds / (odds + beside), 1.0)
    loss = float(-(share * np.log(np.maximum(chance, 1e-300)))[lists.gold].sum())
    # d loss / d score: chance - 1 for gold; for another, its odds over each gold's denominator, summed.
    inverse = np.add.reduceat(np.where(lists.gold, share / (odds + beside), 0.0), lists.first)
    slope = np.where(lists.gold, share * (chance - 1.0), odds / places * np.repeat(inverse, sizes))
    return loss, (slope.astype(np.float32) @ lists.signals).astype(np.float64)
