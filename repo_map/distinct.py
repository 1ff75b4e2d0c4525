"""Sorted values, each once. ``np.unique`` imports masked arrays for that, which takes longer than to sort."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])


def distinct(values: _Array) -> _Array:
    """Return the values of one dimension, ascending, each once."""
    ordered = np.sort(values)
    return ordered[first_of_each(ordered)]  # type: ignore[return-value]  # numpy's types lose the variable


def first_of_each(ordered: NDArray[Any]) -> NDArray[np.int64]:
    """Return the position of the first of each stretch of equal values."""
    return np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1]))[: len(ordered)])
