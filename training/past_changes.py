"""A repository's past, commit by commit: what each says, and its files as they were before it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.git import Mirror
from repo_map.history.git_log import (
    Commit,
    FileChange,
    HistoryQuery,
    list_commits,
    read_commits,
    read_patches,
)
from repo_map.languages.registry import language_of
from repo_map.worktree.file_kinds import flags_of_path
from repo_map.worktree.git import HEAD, Deadline, HistoryPlace
from training.before import Before, BlobReader, read_before
from training.messages import goal_of

LANGUAGES = frozenset({"python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp"})
WIDEST_COMMIT = 15
"""Changed functions; a commit that changes more tells little of any one of them."""
_MOST_FILES = 5
_BATCH = 200
_MOST_COMMITS = 60_000
_SECONDS = 600.0
_EVERYTHING = HistoryPlace(HEAD, "", "")
"""All of a mirror, which has no work tree that git could find its place by."""


class PastChange(NamedTuple):
    """One commit that tells what it is for and changes a few functions."""

    commit: Commit
    files: tuple[Before, ...]
    """Those with a changed function."""


class Batch(NamedTuple):
    """The useful ones among the commits that were read together."""

    commits_read: int
    changes: tuple[PastChange, ...]


def past_changes(root: Path, *, skip: int = 0, step: int = 1) -> Iterator[Batch]:
    """Yield the useful commits, newest first; ``skip`` are left out, then each ``step``-th is read."""
    blobs, mirror = BlobReader(root), Mirror(root)
    ids = list_commits(_asked(mirror), _MOST_COMMITS)[skip::step]
    try:
        for at in range(0, len(ids), _BATCH):
            batch = ids[at : at + _BATCH]
            commits = read_commits(_asked(mirror), batch)
            useful = [commit for commit in commits.values() if _is_useful(commit)]
            patches = read_patches(_asked(mirror), [commit.id for commit in useful])
            read = (_change(blobs, commit, patches.get(commit.id, {})) for commit in useful)
            yield Batch(len(batch), tuple(change for change in read if change is not None))
    finally:
        blobs.close()


def _is_useful(commit: Commit) -> bool:
    return 1 <= len(_wanted(commit)) <= _MOST_FILES and bool(goal_of(commit.message))


def _wanted(commit: Commit) -> list[FileChange]:
    """Return the changes to source files that are neither tests nor generated."""
    return [
        change
        for change in commit.changes
        if language_of(change.path) in LANGUAGES
        and not flags_of_path(change.path)
        and change.before.strip("0")
    ]


def _change(blobs: BlobReader, commit: Commit, patches: dict[str, tuple[int, ...]]) -> PastChange | None:
    changes = [change for change in _wanted(commit) if change.path in patches]
    read = (read_before(blobs, change, patches[change.path]) for change in changes)
    files = tuple(file for file in read if file is not None and file.changed)
    if not 1 <= sum(len(file.changed) for file in files) <= WIDEST_COMMIT:
        return None
    return PastChange(commit, files)


def _asked(mirror: Mirror) -> HistoryQuery:
    return HistoryQuery(mirror, _EVERYTHING, Deadline(_SECONDS))
