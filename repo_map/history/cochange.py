"""Find files that changed in the same commits more often than by chance."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.history.history import History

_MAX_COMMIT_FILES: Final = 12
"""Files of a commit that counts; a wider one is weak evidence for any two of its files."""
_MAX_CHANGES: Final = 20
"""The newest changes of a file that count."""
_MIN_TOGETHER: Final = 3
_MIN_SHARE: Final = 0.25
"""Minimum share of a file's changes that include the other."""
_MIN_LIFT: Final = 1.5
"""Minimum ratio of the other's frequency in the file's commits to that in all."""


class CoChange(NamedTuple):
    """The number of changes of a file together with another one."""

    other: str
    """Path of the other file."""
    together: int
    """Commits that changed both."""
    changes: int
    """Commits that changed the file, of which those are a part; at most the latest 20."""


class CoChangeIndex:
    """Index of the files that changed together, by a history's commits of at most 12 files.

    The commit that added a file is no change of it.
    """

    def __init__(self, history: History) -> None:
        self._history = history

    def partners(self, path: str, others: Sequence[str]) -> tuple[CoChange, ...]:
        """Return which of ``others`` a file changed with, most frequent first.

        It takes three commits, a quarter of the file's latest changes, and a clearly higher frequency of the
        other file in these commits than in all.
        """
        file = self._rows.get(path)
        if file is None:
            return ()
        latest = self._commits_of(file)[:_MAX_CHANGES]
        found = []
        for other in others:
            row = self._rows.get(other)
            if row is None or row == file:
                continue
            commits = self._commits_of(row)
            together = len(np.intersect1d(latest, commits, assume_unique=True))
            if together < _MIN_TOGETHER or together < _MIN_SHARE * len(latest):
                continue
            if together / len(latest) >= _MIN_LIFT * len(commits) / self._narrow_commits:
                found.append(CoChange(other, together, len(latest)))
        return tuple(sorted(found, key=lambda each: -each.together))

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {path: row for row, path in enumerate(self._history.paths)}

    @cached_property
    def _narrow_commits(self) -> int:
        return int(((self._history.file_count > 0) & (self._history.file_count <= _MAX_COMMIT_FILES)).sum())

    @cached_property
    def _changes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The commits of each file, newest first, and the start of each file's."""
        history = self._history
        counted = (history.file_count[history.file_commit] <= _MAX_COMMIT_FILES) & ~history.file_is_new
        files, commits = history.file[counted], history.file_commit[counted]
        order = np.argsort(files, kind="stable")
        return commits[order], np.searchsorted(files[order], np.arange(len(history.paths) + 1))

    def _commits_of(self, row: int) -> NDArray[np.int64]:
        commits, starts = self._changes
        return commits[starts[row] : starts[row + 1]]
