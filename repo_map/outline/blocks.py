"""What a map is made of: the block of each file, with the lines of it that stand there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import NamedTuple

from repo_map.outline.rendering import (
    LEGEND,
    MARK,
    NUMBERED_LEGEND,
    is_closing,
    is_numbered,
    joint_legend,
    legend_of,
    path_in_header,
    render_path,
)
from repo_map.outline.sections import Shape
from repo_map.parsing.values import LineRange


class Block(NamedTuple):
    """One file's part of a map."""

    path: str
    shape: Shape
    """The level of each of its parts."""
    tokens: int
    """Exact, by the larger count of the encoding's vocabularies."""
    text: str
    """Its header line and what follows it, or its path alone; ends with a line break."""
    shown: tuple[LineRange, ...]
    """The lines of the file that stand in the text whole, in ascending order, with a gap between any two;
    blank ones beside them count as well."""

    @property
    def level(self) -> int:
        """The highest level that any part of it is shown at, 1 to 4."""
        return self.shape.highest

    def shows(self, lines: LineRange) -> bool:
        """Say whether all of some lines of the file stand in the block."""
        return any(each.first <= lines.first and lines.last <= each.last for each in self.shown)


class MapText(NamedTuple):
    """A map as the text that readers hold: file by file, and what closes it."""

    files: Mapping[str, str]
    """The text of each file's block by path, in the order in which they stand."""
    closing: str = ""
    """The line about the files that the map leaves out, with its line break; ``""`` where there is none."""

    @classmethod
    def of_blocks(cls, blocks: Iterable[Block], closing: str) -> MapText:
        """Return the text of blocks in map order: what is told by its path alone stands after the rest."""
        ordered = sorted(blocks, key=lambda block: not block.text.startswith(MARK))
        return cls({block.path: block.text for block in ordered}, closing)

    @classmethod
    def parse(cls, text: str, paths: Iterable[str]) -> MapText:
        """Cut a map that was stored as text, given its files.

        The renderer sets apart every line of source that could pass for a header, a path or the closing line,
        and drops what would end a line within one, so that a line which looks like one of them is it.
        """
        lines = text.splitlines(keepends=True)
        closing = lines.pop() if lines and is_closing(lines[-1]) else ""
        body = lines[lines[:1] in ([LEGEND], [NUMBERED_LEGEND]) :]
        awaited = {render_path(path): path for path in paths}
        files: dict[str, list[str]] = {}
        block: list[str] = []
        for line in body:
            told = path_in_header(line) or line.removesuffix("\n")
            if told in awaited:
                block = files[awaited.pop(told)] = []
            block.append(line)
        return cls({path: "".join(block) for path, block in files.items()}, closing)

    @property
    def text(self) -> str:
        """The whole map."""
        return "".join([self.legend, *self.files.values(), self.closing])

    @property
    def legend(self) -> str:
        """The line that explains the map's marks; ``""`` where there are none."""
        return joint_legend(map(legend_of, self.files.values()))

    @property
    def is_numbered(self) -> bool:
        """Whether lines tell their numbers."""
        return any(map(is_numbered, self.files.values()))

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each file begins in the text, in characters; the first where the text does."""
        ends = list(accumulate(map(len, self.files.values()), initial=len(self.legend)))
        return (0, *ends[1:-1]) if self.files else ()
