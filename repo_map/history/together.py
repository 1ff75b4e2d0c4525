"""Which files changed together: told with its numbers, and only where it is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.history.history import History

_WIDEST: Final = 12
"""Files of a commit that ties them together; a wider one says little of any two of its files."""
_LATEST: Final = 20
"""Changes of a file that are looked at, the newest."""
_LEAST_TOGETHER: Final = 3
_LEAST_SHARE: Final = 0.25
"""Of the changes of a file, those that the other shares."""
_LEAST_LIFT: Final = 1.5
"""How much oftener than in all commits the other changes in those of the file."""


class SharedChanges(NamedTuple):
    """How often a file changed with another one."""

    other: str
    """Path of the other file."""
    together: int
    """Commits that changed both."""
    changes: int
    """Commits that changed the file, of which those are a part; at most the latest 20."""


class ChangedTogether:
    """The files that changed together, by a history's commits of at most 12 files.

    The commit that added a file is no change of it: what came in together need not change together.
    """

    def __init__(self, history: History) -> None:
        self._history = history

    def most_with(self, path: str, others: Sequence[str]) -> SharedChanges | None:
        """Return with which of ``others`` a file changed most often, the first of equals; None for none.

        It takes three commits at least, a quarter of the file's latest changes, and the other file changing
        clearly oftener in these commits than in all.
        """
        return next(iter(self.with_(path, others)), None)

    def with_(self, path: str, others: Sequence[str]) -> tuple[SharedChanges, ...]:
        """Return all of ``others`` of which that holds, the most often changed first."""
        file = self._rows.get(path)
        if file is None:
            return ()
        latest = self._commits_of(file)[:_LATEST]
        found = []
        for other in others:
            row = self._rows.get(other)
            if row is None or row == file:
                continue
            commits = self._commits_of(row)
            together = len(np.intersect1d(latest, commits, assume_unique=True))
            if together < _LEAST_TOGETHER or together < _LEAST_SHARE * len(latest):
                continue
            if together / len(latest) >= _LEAST_LIFT * len(commits) / self._narrow_commits:
                found.append(SharedChanges(other, together, len(latest)))
        return tuple(sorted(found, key=lambda each: -each.together))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self._history.paths)}

    @cached_property
    def _narrow_commits(self) -> int:
        return int(((self._history.breadth > 0) & (self._history.breadth <= _WIDEST)).sum())

    @cached_property
    def _changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The commits of each file in turn, newest first, and where each file's begin."""
        history = self._history
        counted = (history.breadth[history.file_commit] <= _WIDEST) & ~history.file_is_new
        files, commits = history.file[counted], history.file_commit[counted]
        order = np.argsort(files, kind="stable")
        return commits[order], np.searchsorted(files[order], np.arange(len(history.paths) + 1))

    def _commits_of(self, row: int) -> NDArray[np.int64]:
        commits, starts = self._changes
        return commits[starts[row] : starts[row + 1]]
