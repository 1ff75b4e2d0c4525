"""An index seen as documents: counts, lengths, candidates."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import distinct
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.ranking.goal_noise import line_said
from repo_map.text.terms import terms_in
from repo_map.text.units import NAME

if TYPE_CHECKING:
    from repo_map.index.index import Index


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Corpus:
    """An index as a collection of documents: files that hold units that hold terms."""

    index: Index

    @cached_property
    def is_code(self) -> NDArray[np.bool_]:
        """Whether each file is in a programming language, rather than prose, data or markup."""
        code = np.array(
            [language_named(name).role is LanguageRole.CODE for name in self.index.languages], np.bool_
        )
        return code[self.index.files.language]

    @cached_property
    def file_of_unit(self) -> Ints:
        """The file of each unit."""
        return np.repeat(np.arange(len(self.index.paths)), np.diff(self.index.units.file_start))

    @cached_property
    def file_length(self) -> Floats:
        """Words of each file."""
        total = np.concatenate(([0], np.cumsum(self.index.units.length, dtype=np.int64)))
        return np.diff(total[self.index.units.file_start]).astype(np.float64)

    @cached_property
    def term_postings(self) -> Ints:
        """How many postings each term has: about the number of units that hold it."""
        return np.bincount(self.index.postings.term, minlength=len(self.index.terms))

    @cached_property
    def path_terms(self) -> tuple[frozenset[str], ...]:
        """The terms of each path."""
        return tuple(terms_of_paths(self.index.paths))

    @cached_property
    def files_with_path_term(self) -> dict[str, list[int]]:
        """Term → the files whose path holds it, ascending."""
        found: dict[str, list[int]] = {}
        for file, terms in enumerate(self.path_terms):
            for term in terms:
                found.setdefault(term, []).append(file)
        return found

    @cached_property
    def files_of_name(self) -> dict[str, list[int]]:
        """Lower-case file name → its files, ascending."""
        return _files_by(path.rpartition("/")[2].lower() for path in self.index.paths)

    @cached_property
    def files_of_stem(self) -> dict[str, list[int]]:
        """Lower-case file name up to its first dot → its files, ascending."""
        return _files_by(path.rpartition("/")[2].partition(".")[0].lower() for path in self.index.paths)

    @cached_property
    def lowered_paths(self) -> tuple[str, ...]:
        """Every path in lower case, with a slash before it."""
        return tuple(f"/{path.lower()}" for path in self.index.paths)

    @cached_property
    def files_of_tail(self) -> dict[str, list[int]]:
        """End of a lower-case path, without suffix (``/models/user.``) → its files, ascending."""
        ends = ("/".join(path.split("/")[-2:]) for path in self.lowered_paths)
        return _files_by(f"/{end.rpartition('.')[0]}." for end in ends)

    @cached_property
    def file_of_symbol(self) -> Ints:
        """The file of each definition."""
        return np.repeat(np.arange(len(self.index.paths)), np.diff(self.index.symbols.file_start))

    @cached_property
    def unit_of_symbol(self) -> Ints:
        """The unit that holds each definition's first line, -1 where none does."""
        units, symbols = self.index.units, self.index.symbols
        if not len(symbols.start) or not len(units.start):
            return np.full(len(symbols.start), -1, np.int64)
        # One sorted axis for all files: file first, line second.
        span = int(max(symbols.end.max(), units.end.max())) + 2
        starts = self.file_of_unit * span + units.start
        places = self.file_of_symbol * span + symbols.sig_start
        found = np.searchsorted(starts, places, side="right") - 1
        inside = (found >= 0) & (self.file_of_unit[found] == self.file_of_symbol)
        inside &= symbols.sig_start <= units.end[found]
        return np.where(inside, found, -1)

    @cached_property
    def definition_counts(self) -> Ints:
        """How many definitions bear each string of ``index.strings``."""
        return np.bincount(self.index.symbols.name, minlength=len(self.index.strings))

    @cached_property
    def template_lines(self) -> frozenset[str]:
        """What the repository's templates of issues and pull requests ask for, by ``line_said``."""
        templates = [file for file, path in enumerate(self.lowered_paths) if TEMPLATE.search(path)]
        return frozenset(
            said
            for content in map(self.index.sources.content, templates[:MAX_TEMPLATES])
            for line in content[:MAX_TEMPLATE_BYTES].decode("utf-8", "replace").split("\n")
            if (said := line_said(line.partition(": ")[2] or line))
        )

    def units_with(self, term: str) -> Ints:
        """Return the units whose text has a term, ascending."""
        found = self.index.terms.get(term)
        postings = self.index.postings
        rows = np.flatnonzero(postings.term == (-1 if found is None else found))
        return distinct(np.searchsorted(postings.unit_start, rows, side="right") - 1)

    def unit_at(self, file: int, line: int) -> int:
        """Return the unit of a file that holds a line, -1 where none does."""
        units = self.index.units
        first, last = int(units.file_start[file]), int(units.file_start[file + 1])
        unit = first + int(np.searchsorted(units.start[first:last], line, side="right")) - 1
        return unit if unit >= first and line <= int(units.end[unit]) else -1


TEMPLATE = re.compile(r"(?:issue|pull_request|merge_request|bug_report)_?templates?(?:[/.]|$)", re.IGNORECASE)
"""In the path of a template of issues or pull requests."""
MAX_TEMPLATES, MAX_TEMPLATE_BYTES = 20, 20_000


def terms_of_paths(paths: Iterable[str]) -> Iterator[frozenset[str]]:
    """Yield the terms of each path."""
    of_folder: dict[str, frozenset[str]] = {}
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder not in of_folder:
            of_folder[folder] = terms_in(folder.replace("/", " "))
        yield of_folder[folder] | terms_in(name)


def _files_by(keys: Iterable[str]) -> dict[str, list[int]]:
    """Return the files of each key, ascending, given every file's."""
    found: dict[str, list[int]] = {}
    for file, key in enumerate(keys):
        found.setdefault(key, []).append(file)
    return found


def corpus_of(index: Index) -> Corpus:
    """Return the corpus of an index, made once."""
    return index.memo(Corpus)


def concatenated_ranges(starts: Ints, ends: Ints) -> Ints:
    """Return ``starts[0] … ends[0] - 1, starts[1] … ends[1] - 1, …`` as one array."""
    counts = ends - starts
    total = int(counts.sum())
    shifts = (
        np.repeat(starts - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) if len(counts) else starts
    )
    return np.arange(total) + shifts


def summed(rows: NDArray[Any], values: NDArray[Any], length: int) -> Floats:
    """Return the sum of the values of each row."""
    return np.asarray(np.bincount(rows, values, length), np.float64)


def scaled(values: Floats, among: NDArray[np.bool_] | None = None) -> Floats:
    """Divide by the largest value, so that every signal is between 0 and 1 within one goal.

    The largest ``among`` some rows, where any of them has a value; what exceeds it counts as 1.
    """
    largest = float(values.max(initial=0.0)) if among is None else float(values[among].max(initial=0.0))
    if largest > 0:
        return np.minimum(values / largest, 1.0)
    return values if among is None else scaled(values)


_BEST_UNITS = 5


@dataclass(frozen=True, eq=False)
class Candidates:
    """The files that a goal is scored on in full, and their units."""

    corpus: Corpus
    files: Ints
    """Ascending file ids."""
    main: NDArray[np.bool_]
    """Whether each file is code that somebody writes for its own sake: no test, example, copy or manual.

    Signals are measured by the best of them.
    """

    @cached_property
    def main_unit(self) -> NDArray[np.bool_]:
        """Whether each unit is in such a file."""
        return self.main[self.file_row]

    def rows_of(self, file_start: Ints) -> Ints:
        """Return the rows of a table that belong to the candidate files, given the first of every file."""
        return concatenated_ranges(file_start[self.files], file_start[self.files + 1])

    @cached_property
    def units(self) -> Ints:
        """Unit ids of the candidate files, ascending."""
        return self.rows_of(self.corpus.index.units.file_start)

    @cached_property
    def file_row(self) -> Ints:
        """The row in ``files`` of each unit."""
        return np.searchsorted(self.files, self.corpus.file_of_unit[self.units])

    @cached_property
    def row_of_file(self) -> Ints:
        """File id → row in ``files``, -1 for files that are no candidates."""
        rows = np.full(len(self.corpus.index.paths), -1, np.int64)
        rows[self.files] = np.arange(len(self.files))
        return rows

    @cached_property
    def row_of_unit(self) -> Ints:
        """Unit id → row in ``units``, -1 for units that are no candidates."""
        rows = np.full(len(self.corpus.index.units.start), -1, np.int64)
        rows[self.units] = np.arange(len(self.units))
        return rows

    @cached_property
    def postings(self) -> tuple[Ints, Ints]:
        """The postings of the units: rows in ``units``, and positions in ``index.postings``."""
        start = self.corpus.index.postings.unit_start
        first, last = start[self.units], start[self.units + 1]
        return np.repeat(np.arange(len(first)), last - first), concatenated_ranges(first, last)

    @cached_property
    def name_terms(self) -> tuple[Ints, Ints]:
        """The terms of the units' own names: rows in ``units``, and ids in ``index.terms``."""
        postings, (row, where) = self.corpus.index.postings, self.postings
        in_name = postings.field[where] == NAME
        return row[in_name], postings.term[where[in_name]]

    def best_of_file(self, unit_values: Floats) -> Floats:
        """Return the largest value among each file's units, zero for files without."""
        best = np.zeros(len(self.files))
        np.maximum.at(best, self.file_row, unit_values)
        return best

    def mean_of_best(self, unit_values: Floats) -> Floats:
        """Return the mean of the five largest values among each file's units; missing ones count as zero."""
        order = np.lexsort((-unit_values, self.file_row))
        place = np.arange(len(order)) - np.searchsorted(self.file_row, self.file_row)
        best = order[place < _BEST_UNITS]
        return summed(self.file_row[best], unit_values[best], len(self.files)) / _BEST_UNITS

    def name_of(self, row: int) -> str:
        """Return the qualified name of a unit, ``""`` for lines between definitions."""
        definition = int(self.corpus.index.units.definition[self.units[row]])
        file = int(self.files[self.file_row[row]])
        return self.corpus.index.qualified_name(file, definition) if definition >= 0 else ""
