"""The columns that goals and units are read in, terms or pieces of terms, and what each says there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix

from benchmarks.meaning.corpus import Bags, Floats
from benchmarks.meaning.pieces import Pieces, read_merges

NAME, SIGNATURE = 0, 1
SOURCE_WEIGHTS = np.array([2.2, 1.6, 2.0, 0.7, 0.6], np.float32)
FIELD_WEIGHTS = np.array([3.0, 2.5, 0.3, 0.3, 1.7, 1.0], np.float32)
_SATURATION, _LENGTH = 0.2, 0.35


class Vocabulary:
    """The columns of lists: whole terms, or pieces of terms."""

    def __init__(self, names: Sequence[str], pieces: Pieces | None = None) -> None:
        self.names, self._pieces = names, pieces
        self._columns = {name: column for column, name in enumerate(names)}

    def spread(self, terms: Sequence[str]) -> csr_matrix:
        """Return the columns of each term, shape (terms, columns), rows of length 1 or empty."""
        rows: list[int] = []
        columns: list[int] = []
        for row, term in enumerate(terms):
            parts = (term,) if self._pieces is None else self._pieces.split(term)
            known = [self._columns[part] for part in parts if part in self._columns]
            columns += known
            rows += [row] * len(known)
        count = np.bincount(rows, minlength=len(terms)).astype(np.float32)
        weight = 1 / np.sqrt(count[rows])
        return coo_matrix((weight, (rows, columns)), shape=(len(terms), len(self.names))).tocsr()


def read_vocabulary(folder: Path) -> Vocabulary:
    """Read the columns of the lists in a folder."""
    merges = read_merges(folder / "merges.txt")
    terms = (folder / "terms.txt").read_text("utf-8").split("\n")
    return Vocabulary(terms, Pieces(merges) if merges else None)


def goal_matrix(goals: Bags, idf: Floats, spread: csr_matrix) -> csr_matrix:
    """Return what each goal asks for; ``idf`` has one number per posting."""
    weight = (SOURCE_WEIGHTS[goals.kind] * np.maximum(idf, 0.05)).astype(np.float32)
    shape = len(goals.start) - 1, spread.shape[0]
    matrix = (coo_matrix((weight, (goals.owner, goals.term)), shape=shape).tocsr() @ spread).tocsr()
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()) + 1e-6
    matrix.data /= np.repeat(length, np.diff(matrix.indptr)).astype(np.float32)
    return matrix


def unit_matrix(bags: Bags, lengths: Floats, mean: float, idf: Floats, spread: csr_matrix) -> csr_matrix:
    """Return the saturated frequency of terms in units, times rarity, in the columns of ``spread``."""
    matrix = saturated(bags, lengths, mean, spread.shape[0])
    matrix.data *= idf[matrix.indices]
    return (matrix @ spread).tocsr()


def saturated(bags: Bags, lengths: Floats, mean: float, size: int) -> csr_matrix:
    """Return the saturated frequency of each term in each unit, as BM25F counts it."""
    frequency = (FIELD_WEIGHTS[bags.kind] * bags.count).astype(np.float32)
    shape = len(bags.start) - 1, size
    matrix = coo_matrix((frequency, (bags.owner, bags.term)), shape=shape).tocsr()
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / mean)
    matrix.data /= matrix.data + np.repeat(norm, np.diff(matrix.indptr)).astype(np.float32)
    return matrix


def field_matrix(bags: Bags, field: int, spread: csr_matrix) -> csr_matrix:
    """Return 1 for each column of ``spread`` whose terms stand in one field of a unit."""
    inside = bags.kind == field
    ones = np.ones(int(inside.sum()), np.float32)
    shape = len(bags.start) - 1, spread.shape[0]
    matrix = coo_matrix((ones, (bags.owner[inside], bags.term[inside])), shape=shape).tocsr() @ spread
    matrix.data[:] = 1
    return matrix
