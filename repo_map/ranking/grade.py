"""What the confidence in a choice is called; loaded by clients that have no engine."""

from __future__ import annotations

from enum import StrEnum


class Grade(StrEnum):
    """What a confidence is called."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    NONE = "none"
    """The goal matches nothing at all."""
