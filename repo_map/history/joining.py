"""The history of a place: that of its repository, or of several, as one under the paths that it shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from repo_map.history.history import History, read_history
from repo_map.indexing.store import Store
from repo_map.worktree.git import HEAD
from repo_map.worktree.places import Place


def history_of(
    place: Place, *, store: Store | None = None, is_wanted: Callable[[], bool] | None = None
) -> History | None:
    """Read the history of a place, of each of its repositories as ``read_history`` does; None for none."""
    read = [
        (part.prefix, read_history(part.root, part.ref or HEAD, store=store, is_wanted=is_wanted))
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

    def one(values: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        return np.concatenate(values)[order]

    def several(
        starts: Sequence[NDArray[np.int64]], *columns: Sequence[NDArray[np.generic]]
    ) -> list[NDArray[np.generic]]:
        counts = np.concatenate([np.diff(each) for each in starts])
        first = np.concatenate(([0], np.cumsum(counts)))[order]
        taken = counts[order]
        new = np.concatenate(([0], np.cumsum(taken)))
        at = np.repeat(first - new[:-1], taken) + np.arange(new[-1])
        return [new, *(np.concatenate(column)[at] for column in columns)]

    file_start, file, file_is_new = several(
        [history.file_start for history in histories],
        [rows[history.file] for rows, history in zip(file_of, histories, strict=True)],
        [history.file_is_new for history in histories],
    )
    touch_start, touch_file, touch_first, touch_last, touch_size = several(
        [history.touch_start for history in histories],
        [rows[history.touch_file] for rows, history in zip(file_of, histories, strict=True)],
        [history.touch_first for history in histories],
        [history.touch_last for history in histories],
        [history.touch_size for history in histories],
    )
    term_start, term, term_count = several(
        [history.term_start for history in histories],
        [rows[history.term] for rows, history in zip(term_of, histories, strict=True)],
        [history.term_count for history in histories],
    )
    number_start, number = several(
        [history.number_start for history in histories], [history.number for history in histories]
    )
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
        time=one([history.time for history in histories]),
        breadth=one([history.breadth for history in histories]),
        file_start=file_start,
        file=file,
        file_is_new=file_is_new,
        touch_start=touch_start,
        touch_file=touch_file,
        touch_first=touch_first,
        touch_last=touch_last,
        touch_size=touch_size,
        term_start=term_start,
        term=term,
        term_count=term_count,
        number_start=number_start,
        number=number,
        complete=all(history.complete for history in histories),
    )


def _by_time(histories: Sequence[History]) -> NDArray[np.int64]:
    """Return the order of all commits, newest first; none comes before a newer one of its own history."""
    # A commit with a wrong clock is as old as the oldest that comes before it.
    times = [np.minimum.accumulate(history.time) for history in histories]
    return np.argsort(-np.concatenate(times), kind="stable")


def _rows(names: Sequence[str], among: Sequence[str]) -> NDArray[np.int32]:
    row = {name: at for at, name in enumerate(among)}
    return np.array([row[name] for name in names], np.int32)
