"""Which lines of which files a context holds, whoever made it."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.replay.placing import Source, Spot, place
from benchmarks.scoring import ELISIONS, GUTTER, sections_of


def held_lines(context: str, paths: frozenset[str], read: Callable[[str], str]) -> frozenset[Spot]:
    """Return the lines of the tree that a context shows, blank ones left out.

    Args:
        context: code below lines that name its file.
        paths: the files of the tree.
        read: gives a file's text.
    """
    sections = sections_of(context, paths)
    held: set[Spot] = set()
    for path, parts in sections.by_path.items():
        source = Source(path, read(path))
        for start, end in parts:
            shown = [GUTTER.sub("", line) for line in sections.lines[start + 1 : end]]
            shown = [line if line.strip() not in ELISIONS else "" for line in shown]
            held.update(spot for spot in place(shown, {path: source}) if spot)
    return frozenset(held)
