"""Keeps numpy's linear algebra to one thread: nothing here multiplies matrices that are worth more."""

from __future__ import annotations

from typing import Final

ONE_THREAD: Final = {"OPENBLAS_NUM_THREADS": "1"}
"""What OpenBLAS reads when numpy is first imported: it would start a thread for every core there and then."""
