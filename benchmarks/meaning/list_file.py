"""The lists of one repository: goals, and for each the candidates to choose from; and their file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from benchmarks.meaning.corpus import Floats, Ints

FEATURES = ("words", "title", "names", "past", "length")


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of one repository; matrices have one column per term of the vocabulary."""

    goals: csr_matrix
    """Source weight times rarity of each term, each row of length 1."""
    units: csr_matrix
    """Saturated frequency (BM25F) times rarity of each term."""
    names: csr_matrix
    """1 for each term of the unit's name."""
    signatures: csr_matrix
    lengths: Floats
    """Postings of each unit."""
    candidates: Ints
    """Rows of ``units``: of each list first the changed ones, then the others."""
    starts: Ints
    """First candidate of each list, and the number of candidates at the end."""
    changed: Ints
    """How many candidates of each list were changed."""
    features: Floats
    """Shape (candidates, len(FEATURES))."""

    @property
    def owner(self) -> Ints:
        """The list of each candidate."""
        return np.repeat(np.arange(len(self.changed)), np.diff(self.starts))


_MATRICES = ("goals", "units", "names", "signatures")


def save_lists(lists: Lists, path: Path) -> None:
    """Write lists to a file."""
    arrays: dict[str, Any] = {}
    for name, value in vars(lists).items():
        if name in _MATRICES:
            arrays |= {f"{name}.data": value.data, f"{name}.at": value.indices, f"{name}.row": value.indptr}
            arrays[f"{name}.shape"] = np.array(value.shape)
        else:
            arrays[name] = value
    np.savez(path, **arrays)


def load_lists(path: Path) -> Lists:
    """Read lists that ``save_lists`` wrote."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    matrices = {
        name: csr_matrix(
            (arrays[f"{name}.data"], arrays[f"{name}.at"], arrays[f"{name}.row"]),
            shape=tuple(arrays[f"{name}.shape"]),
        )
        for name in _MATRICES
    }
    return Lists(**matrices, **{name: value for name, value in arrays.items() if "." not in name})
