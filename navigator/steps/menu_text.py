"""The menu as lines of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from repo_map.messages import one_line

if TYPE_CHECKING:
    from navigator.records.reports import MenuPlace


def menu_text(menu: Sequence[MenuPlace]) -> str:
    """Return a menu as lines: each file's path, and below it a line a place; ``""`` for an empty one."""
    lines: list[str] = []
    path = ""
    for place in menu:
        if place.path != path:
            path = place.path
            lines.append(one_line(path))
        why = f": {place.why}" if place.why else ""
        lines.append(f"{place.number} {place.first}-{place.last} {place.head} +{place.tokens:,}{why}")
    return "\n".join(lines)
