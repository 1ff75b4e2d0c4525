"""Short declarations that shown code uses: the head of its class, a struct, an options type, a constant."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from repo_map.languages.kinds import MEMBERS, TYPES
from repo_map.outline.beside import owners_of
from repo_map.outline.pieces import Piece, PieceReader
from repo_map.ranking.score import units_of
from repo_map.relations.model import Place
from repo_map.relations.resolve import relations_of
from repo_map.sources.file_kinds import FileFlag
from repo_map.text.units import CLASS_HEADER

if TYPE_CHECKING:
    from repo_map.index.index import Index

_LONGEST: Final = 10
"""Lines up to which a declaration comes along whole; of a longer class its head does."""
_WORD: Final = re.compile(r"\w+")
_DECLARED: Final = MEMBERS | TYPES | {"type"}


def declarations_of(reader: PieceReader, places: Sequence[Place]) -> Iterator[Piece]:
    """Yield the short declarations that some definitions use, in the order of ``places``.

    What a name means is told by what is written alone. Tests declare nothing that other code uses.
    """
    index = reader.index
    relations = relations_of(index)
    seen = set(places)
    with relations.asking():
        for place in places:
            used = (each.target for each in relations.used_in(place)) if relations.knows(place[0]) else ()
            for target in (*owners_of(index, place), *used, *_constants(reader, place)):
                if target in seen or target[1] < 0:
                    continue
                seen.add(target)
                if not int(index.files.flags[target[0]]) & int(FileFlag.TEST):
                    yield from _short(index, target)


def _constants(reader: PieceReader, place: Place) -> Iterator[Place]:
    """Yield the constants that a definition names, of its own file or imported by a name that one bears."""
    index, (file, row) = reader.index, place
    source, definition = reader.file(index.paths[file]), index.definitions(file)[row]
    said = set(_WORD.findall(source.cut(definition.start, definition.end)))
    for at, each in enumerate(source.definitions):
        if each.kind in MEMBERS and each.parent < 0 and each.name in said:
            yield file, at
    symbols = index.symbols
    for name in sorted(said & source.imported.keys()):
        rows = np.flatnonzero(symbols.name == index.strings.get(name)).tolist()
        if len(rows) == 1 and index.kinds[int(symbols.kind[rows[0]])] in MEMBERS:
            at = int(np.searchsorted(symbols.file_start, rows[0], "right")) - 1
            yield at, rows[0] - int(symbols.file_start[at])


def _short(index: Index, place: Place) -> Iterator[Piece]:
    """Yield the lines of a declaration, if they are few: of a class those above its first member."""
    file, row = place
    definition = index.definitions(file)[row]
    if definition.kind not in _DECLARED:
        return
    for unit in units_of(index, index.paths[file]):
        if not unit.start <= definition.sig_start <= unit.end:
            continue
        if definition.end - definition.start < _LONGEST:
            yield Piece(unit, definition.start, definition.end, 0.0)
        elif unit.kind == CLASS_HEADER and unit.end - definition.start < _LONGEST:
            yield Piece(unit, definition.start, unit.end, 0.0)
        return
