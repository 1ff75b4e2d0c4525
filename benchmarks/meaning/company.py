"""Word vectors before any goal is seen: words are near that share functions and changes."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix, csr_matrix, vstack
from scipy.sparse.linalg import svds

from benchmarks.meaning.corpus import Floats, Repository

_MOST_UNITS = 8_000
"""Of each repository, so that large ones do not drown the others."""


def word_vectors(repositories: list[Repository], terms: int, dimensions: int) -> Floats:
    """Return vectors of mean length 1, by latent semantic analysis (Deerwester et al. 1990).

    Its documents are functions, and goals together with one function that they changed.
    """
    rows = vstack([matrix for repository in repositories for matrix in _documents(repository, terms)]).tocsr()
    rows.data[:] = 1.0
    frequency = np.bincount(rows.indices, minlength=terms)
    rows = rows.multiply(np.log((1 + rows.shape[0]) / (1 + frequency))[None, :]).tocsr()
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1))).ravel()
    rows.data /= np.repeat(np.maximum(lengths, 1e-6), np.diff(rows.indptr))
    _, strength, right = svds(rows, k=dimensions, random_state=0)
    vectors = right.T * strength**0.5
    size = np.linalg.norm(vectors, axis=1, keepdims=True)
    # What a word means is its direction; how much it says is learned.
    vectors = np.where(size > 1e-6, vectors / np.maximum(size, 1e-6), 0.0)
    return vectors.astype(np.float32)


def _documents(repository: Repository, terms: int) -> list[csr_matrix]:
    _, newest = np.unique(repository.place, return_index=True)
    units = repository.units.take(newest[:_MOST_UNITS].astype(np.int64))
    first = repository.changed[repository.changed_start[:-1]]
    changes, goals = repository.units.take(first), repository.goals
    shape = len(first), terms
    said = _matrix(goals.owner, goals.term, shape) + _matrix(changes.owner, changes.term, shape)
    return [_matrix(units.owner, units.term, (len(units.start) - 1, terms)), said]


def _matrix(row: np.ndarray, term: np.ndarray, shape: tuple[int, int]) -> csr_matrix:
    known = term < shape[1]
    return coo_matrix((np.ones(int(known.sum()), np.float32), (row[known], term[known])), shape=shape).tocsr()
