"""How likely it is, unit by unit, that the goal's work touches it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.ranking.corpus import Floats, Ints
from repo_map.sources.file_kinds import FileKind, is_run_as_test
from repo_map.text.terms import terms_of, tokenize
from repo_map.text.units import CLASS_HEADER, FUNCTION, GAP

if TYPE_CHECKING:
    from repo_map.ranking.goal import ParsedGoal
    from repo_map.ranking.score import ScoredUnit

_CALLED: Final = re.compile(r"(\w+)\(\)")
_CALLED_CHANCE: Final = 0.36
"""Chance of a function that the goal writes as a call, and"""
_MAX_NAMESAKES: Final = 2
"""so few have its name; the likeliest unit's is about as large."""
_INLINE_TEST_SHARE: Final = 0.1
"""Share of its chance that a test has within a source of Rust: a fix seldom edits the tests alone."""
_INLINE_TESTS: Final = ("tests.", "test.")
_GUESSED_NAME: Final = 1.5
"""What a definition of a guessed name gains in log odds, the less the more have that name."""
_GUESSED_PART: Final = 0.5
"""What it gains for each guess that shares all of its words, or all of the guess's, up to two."""
_GUESSED_OWNER: Final = 0.5
"""What a member of a guessed class gains. These three lift the edited functions shown whole from .38 to .42
on 40 development tasks (`docs/results.md`)."""


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


def with_hints(units: Sequence[ScoredUnit], goal: ParsedGoal) -> tuple[ScoredUnit, ...]:
    """Return units with chances that heed what a goal calls, which names were guessed, and inline tests."""
    called = set(_CALLED.findall(goal.text))
    counts = Counter(_leaf(unit) for unit in units if _is_code(unit))
    wants_tests = FileKind.TESTS in goal.aims.kinds
    guesses = _Guesses(goal.names)

    def read(unit: ScoredUnit) -> ScoredUnit:
        if unit.path.endswith(".rs") and unit.name.startswith(_INLINE_TESTS) and not wants_tests:
            return unit._replace(chance=_INLINE_TEST_SHARE * unit.chance)
        name = _leaf(unit)
        chance = unit.chance
        if name in called and _is_code(unit) and counts[name] <= _MAX_NAMESAKES:
            chance = max(chance, _CALLED_CHANCE)
        if goal.names and unit.name:
            chance = _raised(chance, guesses.gain(unit.name, max(counts[name], 1)))
        return unit._replace(chance=chance)

    return tuple(map(read, units))


class _Guesses:
    """The names that a caller guesses to be in the code."""

    def __init__(self, names: Sequence[str]) -> None:
        leaves = [re.split(r"[.:#]+", name)[-1] for name in names]
        self._exact = {_plain(leaf) for leaf in leaves}
        self._words = [words for leaf in leaves if len(words := _words(leaf)) > 1]

    def gain(self, name: str, namesakes: int) -> float:
        """Return what a definition of a qualified name gains in log odds."""
        owner, _, leaf = name.rpartition(".")
        own = _words(leaf)
        gain = _GUESSED_NAME / (1 + math.log(namesakes)) if _plain(leaf) in self._exact else 0.0
        alike = sum(own <= words or words <= own for words in self._words) if len(own) > 1 else 0
        gain += _GUESSED_PART * min(alike, 2)
        return gain + (_GUESSED_OWNER if _plain(owner.rpartition(".")[2]) in self._exact else 0.0)


def _plain(name: str) -> str:
    return re.sub(r"\W", "", name).lower()


def _words(name: str) -> frozenset[str]:
    """Return the stemmed parts of a name."""
    found = [terms_of(word) for word in tokenize(name)]
    return frozenset(term for terms in found for term in (terms[1:] or terms))


def _raised(chance: float, gain: float) -> float:
    """Return a chance with its log odds raised."""
    odds = chance / max(1.0 - chance, 1e-9) * math.exp(gain)
    return odds / (1.0 + odds)


def _is_code(unit: ScoredUnit) -> bool:
    """Return whether a unit is a function of some lines, and no test."""
    return unit.kind == FUNCTION and unit.end > unit.start and not is_run_as_test(unit.path)


def _leaf(unit: ScoredUnit) -> str:
    return unit.name.rpartition(".")[2]
