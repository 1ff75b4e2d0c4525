"""Names and reasons in the few words that a header or an outline has room for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from repo_map.messages import one_line

_SHARED: Final = re.compile(r"^its (?:name|path|text|name and text) match(?:es)? (?=(?:a part of )?`)")
"""Before the words that a place shares with the goal: there is no room for where."""
_SAYS_LITTLE: Final = re.compile(
    r"^(?:in a likely file$|defines `|is `|changed by past"
    r"|likely code uses|uses names)"
)
"""What the name that stands beside it says as well, or what is too weak to choose by."""
_FRAME: Final = re.compile(r"^on the stack trace\b.*")
MOST_CHARACTERS: Final = 30
"""Of a reason in a header: a header holds little but its path."""
_LONGEST_NAMED: Final = 48
"""Of one that ends with a long name."""


def brief_reason(reasons: Sequence[str]) -> str:
    """Return the strongest reason in a few words; ``""`` where it tells no more than the place does.

    Of words that a place shares with the goal its own name and lines tell.
    """
    reason = _FRAME.sub("on the trace", one_line(next(iter(reasons), "")))
    return "" if _SAYS_LITTLE.match(reason) or _SHARED.match(reason) else reason


def header_reason(reasons: Sequence[str]) -> str:
    """Return the strongest reason as a header tells it: ``called by Session.send``; may be ``""``."""
    return clipped(brief_reason(reasons).replace("`", ""))


def clipped(reason: str) -> str:
    """Return a reason that is short enough for a header, cut after a whole word or item."""
    if len(reason) <= MOST_CHARACTERS:
        return reason
    kept = reason[: MOST_CHARACTERS + 1]
    for mark in (", ", " "):
        head, found, _ = kept.rpartition(mark)
        if found and len(head) > MOST_CHARACTERS // 2:
            return head if mark == ", " else f"{head}…"
    whole = f"{reason} ".find(" ", MOST_CHARACTERS)
    # Half a name tells nobody which one it is.
    return reason[:whole].rstrip(",") if whole <= _LONGEST_NAMED else f"{reason[: MOST_CHARACTERS - 1]}…"


def short_name(name: str, above: str) -> str:
    """Return a name as it stands below another: ``.send`` below ``Session.close``."""
    owner, dot, leaf = name.rpartition(".")
    within = above == owner or above.startswith(f"{owner}.")
    return one_line(f".{leaf}" if dot and within else name)
