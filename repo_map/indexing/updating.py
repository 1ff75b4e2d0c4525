"""From what is known of a tree to its tables as it is now, parsing only bytes that nobody parsed before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import TreeTooLargeError
from repo_map.indexing.fingerprints import fingerprint, fingerprint_of_runs
from repo_map.indexing.snapshot import SnapshotError
from repo_map.indexing.sources import Sources
from repo_map.indexing.splicing import Run, splice
from repo_map.indexing.store import Store
from repo_map.indexing.tables import Tables, from_arrays
from repo_map.worktree.files import Listing, Problem, list_files
from repo_map.worktree.tree import Tree

OnProgress = Callable[[str, int, int], None]
"""Called with the name of the phase, the work done and the work in all; what it raises ends the work."""

_WORTH_RELATED_BYTES = 1_000_000
_WORTH_SAVING_SHARE = 0.005


class Known(NamedTuple):
    """A tree at one moment."""

    tables: Tables
    listing: Listing
    taken_ns: int
    """Clock before the files were listed."""
    unsaved: frozenset[str] = frozenset()
    """Files whose rows the tree's snapshot in the store lacks."""
    problems: tuple[Problem, ...] = ()
    """Of the cache and the workers, not of the tree."""


def update(
    tree: Tree, known: Known | None, store: Store, workers: int | None, on_progress: OnProgress
) -> Known:
    """Return the tree as it is now; where ``known`` is left out the store is asked."""
    taken_ns = time.time_ns()
    problems: list[Problem] = []
    if known is None:
        known = _recall(tree, store, problems)
    on_progress("listing", 0, 1)
    listing = list_files(tree.root, None if known is None else known.listing, limit=tree.limits.files)
    _require_memory(tree, listing)
    on_progress("listing", 1, 1)
    sources = Sources(tree, listing)
    verified = 0 if known is None else sources.take_known(known.tables, known.listing, known.taken_ns)
    unsaved = sources.missing_paths() if known is None else known.unsaved | sources.missing_paths()
    if sources.missing_bytes() > _WORTH_RELATED_BYTES:
        sources.take_related(store.related(listing.paths))
    mishaps = sources.parse(workers, lambda done, total: on_progress("parsing", done, total))
    problems.extend(Problem("", what) for what in mishaps)
    if known is not None and sources.are_all_of(known.tables):
        now = Known(known.tables, listing, taken_ns, unsaved)
        if verified and not unsaved:
            _remember(tree, store, now, problems)
        return now._replace(problems=tuple(problems))
    runs = sources.runs()
    is_worth_saving = known is None or _is_worth_saving(listing, unsaved)
    if store.folder is not None and not mishaps and is_worth_saving:
        on_progress("saving", 0, 1)
        saved = _save(store, runs, on_progress, problems)
        if saved is not None:
            _remember(tree, store, Known(saved, listing, taken_ns), problems)
        on_progress("saving", 1, 1)
        if saved is not None:
            return Known(saved, listing, taken_ns, problems=tuple(problems))
    return Known(from_arrays(dict(splice(runs))), listing, taken_ns, unsaved, tuple(problems))


def _require_memory(tree: Tree, listing: Listing) -> None:
    """Raise ``TreeTooLargeError`` for a tree whose index would take more memory than it may."""
    sizes, limits = listing.states[:, 0], tree.limits
    if limits.memory_for(int(sizes.sum())) <= limits.memory_mb:
        return
    # Imported here because a warm start that parses nothing should not wait for the parsers.
    from repo_map.parsing.languages import language_of  # noqa: PLC0415

    source = sum(
        int(size)
        for path, size in zip(listing.paths, sizes, strict=True)
        if size <= limits.file_bytes and language_of(path)
    )
    if (needed := limits.memory_for(source)) > limits.memory_mb:
        raise TreeTooLargeError(
            f"`{tree.root}` has {source // 1_000_000:,} MB of source, whose index would take some "
            f"{needed:,} MB of memory, over the limit of {limits.memory_mb:,}; give a folder of it, or raise "
            "REPO_NAVIGATOR_MAX_MEMORY_MB."
        )


def _recall(tree: Tree, store: Store, problems: list[Problem]) -> Known | None:
    try:
        remembered = store.recall(tree.name)
    except SnapshotError as error:
        problems.append(Problem("", f"the cached index could not be used ({error}); it was made anew"))
        return None
    if remembered is None:
        return None
    memory, tables = remembered
    return Known(tables, memory.listing(tables), memory.taken_ns)


def _is_worth_saving(listing: Listing, unsaved: frozenset[str]) -> bool:
    """Say whether to parse the unsaved files at the next start would take longer than to write all now."""
    sizes = listing.states[:, 0]
    unsaved_bytes = sum(int(size) for path, size in zip(listing.paths, sizes, strict=True) if path in unsaved)
    return unsaved_bytes >= int(sizes.sum()) * _WORTH_SAVING_SHARE


def _save(store: Store, runs: list[Run], on_progress: OnProgress, problems: list[Problem]) -> Tables | None:
    def arrays() -> Iterator[tuple[str, NDArray[np.generic]]]:
        for named in splice(runs):
            on_progress("saving", 0, 1)
            yield named

    try:
        return store.keep(fingerprint_of_runs(runs), arrays)
    except OSError as error:
        problems.append(_cache_problem(store, error))
        return None


def _remember(tree: Tree, store: Store, known: Known, problems: list[Problem]) -> None:
    try:
        store.remember(tree.name, fingerprint(known.tables), known.listing, known.taken_ns)
    except OSError as error:
        problems.append(_cache_problem(store, error))


def _cache_problem(store: Store, error: OSError) -> Problem:
    why = error.strerror or type(error).__name__
    return Problem("", f"the cache `{store.folder}` can't be written ({why}), so the next start parses again")
