"""What a file says about who means whom: its uses of names and its bindings, before anything is resolved.

A reader for each family of languages takes both from the syntax tree; ``repo_map.relations`` resolves them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Tree

from repo_map.languages.parser import CpuDeadline
from repo_map.parsing import facts_python
from repo_map.parsing.definitions import Found
from repo_map.parsing.facts_model import NO_FACTS, FileFacts, OwnerOf

FactReader = Callable[[bytes, Tree, str, Sequence[Found], OwnerOf], FileFacts]
"""From source, tree, language, definitions and their owners."""

READERS: Final[dict[str, FactReader]] = {"python": facts_python.read}
"""The reader of each language that relations are resolved for."""


def find_facts(
    source: bytes, tree: Tree, language: str, found: Sequence[Found], deadline: CpuDeadline
) -> FileFacts:
    """Read the facts of one file; none for a language without a reader."""
    reader = READERS.get(language)
    if reader is None or deadline.is_over():
        return NO_FACTS
    return reader(source, tree, language, found, owner_finder(found))


def owner_finder(found: Sequence[Found]) -> OwnerOf:
    """Return what tells the index of the innermost find around a byte, -1 where there is none."""
    starts = [item.start_byte for item in found]
    ends = [-item.minus_end_byte for item in found]
    outer: list[int] = []
    open_: list[int] = []
    for index, start in enumerate(starts):
        while open_ and ends[open_[-1]] <= start:
            open_.pop()
        outer.append(open_[-1] if open_ else -1)
        open_.append(index)

    def owner(byte: int) -> int:
        at = bisect_right(starts, byte) - 1
        while at >= 0 and ends[at] <= byte:
            at = outer[at]
        return at

    return owner
