"""The units that relevance scores: outermost functions, class headers, and the gaps between them."""

from __future__ import annotations

from typing import NamedTuple


class FileUnits(NamedTuple):
    """The units of one file and their terms, as parallel sequences; what the index stores and concatenates."""

    start: list[int]
    """First line of each unit, 1-based, its comment block above included."""
    end: list[int]
    definition: list[int]
    """Index into the file's definitions, -1 for a gap."""
    kind: list[int]
    """0 function, 1 class header, 2 gap."""
    terms: list[str]
    """The file's vocabulary; a posting names a term by its position here."""
    posting_unit: list[int]
    """Unit of each posting, ascending."""
    posting_term: list[int]
    posting_field: list[int]
    """0 name, 1 signature, 2 docs, 3 strings, 4 body."""
    posting_count: list[int]
    """Occurrences, capped at 255."""
