"""Learned weights and the floors of what was named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.ranking.corpus import Floats
from repo_map.ranking.features import FileColumns


class Weights(NamedTuple):
    """Linear models over named signals."""

    file: Mapping[str, float]
    unit: Mapping[str, float]
    surety: Mapping[str, float] = {"bias": 0.0}
    """Logistic model of how sure the choice is."""
    chance: Mapping[str, float] = {"bias": 0.0}
    """Logistic model of how likely each unit is part of the goal's work."""


@cache
def default_weights() -> Weights:
    """Load the weights that ship with the package."""
    text = resources.files("repo_map.ranking").joinpath("weights.json").read_text(encoding="utf-8")
    data = json.loads(text)
    return Weights(**data)


def combine(features: Mapping[str, Floats], weights: Mapping[str, float], rows: int) -> Floats:
    """Return the weighted sum of the signals; a signal that is missing counts nothing."""
    total = np.zeros(rows)
    for name, weight in weights.items():
        values = features.get(name)
        if values is not None:
            total += weight * values
    return total


_VOUCHED_FILES = 3
_VOUCHED_UNITS = 8


def hold_back_files(columns: FileColumns, scores: Floats) -> Floats:
    """Put files that no past vouches for behind the first three of main code that one does.

    Whoever may add a file chooses every word of it, so it earns any score that words can earn. It stays in
    sight: the goal's own path, or a trace, still puts it first.
    """
    is_new = are_new(columns.file)
    return _behind(scores, _in_main(columns.file) & ~is_new, ~is_new, _VOUCHED_FILES)


def hold_back_units(columns: FileColumns, scores: Floats) -> Floats:
    """Put units of such files, and those added of late to others, behind the first eight of the rest."""
    is_new = are_new(columns.unit)
    return _behind(scores, _in_main(columns.file)[columns.file_row] & ~is_new, ~is_new, _VOUCHED_UNITS)


def _in_main(file: Mapping[str, Floats]) -> NDArray[np.bool_]:
    return np.asarray((file["p.aux"] <= 0) & (file["p.gen"] == 0) & (file["p.code"] > 0))


def are_new(signals: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return which rows no past vouches for; signals that were kept before this was one have none."""
    return np.asarray(signals.get("p.new", np.zeros(len(signals["p.size"]))) > 0)


def _behind(scores: Floats, leading: NDArray[np.bool_], free: NDArray[np.bool_], places: int) -> Floats:
    """Lower what is not free to the score of the last of the first leading ones, keeping its order."""
    first = np.sort(scores[leading])[::-1][:places]
    above = np.zeros(0, np.int64) if not len(first) else np.flatnonzero(~free & (scores >= first[-1]))
    above = above[np.argsort(-scores[above], kind="stable")]
    lowered = scores.copy()
    lowered[above] = (first[-1] if len(first) else 0.0) - 1e-6 * np.arange(1, len(above) + 1)
    return lowered


_PLAINLY = 0.7
_UNMISTAKABLY = 0.95
_FILES_IN_SIGHT = 5
_UNITS_IN_SIGHT = 8


def raise_named_files(columns: FileColumns, scores: Floats) -> Floats:
    """Put files whose path the goal names first, and files whose definitions it names among the first five.

    The file where a stack trace says that it broke is the second at least: as often the fault is in one that
    called it. A test or an example that is named comes among the first five as well: it tells where the fault
    shows, seldom where it is.
    """
    if not len(scores):
        return scores
    file = columns.file
    main = (file["p.aux"] <= 0) & (file["p.gen"] == 0)
    named = file["m.path"] >= _PLAINLY
    # Among themselves they keep their order; the others stay as far behind the best as they were.
    order = (scores - scores.min()) / max(float(np.ptp(scores)), 1e-9)
    raised = np.where(named & main, scores.max() + 1e-3 * (1.0 + order), scores)
    shown = named | (main & _unmistakable(file["m.frame"], file["m.dot"], file["def.umax"]))
    in_sight = _keep_in_sight(raised, shown, _FILES_IN_SIGHT)
    return _keep_in_sight(in_sight, _crashed(file), 2)


def raise_named_units(columns: FileColumns, scores: Floats) -> Floats:
    """Put the functions that traces, links and qualified names point to among the first few."""
    if not len(scores):
        return scores
    unit = columns.unit
    main = ((columns.file["p.aux"] <= 0) & (columns.file["p.gen"] == 0))[columns.file_row]
    shown = main & _unmistakable(unit["m.frame"], unit["m.dot"], unit["def.unit"])
    return _keep_in_sight(scores, shown, _UNITS_IN_SIGHT)


def lead_with_crash(columns: FileColumns, scores: Floats) -> Floats:
    """Put the function where a stack trace says that it broke before those that called it, and all others."""
    return np.where(_crashed(columns.unit), scores.max(initial=0.0) + 1e-3, scores)


def _crashed(columns: Mapping[str, Floats]) -> NDArray[np.bool_]:
    """Return which row a trace ends in; signals that were kept before there was one have none."""
    return np.asarray(columns.get("m.crash", np.zeros(1)) > 0)


def _unmistakable(*strengths: Floats) -> NDArray[np.bool_]:
    return np.asarray(np.max(strengths, axis=0) >= _UNMISTAKABLY)


def _keep_in_sight(scores: Floats, shown: NDArray[np.bool_], places: int) -> Floats:
    """Raise what is shown to the score of the last place in sight, a little less for each that follows."""
    last = float(np.sort(scores)[::-1][min(places, len(scores)) - 1])
    below = np.flatnonzero(shown & (scores < last))
    below = below[np.argsort(-scores[below], kind="stable")][:places]
    raised = scores.copy()
    raised[below] = last + 1e-6 * np.arange(len(below), 0, -1)
    return raised
