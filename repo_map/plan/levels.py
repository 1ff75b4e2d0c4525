"""The names of the levels of detail. Importing them does not load pydantic, as the plan's models do."""

from __future__ import annotations

from typing import Final

LEVEL_KEYS: Final = ("exclude", "path", "structure", "interface", "implementation")
"""Names of the levels 0 to 4 in rules on the command line."""
_LEVEL_LABELS: Final = ("left out", "path only", "outline", "signatures", "source")


def level_label(level: int) -> str:
    """Return what a level from 0 to 4 is called in text: ``source`` for 4."""
    return _LEVEL_LABELS[level]
