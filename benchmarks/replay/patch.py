"""What a patch edits: its files, and the lines of its hunks as they were before."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from benchmarks.replay.placing import Spot

_FILE = re.compile(r"^--- (?:a/)?(\S+)")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")


class Edited(NamedTuple):
    """What a patch touches of the files that were there."""

    files: frozenset[str]
    lines: frozenset[Spot]
    """Removed lines, and those on both sides of what was added; blank ones left out."""

    def within(self, files: Collection[str]) -> Edited:
        """Return what is touched of these files alone."""
        lines = frozenset(spot for spot in self.lines if spot.path in files)
        return Edited(self.files.intersection(files), lines)


def edited_by(patch: str, paths: frozenset[str]) -> Edited:
    """Read a unified diff; files that were not in the tree are left out."""
    files: set[str] = set()
    spots: set[Spot] = set()
    path, number, before = "", 0, None
    fresh = False
    for line in patch.split("\n"):
        if match := _FILE.match(line):
            path = match[1] if match[1] in paths else ""
            files |= {path} if path else set()
        elif match := _HUNK.match(line):
            number, before, fresh = int(match[1]), None, False
        elif path and line[:1] in (" ", "-", "") and not line.startswith("---"):
            spot = Spot(path, number) if line[1:].strip() else None
            if line[:1] == "-" or fresh:
                spots |= {spot} if spot else set()
            before, fresh, number = spot, False, number + 1
        elif path and line.startswith("+") and not line.startswith("+++"):
            spots |= {before} if before else set()
            fresh = True
    return Edited(frozenset(files), frozenset(spots))
