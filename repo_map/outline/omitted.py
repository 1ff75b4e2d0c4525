"""The closing line of a map: how many files it leaves out, and where they are."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from repo_map.outline.render_cache import memo_of
from repo_map.outline.rendering import render_closing, render_path

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.text.tokens import TokenEncoding

_MOST_FOLDERS = 5
_LEAST_BUDGET_FOR_FOLDERS = 200


class OmittedSummary:
    """Counts what a map does not show of the files that its plan lets in."""

    def __init__(self, index: Index, let_in: NDArray[np.bool_], budget: int, encoding: TokenEncoding) -> None:
        """Build one for a map of ``budget`` tokens; ``let_in`` marks the plan's files, shape (files,)."""
        self._let_in = let_in
        self._budget = budget
        self._memo = memo_of(index, encoding)
        self._names, self._folder = index.memo(_top_folders)

    def line_without(self, shown: list[int]) -> str:
        """Return the closing line of a map that shows these files; ``""`` when it shows all."""
        left = self._let_in.copy()
        left[shown] = False
        number = int(left.sum())
        if not number:
            return ""
        if self._budget < _LEAST_BUDGET_FOR_FOLDERS:
            return render_closing(number)
        counts = np.bincount(self._folder[left], minlength=len(self._names))
        order = np.lexsort((np.arange(len(counts)), -counts))[:_MOST_FOLDERS]
        places = [f"{counts[i]:,} {self._names[i]}" for i in order.tolist() if counts[i]]
        others = number - int(counts[order].sum())
        return render_closing(number, [*places, *([f"{others:,} elsewhere"] if others else [])])

    def counts_without(self, shown: list[int]) -> tuple[int, ...]:
        """Return the tokens of that line by vocabulary."""
        return self._memo.counts(self.line_without(shown))

    def number_without(self, shown: list[int]) -> int:
        """Return how many files a map that shows these leaves out."""
        left = self._let_in.copy()
        left[shown] = False
        return int(left.sum())


def _top_folders(index: Index) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of the folders of the first level, and each file's among them, shape (files,)."""
    paths = index.paths
    ids: dict[str, int] = {}
    folder = np.zeros(len(paths), dtype=np.int64)
    first = 0
    while first < len(paths):
        name = paths[first][: paths[first].find("/") + 1]
        # Paths are sorted, so that a folder's files stand together: before the character after the slash.
        last = bisect_left(paths, f"{name[:-1]}0", first) if name else first + 1
        folder[first:last] = ids.setdefault(name, len(ids))
        first = last
    names = [f"under {render_path(name)}" if name else "at the top" for name in ids]
    return names, folder
