"""The index of a first look, taken where nothing is known of a large tree."""

from __future__ import annotations

import time

import numpy as np

from repo_map.first_look.choosing import choose
from repo_map.index.build import OnProgress, read_some, require_memory
from repo_map.index.repo_index import RepoIndex, ignore_progress
from repo_map.index.store import Store
from repo_map.index.worker_pool import warm_up
from repo_map.languages.registry import language_of
from repo_map.limits import DEFAULT, Limits
from repo_map.ranking.goal import parse_goal
from repo_map.sources.files import Listing
from repo_map.sources.source import FileSource, MaskedSource

LARGE_BYTES = 6_000_000
"""Of source: an index of less is there within some seconds."""
LARGE_FILES = 1_500
_WORKERS = 2


def is_unknown(
    place: FileSource, store: Store, unmasked: tuple[str, ...] = (), limits: Limits = DEFAULT
) -> bool:
    """Tell whether a first look may be worth taking: nothing is kept of the one folder that a place is."""
    store = store.under(limits)
    is_known = store.has_state(_tree(place, unmasked, limits).name)
    return not is_known and len(place.parts) == 1 and not place.parts[0].ref


def first_look(
    place: FileSource,
    goal: str,
    *,
    store: Store,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    unmasked: tuple[str, ...] = (),
    limits: Limits = DEFAULT,
) -> RepoIndex | None:
    """Return an index in which the files that ``goal`` points at are read and all others are only listed.

    None where that saves nothing: the place is not ``is_unknown``, the store knows a tree that is much like
    it, or it is small. ``refresh`` of the index reads the rest.

    Raises:
        RepositoryNotFoundError: there is nothing to list.
        TreeTooLargeError: the whole index would take more memory than ``limits`` allow.
    """
    if not is_unknown(place, store, unmasked, limits):
        return None
    store = store.under(limits)
    tree = _tree(place, unmasked, limits)
    on_progress = on_progress or ignore_progress
    warm_up(_WORKERS)
    taken_ns = time.time_ns()
    on_progress("listing", 0, 1)
    listing = tree.list(None, lambda: on_progress("listing", 0, 1))
    require_memory(tree, listing)
    if not _is_large(listing, limits) or any(True for _ in store.related(listing.paths)):
        return None
    chosen = choose(
        tree.at(listing), listing, parse_goal(goal), lambda: on_progress("searching", 0, len(listing.paths))
    )
    if not len(chosen):
        return None
    known = read_some(tree, listing, taken_ns, chosen, workers=workers, on_progress=on_progress)
    return RepoIndex(tree, known, store, workers)


def _tree(place: FileSource, unmasked: tuple[str, ...], limits: Limits) -> MaskedSource:
    return MaskedSource(place, tuple(sorted(set(unmasked))), limits)


def _is_large(listing: Listing, limits: Limits) -> bool:
    """Tell whether an index of all files takes longer than an answer should."""
    sizes = np.minimum(listing.states[:, 0], limits.file_bytes)
    source = [language_of(path) != "" for path in listing.paths]
    return sum(source) > LARGE_FILES or int(sizes[source].sum()) > LARGE_BYTES
