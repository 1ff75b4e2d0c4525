"""The parts of a file's block that its reader does not have yet, below the lines that enclose them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from repo_map.outline.rendering import ELISION, number_lines, without_number

UNCHANGED: Final = f"{ELISION} as before"
"""Stands for lines that the reader was given before; no line of source begins so."""
_MIN_RUN_CHARS: Final = 12
"""Letters and digits that lines must have in common to be the same lines, and not merely alike."""
_MAX_GAP: Final = 2
"""Known lines between new ones that are shown again rather than left out."""
_WHOLE_SHARE: Final = 0.85
"""Share of a block's characters from which on it is sent whole."""


def new_lines(block: str, earlier: Sequence[str]) -> str:
    """Return what of a file's block is in none of its earlier blocks, below its header; ``""`` for nothing.

    Each new part follows the lines that enclose it; ``UNCHANGED`` replaces what is left out between.
    """
    if block.rstrip() in map(str.rstrip, earlier):
        return ""
    header, *lines = block.rstrip().split("\n")
    body = list(map(without_number, lines))
    known = [not line.strip() or line.startswith(ELISION) for line in body]
    for other in dict.fromkeys(earlier):
        old = list(map(without_number, other.rstrip().split("\n")[1:]))
        for _, start, size in SequenceMatcher(None, old, body, autojunk=False).get_matching_blocks():
            run = range(start, start + size)
            if sum(len(re.sub(r"[\W_]", "", body[at])) for at in run) >= _MIN_RUN_CHARS:
                known[start : start + size] = [True] * size
    hunks = list(_hunks(body, known))
    if not hunks:
        return "" if earlier else header
    new = sum(len(line) for first, last in hunks for line in body[first:last])
    if new >= _WHOLE_SHARE * sum(map(len, body)):
        return block.rstrip()
    numbered = number_lines(header, lines)
    found, after_gap = [header], False
    for each in _with_enclosing(body, hunks):
        if isinstance(each, str):
            found.append(each)
        else:
            # The first line after a gap has its number.
            found.append((numbered if after_gap else lines)[each])
        after_gap = each == UNCHANGED
    return "\n".join(found)


def _hunks(body: Sequence[str], known: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first line and the one after the last of each run of new lines, short gaps closed."""
    first = last = -1
    for at, is_known in enumerate(known):
        if is_known:
            continue
        between = body[last:at]
        if first >= 0 and (len(between) > _MAX_GAP or any(line.startswith(ELISION) for line in between)):
            yield first, last
            first = at
        first, last = (at if first < 0 else first), at + 1
    if first >= 0:
        yield first, last


def _with_enclosing(body: Sequence[str], hunks: Sequence[tuple[int, int]]) -> Iterator[int | str]:
    """Yield the positions of the hunks' lines, each hunk below what encloses it, and the marks between."""
    shown = 0
    for first, last in hunks:
        lead = first - 1 if first and body[first - 1].startswith(ELISION) else first
        around = [at for at in _enclosing(body, first) if at >= shown]
        for at in (*around, lead):
            if at > shown and not (at == lead and lead < first):
                yield UNCHANGED
            if at < lead:
                yield at
                shown = at + 1
        yield from range(lead, last)
        shown = last
        if last < len(body) and body[last].startswith(ELISION):
            yield ELISION
            shown = last + 1


def _enclosing(body: Sequence[str], first: int) -> list[int]:
    """Return the positions of the lines that enclose a part by their indentation, outermost first."""
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
