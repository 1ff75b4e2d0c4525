"""Rank files and definitions by personalized PageRank over the graph of references."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map import globs
from repo_map.arrays import distinct
from repo_map.cache import LRUCache
from repo_map.graph.references import Floats, Ints, ReferenceGraph, build_graph
from repo_map.plan.model import Focus
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

DAMPING = 0.85
"""Probability of following a reference instead of restarting; Page et al., 1998."""
_TOLERANCE = 1e-4
_MAX_ROUNDS = 60
_DECIMALS = 12
_MAX_NAMES = 2_000
_MAX_RANKINGS = 16
"""Rankings cached per index, one for each focus."""
_FOCUS_SHARE = 0.5
"""Share of the restarts that go to a plan's focus."""
_TEST_SHARE, _COPIED_SHARE = 0.3, 0.05


class Ranking(NamedTuple):
    """Ranks; each array sums to 1 at most."""

    files: Floats
    """Shape (files,)."""
    definitions: Floats
    """Shape (symbols,)."""


def rank(index: RepoIndex, focus: Focus | None = None) -> Floats:
    """Return the rank of each file, shape (files,), summing to 1."""
    return rank_all(index, focus).files


def rank_all(index: RepoIndex, focus: Focus | None = None) -> Ranking:
    """Return the ranks of files and definitions, cached per index."""
    cached = index.derived(_rankings)
    ranking = cached.get(focus)
    if ranking is None:
        graph = index.derived(build_graph)
        ranking = _walk(graph, _starts(index, focus), len(index.symbols.name))
        cached.put(focus, ranking)
    return ranking


def _rankings(_index: RepoIndex) -> LRUCache[Focus | None, Ranking]:
    return LRUCache(_MAX_RANKINGS, lambda _ranking: 1)


def _walk(graph: ReferenceGraph, starts: Floats, rows: int) -> Ranking:
    """Iterate until the ranks converge; a few milliseconds a round at 11,000 files."""
    files = starts.copy()
    reached = np.zeros(0)
    for _ in range(_MAX_ROUNDS):
        reached = _to_definitions(graph, files)
        moved = np.bincount(graph.definer, reached, len(starts))
        # Rank of files without references and of names without definitions restarts.
        moved = DAMPING * moved + (1 - DAMPING * moved.sum()) * starts
        settled = np.abs(moved - files).sum() < _TOLERANCE
        files = moved
        if settled:
            break
    definitions = np.zeros(rows)
    if reached.size:
        definitions[graph.row] = reached
    # Sums may differ in their last bits between machines; maps may not.
    return Ranking(files.round(_DECIMALS), definitions.round(_DECIMALS))


def _to_definitions(graph: ReferenceGraph, files: Floats) -> Floats:
    """Return the rank that reaches each definition when every file passes on its own."""
    if not graph.source.size:
        return np.zeros(len(graph.definer))
    names: Floats = np.add.reduceat(graph.weight * files[graph.source], graph.name_start)
    reached: Floats = names[graph.defined] * graph.share
    return reached


def _starts(index: RepoIndex, focus: Focus | None) -> Floats:
    """Return the distribution of restarts: by the kinds of files, and half of it by the focus.

    A weight is shared by the files that it boosts; below 1 it removes restarts.
    """
    flags = index.files.flags
    base = np.ones(len(index.paths))
    base[(flags & int(FileFlag.TEST)) > 0] = _TEST_SHARE
    base[(flags & int(GENERATED_OR_VENDORED | FileFlag.BINARY)) > 0] = _COPIED_SHARE
    base /= max(base.sum(), 1e-12)
    if not focus:
        return base
    wanted = np.zeros(len(base))
    for named, weight in boosts(index, focus):
        if not len(named):
            continue
        if weight >= 1:
            wanted[named] += weight / len(named)
        else:
            base[named] *= weight
            base /= max(base.sum(), 1e-12)
    if not wanted.any():
        return base
    shared: Floats = (1 - _FOCUS_SHARE) * base + _FOCUS_SHARE * wanted / wanted.sum()
    return shared


def boosts(index: RepoIndex, focus: Focus) -> Iterator[tuple[Ints, float]]:
    """Yield the files and the weight of each boost, of paths and of symbols."""
    for path in focus.paths:
        yield np.array(globs.select(path.pattern, index.paths), dtype=np.int64), path.weight
    for symbol in focus.symbols:
        yield files_defining(index, symbol.name), symbol.weight


def files_defining(index: RepoIndex, name: str) -> Ints:
    """Return the files that define a name (``dispatch``, ``Router.dispatch``, ``Router.*``), ascending."""
    cached = index.derived(_defining)
    files = cached.get(name)
    if files is None:
        files = _files_defining(index, name)
        cached.put(name, files)
    return files


def _defining(_index: RepoIndex) -> LRUCache[str, Ints]:
    # As many as the rules of a plan, several times over; each is short.
    return LRUCache(_MAX_NAMES, lambda _files: 1)


def _files_defining(index: RepoIndex, name: str) -> Ints:
    symbols = index.symbols
    leaf = name.rpartition(".")[2]
    if any(character in name for character in "*?[{"):
        match = globs.compile_name(name).fullmatch
        rows = [
            (file_id, row)
            for file_id, row in _rows_with_files(index)
            if match(index.strings[int(symbols.name[row])]) or match(_qualified(index, file_id, row))
        ]
        return distinct(np.array([file_id for file_id, _ in rows], dtype=np.int64))
    found = [string for string in {index.strings.get(leaf), index.strings.get(name)} if string is not None]
    rows_named = np.flatnonzero(np.isin(symbols.name, found))
    file_ids = np.searchsorted(symbols.file_start, rows_named, side="right") - 1
    kept = [
        int(file_id)
        for file_id, row in zip(file_ids, rows_named, strict=True)
        if name in (leaf, _qualified(index, int(file_id), int(row)))
    ]
    return distinct(np.array(kept, dtype=np.int64))


def _rows_with_files(index: RepoIndex) -> list[tuple[int, int]]:
    counts = np.diff(index.symbols.file_start)
    files = np.repeat(np.arange(len(counts)), counts)
    return list(zip(files.tolist(), range(len(files)), strict=True))


def _qualified(index: RepoIndex, file_id: int, row: int) -> str:
    return index.qualified_name(file_id, row - int(index.symbols.file_start[file_id]))
