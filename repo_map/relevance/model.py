"""The weights that turn signals into scores: data in one file, learned by ``benchmarks/learn_weights.py``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from repo_map.relevance.corpus import Floats


class Weights(NamedTuple):
    """Linear models over named signals."""

    file: Mapping[str, float]
    unit: Mapping[str, float]
    surety: Mapping[str, float] = {"bias": 0.0}
    """Logistic model of how sure the choice is."""


@cache
def default_weights() -> Weights:
    """Load the weights that ship with the package."""
    text = resources.files("repo_map.relevance").joinpath("weights.json").read_text(encoding="utf-8")
    data = json.loads(text)
    return Weights(data["file"], data["unit"], data["surety"])


def combine(features: Mapping[str, Floats], weights: Mapping[str, float], rows: int) -> Floats:
    """Return the weighted sum of the signals; a signal that is missing counts nothing."""
    total = np.zeros(rows)
    for name, weight in weights.items():
        values = features.get(name)
        if values is not None:
            total += weight * values
    return total
