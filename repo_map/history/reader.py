"""Read the history of a source through git, cached by commit."""

from __future__ import annotations

import hashlib
import heapq
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from repo_map.cache import prune, read_stored, replace_file, return_freed_memory
from repo_map.history.git_log import Commit, HistoryQuery, list_commits, read_commits, read_patches
from repo_map.history.history import History, assemble
from repo_map.index.snapshot import extractor_version
from repo_map.index.store import Store, user_store
from repo_map.secrets.names import mask_names
from repo_map.sources.commit_names import CommitNameError, locate
from repo_map.sources.git import HEAD, TIMEOUT_S, Deadline, Git, GitError
from repo_map.sources.source import FileSource, RepositoryPart

MAX_COMMITS: Final = 3_000


def source_history(
    source: FileSource,
    *,
    store: Store | None = None,
    limit: int = MAX_COMMITS,
    seconds: float = TIMEOUT_S,
    is_wanted: Callable[[], bool] | None = None,
) -> History | None:
    """Read the last non-merge commits that touch the folders of a source, as one history.

    The commits of several repositories are in the order of their times, those of each in the order of its own
    history.

    Args:
        source: Folders, or commits of them.
        store: Caches what was read, so that the next call reads new commits only; the user's by default.
        limit: Number of commits of each; 3,000 of a large repository take some 5 s.
        seconds: After these the history is incomplete, and the next call continues.
        is_wanted: Ends the work once it returns False.

    Returns:
        None without git, commits or repository.
    """
    store = user_store() if store is None else store
    return _read_parts(source.parts, store.folder, limit, Deadline(seconds, is_wanted))


class _Past(NamedTuple):
    """The history of one repository that is to be read."""

    prefix: str
    """Of the paths of its files."""
    query: HistoryQuery
    head_key: str
    """Name of the cached history of its HEAD."""
    key: str


def _read_parts(
    parts: Sequence[RepositoryPart], folder: Path | None, limit: int, deadline: Deadline
) -> History | None:
    pasts = [past for part in parts if (past := _locate(part, limit, deadline)) is not None]
    if not pasts:
        return None
    key = "\0\0".join(past.prefix + past.key for past in pasts)
    heads = " ".join(past.query.place.head for past in pasts)
    made = f"{heads} {extractor_version()}"
    if (history := _load_history(folder, key, made)) is not None:
        return history
    commits: list[list[Commit]] = []
    blobs: dict[str, str] = {}
    is_complete = True
    for past in pasts:
        ids, found = list_commits(past.query, limit), _blobs(past.query)
        if not ids or not found:
            continue
        known = _load_commits(folder, past.key)
        if past.key != past.head_key:
            # Branches share most commits.
            known = _load_commits(folder, past.head_key) | known
        read = _read(past.query, ids, known)
        if read.fresh or past.key != past.head_key:
            _save(folder, f"{past.key}\0commits", read.commits)
        commits.append([_prefixed(commit, past.prefix) for commit in read.commits])
        blobs |= {past.prefix + path: blob for path, blob in found.items()}
        is_complete &= read.complete
    if not commits:
        return None
    history = replace(assemble(heads, _by_time(commits), blobs), complete=is_complete)
    if is_complete:
        _save_history(folder, key, made, history)
    del commits, known, read
    return_freed_memory()
    return history


def _locate(part: RepositoryPart, limit: int, deadline: Deadline) -> _Past | None:
    try:
        place = locate(git := Git(part.root), part.ref, deadline)
    except (CommitNameError, GitError):  # The listing of the files reports it.
        return None
    if place is None:
        return None
    # Cached texts were masked and tokenized by the same code as the index.
    key = f"{place.git_dir}\n{place.prefix}\n\0{limit}\0{extractor_version()}"
    own = key if part.ref in ("", HEAD) else f"{key}\0{part.ref}"
    return _Past(part.prefix, HistoryQuery(git, place, deadline), key, own)


def _prefixed(commit: Commit, prefix: str) -> Commit:
    """Return a commit with the paths of its files below a folder."""
    if not prefix:
        return commit
    changes = tuple(msgspec.structs.replace(each, path=prefix + each.path) for each in commit.changes)
    renames = tuple((prefix + old, prefix + new) for old, new in commit.renames)
    return msgspec.structs.replace(commit, changes=changes, renames=renames)


def _by_time(histories: Sequence[list[Commit]]) -> list[Commit]:
    """Merge the commits of histories, each newest first.

    A commit with a wrong clock is as old as the oldest that comes before it in its own history.
    """
    dated = [
        zip(accumulate((commit.time for commit in commits), min), commits, strict=True)
        for commits in histories
    ]
    return [commit for _, commit in heapq.merge(*dated, key=lambda each: -each[0])]


class _ReadCommits(NamedTuple):
    commits: list[Commit]
    """Newest first."""
    fresh: bool
    """True if there are new ones."""
    complete: bool
    """False if the deadline cut it off."""


def _read(past: HistoryQuery, ids: Sequence[str], cached: dict[str, Commit]) -> _ReadCommits:
    missing = [identity for identity in ids if identity not in cached]
    known = cached | (read_commits(past, missing) if missing else {})
    unpatched = [known[identity] for identity in ids if identity in known and not known[identity].has_hunks]
    hunks = read_patches(past, [commit.id for commit in unpatched if commit.changes])
    for commit in unpatched:
        if commit.id in hunks or not commit.changes:
            known[commit.id] = _with_hunks(commit, hunks.get(commit.id, {}))
    commits = [known[identity] for identity in ids if identity in known]
    complete = len(commits) == len(ids) and all(commit.has_hunks for commit in commits)
    return _ReadCommits(commits, fresh=bool(missing or unpatched), complete=complete)


def _with_hunks(commit: Commit, hunks: dict[str, tuple[int, ...]]) -> Commit:
    changes = tuple(
        msgspec.structs.replace(change, hunks=hunks.get(change.path, ())) for change in commit.changes
    )
    return msgspec.structs.replace(commit, changes=changes, has_hunks=True)


def _blobs(past: HistoryQuery) -> dict[str, str]:
    """Return the files of the commit in the folder, with the first digits of the ids of their blobs."""
    output = past.ask("ls-tree", "-r", "-z", f"{past.place.head}:{past.place.prefix}")
    if output is None or output.status != 0:
        return {}
    entries = (entry.split("\t", 1) for entry in output.text.decode("utf-8", "replace").split("\0") if entry)
    blobs = [(path, meta.split()[2][:12]) for meta, path in entries]
    names = mask_names([path for path, _ in blobs])
    return {name: blob for name, (_, blob) in zip(names, blobs, strict=True)}


_MAX_CACHE_BYTES = 256_000_000
_FORMAT: Final = 6
"""Part of each file's name, so that another format is never read."""


def _load_commits(folder: Path | None, key: str) -> dict[str, Commit]:
    """Return the cached commits by id; none if there is no cache or it can't be read."""
    content = _load(folder, f"{key}\0commits")
    try:
        commits = msgspec.msgpack.decode(content, type=list[Commit]) if content else []
    except msgspec.MsgspecError:
        return {}
    return {commit.id: commit for commit in commits}


def _load_history(folder: Path | None, key: str, made: str) -> History | None:
    """Return the cached history if it was made of the same commit by the same version."""
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


def _save_history(folder: Path | None, key: str, made: str, history: History) -> None:
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
    """Replace a file in one step; a read-only folder only costs time at the next read."""
    if folder is None:
        return
    path = _file(folder, key)
    with suppress(OSError):
        replace_file(path, lambda file: file.write(msgspec.msgpack.encode(value)))
        # Older formats may hold secrets that are masked today; those of newer versions are in use.
        for stale in path.parent.glob("*.v*"):
            if stale.suffix[2:].isdigit() and int(stale.suffix[2:]) < _FORMAT:
                stale.unlink(missing_ok=True)
        prune(path.parent, _MAX_CACHE_BYTES)


def _file(folder: Path, key: str) -> Path:
    return folder / "history" / f"{hashlib.blake2b(key.encode(), digest_size=12).hexdigest()}.v{_FORMAT}"
