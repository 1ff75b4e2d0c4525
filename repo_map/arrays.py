"""Helpers on numpy arrays. ``np.unique`` imports masked arrays, which takes longer than to sort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])


def distinct(values: _Array) -> _Array:
    """Return the distinct values of a one-dimensional array in ascending order."""
    ordered = np.sort(values)
    return ordered[first_of_each(ordered)]  # type: ignore[return-value]  # numpy's types lose the variable


def first_of_each(ordered: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of the first value of each run of equal values."""
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)])


def offsets_of(counts: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    """Return the offset of each group of rows from the groups' sizes, and the total at the end."""
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    return offsets


def groups_of(offsets: NDArray[Any]) -> NDArray[np.int64]:
    """Return the group of every row, from the offsets of the groups."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def group_of_rows(offsets: NDArray[Any], rows: NDArray[Any]) -> NDArray[np.int64]:
    """Return the group of each of some rows, from the offsets of the groups."""
    return np.searchsorted(offsets, rows, side="right") - 1
