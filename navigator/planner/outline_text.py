"""The outline as lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from repo_map.messages import one_line
from repo_map.outline.why import short_name

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry

SUREST: Final = "* surest"
"""Tells what the mark of a place means."""
STAR: Final = re.compile(r"^\d+\* ", re.M)
"""A place with that mark, in the lines of an outline."""


def first_entries(outline: Sequence[OutlineEntry], most: int) -> list[OutlineEntry]:
    """Return at most ``most`` places in their order: the surest, then of each file in turn."""
    turns: dict[str, int] = {}
    ranked: list[tuple[bool, int, int]] = []
    for place in outline:
        turns[place.path] = turns.get(place.path, -1) + 1
        ranked.append((not place.is_sure, turns[place.path], place.number))
    kept = {number for *_, number in sorted(ranked)[:most]}
    return [place for place in outline if place.number in kept]


def outline_text(outline: Sequence[OutlineEntry], tests: str = "") -> str:
    """Return an outline as lines: each file's path, and below it a line a place; ``""`` for an empty one.

    A place is its number, its name and its lines. ``*`` marks the surest; a name that begins with a dot goes
    on in the class of the name above it. A twin in the file of the one above it stands ``there``. What runs
    the ``tests`` stands below.
    """
    lines: list[str] = []
    path = above = twin = ""
    for place in outline:
        if place.path != path:
            path, above, twin = place.path, "", ""
            more = max(each.more for each in outline if each.path == path)
            lines.append(one_line(path) + (f" ({more:,} more)" if more else ""))
        also, _, span = place.also.rpartition(":")
        same = f"same {'there' if also == twin else f'in {one_line(also)}'}:{span}" if also else ""
        twin = also or twin
        why = f": {'; '.join(filter(None, (place.why, same)))}" if place.why or same else ""
        name = short_name(place.name, above) if place.name else place.head
        mark = "*" if place.is_sure else ""
        lines.append(f"{place.number}{mark} {name} {place.first}-{place.last}{why}")
        above = place.name
    if tests and lines:
        lines.append(f"tests: {one_line(tests)}")
    return "\n".join(lines)
