"""Rank files and definitions by personalized PageRank over the graph of references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from repo_map import globs
from repo_map.arrays import distinct, group_of_rows
from repo_map.cache import LRUCache
from repo_map.graph.references import Floats, Ints, ReferenceGraph, build_graph
from repo_map.plan.model import Focus
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, FileFlag

if TYPE_CHECKING:
    from repo_map.index.index import Index

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


def rank(index: Index, focus: Focus | None = None) -> Floats:
    """Return the rank of each file, shape (files,), summing to 1; cached per index."""
    cached = index.memo(_rankings)
    ranking = cached.get(focus)
    if ranking is None:
        ranking = _walk(index.memo(build_graph), _restarts(index, focus))
        cached.put(focus, ranking)
    return ranking


def _rankings(_index: Index) -> LRUCache[Focus | None, Floats]:
    return LRUCache(_MAX_RANKINGS, lambda _ranking: 1)


def _walk(graph: ReferenceGraph, restarts: Floats) -> Floats:
    """Iterate until the ranks converge; a few milliseconds a round at 11,000 files."""
    files = restarts
    for _ in range(_MAX_ROUNDS):
        reached = np.zeros(len(graph.definer))
        if graph.source.size:
            names = np.add.reduceat(graph.weight * files[graph.source], graph.name_start)
            reached = names[graph.defined] * graph.share
        moved = np.bincount(graph.definer, reached, len(restarts))
        # Rank of files without references and of names without definitions restarts.
        moved = DAMPING * moved + (1 - DAMPING * moved.sum()) * restarts
        has_converged = np.abs(moved - files).sum() < _TOLERANCE
        files = moved
        if has_converged:
            break
    # Sums may differ in their last bits between machines; maps may not.
    return files.round(_DECIMALS)


def _restarts(index: Index, focus: Focus | None) -> Floats:
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


def boosts(index: Index, focus: Focus) -> Iterator[tuple[Ints, float]]:
    """Yield the files and the weight of each boost, of paths and of symbols."""
    for path in focus.paths:
        yield np.array(globs.select(path.pattern, index.paths), dtype=np.int64), path.weight
    for symbol in focus.symbols:
        yield files_defining(index, symbol.name), symbol.weight


def files_defining(index: Index, name: str) -> Ints:
    """Return the files that define a name (``dispatch``, ``Router.dispatch``, ``Router.*``), ascending."""
    cached = index.memo(_defining)
    files = cached.get(name)
    if files is None:
        files = _files_defining(index, name)
        cached.put(name, files)
    return files


def _defining(_index: Index) -> LRUCache[str, Ints]:
    # As many as the rules of a plan, several times over; each is short.
    return LRUCache(_MAX_NAMES, lambda _files: 1)


def _files_defining(index: Index, name: str) -> Ints:
    symbols, strings = index.symbols, index.strings
    leaf = name.rpartition(".")[2]
    if any(character in name for character in "*?[{"):
        rows = np.arange(len(symbols.name))
        matches = globs.compile_name(name).fullmatch
    else:
        found = [number for each in {leaf, name} if (number := strings.get(each)) is not None]
        rows = np.flatnonzero(np.isin(symbols.name, found))
        matches = re.compile(re.escape(name)).fullmatch
    files = group_of_rows(symbols.file_start, rows)
    defining = [
        file
        for file, row in zip(files.tolist(), rows.tolist(), strict=True)
        if matches(strings[int(symbols.name[row])])
        or matches(index.qualified_name(file, row - int(symbols.file_start[file])))
    ]
    return distinct(np.array(defining, dtype=np.int64))
