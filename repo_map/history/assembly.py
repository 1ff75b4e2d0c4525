"""From commits to columns: files under today's names, hunks on today's lines, terms."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from repo_map.history.commits import Change, Commit
from repo_map.history.lines import UNCHANGED, LineMap, before, touched
from repo_map.history.value import History
from repo_map.relevance.terms import terms_of, words

_SUBJECT_WEIGHT = 2
_WIDEST_TOUCH = 400
"""Hunks over more lines of today than this are rewrites: they single no function out."""


class _FileLines:
    """The line maps of one file's versions, newest first."""

    def __init__(self, today: str) -> None:
        self._maps: dict[str, LineMap] = {today: UNCHANGED}
        self._latest = UNCHANGED

    def touch(self, change: Change) -> list[tuple[int, int, int]]:
        """Return the lines of today that the change touched, and learn where the lines before it went."""
        # What a merge made of two branches is not on the chain: the nearest successor stands in for it.
        after = self._maps.get(change.after, self._latest)
        self._latest = self._maps[change.before] = before(after, change.hunks)
        return list(touched(after, change.hunks))


def assemble(head: str, commits: Sequence[Commit], blobs: Mapping[str, str]) -> History:
    """Lay ``commits``, newest first, out in columns; ``blobs`` are HEAD's files and their contents' ids."""
    paths = sorted(blobs)
    row = {path: at for at, path in enumerate(paths)}
    file_rows: list[list[int]] = []
    touches: list[list[tuple[int, int, int, int]]] = []
    lines: dict[str, _FileLines] = {}
    for commit, changes in _todays_names(commits):
        known = [(path, change) for path, change in changes if path in row]
        file_rows.append(sorted({row[path] for path, _ in known}))
        found: list[tuple[int, int, int, int]] = []
        for path, change in known:
            if path not in lines:
                lines[path] = _FileLines(blobs[path])
            if commit.patched:
                found += [(row[path], *touch) for touch in lines[path].touch(change)]
        touches.append([touch for touch in found if touch[2] - touch[1] < _WIDEST_TOUCH])
    terms, term_rows, term_counts = _message_terms([commit.message for commit in commits])
    flat = np.array([touch for part in touches for touch in part], np.int32).reshape(-1, 4)
    return History(
        head=head,
        paths=tuple(paths),
        terms=tuple(terms),
        subjects=tuple(commit.message.partition("\n")[0] for commit in commits),
        time=np.array([commit.time for commit in commits], np.int64),
        breadth=np.array([commit.breadth for commit in commits], np.int32),
        file_start=_starts(file_rows),
        file=np.array([at for part in file_rows for at in part], np.int32),
        touch_start=_starts(touches),
        touch_file=flat[:, 0].copy(),
        touch_first=flat[:, 1].copy(),
        touch_last=flat[:, 2].copy(),
        touch_size=flat[:, 3].copy(),
        term_start=_starts(term_rows),
        term=np.array([at for part in term_rows for at in part], np.int32),
        term_count=np.array([count for part in term_counts for count in part], np.float32),
    )


def _todays_names(commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[tuple[str, Change]]]]:
    """Yield each commit with its changes under the names that the files have today."""
    moved: dict[str, str] = {}
    for commit in commits:
        yield commit, [(moved.get(change.path, change.path), change) for change in commit.changes]
        # Commits come newest first: only older ones, which follow, knew the file by its old name.
        moved.update({old: moved.get(new, new) for old, new in commit.renames})


def _message_terms(messages: Sequence[str]) -> tuple[list[str], list[list[int]], list[list[int]]]:
    rows: defaultdict[str, int] = defaultdict()
    rows.default_factory = rows.__len__
    term_rows, term_counts = [], []
    for message in messages:
        subject, _, body = message.partition("\n")
        counts = Counter(term for word in words(body) for term in terms_of(word))
        for term in (term for word in words(subject) for term in terms_of(word)):
            counts[term] += _SUBJECT_WEIGHT
        term_rows.append([rows[term] for term in counts])
        term_counts.append(list(counts.values()))
    return list(rows), term_rows, term_counts


def _starts(parts: Sequence[Sequence[object]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum([len(part) for part in parts], dtype=np.int64))).astype(np.int64)
