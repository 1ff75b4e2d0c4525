"""What changed and what must be read again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.errors import TreeTooLargeError
from repo_map.index.merge import FileRange, fingerprint, fingerprint_of_runs, merge_tables, pad_to_listing
from repo_map.index.schema import Tables, from_arrays
from repo_map.index.snapshot import SnapshotError
from repo_map.index.store import Store
from repo_map.languages.registry import language_of
from repo_map.limits import Limits
from repo_map.parsing.values import FileSymbols, without_symbols
from repo_map.sources.files import Listing, Problem
from repo_map.sources.source import MaskedSource, OverlaySource

_NONE = -1
_CLOCK_STEP_NS = 100_000_000
_COARSE_CLOCK_STEP_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


OnProgress = Callable[[str, int, int], None]
"""Called with the name of the phase, the work done and the work in all; what it raises ends the work."""

_WORTH_RELATED_BYTES = 100_000
_ROWS_PER_BYTE = 0.05
"""Rows of other trees that are looked at, at most, for each byte that is left to parse: to look at one takes
about a microsecond, to parse a byte a third."""
_WORTH_SAVING_SHARE = 0.005


class RowSources:
    """For each file of a listing, the tables and the row in them that describe it."""

    def __init__(self, tree: MaskedSource, listing: Listing) -> None:
        self._tree = tree.at(listing)
        self._listing = listing
        self._parts: list[Tables] = []
        self._part = np.full(len(listing.paths), _NONE, np.int64)
        self._row = np.full(len(listing.paths), _NONE, np.int64)
        self._digest: dict[int, bytes] = {}

    def take_known(self, tables: Tables, listing: Listing, taken_ns: int) -> int:
        """Take the rows of files with the same state or, failing that, bytes; return how many were read."""
        rows = self._rows_in(listing.paths)
        found = np.flatnonzero(rows != _NONE)
        before = listing.states[rows[found]]
        same = (before == self._listing.states[found]).all(axis=1) & ~_is_racy(before, taken_ns)
        self._take(tables, found[same], rows[found[same]])
        suspects = found[~same]
        self._take_same_bytes(tables, suspects, rows[suspects], self._digests(suspects))
        return len(suspects)

    def take_cached(self, candidates: Iterator[Tables]) -> None:
        """Take the rows of missing files from other trees, until to look costs more than it may save."""
        looked_at = 0
        while (missing := self.missing_bytes()) > _WORTH_RELATED_BYTES and (
            looked_at <= missing * _ROWS_PER_BYTE and (tables := next(candidates, None)) is not None
        ):
            looked_at += len(tables)
            self.take_related([tables])

    def take_related(self, candidates: Iterable[Tables]) -> None:
        """Take the rows of missing files from tables of other trees, wherever path and bytes agree."""
        for tables in candidates:
            missing = self._missing()
            rows = self._rows_in(tuple(tables.paths))[missing]
            found = rows != _NONE
            wanted = missing[found]
            self._take_same_bytes(tables, wanted, rows[found], self._digests(wanted))

    def take_unread(self) -> None:
        """Take the rows of files that were looked at and are listed by path only: they need no worker."""
        files = [file for file in self._missing().tolist() if self._digest.get(file) == b""]
        read = [self._tree.read(self._listing.paths[file]) for file in files]
        unread = [place for place, file in enumerate(read) if file.source is None]
        if unread:
            from repo_map.index.extraction import extract  # noqa: PLC0415 - a warm start reads nothing

            made = extract([read[place] for place in unread], self._tree.limits, _without_grammar)
            self._take(made, np.array([files[place] for place in unread]), np.arange(len(unread)))

    def take_read(self, known: TreeState) -> None:
        """Take the rows of the files that a first look has read, where they are as they were."""
        assert known.read is not None
        rows = self._rows_in(known.listing.paths)
        found = np.flatnonzero(np.isin(rows, known.read) & (self._part == _NONE))
        before = known.listing.states[rows[found]]
        same = (before == self._listing.states[found]).all(axis=1) & ~_is_racy(before, known.taken_ns)
        self._take(known.tables, found[same], rows[found[same]])

    def parse(
        self,
        workers: int | None,
        on_parsed: Callable[[int, int], None],
        among: NDArray[np.int64] | None = None,
    ) -> list[str]:
        """Parse whatever no tables hold yet, and return what went wrong beside the files themselves.

        ``among`` are the files that are parsed, ascending; all where it is left out.
        """
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
        """Return the files that no tables hold yet."""
        return frozenset(self._listing.paths[file] for file in self._missing().tolist())

    def missing_bytes(self) -> int:
        """Return the size of the files that no tables hold yet."""
        return int(np.minimum(self._listing.states[self._missing(), 0], self._tree.limits.file_bytes).sum())

    def are_all_of(self, tables: Tables) -> bool:
        """Say whether the sources are all the files of ``tables`` and no others."""
        return (
            len(self._row) == len(tables)
            and len(self._parts) <= 1
            and bool((self._row == np.arange(len(tables))).all())
            and all(part is tables for part in self._parts)
        )

    def runs(self) -> list[FileRange]:
        """Return the sources as stretches of neighbouring rows, in path order, without files of no source."""
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
        """Return for each file the row that ``paths`` has it in, -1 where it has not."""
        if paths == self._listing.paths:
            return np.arange(len(paths))
        rows = {path: row for row, path in enumerate(paths)}
        return np.fromiter((rows.get(path, _NONE) for path in self._listing.paths), np.int64, len(self._row))

    def _digests(self, files: NDArray[np.int64]) -> list[bytes]:
        """Return the digests of files as they were when they were first looked at for this update."""
        for file in files.tolist():
            if file not in self._digest:
                self._digest[file] = self._tree.digest(self._listing.paths[file])
        return [self._digest[file] for file in files.tolist()]

    def _take_same_bytes(
        self, tables: Tables, files: NDArray[np.int64], rows: NDArray[np.int64], digests: list[bytes]
    ) -> None:
        same = np.fromiter(
            (
                tables.files.digest[row].tobytes() == now
                for row, now in zip(rows.tolist(), digests, strict=True)
            ),
            np.bool_,
            len(files),
        )
        self._take(tables, files[same], rows[same])

    def _take(self, tables: Tables, files: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        if not len(files):
            return
        if not any(part is tables for part in self._parts):
            self._parts.append(tables)
        self._part[files] = next(number for number, part in enumerate(self._parts) if part is tables)
        self._row[files] = rows


def _without_grammar(source: bytes, path: str, limits: Limits) -> FileSymbols:
    del limits
    return without_symbols(source, path, "it was not parsed")


def _is_racy(states: NDArray[np.int64], taken_ns: int) -> NDArray[np.bool_]:
    """Mark files changed so shortly before the listing that a later edit may have left the same times."""
    changed = np.maximum(states[:, 1], states[:, 2])
    is_coarse = changed % _SECOND_NS == 0
    return changed >= taken_ns - np.where(is_coarse, _COARSE_CLOCK_STEP_NS, _CLOCK_STEP_NS)


class TreeState(NamedTuple):
    """A tree at one moment."""

    tables: Tables
    listing: Listing
    taken_ns: int
    """Clock before the files were listed."""
    unsaved: frozenset[str] = frozenset()
    """Files whose rows the tree's snapshot in the store lacks."""
    problems: tuple[Problem, ...] = ()
    """Of the cache and the workers, not of the tree."""
    parsed: int = 0
    """Files that had to be read by the workers; the rows of all others were known."""
    parsed_bytes: int = 0
    read: NDArray[np.int64] | None = None
    """Files that a first look read, ascending, the others being listed by path only; None where all were."""


def read_some(
    tree: MaskedSource,
    listing: Listing,
    taken_ns: int,
    chosen: NDArray[np.int64],
    *,
    workers: int | None,
    on_progress: OnProgress,
) -> TreeState:
    """Return a tree of which the ``chosen`` files are read, ascending, and all others are only listed."""
    sources = RowSources(tree, listing)
    mishaps = sources.parse(workers, lambda done, total: on_progress("parsing", done, total), chosen)
    problems = tuple(Problem("", what) for what in mishaps)
    tables = pad_to_listing(from_arrays(dict(merge_tables(sources.runs()))), chosen, listing)
    size = int(listing.states[chosen, 0].sum())
    return TreeState(
        tables, listing, taken_ns, frozenset(listing.paths), problems, len(chosen), size, read=chosen
    )


def update(
    tree: MaskedSource, known: TreeState | None, store: Store, workers: int | None, on_progress: OnProgress
) -> TreeState:
    """Return the tree as it is now; where ``known`` is left out, or a first look, the store is asked."""
    taken_ns = time.time_ns()
    problems: list[Problem] = []
    look = None
    if known is not None and known.read is not None:
        look, known = known, None
    if known is None:
        known = _load(tree, store, problems)
    if known is None:
        # While the files are listed a worker starts.
        from repo_map.index.worker_pool import warm_up  # noqa: PLC0415 - a warm start should not wait for it

        warm_up()
    on_progress("listing", 0, 1)
    listing = tree.list(None if known is None else known.listing, lambda: on_progress("listing", 0, 1))
    require_memory(tree, listing)
    on_progress("listing", 1, 1)
    sources = RowSources(tree, listing)
    verified = 0 if known is None else sources.take_known(known.tables, known.listing, known.taken_ns)
    unsaved = sources.missing_paths() if known is None else known.unsaved | sources.missing_paths()
    if look is not None:
        sources.take_read(look)
    sources.take_cached(store.related(listing.paths))
    sources.take_unread()
    parsed, parsed_bytes = len(sources.missing_paths()), sources.missing_bytes()
    mishaps = sources.parse(workers, lambda done, total: on_progress("parsing", done, total))
    problems.extend(Problem("", what) for what in mishaps)
    if known is not None and sources.are_all_of(known.tables):
        now = TreeState(known.tables, listing, taken_ns, unsaved, parsed=parsed, parsed_bytes=parsed_bytes)
        if verified and not unsaved:
            _save_state(tree, store, now, problems)
        return now._replace(problems=tuple(problems))
    runs = sources.runs()
    is_worth_saving = known is None or _is_worth_saving(listing, unsaved)
    if store.folder is not None and not mishaps and is_worth_saving:
        on_progress("saving", 0, 1)
        saved = _save(store, runs, on_progress, problems)
        if saved is not None:
            _save_state(tree, store, TreeState(saved, listing, taken_ns), problems)
        on_progress("saving", 1, 1)
        if saved is not None:
            return TreeState(saved, listing, taken_ns, frozenset(), tuple(problems), parsed, parsed_bytes)
    made = from_arrays(dict(merge_tables(runs)))
    return TreeState(made, listing, taken_ns, unsaved, tuple(problems), parsed, parsed_bytes)


def overlaid(
    tree: MaskedSource, known: TreeState, place: OverlaySource, contents: Mapping[str, bytes | None]
) -> TreeState:
    """Return a known tree with some files otherwise: their rows are read anew, those of all others stay."""
    from repo_map.index.extraction import extract  # noqa: PLC0415 - a warm start reads nothing
    from repo_map.index.worker_pool import read_source  # noqa: PLC0415 - as above

    listing = place.listing(known.listing)
    files = tree.at(listing)
    read = [files.read(path) for path in listing.paths if contents.get(path) is not None]
    made = extract(read, tree.limits, read_source)
    rows = {path: row for row, path in enumerate(known.listing.paths)}
    fresh = {file.path: row for row, file in enumerate(read)}
    runs: list[FileRange] = []
    for path in listing.paths:
        tables, row = (made, fresh[path]) if path in fresh else (known.tables, rows[path])
        if runs and runs[-1].tables is tables and runs[-1].last == row:
            runs[-1] = runs[-1]._replace(last=row + 1)
        else:
            runs.append(FileRange(tables, row, row + 1))
    return TreeState(from_arrays(dict(merge_tables(runs))), listing, known.taken_ns)


def require_memory(tree: MaskedSource, listing: Listing) -> None:
    """Raise ``TreeTooLargeError`` for a tree whose index would take more memory than it may."""
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
    """Say whether to parse the unsaved files at the next start would take longer than to write all now."""
    sizes = listing.states[:, 0]
    unsaved_bytes = sum(int(size) for path, size in zip(listing.paths, sizes, strict=True) if path in unsaved)
    return unsaved_bytes >= int(sizes.sum()) * _WORTH_SAVING_SHARE


def _save(
    store: Store, runs: list[FileRange], on_progress: OnProgress, problems: list[Problem]
) -> Tables | None:
    def arrays() -> Iterator[tuple[str, NDArray[np.generic]]]:
        for named in merge_tables(runs):
            on_progress("saving", 0, 1)
            yield named

    try:
        return store.save_snapshot(fingerprint_of_runs(runs), arrays)
    except OSError as error:
        problems.append(_cache_problem(store, error))
        return None


def _save_state(tree: MaskedSource, store: Store, known: TreeState, problems: list[Problem]) -> None:
    try:
        store.save_state(tree.name, fingerprint(known.tables), known.listing, known.taken_ns)
    except OSError as error:
        problems.append(_cache_problem(store, error))


def _cache_problem(store: Store, error: OSError) -> Problem:
    why = error.strerror or type(error).__name__
    return Problem("", f"the cache `{store.folder}` can't be written ({why}), so the next start parses again")
