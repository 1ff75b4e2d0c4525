"""Extract the tables of an index from files."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import offsets_of
from repo_map.index.schema import COLUMNS, DECODED_FROM, SPACES, VOCABULARIES, Tables, from_arrays
from repo_map.index.strings import StringTable, encode
from repo_map.languages.language import Structure
from repo_map.languages.registry import language_named
from repo_map.limits import Limits
from repo_map.parsing.facts_model import Binding, Site
from repo_map.parsing.values import Definition, FileSymbols, Reference
from repo_map.sources.file_kinds import FileFlag, flags_of_content, flags_of_path
from repo_map.sources.files import DIGEST_BYTES, ReadFile
from repo_map.text.terms import count_terms
from repo_map.text.token_estimates import DefinitionLines, FileText, estimate_files
from repo_map.text.units import FileUnits, read_units

_NO_DIGEST = bytes(DIGEST_BYTES)
_BINARY, _SECRETS, _UNPARSED = map(int, (FileFlag.BINARY, FileFlag.SECRETS, FileFlag.UNPARSED))
_NO_SYMBOLS = FileSymbols("", (), (), (), ())
_TYPE_CODES = {"<i8": "q", "<i4": "i", "|u1": "B"}


ReadSymbols = Callable[[bytes, str, Limits], FileSymbols]
"""Reads the symbols of one source at a path."""
_ReadSource = Callable[[bytes, str], FileSymbols]


def extract(files: Iterable[ReadFile], limits: Limits, read: ReadSymbols) -> Tables:
    """Return the tables of files, given in path order; a parser's failure costs one file's symbols."""
    builder = _Builder(lambda source, path: read(source, path, limits))
    for file in files:
        builder.add(file)
    return builder.finish()


class _FileValues(NamedTuple):
    """The values that the columns take from one file."""

    flags: int
    """Bits of ``FileFlag``."""
    lines: int
    symbols: FileSymbols
    units: FileUnits
    text: bytes
    """What is priced."""
    notes: list[str]


class _Builder:
    """Columns that grow by one file at a time; names stay text until all are known."""

    def __init__(self, read: _ReadSource) -> None:
        self._read = read
        self._paths: list[bytes] = []
        self._numbers = {c.name: array(_TYPE_CODES[c.dtype]) for c in COLUMNS if not c.vocabulary}
        self._names: dict[str, list[str]] = {column.name: [] for column in COLUMNS if column.vocabulary}
        self._counts = {space.name: array("q") for space in SPACES}
        self._texts: list[str] = []
        """Of each field of each unit in turn."""
        self._priced: list[FileText] = []

    def add(self, file: ReadFile) -> None:
        reading = _read(file, self._read)
        self._paths.append(encode(file.path))
        self._numbers["files.size"].append(file.size)
        self._numbers["files.lines"].append(reading.lines)
        self._names["files.language"].append(reading.symbols.language)
        self._numbers["files.flags"].append(reading.flags)
        self._numbers["files.digest"].frombytes(file.digest or _NO_DIGEST)
        symbols, units = reading.symbols, reading.units
        self._add_symbols(symbols)
        for field in ("start", "end", "definition", "kind"):
            self._numbers[f"units.{field}"].extend(getattr(units, field))
        self._texts += units.texts
        self._counts["units"].append(len(units.start))
        self._priced.append(FileText(reading.text, symbols.language, len(symbols.definitions)))
        self._names["notes.message"] += reading.notes
        self._counts["notes"].append(len(reading.notes))

    def _add_symbols(self, symbols: FileSymbols) -> None:
        self._add_rows("symbols", Definition._fields, symbols.definitions)
        self._add_rows("references", Reference._fields, symbols.references)
        self._add_rows("sites", Site._fields, symbols.facts.sites)
        self._add_rows("bindings", Binding._fields, symbols.facts.bindings)
        for module, names, line in symbols.imports:
            self._names["imports.module"].append(module)
            self._numbers["imports.line"].append(line)
            self._names["imports.name"] += names
            self._counts["import_names"].append(len(names))
        self._counts["imports"].append(len(symbols.imports))

    def _add_rows(self, space: str, fields: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
        """Add rows whose fields are called as the columns."""
        self._counts[space].append(len(rows))
        if not rows:
            return
        for field, values in zip(fields, zip(*rows, strict=True), strict=True):
            column = f"{space}.{field}"
            if column in self._names:
                self._names[column] += values
            else:
                self._numbers[column].extend(values)

    def finish(self) -> Tables:
        """Replace names by their ids in the sorted vocabularies, and return all tables."""
        paths = StringTable.of_sorted_bytes(self._paths)
        arrays: dict[str, NDArray[np.generic]] = {"paths.starts": paths.starts, "paths.blob": paths.blob}
        for space in SPACES:
            if space.name != "postings":
                arrays[space.offsets] = offsets_of(np.frombuffer(self._counts[space.name], np.int64))
        columns: dict[str, NDArray[Any]] = {
            name: np.frombuffer(values, values.typecode) for name, values in self._numbers.items()
        }
        columns["costs.levels"], columns["costs.definitions"] = estimate_files(
            self._priced,
            DefinitionLines(
                self._names["symbols.kind"],
                *(columns[f"symbols.{field}"] for field in DefinitionLines._fields[1:]),
            ),
        )
        tables: dict[str, StringTable] = {}
        for vocabulary in VOCABULARIES:
            named = [c.name for c in COLUMNS if c.vocabulary == vocabulary and c.space != "postings"]
            tables[vocabulary] = _number([self._names[name] for name in named], named, columns)
        tables["terms"] = self._finish_postings(arrays, columns)
        for vocabulary, table in tables.items():
            arrays[f"{vocabulary}.starts"], arrays[f"{vocabulary}.blob"] = table.starts, table.blob
        for column in COLUMNS:
            values = columns[column.name].astype(column.dtype, copy=False)
            arrays[column.name] = values if column.width == 1 else values.reshape(-1, column.width)
        return from_arrays(arrays)

    def _finish_postings(
        self, arrays: dict[str, NDArray[np.generic]], columns: dict[str, NDArray[Any]]
    ) -> StringTable:
        """Count the terms of all units at once, and return the vocabulary."""
        postings = count_terms(self._texts)
        number = len(self._numbers["units.start"])
        starts = offsets_of(np.bincount(postings.units, minlength=number))
        counted = offsets_of(postings.counts)
        arrays["postings.unit_start"] = starts
        columns["postings.term"] = postings.term_ids
        columns["postings.field"] = postings.fields
        columns["postings.count"] = postings.counts
        columns["units.length"] = counted[starts[1:]] - counted[starts[:-1]]
        return StringTable.of_sorted(postings.terms)


def _number(texts: list[list[str]], names: list[str], columns: dict[str, NDArray[Any]]) -> StringTable:
    """Store the ids of ``texts`` in ``columns`` under ``names``, and return their vocabulary."""
    vocabulary = sorted(set(chain.from_iterable(texts)))
    ids = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    for name, column in zip(names, texts, strict=True):
        columns[name] = np.fromiter(map(ids.__getitem__, column), np.int32, len(column))
    return StringTable.of_sorted(vocabulary)


def _read(file: ReadFile, read: _ReadSource) -> _FileValues:
    """Read one file; a failure costs its symbols and is noted, but never fails the index."""
    path, source = file.path, file.source
    flags = int(flags_of_path(path))  # Flags take ten times as long to combine.
    notes = [file.problem] if file.problem else []
    if file.encoding:
        notes.append(f"{DECODED_FROM}{file.encoding}")
    if source is None:
        flags |= int(file.unread)
    else:
        flags |= int(flags_of_content(source, path))
        flags |= _SECRETS if file.secrets else 0
    text = b"" if source is None or flags & _BINARY else source
    if not text:
        return _unread(flags, notes, text, path)
    try:
        symbols = read(text, path)
        units = read_units(text, symbols, path)
    except Exception as error:
        notes.append(f"the parser failed on it ({type(error).__name__}: {error})")
        return _unread(flags | _UNPARSED, notes, text, path)
    notes.extend(symbols.problems)
    is_plain = language_named(symbols.language).structure is Structure.PLAIN
    if symbols.problems or is_plain or not symbols.language:
        flags |= _UNPARSED
    return _FileValues(flags, _count_lines(text), symbols, units, text, notes)


def _unread(flags: int, notes: list[str], text: bytes, path: str) -> _FileValues:
    return _FileValues(
        flags, _count_lines(text), _NO_SYMBOLS, read_units(b"", _NO_SYMBOLS, path), text, notes
    )


def _count_lines(text: bytes) -> int:
    return text.count(b"\n") + (not text.endswith(b"\n") and bool(text))
