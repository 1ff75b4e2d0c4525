"""Files in, tables out: what each file's bytes say, gathered column by column."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.indexing.tables import COLUMNS, SPACES, VOCABULARIES, Tables, from_arrays
from repo_map.indexing.vocabulary import StringTable, encode
from repo_map.pricing.costs import FileCosts, price_file
from repo_map.relevance.units import FileUnits, read_units
from repo_map.symbols import FileSymbols, read_symbols
from repo_map.worktree.file_flags import FileFlag, flags_of_content, flags_of_path
from repo_map.worktree.files import DIGEST_BYTES, ReadFile

_NO_DIGEST = bytes(DIGEST_BYTES)
_NO_SYMBOLS = FileSymbols("", (), (), (), ())
_TYPE_CODES = {"<i8": "q", "<i4": "i", "|u1": "B"}


def extract(files: Iterable[ReadFile]) -> Tables:
    """Parse files, given in path order, and gather what they say."""
    builder = _Builder()
    for file in files:
        builder.add(file)
    return builder.finish()


class _Reading(NamedTuple):
    """Everything that the columns take from one file."""

    flags: FileFlag
    lines: int
    symbols: FileSymbols
    units: FileUnits
    costs: FileCosts
    notes: list[str]


class _Ids(dict[str, int]):
    """Numbers strings in the order of their first use."""

    def __missing__(self, string: str) -> int:
        self[string] = number = len(self)
        return number


class _Builder:
    """Columns that grow by one file at a time."""

    def __init__(self) -> None:
        self._paths: list[bytes] = []
        self._columns = {column.name: array(_TYPE_CODES[column.dtype]) for column in COLUMNS}
        self._counts = {space.name: array("q") for space in SPACES}
        self._ids = {name: _Ids() for name in VOCABULARIES}
        # Postings number units and terms within their file; `finish` renumbers all of them at once.
        self._posting_unit, self._posting_counts = array("i"), array("q")
        self._file_terms, self._term_counts = array("i"), array("q")

    def add(self, file: ReadFile) -> None:
        reading = _read(file)
        self._paths.append(encode(file.path))
        self._append("files.size", file.size)
        self._append("files.lines", reading.lines)
        self._append("files.language", self._ids["languages"][reading.symbols.language])
        self._append("files.flags", int(reading.flags))
        self._columns["files.digest"].frombytes(file.digest or _NO_DIGEST)
        self._add_symbols(reading.symbols)
        self._add_units(reading.units)
        self._add_costs(reading.costs)
        self._extend("notes.message", self._number("messages", reading.notes))
        self._counts["notes"].append(len(reading.notes))

    def _add_symbols(self, symbols: FileSymbols) -> None:
        if symbols.definitions:
            names, kinds, *lines = zip(*symbols.definitions, strict=True)
            self._extend("symbols.name", self._number("strings", names))
            self._extend("symbols.kind", self._number("kinds", kinds))
            fields = ("parent", "start", "end", "sig_start", "sig_end", "doc_start", "doc_end")
            for field, values in zip(fields, lines, strict=True):
                self._extend(f"symbols.{field}", values)
        if symbols.references:
            names, definitions, counts = zip(*symbols.references, strict=True)
            self._extend("references.name", self._number("strings", names))
            self._extend("references.definition", definitions)
            self._extend("references.count", counts)
        for module, names, line in symbols.imports:
            self._append("imports.module", self._ids["strings"][module])
            self._append("imports.line", line)
            self._extend("imports.name", self._number("strings", names))
            self._counts["import_names"].append(len(names))
        self._counts["symbols"].append(len(symbols.definitions))
        self._counts["references"].append(len(symbols.references))
        self._counts["imports"].append(len(symbols.imports))

    def _add_units(self, units: FileUnits) -> None:
        for field in ("start", "end", "definition", "kind"):
            self._extend(f"units.{field}", getattr(units, field))
        self._extend("postings.term", units.posting_term)
        self._extend("postings.field", units.posting_field)
        self._extend("postings.count", units.posting_count)
        self._posting_unit.extend(units.posting_unit)
        self._file_terms.extend(self._number("terms", units.terms))
        self._counts["units"].append(len(units.start))
        self._term_counts.append(len(units.terms))
        self._posting_counts.append(len(units.posting_term))

    def _add_costs(self, costs: FileCosts) -> None:
        self._extend("costs.levels", costs.levels)
        for definition in costs.definitions:
            self._extend("costs.definitions", definition)

    def _append(self, column: str, value: int) -> None:
        self._columns[column].append(value)

    def _extend(self, column: str, values: Iterable[int]) -> None:
        self._columns[column].extend(values)

    def _number(self, vocabulary: str, strings: Iterable[str]) -> Iterable[int]:
        return map(self._ids[vocabulary].__getitem__, strings)

    def finish(self) -> Tables:
        """Sort the vocabularies and return the columns with the ids of the sorted order."""
        arrays: dict[str, NDArray[np.generic]] = {}
        ranks: dict[str, NDArray[np.int32]] = {}
        for name, ids in self._ids.items():
            table, ranks[name] = _sort(ids)
            arrays[f"{name}.starts"], arrays[f"{name}.blob"] = table.starts, table.blob
        paths = StringTable.of_sorted_bytes(self._paths)
        arrays["paths.starts"], arrays["paths.blob"] = paths.starts, paths.blob
        for space in SPACES:
            if space.name != "postings":
                arrays[space.offsets] = _offsets(np.frombuffer(self._counts[space.name], np.int64))
        columns = {name: np.frombuffer(values, values.typecode) for name, values in self._columns.items()}
        columns |= self._finish_postings(arrays)
        for column in COLUMNS:
            values = columns[column.name].astype(column.dtype, copy=False)
            if column.vocabulary:
                values = ranks[column.vocabulary][values].astype(column.dtype, copy=False)
            arrays[column.name] = values if column.width == 1 else values.reshape(-1, column.width)
        return from_arrays(arrays)

    def _finish_postings(self, arrays: dict[str, NDArray[np.generic]]) -> dict[str, NDArray[Any]]:
        """Number units and terms over all files, and sum up the postings of each unit."""
        per_file = np.frombuffer(self._posting_counts, np.int64)
        first_unit = np.repeat(_offsets(np.frombuffer(self._counts["units"], np.int64))[:-1], per_file)
        first_term = np.repeat(_offsets(np.frombuffer(self._term_counts, np.int64))[:-1], per_file)
        units = np.frombuffer(self._posting_unit, np.int32) + first_unit
        local_terms = np.frombuffer(self._columns["postings.term"], np.int32) + first_term
        number = len(self._columns["units.start"])
        starts = _offsets(np.bincount(units, minlength=number))
        counted = _offsets(np.frombuffer(self._columns["postings.count"], np.uint8))
        arrays["postings.unit_start"] = starts
        terms = np.frombuffer(self._file_terms, np.int32)
        return {
            "postings.term": terms[local_terms],
            "units.length": counted[starts[1:]] - counted[starts[:-1]],
        }


def _offsets(counts: NDArray[Any]) -> NDArray[np.int64]:
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def _sort(ids: _Ids) -> tuple[StringTable, NDArray[np.int32]]:
    encoded = list(map(encode, ids))
    table = sorted(set(encoded))
    rank = {string: position for position, string in enumerate(table)}
    return StringTable.of_sorted_bytes(table), np.fromiter(
        map(rank.__getitem__, encoded), np.int32, len(encoded)
    )


def _read(file: ReadFile) -> _Reading:
    """Read one file whole; whatever fails on it costs its symbols and is told, but never fails the index."""
    path, source = file.path, file.source
    flags = flags_of_path(path)
    notes = [file.problem] if file.problem else []
    if source is None:
        flags |= FileFlag.LINK if file.is_link else FileFlag.TRUNCATED
    else:
        flags |= flags_of_content(source, path)
        flags |= FileFlag.SECRETS if file.secrets else FileFlag(0)
    text = b"" if source is None or flags & FileFlag.BINARY else source
    if not text:
        return _without_symbols(flags, notes, text, path)
    try:
        symbols = read_symbols(text, path)
        units = read_units(text, symbols, path)
        costs = price_file(text, symbols, path)
    except Exception as error:
        notes.append(f"the parser failed on it ({type(error).__name__}: {error})")
        return _without_symbols(flags | FileFlag.UNPARSED, notes, text, path)
    notes.extend(symbols.problems)
    if symbols.problems or not symbols.language:
        flags |= FileFlag.UNPARSED
    return _Reading(flags, _count_lines(text), symbols, units, costs, notes)


def _without_symbols(flags: FileFlag, notes: list[str], text: bytes, path: str) -> _Reading:
    costs = price_file(text, _NO_SYMBOLS, path)
    return _Reading(flags, _count_lines(text), _NO_SYMBOLS, read_units(b"", _NO_SYMBOLS, path), costs, notes)


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
