"""The history of a place: that of its repository, or of several, as one under the paths that it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from repo_map.history.history import History, read_history
from repo_map.index.store import Store
from repo_map.sources.source import FileSource


def history_of(
    place: FileSource, *, store: Store | None = None, is_wanted: Callable[[], bool] | None = None
) -> History | None:
    """Read the history of a place, of each of its repositories as ``read_history`` does; None for none."""
    read = [
        (part.prefix, read_history(part.root, part.ref, store=store, is_wanted=is_wanted))
        for part in place.parts
    ]
    return join_histories([(prefix, history) for prefix, history in read if history is not None])


def latest_history(place: FileSource, commits: int, seconds: float) -> History | None:
    """Read the latest ``commits`` of a place, for ``seconds`` at most, and keep nothing."""
    read = [
        (
            part.prefix,
            read_history(part.root, part.ref, store=Store(None), limit=commits, seconds=seconds),
        )
        for part in place.parts
    ]
    return join_histories([(prefix, history) for prefix, history in read if history is not None])


def join_histories(parts: Sequence[tuple[str, History]]) -> History | None:
    """Return several histories as one: the commits of all by time, each in the order of its own history.

    ``parts`` come with what the paths of each begin with; one history without that stays as it is.
    """
    if not parts:
        return None
    if len(parts) == 1 and not parts[0][0]:
        return parts[0][1]
    histories = [history for _, history in parts]
    named = [[prefix + path for path in history.paths] for prefix, history in parts]
    paths = sorted(chain.from_iterable(named))
    terms = list(dict.fromkeys(chain.from_iterable(history.terms for history in histories)))
    order = _by_time(histories)
    file_of = [_rows(own, paths) for own in named]
    term_of = [_rows(history.terms, terms) for history in histories]

    files = _Moved([history.file_start for history in histories], order)
    touches = _Moved([history.touch_start for history in histories], order)
    words = _Moved([history.term_start for history in histories], order)
    numbers = _Moved([history.number_start for history in histories], order)
    texts = [
        (identity, subject)
        for history in histories
        for identity, subject in zip(history.ids, history.subjects, strict=True)
    ]
    return History(
        head=" ".join(history.head for history in histories),
        paths=tuple(paths),
        terms=tuple(terms),
        ids=tuple(texts[at][0] for at in order.tolist()),
        subjects=tuple(texts[at][1] for at in order.tolist()),
        time=np.concatenate([history.time for history in histories])[order],
        breadth=np.concatenate([history.breadth for history in histories])[order],
        file_start=files.start,
        file=files.column([rows[each.file] for rows, each in zip(file_of, histories, strict=True)]),
        file_is_new=files.column([history.file_is_new for history in histories]),
        touch_start=touches.start,
        touch_file=touches.column(
            [rows[each.touch_file] for rows, each in zip(file_of, histories, strict=True)]
        ),
        touch_first=touches.column([history.touch_first for history in histories]),
        touch_last=touches.column([history.touch_last for history in histories]),
        touch_size=touches.column([history.touch_size for history in histories]),
        term_start=words.start,
        term=words.column([rows[each.term] for rows, each in zip(term_of, histories, strict=True)]),
        term_count=words.column([history.term_count for history in histories]),
        number_start=numbers.start,
        number=numbers.column([history.number for history in histories]),
        complete=all(history.complete for history in histories),
    )


_Value = TypeVar("_Value", bound=np.generic)


class _Moved:
    """The rows that each commit has in flat columns, in another order of the commits."""

    def __init__(self, starts: Sequence[NDArray[np.int64]], order: NDArray[np.int64]) -> None:
        """``starts`` are where each history's rows begin; ``order`` is of the commits of all of them."""
        counts = np.concatenate([np.diff(each) for each in starts])
        first = np.concatenate(([0], np.cumsum(counts)))[order]
        taken = counts[order]
        self.start: NDArray[np.int64] = np.concatenate(([0], np.cumsum(taken))).astype(np.int64)
        """Where the rows of each commit begin in the new order."""
        self._at = np.repeat(first - self.start[:-1], taken) + np.arange(self.start[-1])

    def column(self, parts: Sequence[NDArray[_Value]]) -> NDArray[_Value]:
        """Return the values that every history has in one column, in the new order."""
        moved: NDArray[_Value] = np.concatenate(parts)[self._at]
        return moved


def _by_time(histories: Sequence[History]) -> NDArray[np.int64]:
    """Return the order of all commits, newest first; none comes before a newer one of its own history."""
    # A commit with a wrong clock is as old as the oldest that comes before it.
    times = [np.minimum.accumulate(history.time) for history in histories]
    return np.argsort(-np.concatenate(times), kind="stable")


def _rows(names: Sequence[str], among: Sequence[str]) -> NDArray[np.int32]:
    row = {name: at for at, name in enumerate(among)}
    return np.array([row[name] for name in names], np.int32)
