"""Build and refresh an index: reuse every row whose file has not changed, parse the rest."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from repo_map import globs
from repo_map.cache import return_freed_memory
from repo_map.errors import TreeTooLargeError
from repo_map.index.index import Build, Index, TreeState
from repo_map.index.merge import FileRange, fingerprint, fingerprint_of_runs, merge_tables
from repo_map.index.schema import Tables, from_arrays
from repo_map.index.snapshot import SnapshotError
from repo_map.index.store import Store, user_store
from repo_map.languages.registry import language_of
from repo_map.limits import DEFAULT, Limits
from repo_map.sources.files import Listing, Problem, ReadFile
from repo_map.sources.source import FileSource, MaskedSource, OverlaySource, folder_source

_NONE = -1
_CLOCK_STEP_NS = 100_000_000
_COARSE_CLOCK_STEP_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


OnProgress = Callable[[str, int, int], None]
"""Called with the phase, the work done and the total; an exception ends the work."""

_WORTH_RELATED_BYTES = 100_000
_ROWS_PER_BYTE = 0.05
"""Maximum of rows of other trees that are compared per byte left to parse: comparing one takes about a
microsecond, parsing a byte a third."""
_WORTH_SAVING_SHARE = 0.005


class RowSources:
    """The tables and the row that describe each file of a listing, collected from several sources."""

    def __init__(self, tree: MaskedSource, listing: Listing) -> None:
        self._tree = tree.at(listing)
        self._listing = listing
        self._parts: list[Tables] = []
        self._part = np.full(len(listing.paths), _NONE, np.int64)
        self._row = np.full(len(listing.paths), _NONE, np.int64)
        self._digest: dict[int, bytes] = {}

    def take_known(self, known: TreeState) -> int:
        """Take the rows of missing files with the same state or, else, bytes; return how many were read."""
        rows = self._rows_in(known.listing.paths)
        is_known = rows != _NONE if known.partial is None else np.isin(rows, known.partial)
        found = np.flatnonzero(is_known & (self._part == _NONE))
        before = known.listing.states[rows[found]]
        same = (before == self._listing.states[found]).all(axis=1) & ~_is_racy(before, known.taken_ns)
        self._take(known.tables, found[same], rows[found[same]])
        self._take_same_bytes(known.tables, found[~same], rows[found[~same]])
        return int((~same).sum())

    def take_without(self, known: TreeState, others: Collection[str]) -> None:
        """Take the rows of all known files but ``others``, even of files that changed since."""
        rows = self._rows_in(known.listing.paths)
        is_other = np.fromiter((path in others for path in self._listing.paths), np.bool_, len(rows))
        files = np.flatnonzero((rows != _NONE) & ~is_other)
        self._take(known.tables, files, rows[files])

    def take_cached(self, candidates: Iterator[Tables]) -> None:
        """Take the rows of missing files from other trees, until the search costs more than it may save."""
        looked_at = 0
        while (missing := self.missing_bytes()) > _WORTH_RELATED_BYTES and (
            looked_at <= missing * _ROWS_PER_BYTE and (tables := next(candidates, None)) is not None
        ):
            looked_at += len(tables)
            files = self._missing()
            rows = self._rows_in(tuple(tables.paths))[files]
            self._take_same_bytes(tables, files[rows != _NONE], rows[rows != _NONE])

    def take_unread(self) -> None:
        """Make the rows of files that can't be read; they need no parser process."""
        files = [file for file in self._missing().tolist() if self._digest.get(file) == b""]
        read = [(file, self._tree.read(self._listing.paths[file])) for file in files]
        self._take_by_path([(file, each) for file, each in read if each.source is None])

    def take_listed(self) -> None:
        """Make the rows of the missing files by their paths and sizes alone."""
        sizes = self._listing.states[:, 0].tolist()
        paths = self._listing.paths
        missing = self._missing().tolist()
        self._take_by_path([(file, ReadFile(paths[file], sizes[file], None)) for file in missing])

    def _take_by_path(self, files: list[tuple[int, ReadFile]]) -> None:
        if files:
            from repo_map.index.extraction import extract  # noqa: PLC0415 - a warm start reads nothing
            from repo_map.index.worker_pool import read_source  # noqa: PLC0415 - as above

            made = extract([read for _, read in files], self._tree.limits, read_source)
            self._take(made, np.array([file for file, _ in files]), np.arange(len(files)))

    def parse(
        self,
        workers: int | None,
        on_parsed: Callable[[int, int], None],
        among: NDArray[np.int64] | None = None,
    ) -> list[str]:
        """Parse the missing files, or those of ``among``, ascending; return general problems."""
        missing = self._missing() if among is None else among
        if not len(missing):
            return []
        from repo_map.index.worker_pool import parse_files  # noqa: PLC0415 - a warm start parses nothing

        paths = tuple(self._listing.paths[file] for file in missing.tolist())
        sizes = self._listing.states[missing, 0].tolist()
        parsed = parse_files(
            self._tree, paths, sizes, workers=workers, on_parsed=lambda done: on_parsed(done, len(paths))
        )
        at = 0
        for tables in parsed.parts:
            self._take(tables, missing[at : at + len(tables)], np.arange(len(tables)))
            at += len(tables)
        return parsed.problems

    def missing_paths(self) -> frozenset[str]:
        """Return the files without a row."""
        return frozenset(self._listing.paths[file] for file in self._missing().tolist())

    def missing_bytes(self) -> int:
        """Return the size in bytes of the files without a row."""
        return int(np.minimum(self._listing.states[self._missing(), 0], self._tree.limits.file_bytes).sum())

    def are_all_of(self, tables: Tables) -> bool:
        """Return True if the rows are all rows of ``tables`` and no others."""
        return (
            len(self._row) == len(tables)
            and len(self._parts) <= 1
            and bool((self._row == np.arange(len(tables))).all())
            and all(part is tables for part in self._parts)
        )

    def runs(self) -> list[FileRange]:
        """Return the rows as ranges, in path order, without files that have none."""
        sourced = np.flatnonzero(self._part != _NONE)
        if not len(sourced):
            return []
        part, row = self._part[sourced], self._row[sourced]
        follows = (np.diff(part) == 0) & (np.diff(row) == 1)
        firsts = np.concatenate(([0], np.flatnonzero(~follows) + 1)).tolist()
        lasts = [*firsts[1:], len(row)]
        parts, rows = part.tolist(), row.tolist()
        return [
            FileRange(self._parts[parts[first]], rows[first], rows[first] + last - first)
            for first, last in zip(firsts, lasts, strict=True)
        ]

    def _missing(self) -> NDArray[np.int64]:
        return np.flatnonzero(self._part == _NONE)

    def _rows_in(self, paths: tuple[str, ...]) -> NDArray[np.int64]:
        """Return the row of each file in ``paths``, -1 if it is not there."""
        if paths == self._listing.paths:
            return np.arange(len(paths))
        rows = {path: row for row, path in enumerate(paths)}
        return np.fromiter((rows.get(path, _NONE) for path in self._listing.paths), np.int64, len(self._row))

    def _take_same_bytes(self, tables: Tables, files: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        """Take the rows of files with the same digest; each file is read once per update."""
        same = np.zeros(len(files), np.bool_)
        for at, (file, row) in enumerate(zip(files.tolist(), rows.tolist(), strict=True)):
            if file not in self._digest:
                self._digest[file] = self._tree.digest(self._listing.paths[file])
            same[at] = tables.files.digest[row].tobytes() == self._digest[file]
        self._take(tables, files[same], rows[same])

    def _take(self, tables: Tables, files: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        if not len(files):
            return
        if not any(part is tables for part in self._parts):
            self._parts.append(tables)
        self._part[files] = next(number for number, part in enumerate(self._parts) if part is tables)
        self._row[files] = rows


def _is_racy(states: NDArray[np.int64], taken_ns: int) -> NDArray[np.bool_]:
    """Mark files changed so shortly before the listing that a later edit could have the same times."""
    changed = np.maximum(states[:, 1], states[:, 2])
    is_coarse = changed % _SECOND_NS == 0
    return changed >= taken_ns - np.where(is_coarse, _COARSE_CLOCK_STEP_NS, _CLOCK_STEP_NS)


def build_index(
    root: Path | FileSource,
    *,
    store: Store | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    unmasked: Iterable[str] = (),
    limits: Limits = DEFAULT,
) -> Index:
    """Return the index of a repository; parse only what the store does not have.

    Args:
        root: A folder, or another source of files.
        store: The user's cache by default; ``Store(None)`` for none.
        workers: Maximum number of processes to parse in; by default one per processor for a large tree.
        on_progress: Called with the phase (``listing``, ``fetching``, ``parsing``, ``saving``), the work
            done and the total.
        unmasked: Globs of files that are shown with their secrets.
        limits: Limits of the tree, its files and the memory of the index.

    Raises:
        FlightPlanError: A glob is not valid.
        RepositoryNotFoundError: There is nothing to list.
        TreeTooLargeError: The index would take more memory than ``limits`` allow.
    """
    source = folder_source(root) if isinstance(root, Path) else root
    tree = MaskedSource(source, tuple(sorted(set(unmasked))), limits)
    for pattern in tree.unmasked:
        globs.compile(pattern)
    store = user_store(limits) if store is None else store.under(limits)
    state = _update(tree, None, store, workers, on_progress or ignore_progress)
    if state.parsed:
        return_freed_memory()
    return Index(Build(tree, state, store, workers))


def refresh_index(index: Index, on_progress: OnProgress | None = None) -> Index:
    """Return the index of the tree as it is now, ``index`` itself if nothing has changed.

    Only files that changed, or that a first look did not read, are parsed.
    """
    build = index.build
    state = _update(
        build.masked_source, build.state, build.store, build.workers, on_progress or ignore_progress
    )
    new = replace(build, state=state)
    if state.tables is build.state.tables and state.problems == build.state.problems:
        index.build = new
        return index
    return Index(new)


def overlay_index(index: Index, contents: Mapping[str, bytes | None]) -> Index:
    """Return the index of the tree with other contents of some files; only those are parsed.

    Args:
        index: The index of the tree; neither it nor the store is changed.
        contents: The bytes of each file that differs, by its path; None for a removed one.
    """
    known = index.build.state
    source = OverlaySource(index.build.source, contents)
    tree, listing = index.build.masked_source._replace(source=source), source.listing(known.listing)
    sources = RowSources(tree, listing)
    sources.take_without(known, contents)
    warnings = sources.parse(1, lambda _done, _total: None)
    made = from_arrays(dict(merge_tables(sources.runs())))
    problems = tuple(Problem("", what) for what in warnings)
    state = TreeState(made, listing, known.taken_ns, warnings=problems)
    return Index(Build(tree, state, Store(None), index.build.workers))


def ignore_progress(_phase: str, _done: int, _total: int) -> None:
    """Do nothing."""


def read_some(
    tree: MaskedSource,
    listing: Listing,
    taken_ns: int,
    chosen: NDArray[np.int64],
    *,
    workers: int | None,
    on_progress: OnProgress,
) -> TreeState:
    """Return the state of a tree of which only the ``chosen`` files, ascending, are read."""
    sources = RowSources(tree, listing)
    warnings = sources.parse(workers, lambda done, total: on_progress("parsing", done, total), chosen)
    problems = tuple(Problem("", what) for what in warnings)
    sources.take_listed()
    tables = from_arrays(dict(merge_tables(sources.runs())))
    size = int(listing.states[chosen, 0].sum())
    return TreeState(
        tables, listing, taken_ns, frozenset(listing.paths), problems, len(chosen), size, partial=chosen
    )


def _update(
    tree: MaskedSource, known: TreeState | None, store: Store, workers: int | None, on_progress: OnProgress
) -> TreeState:
    """Return the state of the tree now; without ``known``, or after a first look, the store is searched."""
    taken_ns = time.time_ns()
    problems: list[Problem] = []
    look = None
    if known is not None and known.partial is not None:
        look, known = known, None
    if known is None:
        known = _load(tree, store, problems)
    if known is None:
        # A process starts while the files are listed.
        from repo_map.index.worker_pool import warm_up  # noqa: PLC0415 - a warm start should not wait for it

        warm_up()
    on_progress("listing", 0, 1)
    listing = tree.list(None if known is None else known.listing, lambda: on_progress("listing", 0, 1))
    require_memory(tree, listing)
    on_progress("listing", 1, 1)
    sources = RowSources(tree, listing)
    verified = 0 if known is None else sources.take_known(known)
    unsaved = sources.missing_paths() if known is None else known.unsaved | sources.missing_paths()
    if look is not None:
        sources.take_known(look)
    sources.take_cached(store.related(listing.paths))
    sources.take_unread()
    parsed, parsed_bytes = len(sources.missing_paths()), sources.missing_bytes()
    warnings = sources.parse(workers, lambda done, total: on_progress("parsing", done, total))
    problems.extend(Problem("", what) for what in warnings)
    if known is not None and sources.are_all_of(known.tables):
        if verified and not unsaved:
            with _reported(store, problems):
                store.save_state(tree.name, fingerprint(known.tables), listing, taken_ns)
        return TreeState(known.tables, listing, taken_ns, unsaved, tuple(problems), parsed, parsed_bytes)
    runs = sources.runs()
    tables = None
    if store.folder is not None and not warnings and (known is None or _is_worth_saving(listing, unsaved)):
        on_progress("saving", 0, 1)
        with _reported(store, problems):
            name = fingerprint_of_runs(runs)
            tables = store.save_snapshot(name, lambda: _merged(runs, on_progress))
            unsaved = frozenset()
            store.save_state(tree.name, name, listing, taken_ns)
        on_progress("saving", 1, 1)
    if tables is None:
        tables = from_arrays(dict(merge_tables(runs)))
    return TreeState(tables, listing, taken_ns, unsaved, tuple(problems), parsed, parsed_bytes)


def require_memory(tree: MaskedSource, listing: Listing) -> None:
    """Raise ``TreeTooLargeError`` if the index of a tree would take more memory than its limits allow."""
    sizes, limits = listing.states[:, 0], tree.limits
    if limits.memory_for(int(sizes.sum())) <= limits.memory_mb:
        return
    source = sum(
        int(size)
        for path, size in zip(listing.paths, sizes, strict=True)
        if size <= limits.file_bytes and language_of(path)
    )
    if (needed := limits.memory_for(source)) > limits.memory_mb:
        raise TreeTooLargeError(
            f"`{tree.source.title}` has {source // 1_000_000:,} MB of source, whose index would take some "
            f"{needed:,} MB of memory, over the limit of {limits.memory_mb:,}; give a folder of it, or raise "
            "REPO_NAVIGATOR_MAX_MEMORY_MB."
        )


def _load(tree: MaskedSource, store: Store, problems: list[Problem]) -> TreeState | None:
    try:
        remembered = store.load_state(tree.name)
    except SnapshotError as error:
        problems.append(Problem("", f"the cached index could not be used ({error}); it was built again"))
        return None
    if remembered is None:
        return None
    memory, tables = remembered
    return TreeState(tables, memory.listing(tables), memory.taken_ns)


def _is_worth_saving(listing: Listing, unsaved: frozenset[str]) -> bool:
    """Return True if parsing the unsaved files at the next start would take longer than writing all now."""
    sizes = listing.states[:, 0]
    unsaved_bytes = sum(int(size) for path, size in zip(listing.paths, sizes, strict=True) if path in unsaved)
    return unsaved_bytes >= int(sizes.sum()) * _WORTH_SAVING_SHARE


def _merged(runs: list[FileRange], on_progress: OnProgress) -> Iterator[tuple[str, NDArray[np.generic]]]:
    for named in merge_tables(runs):
        on_progress("saving", 0, 1)
        yield named


@contextmanager
def _reported(store: Store, problems: list[Problem]) -> Iterator[None]:
    """Add the problem if the cache can't be written."""
    try:
        yield
    except OSError as error:
        why = error.strerror or type(error).__name__
        what = f"the cache `{store.folder}` can't be written ({why}), so the next start parses again"
        problems.append(Problem("", what))
