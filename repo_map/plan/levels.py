"""The levels of detail by name: the one owner of what they are called."""

from __future__ import annotations

from typing import Final

WRITTEN: Final = ("exclude", "path", "structure", "interface", "implementation")
"""What a rule on the command line may call levels 0 to 4."""
_TOLD: Final = ("left out", "path only", "outline", "signatures", "source")


def level_word(level: int) -> str:
    """Return what a reader is told of a level from 0 to 4: ``source`` for 4."""
    return _TOLD[level]
