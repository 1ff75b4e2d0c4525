"""Whether columns that came from elsewhere say what columns of ours could say."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from repo_map.distinct import distinct
from repo_map.indexing.fact_packing import Lists, Packed, are_whole
from repo_map.indexing.fact_tables import bindings_of, sites_of
from repo_map.indexing.schema import COLUMNS, SPACES, VOCABULARIES, Tables, array_of
from repo_map.indexing.shared_notes import is_decided_by_bytes
from repo_map.indexing.snapshot import SnapshotError, decode_snapshot
from repo_map.indexing.strings import StringTable
from repo_map.languages.kinds import KINDS
from repo_map.languages.registry import LANGUAGES
from repo_map.parsing.facts_model import NARROWED, PARAMETERS

_LINES: Final = ("start", "end", "sig_start", "sig_end", "doc_start", "doc_end")
_BELOW: Final = {"units.kind": 3, "postings.field": 5}
_NOT_NEGATIVE: Final = ("files.size", "files.lines", "references.count", "units.length", "costs.levels")
_CONTINUES: Final = 0x80
_LAST_LINE: Final = re.compile(r"\d{1,9}:", re.ASCII)
_COUNT: Final = re.compile(r"\d{1,9}[+-]?", re.ASCII)


def read_untrusted(encoded: bytes) -> Tables:
    """Return the tables of a snapshot that another machine wrote.

    A digest tells that the bytes are whole, not who wrote them. So each column must have its type and its
    length, and each number must lie where the code that uses it expects it: such tables may be wrong, but
    nothing that is looked up in them is missing.

    Raises:
        SnapshotError: they are no such tables.
    """
    try:
        tables = decode_snapshot(encoded)
        _require(_has_types(tables), "a column of another type")
        for name in ("paths", *VOCABULARIES):
            _require(_is_vocabulary(getattr(tables, name)), f"no table of strings: {name}")
        _require(_has_rows(tables), "rows that don't add up")
        _require(_has_ids(tables), "an id of nothing")
        _require(_has_places(tables), "a place outside its file")
        _require(_has_facts(tables), "facts that can't be read")
    except (ValueError, TypeError, OverflowError, IndexError, AttributeError, MemoryError) as error:
        # What the bytes of arrays claim is first believed by numpy, which says in many ways that it can't be.
        raise SnapshotError(f"no columns ({type(error).__name__})") from error
    return tables


def _require(is_sound: bool, what: str) -> None:
    if not is_sound:
        raise SnapshotError(what)


def _has_types(tables: Tables) -> bool:
    def fits(name: str, dtype: str, width: int = 1) -> bool:
        array = array_of(tables, name)
        return array.dtype.str == dtype and array.shape[1:] == (() if width == 1 else (width,))

    strings = [getattr(tables, name) for name in ("paths", *VOCABULARIES)]
    return (
        all(fits(column.name, column.dtype, column.width) for column in COLUMNS)
        and all(fits(space.offsets, "<i8") for space in SPACES)
        and all(table.starts.dtype.str == "<u4" and table.starts.ndim == 1 for table in strings)
        and all(table.blob.dtype.str == "|u1" and table.blob.ndim == 1 for table in strings)
    )


def _is_vocabulary(table: StringTable) -> bool:
    """Say whether a table holds distinct strings in order, each of them UTF-8."""
    starts, blob = table.starts.astype(np.int64), table.blob
    if not _are_offsets(starts, len(blob)):
        return False
    try:
        bytes(blob).decode()
    except UnicodeDecodeError:
        return False
    begins = blob[starts[:-1][starts[:-1] < len(blob)]]
    return not np.any(begins & 0xC0 == _CONTINUES) and all(a < b for a, b in pairwise(table.iter_bytes()))


def _has_rows(tables: Tables) -> bool:
    """Say whether every space has as many rows as its offsets tell, and every column as many as its space."""
    rows = {"files": len(tables)}
    for space in SPACES:
        offsets = array_of(tables, space.offsets)
        if len(offsets) != rows[space.parent] + 1 or not _are_offsets(offsets, int(offsets[-1])):
            return False
        rows[space.name] = int(offsets[-1])
    return all(len(array_of(tables, column.name)) == rows[column.space] for column in COLUMNS)


def _are_offsets(offsets: NDArray[Any], end: int) -> bool:
    return len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == end and bool(np.all(np.diff(offsets) >= 0))


def _has_ids(tables: Tables) -> bool:
    vocabularies = all(
        _within(array_of(tables, column.name), 0, len(getattr(tables, column.vocabulary)) - 1)
        for column in COLUMNS
        if column.vocabulary
    )
    known = KINDS.issuperset(tables.kinds) and {"", *LANGUAGES}.issuperset(tables.languages)
    # Notes are told to users: they are sentences of ours.
    return vocabularies and known and all(map(is_decided_by_bytes, tables.messages))


def _has_places(tables: Tables) -> bool:
    """Say whether lines and definitions that a file's rows name are the file's."""
    symbols, lines = tables.symbols, tables.files.lines.astype(np.int64)
    starts = symbols.file_start
    counts = np.diff(starts)
    in_symbols, in_references, in_units = (
        np.diff(offsets) for offsets in (starts, tables.references.file_start, tables.units.file_start)
    )
    own = np.arange(len(symbols.parent)) - np.repeat(starts[:-1], in_symbols)
    ends = [np.repeat(lines + 1, rows) for rows in (in_symbols, in_units, np.diff(tables.imports.file_start))]
    return (
        _within(symbols.parent, -1, own - 1)
        and all(_within(getattr(symbols, field), 0, ends[0]) for field in _LINES)
        and _within(tables.references.definition, -1, np.repeat(counts, in_references) - 1)
        and _within(tables.units.definition, -1, np.repeat(counts, in_units) - 1)
        and _within(tables.units.start, 0, ends[1])
        and _within(tables.units.end, 0, ends[1])
        and _within(tables.imports.line, 0, ends[2])
        and all(_within(array_of(tables, name), 0, below - 1) for name, below in _BELOW.items())
        and all(_within(array_of(tables, name), 0, None) for name in (*_NOT_NEGATIVE, "costs.definitions"))
    )


def _has_facts(tables: Tables) -> bool:
    facts = tables.facts
    names, texts = Lists(facts.name_start, facts.name), Lists(facts.text_start, facts.text)
    packed = (Packed(facts.site_start, facts.site), Packed(facts.binding_start, facts.binding))
    if not all(are_whole(each, names, texts) for each in packed):
        return False
    counts = np.diff(tables.symbols.file_start)
    lines = tables.files.lines.astype(np.int64)
    bindings = bindings_of(facts)
    for rows in (sites_of(facts), bindings):
        in_file = np.diff(rows.file_start)
        if not _within(rows.definition, -1, np.repeat(counts, in_file) - 1):
            return False
        if not _within(rows.line, 0, np.repeat(lines + 1, in_file)):
            return False
    # What of a fact's texts is read as a number.
    narrowed = distinct(bindings.value[bindings.kind == NARROWED])
    counted = distinct(bindings.name[bindings.kind == PARAMETERS])
    return all(map(_LAST_LINE.match, tables.expressions.many(narrowed))) and all(
        map(_COUNT.fullmatch, tables.strings.many(counted))
    )


def _within(values: NDArray[Any], least: int, most: NDArray[Any] | int | None) -> bool:
    return bool(np.all(values >= least)) and (most is None or bool(np.all(values <= most)))
