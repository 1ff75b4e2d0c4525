"""How what a hook has to say is written: our words outside the fence, the repository's inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from repo_map.messages import counted, one_line, quoted
from repo_navigator.hooks.likely_places import LikelyPlace
from repo_navigator.hooks.search_answer import SearchAnswer

_MOST_OF_FACTS: Final = 600
"""Characters, of which four are about a token."""
_LONGEST_LINE: Final = 200
MOST_OF_A_SEARCH: Final = 400
"""Characters that are said of a search."""
_MOST_OF_PLACES: Final = 1_200
"""Characters that are said of likely places: some 300 tokens."""
MOST_OF_FINDINGS: Final = 200
"""Tokens that are said after an edit."""
FRAME_OF_FINDINGS: Final = 40
"""Of them those that are no finding."""


def search_text(found: SearchAnswer) -> str:
    """Return what is said of a search, within its characters; empty where not even one line fits."""
    lines = [one_line(line) for line in found.lines]
    while lines:
        text = f"Repo Navigator: {found.lead}\n{quoted(chr(10).join(lines))}"
        if len(text) <= MOST_OF_A_SEARCH:
            return text
        shorter = lines[-1].rpartition(", ")[0]
        if shorter:
            lines[-1] = shorter
        else:
            lines.pop()
    return ""


def facts_text(facts: Sequence[str]) -> str:
    """Return what is said at the start of a session; empty where there is nothing to say."""
    lines = [one_line(each)[:_LONGEST_LINE] for each in facts]
    while lines and sum(map(len, lines)) + len(lines) > _MOST_OF_FACTS:
        lines.pop()
    return f"Repo Navigator, on this repository:\n{quoted(chr(10).join(lines))}" if lines else ""


def findings_text(lines: Sequence[str], more: int) -> str:
    """Return what is said after an edit; ``more`` findings have no room."""
    rest = f"\n{counted(more, 'more finding')}: repo-navigator check" if more else ""
    return f"Repo Navigator, on the code after the last edit:\n{quoted(chr(10).join(lines))}{rest}"


def places_text(places: Sequence[LikelyPlace]) -> str:
    """Return what is said of likely places, each file's below its path; empty where there are none."""
    lines: list[str] = []
    path = ""
    for place in places:
        head = [] if place.path == path else [one_line(place.path)]
        line = f"{place.first}-{place.last} {one_line(place.name)}"[:_LONGEST_LINE]
        if sum(map(len, (*lines, *head, line))) + len(lines) > _MOST_OF_PLACES:
            break
        lines += [*head, line]
        path = place.path
    lead = "Repo Navigator: not looked at yet, and likely about the prompt:"
    return f"{lead}\n{quoted(chr(10).join(lines))}" if lines else ""
