"""How deep YAML blocks are nested: the grammar's scanner crashes the process a little beyond 250 levels."""

from __future__ import annotations

import re
from typing import Final

DEEPEST_YAML: Final = 200
"""Levels; the scanner of tree-sitter-yaml 0.7 writes 4 bytes for each into a buffer of 1,024."""
_MARKS: Final = rb"[ \t]*(?:[-?:][ \t]+)*[-?:]?"
# A column holds two levels at most: a key, and the list below it at the same indentation.
_FAR_IN: Final = re.compile(rb"^[ \t?:-]{%d}" % (DEEPEST_YAML // 2), re.M)
_LINE_START: Final = re.compile(rb"^" + _MARKS, re.M)


def yaml_depth(source: bytes) -> int:
    """Return the levels of the deepest block, 0 where no line is far enough in for the depth to matter."""
    if _FAR_IN.search(source) is None:
        return 0
    deepest = 0
    levels: list[tuple[int, bool]] = []
    for line in _LINE_START.finditer(source):
        marks = [(at, True) for at, byte in enumerate(line[0]) if byte in b"-?:"]
        for level in (*marks, (len(line[0]), False)):
            while levels and levels[-1] >= level:
                levels.pop()
            levels.append(level)
        deepest = max(deepest, len(levels))
    return deepest
