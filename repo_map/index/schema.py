"""Columns and tables of an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.index.strings import StringTable
from repo_map.sources.file_kinds import FileFlag

DECODED_FROM = "decoded from "
"""Start of the note of a file that is not UTF-8."""

Int8 = NDArray[np.uint8]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]


LanguageIds = Int8
KindIds = Int8
StringIds = Int32
ExpressionIds = Int32
TermIds = Int32
MessageIds = Int32
"""Positions in the vocabularies of these names."""


@dataclass(frozen=True, eq=False, slots=True)
class Files:
    """One row per file, in path order."""

    size: Int64
    """Bytes."""
    lines: Int32
    language: LanguageIds
    flags: Int8
    """Bits of ``FileFlag``."""
    digest: Int8
    """Shape (n, 16): the first half of the SHA-256 of the bytes, zeros for a file listed by path only."""

    def is_test(self, file: int) -> bool:
        """Return True if a file belongs to tests."""
        return bool(int(self.flags[file]) & FileFlag.TEST)


@dataclass(frozen=True, eq=False, slots=True)
class Symbols:
    """One row per definition or heading, grouped by file, in source order."""

    file_start: Int64
    name: StringIds
    kind: KindIds
    parent: Int32
    """Row within the file, -1 at the top."""
    start: Int32
    end: Int32
    sig_start: Int32
    sig_end: Int32
    doc_start: Int32
    doc_end: Int32


@dataclass(frozen=True, eq=False, slots=True)
class References:
    """One row per name used in a definition, grouped by file."""

    file_start: Int64
    name: StringIds
    definition: Int32
    """Row of ``symbols`` within the file, -1 at the top."""
    count: Int32


@dataclass(frozen=True, eq=False, slots=True)
class Imports:
    """One row per import, grouped by file; its names are ``name[name_start[i] : name_start[i + 1]]``."""

    file_start: Int64
    module: StringIds
    line: Int32
    name_start: Int64
    name: StringIds


@dataclass(frozen=True, eq=False, slots=True)
class Sites:
    """One row per use of a name (``parsing.facts_model.Site``), grouped by file, by line."""

    file_start: Int64
    name: StringIds
    receiver: ExpressionIds
    definition: Int32
    """Row of ``symbols`` within the file, -1 at the top."""
    line: Int32
    kind: Int8
    indent: Int8


@dataclass(frozen=True, eq=False, slots=True)
class Bindings:
    """One row per binding of a name (``parsing.facts_model.Binding``), grouped by file, by line."""

    file_start: Int64
    name: StringIds
    value: ExpressionIds
    definition: Int32
    """Row of ``symbols`` within the file, -1 at the top."""
    line: Int32
    kind: Int8
    indent: Int8


@dataclass(frozen=True, eq=False, slots=True)
class Units:
    """One row per relevance unit, grouped by file."""

    file_start: Int64
    start: Int32
    end: Int32
    definition: Int32
    """Row of ``symbols`` within the file, -1 for a gap."""
    kind: Int8
    """0 function, 1 class header, 2 gap."""
    length: Int32
    """Sum of the counts of the unit's postings."""


@dataclass(frozen=True, eq=False, slots=True)
class Postings:
    """One row per term and field of a unit, grouped by unit."""

    unit_start: Int64
    term: TermIds
    field: Int8
    """0 name, 1 signature, 2 docs, 3 strings, 4 body."""
    count: Int8


@dataclass(frozen=True, eq=False, slots=True)
class Costs:
    """Estimated tokens of files and definitions."""

    levels: Int32
    """Shape (files, 5): tokens of each file at levels 0 to 4."""
    definitions: Int32
    """Shape (symbols, 3): tokens of each definition at levels 2, 3 and 4."""


@dataclass(frozen=True, eq=False, slots=True)
class Notes:
    """Problems of reading and parsing files, grouped by file."""

    file_start: Int64
    message: MessageIds


@dataclass(frozen=True, eq=False, slots=True)
class Tables:
    """All tables of a tree, without its location on disk."""

    paths: StringTable
    languages: StringTable
    kinds: StringTable
    strings: StringTable
    expressions: StringTable
    terms: StringTable
    messages: StringTable
    files: Files
    symbols: Symbols
    references: References
    imports: Imports
    sites: Sites
    bindings: Bindings
    units: Units
    postings: Postings
    costs: Costs
    notes: Notes

    def __len__(self) -> int:
        return len(self.paths)


_GROUPS: dict[str, Any] = {
    kind.__name__.lower(): kind
    for kind in (Files, Symbols, References, Imports, Sites, Bindings, Units, Postings, Costs, Notes)
}


class Column(NamedTuple):
    """Description of one array, for merging and storing."""

    name: str
    """Group and field: ``symbols.name``."""
    dtype: str
    space: str
    """Whose rows it has."""
    vocabulary: str
    """Whose ids it holds, if any."""
    width: int


class Space(NamedTuple):
    """A kind of row, and the column of offsets that says which of them belong to a row of its parent."""

    name: str
    parent: str
    offsets: str


VOCABULARIES = ("languages", "kinds", "strings", "expressions", "terms", "messages")
_TYPES = {
    "Int8": ("|u1", ""),
    "Int32": ("<i4", ""),
    "Int64": ("<i8", ""),
    "LanguageIds": ("|u1", "languages"),
    "KindIds": ("|u1", "kinds"),
    "StringIds": ("<i4", "strings"),
    "ExpressionIds": ("<i4", "expressions"),
    "TermIds": ("<i4", "terms"),
    "MessageIds": ("<i4", "messages"),
}
"""Type of the numbers, and the vocabulary whose ids they are."""
_FIELDS = {f"{group}.{each.name}": str(each.type) for group, kind in _GROUPS.items() for each in fields(kind)}
_OFFSETS = {"file_start": "files", "unit_start": "units", "name_start": "imports"}
"""Parents of the rows by the names of their offsets."""
_OTHER_SPACES = {
    "imports.name_start": "import_names",
    "imports.name": "import_names",
    "costs.levels": "files",
    "costs.definitions": "symbols",
}
"""The spaces that are not named as their groups."""
_WIDTHS = {"files.digest": 16, "costs.levels": 5, "costs.definitions": 3}


def _space_of(name: str) -> str:
    return _OTHER_SPACES.get(name, name.partition(".")[0])


SPACES = tuple(
    Space(_space_of(name), _OFFSETS[field], name)
    for name in _FIELDS
    if (field := name.partition(".")[2]) in _OFFSETS
)
COLUMNS = tuple(
    Column(name, _TYPES[kind][0], _space_of(name), _TYPES[kind][1], _WIDTHS.get(name, 1))
    for name, kind in _FIELDS.items()
    if name.partition(".")[2] not in _OFFSETS
)
_TABLES = ("paths", *VOCABULARIES)


def to_arrays(tables: Tables) -> dict[str, NDArray[np.generic]]:
    """Return every array of ``tables`` by name, string tables as two arrays each, in a fixed order."""
    arrays: dict[str, NDArray[np.generic]] = {}
    for name in _TABLES:
        table: StringTable = getattr(tables, name)
        arrays[f"{name}.starts"] = table.starts
        arrays[f"{name}.blob"] = table.blob
    for name in (*(space.offsets for space in SPACES), *(column.name for column in COLUMNS)):
        arrays[name] = array_of(tables, name)
    return arrays


def array_of(tables: Tables, name: str) -> NDArray[Any]:
    """Return one array by the name that ``COLUMNS`` and ``SPACES`` give it."""
    group, field = name.split(".")
    array: NDArray[Any] = getattr(getattr(tables, group), field)
    return array


def from_arrays(arrays: Mapping[str, NDArray[np.generic]]) -> Tables:
    """Make tables of the arrays that ``to_arrays`` names."""
    groups = {
        group: kind(**{field: arrays[f"{group}.{field}"] for field in kind.__dataclass_fields__})
        for group, kind in _GROUPS.items()
    }
    tables = {name: StringTable(arrays[f"{name}.starts"], arrays[f"{name}.blob"]) for name in _TABLES}  # type: ignore[arg-type]
    return Tables(**tables, **groups)  # type: ignore[arg-type]
