"""Logistic models of what is likely: learned, tried on other repositories, and told as a table."""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.corpus import Floats

_RIDGE = 1.0
_ROUNDS = 30


class OfRepository(Protocol):
    """An example that knows its repository."""

    @property
    def repo(self) -> str:
        """``OWNER/NAME``."""
        ...


Example = TypeVar("Example", bound=OfRepository)
Model = TypeVar("Model")


def fit(values: Floats, right: NDArray[np.bool_]) -> Floats:
    """Return the weights of a logistic model by Newton's method; the ridge spares the first, the bias."""
    weights = np.zeros(values.shape[1])
    ridge = _RIDGE * np.diag([0.0] + [1.0] * (len(weights) - 1))
    for _ in range(_ROUNDS):
        chance = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (chance - right) + ridge @ weights
        curve = (values * (chance * (1 - chance))[:, None]).T @ values + ridge
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def fit_signals(signals: Iterable[Mapping[str, Any]], right: NDArray[np.bool_]) -> dict[str, float]:
    """Return the weight of each signal; a signal of an example is a number or a column of numbers."""
    blocks = [{name: np.atleast_1d(column) for name, column in each.items()} for each in signals]
    names = list(blocks[0])
    values = np.concatenate([np.stack([block[name] for name in names], axis=1) for block in blocks])
    return {name: round(float(weight), 3) for name, weight in zip(names, fit(values, right), strict=True)}


def by_fold(
    examples: Sequence[Example], folds: Mapping[str, int], learn: Callable[[Sequence[Example]], Model]
) -> dict[str, Model]:
    """Return for each repository what ``learn`` makes of the examples of the other folds."""
    learned = {
        fold: learn([each for each in examples if folds[each.repo] != fold])
        for fold in sorted(set(folds.values()))
    }
    return {repo: learned[fold] for repo, fold in folds.items()}


def table(
    what: str, said: Floats, right: NDArray[Any], bounds: Mapping[str, float] | Sequence[float]
) -> list[str]:
    """Return how often something was right by how likely it was said to be.

    ``bounds`` are the least chances of the bands, ascending; as a mapping, with a word for each.
    """
    least = list(bounds.values()) if isinstance(bounds, Mapping) else list(bounds)
    words = list(bounds) if isinstance(bounds, Mapping) else []
    lines = [f"{'said':15s} {what:>8s}  mean   right"]
    for place, (low, high) in enumerate(itertools.pairwise([*least, np.inf])):
        chosen = (said >= low) & (said < high)
        if chosen.any():
            word = words[place] if words else f"{low:.2f} to {min(high, 1.0):.2f}"
            lines.append(
                f"{word:15s} {int(chosen.sum()):8d}  {said[chosen].mean():.3f}  {right[chosen].mean():.3f}"
            )
    return lines


def brier(said: Floats, right: NDArray[Any]) -> float:
    """Return the mean square of what was said less what was true."""
    return float(np.mean((said - right) ** 2))


class WeightsFile:
    """The weights file that a command learns a part of, and the folder of rows that it learns from."""

    def __init__(self, description: str | None) -> None:
        parser = argparse.ArgumentParser(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        parser.add_argument("--rows", type=Path, required=True, help="folder of the tasks' signals")
        parser.add_argument("--weights", type=Path, required=True, help="weights file")
        parser.add_argument(
            "--write", action="store_true", help="put what is learned from all tasks into the weights file"
        )
        arguments = parser.parse_args()
        self.rows: Path = arguments.rows
        self.writes: bool = arguments.write
        self._path: Path = arguments.weights
        self.parts: dict[str, Any] = json.loads(self._path.read_text(encoding="utf-8"))

    def save(self, learned: Mapping[str, Any]) -> None:
        """Put ``learned`` beside the file's other parts."""
        text = json.dumps(self.parts | dict(learned), indent=2)
        self._path.write_text(text + "\n", encoding="utf-8")
