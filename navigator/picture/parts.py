"""Which parts of a file a map shows whole, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from repo_map.outline.sections import qualified_names
from repo_map.parsing.values import LineRange

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.blocks import Block
    from repo_map.ranking.score import Relevance


class PicturedPart(NamedTuple):
    """A definition that is shown whole."""

    name: str
    """Qualified."""
    first: int
    """First line, 1-based."""
    last: int
    """Last line, inclusive."""
    reasons: tuple[str, ...] = ()
    """The strongest first; none where the goal had none."""


class PicturedParts(NamedTuple):
    """What is shown of a file, in the order of its lines."""

    whole: tuple[PicturedPart, ...]
    """Definitions, none within another one of them."""
    lines: tuple[LineRange, ...]
    """All lines that are shown."""


Reasons = Mapping[tuple[str, str], tuple[str, ...]]
"""Of a definition, by its path and its qualified name; the strongest first."""


def reasons_of(relevance: Relevance | None) -> Reasons:
    """Return the reasons of all units that have some; of namesakes in a file those of the likeliest."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for unit in () if relevance is None else relevance.units:
        if unit.name and unit.reasons:
            found.setdefault((unit.path, unit.name), tuple(unit.reasons))
    return found


def parts_of(index: RepoIndex, block: Block, reasons: Reasons) -> PicturedParts:
    """Return the parts that a block shows whole."""
    file_id = index.file_id(block.path)
    if file_id is None:
        return PicturedParts((), block.shown)
    definitions = index.definitions(file_id)
    taken: list[int] = []
    for row, each in enumerate(definitions):
        inside = bool(taken) and each.end <= definitions[taken[-1]].end
        if not inside and block.shows(LineRange(each.start, each.end)):
            taken.append(row)
    names = qualified_names(definitions) if taken else []
    found = [
        PicturedPart(names[row], each.start, each.end, reasons.get((block.path, names[row]), ()))
        for row, each in ((row, definitions[row]) for row in taken)
    ]
    return PicturedParts(tuple(found), block.shown)
