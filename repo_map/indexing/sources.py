"""Where the rows of each listed file come from: tables that hold its very bytes already, or the parser."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from repo_map.indexing.splicing import Run
from repo_map.indexing.tables import Tables
from repo_map.worktree.files import Listing
from repo_map.worktree.tree import Tree

_NONE = -1
_CLOCK_STEP_NS = 100_000_000
_COARSE_CLOCK_STEP_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000


class Sources:
    """For each file of a listing, the tables and the row in them that describe it."""

    def __init__(self, tree: Tree, listing: Listing) -> None:
        self._tree = tree
        self._listing = listing
        self._parts: list[Tables] = []
        self._part = np.full(len(listing.paths), _NONE, np.int64)
        self._row = np.full(len(listing.paths), _NONE, np.int64)

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

    def take_related(self, candidates: Iterable[Tables]) -> None:
        """Take the rows of missing files from tables of other trees, wherever path and bytes agree."""
        digests: dict[int, bytes] = {}
        for tables in candidates:
            missing = self._missing()
            if not digests:
                digests = dict(zip(missing.tolist(), self._digests(missing), strict=True))
            rows = self._rows_in(tuple(tables.paths))[missing]
            found = rows != _NONE
            wanted = missing[found]
            self._take_same_bytes(tables, wanted, rows[found], [digests[file] for file in wanted.tolist()])

    def parse(self, workers: int | None, on_parsed: Callable[[int, int], None]) -> list[str]:
        """Parse whatever no tables hold yet, and return what went wrong beside the files themselves."""
        missing = self._missing()
        if not len(missing):
            return []
        # Imported here because a warm start that parses nothing should not wait for the parsers.
        from repo_map.indexing.workers import parse_files  # noqa: PLC0415

        paths = tuple(self._listing.paths[file] for file in missing.tolist())
        sizes = self._listing.states[missing, 0].tolist()
        parsed = parse_files(
            self._tree, paths, sizes, workers=workers, on_parsed=lambda done: on_parsed(done, len(paths))
        )
        at = 0
        for tables in parsed.tables:
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

    def runs(self) -> list[Run]:
        """Return the sources as stretches of neighbouring rows, in path order."""
        if not len(self._row):
            return []
        follows = (np.diff(self._part) == 0) & (np.diff(self._row) == 1)
        firsts = np.concatenate(([0], np.flatnonzero(~follows) + 1)).tolist()
        lasts = [*firsts[1:], len(self._row)]
        parts, rows = self._part.tolist(), self._row.tolist()
        return [
            Run(self._parts[parts[first]], rows[first], rows[first] + last - first)
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
        return [self._tree.digest(self._listing.paths[file]) for file in files.tolist()]

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


def _is_racy(states: NDArray[np.int64], taken_ns: int) -> NDArray[np.bool_]:
    """Mark files changed so shortly before the listing that a later edit may have left the same times."""
    changed = np.maximum(states[:, 1], states[:, 2])
    is_coarse = changed % _SECOND_NS == 0
    return changed >= taken_ns - np.where(is_coarse, _COARSE_CLOCK_STEP_NS, _CLOCK_STEP_NS)
