"""Read a repository's history: bounded in time, cached, absent without error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from repo_map.history.assembly import assemble
from repo_map.history.cache import load_commits, load_history, save_commits, save_history
from repo_map.history.commits import Commit, list_commits, read_commits, read_patches
from repo_map.history.streaming import Deadline, ask_git
from repo_map.history.value import History
from repo_map.indexing.extractor_version import extractor_version
from repo_map.indexing.store import Store, user_store

_LIMIT = 3_000
_SECONDS = 60.0
"""A safety net: 3,000 commits of a large repository take some 5 s, and what is cut off changes scores."""


def read_history(
    root: Path,
    *,
    store: Store | None = None,
    limit: int = _LIMIT,
    seconds: float = _SECONDS,
    is_wanted: Callable[[], bool] | None = None,
) -> History | None:
    """Read the last ``limit`` non-merge ancestors of HEAD; ``None`` without git, commits or repository.

    ``store``, the user's if left out, keeps what was read: the next call reads new commits only. After
    ``seconds``, or once ``is_wanted`` says no, the commits that have come so far make the history, and the
    next call goes on from there.
    """
    folder = (user_store() if store is None else store).folder
    deadline = Deadline(seconds, is_wanted)
    place = ask_git(root, "rev-parse", "HEAD", "--absolute-git-dir", "--show-prefix", deadline=deadline)
    if place is None or place.status != 0:
        return None
    head, place_key = place.text.decode("utf-8", "replace").split("\n", 1)
    key = f"{place_key}\0{limit}"
    # The terms of messages are cut by the code that cuts those of the index.
    made = f"{head} {extractor_version()}"
    if (history := load_history(folder, key, made)) is not None:
        return history
    ids = list_commits(root, limit, deadline)
    blobs = _blobs(root, deadline)
    if not ids or not blobs:
        return None
    reading = _read(root, ids, load_commits(folder, key), deadline)
    history = assemble(head, reading.commits, blobs)
    if reading.fresh:
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


def _read(root: Path, ids: Sequence[str], cached: dict[str, Commit], deadline: Deadline) -> _Reading:
    missing = [identity for identity in ids if identity not in cached]
    known = cached | (read_commits(root, missing, deadline) if missing else {})
    unpatched = [known[identity] for identity in ids if identity in known and not known[identity].patched]
    hunks = read_patches(root, [commit.id for commit in unpatched if commit.changes], deadline)
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


def _blobs(root: Path, deadline: Deadline) -> dict[str, str]:
    """Return the files of HEAD under ``root`` and the first digits of their contents' ids."""
    output = ask_git(root, "ls-tree", "-r", "-z", "HEAD", deadline=deadline)
    if output is None or output.status != 0:
        return {}
    entries = (entry.split("\t", 1) for entry in output.text.decode("utf-8", "replace").split("\0") if entry)
    return {path: meta.split()[2][:12] for meta, path in entries}
