"""A file before and after a patch: one of them stands in the tree, the other follows from the hunks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from repo_map.impact.patches import FilePatch
from repo_map.impact.placing import Placed


class OtherSide(NamedTuple):
    """The side of a file that is not in the tree."""

    text: str
    is_before: bool
    """Whether it is the file as it was, and the tree has it as the patch leaves it."""


def other_side(text: str, patch: FilePatch, places: Sequence[Placed | None]) -> OtherSide | None:
    """Return the side of a file that is not here; None where a hunk has no sure place, or they disagree.

    Args:
        text: the file as it is here.
        patch: what is done to it.
        places: of its hunks, in order.
    """
    known = [place for place in places if place is not None and place.is_whole]
    if not known or len(known) < len(patch.hunks) or len({place.is_applied for place in known}) > 1:
        return None
    is_applied = known[0].is_applied
    here, there = ("+", "-") if is_applied else ("-", "+")
    lines = text.split("\n")
    pairs = sorted(zip(known, patch.hunks, strict=True), key=lambda pair: -pair[0].first)
    for place, hunk in pairs:
        lines[place.first - 1 : place.first - 1 + len(hunk.side(here))] = hunk.side(there)
    return OtherSide("\n".join(lines), is_applied)
