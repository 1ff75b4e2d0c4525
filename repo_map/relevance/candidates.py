"""The files that a goal is scored on in full, as rows, and the units in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.corpus import Corpus, Floats, Ints, concatenated_ranges, summed


@dataclass(frozen=True, eq=False)
class Candidates:
    """The files that a goal is scored on in full, and their units."""

    corpus: Corpus
    files: Ints
    """Ascending file ids."""
    main: NDArray[np.bool_]
    """Whether each file is code that somebody writes for its own sake: no test, example, copy or manual."""

    @cached_property
    def main_unit(self) -> NDArray[np.bool_]:
        """Whether each unit is in such a file."""
        return self.main[self.file_row]

    @cached_property
    def units(self) -> Ints:
        """Unit ids of the candidate files, ascending."""
        starts = self.corpus.index.units.file_start
        return concatenated_ranges(starts[self.files], starts[self.files + 1])

    @cached_property
    def unit_counts(self) -> Ints:
        """How many units each candidate file has."""
        starts = self.corpus.index.units.file_start
        return starts[self.files + 1] - starts[self.files]

    @cached_property
    def file_row(self) -> Ints:
        """The row in ``files`` of each unit."""
        return np.repeat(np.arange(len(self.files)), self.unit_counts)

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

    def best_of_file(self, unit_values: Floats) -> Floats:
        """Return the largest value among each file's units, zero for files without."""
        best = np.zeros(len(self.files))
        np.maximum.at(best, self.file_row, unit_values)
        return best

    def top_of_file(self, unit_values: Floats, count: int) -> Floats:
        """Return the sum of the ``count`` largest values among each file's units."""
        order = np.lexsort((-unit_values, self.file_row))
        first = np.cumsum(self.unit_counts) - self.unit_counts
        place = np.arange(len(order)) - np.repeat(first, self.unit_counts)
        kept = order[place < count]
        return summed(self.file_row[kept], unit_values[kept], len(self.files))
