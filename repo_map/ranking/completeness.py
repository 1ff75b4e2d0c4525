"""How likely an answer holds every function that the goal's work edits: what it may say of itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

SURE: Final = 8
"""Of ten such packets, how many are complete at least where one is called sure."""
LIKELY: Final = 5
_SHORT_FUNCTION: Final = 100
"""Tokens."""
_NEARLY: Final = 0.01


class Evidence(StrEnum):
    """What a packet's chance to be complete is called."""

    SURE = "sure"
    LIKELY = "likely"
    UNSURE = "unsure"
    NOTHING = "nothing"
    """The goal matches nothing at all."""


class Completeness(NamedTuple):
    """Calibrated chances, 0 to 1, about all functions that the goal's work edits."""

    shown: float
    """That the packet shows them all whole."""
    reached: float
    """That it shows them or lists them on its menu."""

    @property
    def evidence(self) -> Evidence:
        """What ``shown`` is called."""
        shown = in_ten(self.shown)
        if shown >= SURE:
            return Evidence.SURE
        return Evidence.LIKELY if shown >= LIKELY else Evidence.UNSURE


def completeness_signals(confidence: float, tokens: int) -> dict[str, float]:
    """Return what tells how complete an answer is.

    Args:
        confidence: that the first units hold every function of the goal's work, 0 to 1.
        tokens: of its code, at least 0.
    """
    kept = min(max(confidence, _NEARLY), 1 - _NEARLY)
    return {
        "bias": 1.0,
        "found": math.log(kept / (1 - kept)),
        "size": math.log1p(tokens / _SHORT_FUNCTION),
    }


def completeness(
    signals: Mapping[str, float], shown: Mapping[str, float], reached: Mapping[str, float]
) -> Completeness:
    """Return the chances that two logistic models give."""
    first, second = (
        1 / (1 + math.exp(-sum(weights.get(name, 0.0) * value for name, value in signals.items())))
        for weights in (shown, reached)
    )
    return Completeness(first, max(first, second))


def in_ten(chance: float) -> int:
    """Return in how many of ten such cases it is so: 1 to 9, for none of it is certain."""
    return min(max(round(10 * chance), 1), 9)
