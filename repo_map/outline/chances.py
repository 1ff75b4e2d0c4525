"""The chances of units as an answer reads them: what a goal calls is meant, a source's own tests are not."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from repo_map.sources.file_kinds import FileKind, is_run_as_test
from repo_map.text.units import FUNCTION

if TYPE_CHECKING:
    from repo_map.ranking.score import Relevance, ScoredUnit

_CALLED: Final = re.compile(r"(\w+)\(\)")
_OF_CALLED: Final = 0.36
"""Chance of a function that the goal writes as a call, and"""
_NAMESAKES: Final = 2
"""so few bear its name; the likeliest unit's is about as large."""
_OF_INLINE_TESTS: Final = 0.1
"""Share of its chance that a test has within a source of Rust: a fix seldom edits the tests alone."""
_INLINE_TESTS: Final = ("tests.", "test.")


def with_read_chances(relevance: Relevance) -> Relevance:
    """Return the scores with chances that heed how the goal writes a name and where a test stands."""
    called = set(_CALLED.findall(relevance.goal.text))
    bearers = Counter(_leaf(unit) for unit in relevance.units if _is_code(unit))
    wants_tests = FileKind.TESTS in relevance.goal.aims.kinds

    def read(unit: ScoredUnit) -> ScoredUnit:
        if unit.path.endswith(".rs") and unit.name.startswith(_INLINE_TESTS) and not wants_tests:
            return unit._replace(chance=_OF_INLINE_TESTS * unit.chance)
        name = _leaf(unit)
        if name in called and _is_code(unit) and bearers[name] <= _NAMESAKES:
            return unit._replace(chance=max(unit.chance, _OF_CALLED))
        return unit

    return relevance._replace(units=tuple(map(read, relevance.units)))


def _is_code(unit: ScoredUnit) -> bool:
    """Say whether a unit is a function of some lines, and no test."""
    return unit.kind == FUNCTION and unit.end > unit.start and not is_run_as_test(unit.path)


def _leaf(unit: ScoredUnit) -> str:
    return unit.name.rpartition(".")[2]
