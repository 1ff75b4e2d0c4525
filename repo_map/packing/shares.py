"""How a budget is shared out between bodies, signatures and bare paths."""

from __future__ import annotations

from typing import NamedTuple

_REFERENCE = 8_000


class Shares(NamedTuple):
    """Sizes that grow with the budget, more slowly than it; measured at 2k to 32k tokens."""

    paths: int
    """Files that are listed at least, most relevant first."""
    outline: int
    """Tokens for the signatures of what does not fit."""
    longest: int
    """Tokens up to which a function is shown whole."""
    windows: int
    """Tokens for the parts of a longer function."""
    units: int
    """Units that compete for the budget."""

    @classmethod
    def of(cls, budget: int) -> Shares:
        scale = budget / _REFERENCE
        return cls(
            paths=max(4, round(12 * scale**0.7)),
            outline=round(700 * min(scale, scale**0.6)),
            longest=max(round(0.8 * budget), 300),
            windows=round(700 * scale**0.6),
            units=max(300, budget // 20),
        )
