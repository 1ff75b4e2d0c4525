"""How large a plan may be, whoever wrote it; what is larger is refused before anything is done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any, Final

MOST_RULES: Final = 500
"""Verbosity rules. Every event of a navigation stores the plan: it may not grow without end."""
MOST_SECTIONS: Final = 5_000
"""Of all rules together."""
MOST_BOOSTS: Final = 2_000
"""Of paths, and of symbols."""
MOST_QUERIES: Final = 20
LONGEST_PATTERN: Final = 5_000
"""Characters; paths are shorter."""
LONGEST_QUERY: Final = 10_000
"""Characters of one custom query."""
MOST_UPDATES: Final = 2
"""Entries of an update for each that a plan may have: it may replace all of them."""


def refuse_floods(data: Any, times: int = 1) -> Any:
    """Return ``data``, a whole or partial plan as it was given; raise ValueError for one that is too large.

    ``times`` is how often more each list may hold than that of a plan.
    """
    if not isinstance(data, Mapping):
        return data
    focus = data.get("focus")
    rules = data.get("verbosity")
    _refuse("verbosity", rules, MOST_RULES * times, "use globs that name more files")
    for field in ("paths", "symbols"):
        _refuse(f"focus.{field}", _field(focus, field), MOST_BOOSTS * times, "keep those that matter most")
    queries = data.get("custom_queries")
    _refuse("custom_queries", queries, MOST_QUERIES * times, "keep those that matter most")
    listed = rules if isinstance(rules, list | tuple) else ()
    sections = sum(_size(_field(rule, "sections")) for rule in listed)
    if sections > (most := MOST_SECTIONS * times):
        raise ValueError(
            f"The rules have {sections:,} sections together, more than {most:,}; "
            "use patterns that name more parts, or show whole files"
        )
    return data


def _refuse(field: str, given: Any, most: int, advice: str) -> None:
    if _size(given) > most:
        raise ValueError(f"`{field}` has {_size(given):,} entries, more than {most:,}; {advice}")


def _size(given: Any) -> int:
    return len(given) if isinstance(given, Sized) and not isinstance(given, str | bytes) else 0


def _field(part: Any, field: str) -> Any:
    return part.get(field) if isinstance(part, Mapping) else getattr(part, field, None)
