"""How sure the choice is, and what would make it surer."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from repo_map.relevance.corpus import Floats, Ints
from repo_map.relevance.signals import Signals


class Surety(StrEnum):
    """How likely the first files hold what the goal needs."""

    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"
    NOTHING = "nothing"


class Sufficiency(NamedTuple):
    """A judgement of the choice, for the report."""

    surety: Surety
    confidence: float
    """Calibrated share of goals like this whose files were all among the first five, between 0 and 1."""
    notes: tuple[str, ...]
    """What speaks for and against, in sentences."""
    coverage: float
    """Share of the goal's identifiers, paths and names that the repository has; 1 where the goal has none."""
    missing: tuple[str, ...]
    """Identifiers of the goal that the repository lacks."""
    ambiguous: tuple[str, ...]
    """Identifiers that several definitions bear."""


def judge(signals: Signals, scores: Floats, order: Ints) -> Sufficiency:
    """Judge how sure the choice is."""
    return Sufficiency(Surety.LIKELY, 0.5, (), 1.0, (), ())
