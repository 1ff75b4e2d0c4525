"""What the past tells about a repository, in flat columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The last commits of HEAD, newest first: what they said and which files and lines they touched.

    Rows of variable length are flat: commit ``c`` has ``file[file_start[c]:file_start[c + 1]]`` and so on.
    Files are rows of ``paths`` under the names of today; those that are gone are left out. Commits of more
    than 30 files keep their message but touch nothing.
    """

    head: str
    """The commit that this history ends with."""
    paths: tuple[str, ...]
    """Every file of HEAD, sorted."""
    terms: tuple[str, ...]
    """The vocabulary of the messages (``relevance.terms``)."""
    subjects: tuple[str, ...]
    """First line of each message."""
    time: NDArray[np.int64]
    """Commit time in seconds since 1970."""
    breadth: NDArray[np.int32]
    """Number of files that the commit touched, those gone today included."""
    file_start: NDArray[np.int64]
    file: NDArray[np.int32]
    touch_start: NDArray[np.int64]
    """Touches are hunks, moved to where their lines stand in HEAD."""
    touch_file: NDArray[np.int32]
    touch_first: NDArray[np.int32]
    """First line, 1-based."""
    touch_last: NDArray[np.int32]
    touch_size: NDArray[np.int32]
    """Lines removed plus lines added."""
    term_start: NDArray[np.int64]
    term: NDArray[np.int32]
    term_count: NDArray[np.float32]
    """Occurrences in the message, those in the subject twice."""
    complete: bool = True
    """Whether all that was asked for was read before the time was up."""

    def __len__(self) -> int:
        return len(self.subjects)

    @cached_property
    def file_commit(self) -> NDArray[np.int64]:
        """The commit of each entry of ``file``."""
        return _owners(self.file_start)

    @cached_property
    def touch_commit(self) -> NDArray[np.int64]:
        """The commit of each touch."""
        return _owners(self.touch_start)

    @cached_property
    def term_commit(self) -> NDArray[np.int64]:
        """The commit of each entry of ``term``."""
        return _owners(self.term_start)

    @cached_property
    def term_row(self) -> dict[str, int]:
        """Row of each term of the vocabulary."""
        return {term: at for at, term in enumerate(self.terms)}

    @cached_property
    def age(self) -> NDArray[np.float64]:
        """Days between each commit and the newest: relative, so that no clock matters."""
        return np.asarray((self.time.max(initial=0) - self.time) / 86_400.0, np.float64)

    def align(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """Return, for each row of ``self.paths``, its position in ``paths``, or -1 where it has none."""
        position = {path: at for at, path in enumerate(paths)}
        return np.array([position.get(path, -1) for path in self.paths], np.int64)


def _owners(starts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))
