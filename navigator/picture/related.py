"""Which places of an answer call, construct or override which: the lines between them in a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from repo_map.outline.sections import qualified_names
from repo_map.relations.model import RelationKind
from repo_map.relations.resolve import relations_of

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_MOST = 120
_WORDS = {RelationKind.CALL: "calls", RelationKind.OVERRIDE: "overrides", RelationKind.BASE: "extends"}


class Part(NamedTuple):
    """A stretch of a file that an answer names."""

    path: str
    name: str
    """Qualified; ``""`` for a whole file."""
    first: int
    """First line, 1-based."""
    last: int
    """Last line, inclusive."""


class PartRelation(NamedTuple):
    """That one part does something with another one."""

    source: int
    """Position of the part that does it."""
    target: int
    words: str
    """``calls``, ``overrides`` or ``extends``."""
    line: int
    """Where the source does it, 1-based."""


def links_between(index: RepoIndex, parts: Sequence[Part]) -> list[PartRelation]:
    """Return what the repository's resolved relations say between parts, in their order, each pair once."""
    found: dict[tuple[int, int], PartRelation] = {}
    owners = _Owners(index, parts)
    relations = relations_of(index)
    for at, place in enumerate(owners.places):
        if place is None:
            continue
        first, last = parts[at].first, parts[at].last
        # What the methods of a class use is theirs, where the part is its head alone.
        uses = [
            each for each in relations.used_in(place) if each.kind in _WORDS and first <= each.line <= last
        ]
        for use in (*uses, *relations.overrides_of(place)):
            for target in owners.around(use.target):
                if target != at:
                    found.setdefault((at, target), PartRelation(at, target, _WORDS[use.kind], use.line))
                    break
    return [found[pair] for pair in sorted(found)][:_MOST]


class _Owners:
    """Which definition a part is, and which parts a definition stands in."""

    def __init__(self, index: RepoIndex, parts: Sequence[Part]) -> None:
        self._index = index
        self._by_file: dict[int, list[tuple[int, Part]]] = {}
        self.places: list[tuple[int, int] | None] = []
        for at, part in enumerate(parts):
            file = index.file_id(part.path)
            self.places.append(None if file is None else self._place(file, part))
            if file is not None and part.name:
                self._by_file.setdefault(file, []).append((at, part))

    def _place(self, file: int, part: Part) -> tuple[int, int] | None:
        definitions = self._index.definitions(file)
        for row, name in enumerate(qualified_names(definitions)):
            if name == part.name and part.first <= definitions[row].start <= part.last:
                return file, row
        return None

    def around(self, place: tuple[int, int]) -> Iterator[int]:
        """Yield the parts that hold a definition, the smallest first."""
        file, row = place
        if row < 0 or file not in self._by_file:
            return
        line = self._index.definitions(file)[row].start
        holding = [
            (part.last - part.first, at)
            for at, part in self._by_file[file]
            if part.first <= line <= part.last
        ]
        yield from (at for _, at in sorted(holding))
