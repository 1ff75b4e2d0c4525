"""The five levels of detail at which a file or a section can be shown."""

from __future__ import annotations

from enum import IntEnum


class VerbosityLevel(IntEnum):
    """How much of a file, or of one of its sections, a map shows."""

    EXCLUDE = 0
    """Nothing, not even the path."""

    PATH = 1
    """The path alone."""

    STRUCTURE = 2
    """Definition lines or headings, nested."""

    INTERFACE = 3
    """Signatures, decorators, docstrings or first paragraphs, fields."""

    IMPLEMENTATION = 4
    """The source itself."""
