"""The outline as lines of text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from repo_map.messages import one_line

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from repo_map.outline.places import Place

_MAX_OTHER_CHARS: Final = 240
"""Of the line on other places."""
_MAX_OTHER_OF_FILE: Final = 3
SUREST: Final = "* surest"
"""Explains the mark of an entry."""
STAR: Final = re.compile(r"^\d+\* ", re.M)
"""An entry with that mark, in the lines of an outline."""


def short_name(name: str, above: str) -> str:
    """Return a name as it is listed below another: ``.send`` below ``Session.close``."""
    owner, dot, leaf = name.rpartition(".")
    within = above == owner or above.startswith(f"{owner}.")
    return one_line(f".{leaf}" if dot and within else name)


def first_entries(outline: Sequence[OutlineEntry], limit: int) -> list[OutlineEntry]:
    """Return at most ``limit`` entries in their order: the surest, then of each file in turn."""
    counts: dict[str, int] = {}
    ranked: list[tuple[bool, int, int]] = []
    for entry in outline:
        counts[entry.path] = counts.get(entry.path, -1) + 1
        ranked.append((not entry.is_sure, counts[entry.path], entry.number))
    numbers = {number for *_, number in sorted(ranked)[:limit]}
    return [entry for entry in outline if entry.number in numbers]


def other_places(listed: Sequence[Place], selected: Sequence[Place]) -> str:
    """Return on one line what an index lists beside selected places, file by file, as far as it is short."""
    by_path: dict[str, list[str]] = {}
    for place in listed:
        inside = any(
            place.path == each.path and each.first <= place.last and place.first <= each.last
            for each in selected
        )
        if not inside:
            name = place.name.rpartition(".")[2]
            by_path.setdefault(place.path, []).append(f"{name} {place.first}-{place.last}".lstrip())
    line, more = "", 0
    for path, names in by_path.items():
        text = f"{one_line(path)}: {one_line(', '.join(names[:_MAX_OTHER_OF_FILE]))}"
        if len(line) + len(text) > _MAX_OTHER_CHARS:
            more += 1
            continue
        line = f"{line}; {text}" if line else text
    return f"{line}; and in {more} more files" if more and line else line


def outline_text(outline: Sequence[OutlineEntry], tests: str = "") -> str:
    """Return an outline as lines: each file's path, below it a line per entry; ``""`` for an empty one.

    A line has number, name and lines. ``*`` marks the surest; a name that begins with a dot belongs to the
    class of the name above it. A duplicate in the same file as the one above is ``there``. The command that
    runs the ``tests`` comes last.
    """
    lines: list[str] = []
    path = above = duplicate = ""
    for entry in outline:
        if entry.path != path:
            path, above, duplicate = entry.path, "", ""
            lines.append(one_line(path))
        where, _, span = entry.also.rpartition(":")
        also = f"same there:{span}" if where and where == duplicate else one_line(entry.also)
        duplicate = where or duplicate
        reasons = "; ".join(filter(None, (entry.why, also)))
        name = short_name(entry.name, above) if entry.name else entry.head
        mark, why = "*" if entry.is_sure else "", f": {reasons}" if reasons else ""
        lines.append(f"{entry.number}{mark} {name} {entry.first}-{entry.last}{why}")
        above = entry.name
    if tests and lines:
        lines.append(f"tests: {one_line(tests)}")
    return "\n".join(lines)
