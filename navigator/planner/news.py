"""News: the parts of a file's block that its reader does not hold yet, with what tells where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from repo_map.outline.rendering import ELISION, number_lines, without_number

HELD: Final = f"{ELISION} as before"
"""Stands for lines that the reader was given before; no line of source begins so."""
_LEAST_RUN: Final = 12
"""Letters and digits that lines must have in common to be the same lines, and not merely alike."""
_SHORT_GAP: Final = 2
"""Held lines between new ones that are shown again rather than left out."""
_MOSTLY: Final = 0.85
"""Share of a block's characters from which on it is sent whole."""


def news_in(block: str, earlier: Sequence[str]) -> str:
    """Return what of a file's block is in none of its earlier blocks, below its header; ``""`` for nothing.

    Each new part stands below the lines that enclose it, and ``HELD`` stands for what is left out between.
    """
    if block.rstrip() in map(str.rstrip, earlier):
        return ""
    header, *lines = block.rstrip().split("\n")
    body = list(map(without_number, lines))
    held = [not line.strip() or line.startswith(ELISION) for line in body]
    for other in dict.fromkeys(earlier):
        for at in _held_lines(list(map(without_number, other.rstrip().split("\n")[1:])), body):
            held[at] = True
    hunks = list(_hunks(body, held))
    if not hunks:
        return "" if earlier else header
    if sum(len(line) for first, last in hunks for line in body[first:last]) >= _MOSTLY * sum(map(len, body)):
        return block.rstrip()
    shown = list(_drawn(body, hunks))
    numbered = number_lines(header, lines)
    return "\n".join([header, *_news_lines(shown, lines, numbered)])


def _news_lines(shown: Sequence[int | str], lines: Sequence[str], numbered: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a block at the places that are shown; the first after a gap tells its number."""
    after_gap = False
    for each in shown:
        if isinstance(each, str):
            yield each
        else:
            yield (numbered if after_gap else lines)[each]
        after_gap = each == HELD


def _held_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[int]:
    """Yield the places in ``new`` whose lines stand in ``old`` in the same order."""
    for _, start, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        run = range(start, start + size)
        if sum(len(re.sub(r"[\W_]", "", new[at])) for at in run) >= _LEAST_RUN:
            yield from run


def _hunks(body: Sequence[str], held: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first line and the one after the last of each run of new lines, short gaps closed."""
    first = last = -1
    for at, is_held in enumerate(held):
        if is_held:
            continue
        between = body[last:at]
        if first >= 0 and (len(between) > _SHORT_GAP or any(line.startswith(ELISION) for line in between)):
            yield first, last
            first = at
        first, last = (at if first < 0 else first), at + 1
    if first >= 0:
        yield first, last


def _drawn(body: Sequence[str], hunks: Sequence[tuple[int, int]]) -> Iterator[int | str]:
    """Yield the places of the hunks' lines, each hunk below what encloses it, and what stands between."""
    shown = 0
    for first, last in hunks:
        lead = first - 1 if first and body[first - 1].startswith(ELISION) else first
        around = [at for at in _enclosing(body, first) if at >= shown]
        for at in (*around, lead):
            if at > shown and not (at == lead and lead < first):
                yield HELD
            if at < lead:
                yield at
                shown = at + 1
        yield from range(lead, last)
        shown = last
        if last < len(body) and body[last].startswith(ELISION):
            yield ELISION
            shown = last + 1


def _enclosing(body: Sequence[str], first: int) -> list[int]:
    """Return the places of the lines that a part stands below, by their indentation, outermost first."""
    depth = _indent(next((line for line in body[first:] if line.strip()), ""))
    found: list[int] = []
    for at in range(first - 1, -1, -1):
        line = body[at]
        if line.strip() and not line.startswith(ELISION) and _indent(line) < depth:
            found.append(at)
            depth = _indent(line)
        if depth == 0:
            break
    return found[::-1]


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
