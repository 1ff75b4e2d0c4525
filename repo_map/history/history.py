"""History: commits as columns, kept up to date."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from repo_map.cache import prune, read_stored, replace_file
from repo_map.history.git_log import (
    UNCHANGED,
    Commit,
    FileChange,
    HistoryQuery,
    LineMap,
    list_commits,
    map_before,
    read_commits,
    read_patches,
    touched_lines,
)
from repo_map.index.snapshot import extractor_version
from repo_map.index.store import Store, user_store
from repo_map.secrets.names import mask_names
from repo_map.sources.commit_names import CommitNameError, locate
from repo_map.sources.git import HEAD, TIMEOUT_S, Deadline, Git, GitError
from repo_map.text.terms import terms_of, tokenize


@dataclass(frozen=True, eq=False, repr=False)
class History:
    """The last commits up to one, newest first: what they said and which files and lines they touched.

    Rows of variable length are flat: commit ``c`` has ``file[file_start[c]:file_start[c + 1]]`` and so on.
    Files are rows of ``paths`` under the names of today; those that are gone are left out. Commits of more
    than 30 files keep their message but touch nothing.
    """

    head: str
    """The commit that this history ends with; of several histories that of each, with spaces between."""
    paths: tuple[str, ...]
    """Every file of that commit, sorted."""
    terms: tuple[str, ...]
    """The vocabulary of the messages (``relevance.terms``)."""
    ids: tuple[str, ...]
    """First twelve digits of each commit's id."""
    subjects: tuple[str, ...]
    """First line of each message."""
    time: NDArray[np.int64]
    """Commit time in seconds since 1970."""
    breadth: NDArray[np.int32]
    """Number of files that the commit touched, those gone today included."""
    file_start: NDArray[np.int64]
    file: NDArray[np.int32]
    file_is_new: NDArray[np.bool_]
    """Whether the commit added the file, under any name, rather than changed it."""
    touch_start: NDArray[np.int64]
    """Touches are hunks, moved to where their lines stand today."""
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
    """Issues and pull requests that the message names: ``#12``, ``GH-12``, a link to one."""
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
    def commits_of_number(self) -> dict[int, list[int]]:
        """Number of an issue or a pull request → the commits whose message names it, newest first."""
        found: dict[int, list[int]] = {}
        for commit, number in zip(_owners(self.number_start).tolist(), self.number.tolist(), strict=True):
            found.setdefault(number, []).append(commit)
        return found

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


_SUBJECT_WEIGHT = 2


class _FileLines:
    """The line maps of one file's versions, newest first."""

    def __init__(self, today: str) -> None:
        self._maps: dict[str, LineMap] = {today: UNCHANGED}
        self._latest = UNCHANGED

    def touch(self, change: FileChange) -> list[tuple[int, int, int]]:
        """Return the lines of today that the change touched, and learn where the lines before it went."""
        # What a merge made of two branches is not on the chain: the nearest successor stands in for it.
        after = self._maps.get(change.after, self._latest)
        self._latest = self._maps[change.before] = map_before(after, change.hunks)
        return list(touched_lines(after, change.hunks))


_ID_DIGITS = 12
_NUMBER = re.compile(r"(?:(?<![\w/&#])#|\b[Gg][Hh]-|/(?:issues|pull|merge_requests)/)(\d{1,7})\b")


def assemble(head: str, commits: Sequence[Commit], blobs: Mapping[str, str]) -> History:
    """Lay ``commits``, newest first, out in columns; ``blobs`` are today's files and their contents' ids."""
    paths = sorted(blobs)
    row = {path: at for at, path in enumerate(paths)}
    file_rows: list[list[int]] = []
    are_new: list[bool] = []
    touches: list[list[tuple[int, int, int, int]]] = []
    lines: dict[str, _FileLines] = {}
    for commit, changes in _todays_names(commits):
        known = [(path, change) for path, change in changes if path in row]
        file_rows.append(sorted({row[path] for path, _ in known}))
        changed = {row[path] for path, change in known if change.before.strip("0")}
        are_new += (at not in changed for at in file_rows[-1])
        found: list[tuple[int, int, int, int]] = []
        for path, change in known:
            if path not in lines:
                lines[path] = _FileLines(blobs[path])
            if commit.patched:
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
        breadth=np.array([commit.breadth for commit in commits], np.int32),
        file_start=_starts(file_rows),
        file=np.array([at for part in file_rows for at in part], np.int32),
        file_is_new=np.array(are_new, np.bool_),
        touch_start=_starts(touches),
        touch_file=flat[:, 0].copy(),
        touch_first=flat[:, 1].copy(),
        touch_last=flat[:, 2].copy(),
        touch_size=flat[:, 3].copy(),
        term_start=_starts(term_rows),
        term=np.array([at for part in term_rows for at in part], np.int32),
        term_count=np.array([count for part in term_counts for count in part], np.float32),
        number_start=_starts(numbers),
        number=np.array([number for part in numbers for number in part], np.int64),
    )


def _numbers(message: str) -> list[int]:
    return list(dict.fromkeys(int(number) for number in _NUMBER.findall(message)))


def _todays_names(commits: Sequence[Commit]) -> Iterator[tuple[Commit, list[tuple[str, FileChange]]]]:
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
        counts = Counter(term for word in tokenize(body) for term in terms_of(word))
        for term in (term for word in tokenize(subject) for term in terms_of(word)):
            counts[term] += _SUBJECT_WEIGHT
        term_rows.append([rows[term] for term in counts])
        term_counts.append(list(counts.values()))
    return list(rows), term_rows, term_counts


def _starts(parts: Sequence[Sequence[object]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate(([0], np.cumsum([len(part) for part in parts], dtype=np.int64))).astype(np.int64)


_LIMIT_BYTES = 256_000_000
_FORMAT = 5
"""Part of each file's name: a new format never reads an old file."""


def load_commits(folder: Path | None, key: str) -> dict[str, Commit]:
    """Return the cached commits by id; none when there is no cache or it can't be read."""
    content = _load(folder, f"{key}\0commits")
    try:
        commits = msgspec.msgpack.decode(content, type=list[Commit]) if content else []
    except msgspec.MsgspecError:
        return {}
    return {commit.id: commit for commit in commits}


def save_commits(folder: Path | None, key: str, commits: list[Commit]) -> None:
    """Replace the cached commits."""
    _save(folder, f"{key}\0commits", commits)


def load_history(folder: Path | None, key: str, made: str) -> History | None:
    """Return the cached history if ``made``, of what and by what, is the same."""
    content = _load(folder, f"{key}\0history")
    if not content:
        return None
    try:
        columns: dict[str, Any] = msgspec.msgpack.decode(content)
        if columns["made"] != made:
            return None
        return History(**{field.name: _value(columns[field.name]) for field in fields(History)})
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError):
        return None


def save_history(folder: Path | None, key: str, made: str, history: History) -> None:
    """Replace the cached history."""
    columns = ((field.name, getattr(history, field.name)) for field in fields(History))
    packed = {
        name: {"type": value.dtype.str, "bytes": value.tobytes()} if isinstance(value, np.ndarray) else value
        for name, value in columns
    }
    _save(folder, f"{key}\0history", {"made": made, **packed})


def _value(packed: Any) -> Any:
    if isinstance(packed, dict):
        return np.frombuffer(packed["bytes"], packed["type"])
    return tuple(packed) if isinstance(packed, list) else packed


def _load(folder: Path | None, key: str) -> bytes:
    if folder is None:
        return b""
    path = _file(folder, key)
    try:
        content = read_stored(path)
    except OSError:
        return b""
    with suppress(OSError):
        os.utime(path)  # Those used least recently go first.
    return content


def _save(folder: Path | None, key: str, value: object) -> None:
    """Replace a file in one step; a folder that can't be written costs time at the next read and no more."""
    if folder is None:
        return
    path = _file(folder, key)
    with suppress(OSError):
        replace_file(path, lambda file: file.write(msgspec.msgpack.encode(value)))
        # Those of older formats are read no more, and may hold what is masked today.
        for stale in path.parent.glob("*.v*"):
            if stale.suffix != path.suffix:
                stale.unlink(missing_ok=True)
        prune(path.parent, _LIMIT_BYTES)


def _file(folder: Path, key: str) -> Path:
    return folder / "history" / f"{hashlib.blake2b(key.encode(), digest_size=12).hexdigest()}.v{_FORMAT}"


_LIMIT = 3_000


def read_history(
    root: Path,
    ref: str = "",
    *,
    store: Store | None = None,
    limit: int = _LIMIT,
    seconds: float = TIMEOUT_S,
    is_wanted: Callable[[], bool] | None = None,
) -> History | None:
    """Read the last ``limit`` non-merge ancestors of a commit that touch a folder.

    ``ref`` names the commit; ``""`` is the one that the work tree is at.
    ``None`` without git, commits or repository. ``store``, the user's if left out, keeps what was read: the
    next call reads new commits only. After ``seconds``, or once ``is_wanted`` says no, the commits that have
    come so far make the history, and the next call goes on from there: 3,000 commits of a large repository
    take some 5 s.
    """
    folder = (user_store() if store is None else store).folder
    deadline = Deadline(seconds, is_wanted)
    try:
        place = locate(git := Git(root), ref, deadline)
    except (CommitNameError, GitError):  # The listing of the files tells why.
        return None
    if place is None:
        return None
    # What is kept was masked, and the terms of its messages cut, by the code that makes the index.
    version = extractor_version()
    whole = f"{place.git_dir}\n{place.prefix}\n\0{limit}\0{version}"
    is_head = ref in ("", HEAD)
    key = whole if is_head else f"{whole}\0{ref}"
    made = f"{place.head} {version}"
    if (history := load_history(folder, key, made)) is not None:
        return history
    past = HistoryQuery(git, place, deadline)
    ids = list_commits(past, limit)
    blobs = _blobs(past)
    if not ids or not blobs:
        return None
    known = load_commits(folder, key)
    if not is_head:
        # Most of what one branch has another one has too.
        known = load_commits(folder, whole) | known
    reading = _read(past, ids, known)
    history = assemble(place.head, reading.commits, blobs)
    if reading.fresh or not is_head:
        save_commits(folder, key, reading.commits)
    if not reading.complete:
        return replace(history, complete=False)
    save_history(folder, key, made, history)
    return history


class _Reading(NamedTuple):
    commits: list[Commit]
    """Newest first."""
    fresh: bool
    """Whether it holds more than the cache."""
    complete: bool
    """Whether the deadline cut nothing off."""


def _read(past: HistoryQuery, ids: Sequence[str], cached: dict[str, Commit]) -> _Reading:
    missing = [identity for identity in ids if identity not in cached]
    known = cached | (read_commits(past, missing) if missing else {})
    unpatched = [known[identity] for identity in ids if identity in known and not known[identity].patched]
    hunks = read_patches(past, [commit.id for commit in unpatched if commit.changes])
    for commit in unpatched:
        if commit.id in hunks or not commit.changes:
            known[commit.id] = _with_hunks(commit, hunks.get(commit.id, {}))
    commits = [known[identity] for identity in ids if identity in known]
    complete = len(commits) == len(ids) and all(commit.patched for commit in commits)
    return _Reading(commits, fresh=bool(missing or unpatched), complete=complete)


def _with_hunks(commit: Commit, hunks: dict[str, tuple[int, ...]]) -> Commit:
    changes = tuple(
        msgspec.structs.replace(change, hunks=hunks.get(change.path, ())) for change in commit.changes
    )
    return msgspec.structs.replace(commit, changes=changes, patched=True)


def _blobs(past: HistoryQuery) -> dict[str, str]:
    """Return the commit's files in the folder and the first digits of their contents' ids."""
    output = past.ask("ls-tree", "-r", "-z", f"{past.place.head}:{past.place.prefix}")
    if output is None or output.status != 0:
        return {}
    entries = (entry.split("\t", 1) for entry in output.text.decode("utf-8", "replace").split("\0") if entry)
    blobs = [(path, meta.split()[2][:12]) for meta, path in entries]
    names = mask_names([path for path, _ in blobs])
    return {name: blob for name, (_, blob) in zip(names, blobs, strict=True)}
