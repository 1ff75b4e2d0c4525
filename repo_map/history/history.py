"""The history of a repository: its last commits as columns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from repo_map.arrays import groups_of, offsets_of
from repo_map.history.git_log import (
    UNCHANGED,
    Commit,
    FileChange,
    LineTracker,
    map_before,
    touched_lines,
)
from repo_map.text.terms import terms_of, tokenize


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The last commits up to one, newest first: their messages, and the files and lines they changed.

    Rows of variable length are flat: commit ``c`` has ``file[file_start[c]:file_start[c + 1]]`` and so on.
    Files are rows of ``paths`` under their current names; deleted ones are left out. Of commits of more than
    30 files only the message counts.
    """

    head: str
    """The id of the newest commit; of several repositories all ids, separated by spaces."""
    paths: tuple[str, ...]
    """Every file of that commit, sorted."""
    terms: tuple[str, ...]
    """The vocabulary of the messages."""
    ids: tuple[str, ...]
    """First twelve digits of each commit's id."""
    subjects: tuple[str, ...]
    """First line of each message."""
    time: NDArray[np.int64]
    """Commit time in seconds since 1970."""
    file_count: NDArray[np.int32]
    """Number of files that the commit changed, deleted ones included."""
    file_start: NDArray[np.int64]
    file: NDArray[np.int32]
    file_is_new: NDArray[np.bool_]
    """True if the commit added the file, under any name."""
    touch_start: NDArray[np.int64]
    """Touches are hunks, moved to the current lines."""
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
    number_start: NDArray[np.int64]
    number: NDArray[np.int64]
    """Issues and pull requests in the message: ``#12``, ``GH-12``, a link."""
    complete: bool = True
    """False if the deadline cut it off."""

    def __len__(self) -> int:
        return len(self.subjects)

    @cached_property
    def file_commit(self) -> NDArray[np.int64]:
        """The commit of each entry of ``file``."""
        return groups_of(self.file_start)

    @cached_property
    def touch_commit(self) -> NDArray[np.int64]:
        """The commit of each touch."""
        return groups_of(self.touch_start)

    @cached_property
    def term_commit(self) -> NDArray[np.int64]:
        """The commit of each entry of ``term``."""
        return groups_of(self.term_start)

    @cached_property
    def commits_of_number(self) -> dict[int, list[int]]:
        """Commits, newest first, by the number of an issue or pull request in their message."""
        found: dict[int, list[int]] = {}
        for commit, number in zip(groups_of(self.number_start).tolist(), self.number.tolist(), strict=True):
            found.setdefault(number, []).append(commit)
        return found

    @cached_property
    def term_row(self) -> dict[str, int]:
        """Row of each term of the vocabulary."""
        return {term: at for at, term in enumerate(self.terms)}

    @cached_property
    def age(self) -> NDArray[np.float64]:
        """Days between each commit and the newest, independent of the clock."""
        return np.asarray((self.time.max(initial=0) - self.time) / 86_400.0, np.float64)

    def align(self, paths: Sequence[str]) -> NDArray[np.int64]:
        """Return the position of each of ``self.paths`` in ``paths``, -1 if it is not there."""
        position = {path: at for at, path in enumerate(paths)}
        return np.array([position.get(path, -1) for path in self.paths], np.int64)


_SUBJECT_WEIGHT = 2


class _FileLines:
    """The line maps of one file's versions, newest first."""

    def __init__(self, current: str) -> None:
        self._maps: dict[str, LineTracker] = {current: UNCHANGED}
        self._latest = UNCHANGED

    def touch(self, change: FileChange) -> list[tuple[int, int, int]]:
        """Return the current lines of the hunks of a change, and map the version before it."""
        # Merge results are not in the log; use the nearest later version.
        after = self._maps.get(change.after, self._latest)
        self._latest = self._maps[change.before] = map_before(after, change.hunks)
        return list(touched_lines(after, change.hunks))


_ID_DIGITS = 12
_NUMBER = re.compile(r"(?:(?<![\w/&#])#|\b[Gg][Hh]-|/(?:issues|pull|merge_requests)/)(\d{1,7})\b")


def assemble(head: str, commits: Sequence[Commit], blobs: Mapping[str, str]) -> History:
    """Return ``commits``, newest first, as columns; ``blobs`` are the current files and their blobs' ids."""
    paths = sorted(blobs)
    row = {path: at for at, path in enumerate(paths)}
    file_rows: list[list[int]] = []
    are_new: list[bool] = []
    touches: list[list[tuple[int, int, int, int]]] = []
    lines: dict[str, _FileLines] = {}
    for commit, changes in _current_names(commits):
        known = [(path, change) for path, change in changes if path in row]
        file_rows.append(sorted({row[path] for path, _ in known}))
        changed = {row[path] for path, change in known if change.before.strip("0")}
        are_new += (at not in changed for at in file_rows[-1])
        found: list[tuple[int, int, int, int]] = []
        for path, change in known:
            if path not in lines:
                lines[path] = _FileLines(blobs[path])
            if commit.has_hunks:
                found += [(row[path], *touch) for touch in lines[path].touch(change)]
        touches.append(found)
    numbers = [_numbers(commit.message) for commit in commits]
    terms, term_rows, term_counts = _message_terms([commit.message for commit in commits])
    flat = np.array([touch for part in touches for touch in part], np.int32).reshape(-1, 4)
    return History(
        head=head,
        paths=tuple(paths),
        terms=tuple(terms),
        ids=tuple(commit.id[:_ID_DIGITS] for commit in commits),
        subjects=tuple(commit.message.partition("\n")[0] for commit in commits),
        time=np.array([commit.time for commit in commits], np.int64),
        file_count=np.array([commit.file_count for commit in commits], np.int32),
        file_start=offsets_of([len(part) for part in file_rows]),
        file=np.array([at for part in file_rows for at in part], np.int32),
        file_is_new=np.array(are_new, np.bool_),
        touch_start=offsets_of([len(part) for part in touches]),
        touch_file=flat[:, 0].copy(),
        touch_first=flat[:, 1].copy(),
        touch_last=flat[:, 2].copy(),
        touch_size=flat[:, 3].copy(),
        term_start=offsets_of([len(part) for part in term_rows]),
        term=np.array([at for part in term_rows for at in part], np.int32),
        term_count=np.array([count for part in term_counts for count in part], np.float32),
        number_start=offsets_of([len(part) for part in numbers]),
        number=np.array([number for part in numbers for number in part], np.int64),
    )


def _numbers(message: str) -> list[int]:
    return list(dict.fromkeys(int(number) for number in _NUMBER.findall(message)))


def _current_names(commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[tuple[str, FileChange]]]]:
    """Yield each commit with its changes under the current names of the files."""
    moved: dict[str, str] = {}
    for commit in commits:
        yield commit, [(moved.get(change.path, change.path), change) for change in commit.changes]
        # Commits come newest first: only the following, older ones have the old name.
        moved.update({old: moved.get(new, new) for old, new in commit.renames})


def _message_terms(messages: Sequence[str]) -> tuple[list[str], list[list[int]], list[list[int]]]:
    rows: defaultdict[str, int] = defaultdict()
    rows.default_factory = rows.__len__
    term_rows, term_counts = [], []
    for message in messages:
        subject, _, body = message.partition("\n")
        counts = Counter(term for word in tokenize(body) for term in terms_of(word))
        for term in (term for word in tokenize(subject) for term in terms_of(word)):
            counts[term] += _SUBJECT_WEIGHT
        term_rows.append([rows[term] for term in counts])
        term_counts.append(list(counts.values()))
    return list(rows), term_rows, term_counts
