"""What a map is made of: the block of each file, with the lines of it that stand there."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from repo_map.drawing.rendering import is_closing, render_header
from repo_map.parsing.values import LineRange
from repo_map.selection.sections import Shape

_first = attrgetter("first")


class Block(NamedTuple):
    """One file's part of a map."""

    path: str
    shape: Shape
    """The level of each of its parts."""
    tokens: int
    """Exact, by the larger count of the encoding's vocabularies."""
    text: str
    """Its header line and what follows it; ends with a line break."""
    shown: tuple[LineRange, ...]
    """The lines of the file that stand in the text whole, in ascending order, with a gap between any two;
    blank ones beside them count as well."""

    @property
    def level(self) -> int:
        """The highest level that any part of it is shown at, 1 to 4."""
        return self.shape.highest

    def shows(self, lines: LineRange) -> bool:
        """Say whether all of some lines of the file stand in the block."""
        at = bisect_right(self.shown, lines.first, key=_first) - 1
        return at >= 0 and lines.last <= self.shown[at].last


class MapText(NamedTuple):
    """A map as the text that readers hold: file by file, and what closes it."""

    files: Mapping[str, str]
    """The text of each file's block by path, in map order."""
    closing: str = ""
    """The line about the files that the map leaves out, with its line break; ``""`` where there is none."""

    @classmethod
    def parse(cls, text: str, paths: Sequence[str]) -> MapText:
        """Cut a map that was stored as text, given its files in map order.

        The renderer sets apart every line of source that could pass for a header or for the closing line, and
        drops what would end a line within one, so that a line which looks like either is it.
        """
        lines = text.splitlines(keepends=True)
        closing = lines.pop() if lines and is_closing(lines[-1]) else ""
        files: dict[str, list[str]] = {}
        awaited = deque(paths)
        header = f"{render_header(awaited[0])}\n" if awaited else ""
        block: list[str] = []
        for line in lines:
            if line == header:
                block = files[awaited.popleft()] = []
                header = f"{render_header(awaited[0])}\n" if awaited else ""
            block.append(line)
        return cls({path: "".join(block) for path, block in files.items()}, closing)

    @property
    def text(self) -> str:
        """The whole map."""
        return "".join([*self.files.values(), self.closing])
