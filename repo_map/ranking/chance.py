"""How likely it is, unit by unit, that the goal's work touches it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repo_map.ranking.corpus import Floats, Ints
from repo_map.text.units import CLASS_HEADER, GAP


def chance_signals(scores: Floats, places: Ints, kinds: Ints, confidence: float) -> dict[str, Floats]:
    """Return what tells how likely each unit is, best first.

    Args:
        scores: of the units, shape (units,), descending.
        places: of each unit's file in the order of the files, from 0; shape (units,).
        kinds: of each unit, as ``repo_map.text.units`` counts them; shape (units,).
        confidence: that the first of them hold the goal's work, 0 to 1.
    """
    count = len(scores)
    return {
        "bias": np.ones(count),
        "behind": scores - scores.max(initial=-np.inf) if count else scores,
        "place": np.log1p(np.arange(count)),
        "file": np.log1p(places),
        "gap": (kinds == GAP).astype(np.float64),
        "head": (kinds == CLASS_HEADER).astype(np.float64),
        "confidence": np.full(count, confidence),
    }


def chances_of(signals: Mapping[str, Floats], weights: Mapping[str, float]) -> Floats:
    """Return each unit's calibrated chance, 0 to 1, that the goal's work touches it: a logistic model."""
    total = sum(weights.get(name, 0.0) * values for name, values in signals.items())
    return np.asarray(1.0 / (1.0 + np.exp(-np.asarray(total, np.float64))))
