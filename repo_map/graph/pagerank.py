"""How central each file and definition is: personalised PageRank over who refers to what."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map import globs
from repo_map.derived_arrays import keep_arrays, recall_arrays
from repo_map.distinct import distinct
from repo_map.graph import references
from repo_map.graph.references import Floats, Ints, ReferenceGraph, build_graph
from repo_map.index.extractor_version import extractor_version
from repo_map.plan.model import Focus
from repo_map.recent import Recent
from repo_map.sources.file_kinds import COPIED, FileFlag

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

DAMPING = 0.85
"""Chance that a reader follows a reference rather than starting anew; Page et al., 1998."""
_TOLERANCE = 1e-4
_MOST_ROUNDS = 60
_DECIMALS = 12
_MOST_NAMES = 2_000
_MOST_REMEMBERED = 16
"""Rankings kept per index, one for each focus."""
_FOCUS_SHARE = 0.5
"""Part of the fresh starts that go to the focus, where a plan has one."""
_TEST_SHARE, _COPIED_SHARE = 0.3, 0.05


class Ranking(NamedTuple):
    """Shares of a reader's attention; each array sums to 1 at most."""

    files: Floats
    """Shape (files,)."""
    definitions: Floats
    """Shape (symbols,)."""


def rank(index: RepoIndex, focus: Focus | None = None) -> Floats:
    """Return each file's share of attention, shape (files,), summing to 1."""
    return rank_all(index, focus).files


def rank_all(index: RepoIndex, focus: Focus | None = None) -> Ranking:
    """Rank files and definitions; the result is remembered as long as the index lives."""
    known = index.derived(_rankings)
    ranking = known.get(focus)
    if ranking is None:
        # Maps without a focus are the common start: not even the graph is needed for them.
        ranking = _walk_from(index, focus) if focus else Ranking(*_kept(index, "ranks", _walk_from))
        known.put(focus, ranking)
    return ranking


def _rankings(_index: RepoIndex) -> Recent[Focus | None, Ranking]:
    return Recent(_MOST_REMEMBERED, lambda _ranking: 1)


def _walk_from(index: RepoIndex, focus: Focus | None = None) -> Ranking:
    return _walk(index.derived(_graph), _starts(index, focus), len(index.symbols.name))


def _graph(index: RepoIndex) -> ReferenceGraph:
    # To keep a graph takes as long as to build it: worth it for trees that other processes will see.
    return ReferenceGraph(*(_kept(index, "graph", build_graph) if index.is_saved else build_graph(index)))


def _kept(
    index: RepoIndex, what: str, make: Callable[[RepoIndex], Sequence[NDArray[Any]]]
) -> Sequence[NDArray[Any]]:
    """Return arrays that follow from an index from its cache, or make them and keep them there."""
    if index.cache_folder is None:
        return make(index)
    code = b"".join(Path(file).read_bytes() for file in (__file__, references.__file__))
    version = hashlib.blake2b(extractor_version().encode() + code, digest_size=8)
    name = f"{what}-{index.cache_key}-{version.hexdigest()}"
    arrays = recall_arrays(index.cache_folder, name)
    if arrays is None:
        arrays = list(make(index))
        keep_arrays(index.cache_folder, name, arrays)
    return arrays


def _walk(graph: ReferenceGraph, starts: Floats, rows: int) -> Ranking:
    """Iterate the random walk until it settles; a few milliseconds a round at 11,000 files."""
    files = starts.copy()
    reached = np.zeros(0)
    for _ in range(_MOST_ROUNDS):
        reached = _to_definitions(graph, files)
        moved = np.bincount(graph.definer, reached, len(starts))
        # What files without references hold, and what names without definitions lose, starts anew.
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
    """Return the attention that reaches each definition when every file passes on what it has."""
    if not graph.source.size:
        return np.zeros(len(graph.definer))
    names: Floats = np.add.reduceat(graph.weight * files[graph.source], graph.name_start)
    reached: Floats = names[graph.defined] * graph.share
    return reached


def _starts(index: RepoIndex, focus: Focus | None) -> Floats:
    """Return where fresh starts go: to every file by its kind, and half of them to the focus.

    A weight is shared by the files that it moves; below 1 it takes starts away.
    """
    flags = index.files.flags
    base = np.ones(len(index.paths))
    base[(flags & int(FileFlag.TEST)) > 0] = _TEST_SHARE
    base[(flags & int(COPIED | FileFlag.BINARY)) > 0] = _COPIED_SHARE
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
    """Yield for each boost, of paths and of symbols, the files that it moves and its weight."""
    for path in focus.paths:
        yield np.array(globs.select(path.pattern, index.paths), dtype=np.int64), path.weight
    for symbol in focus.symbols:
        yield files_defining(index, symbol.name), symbol.weight


def files_defining(index: RepoIndex, name: str) -> Ints:
    """Return the files that define a name (``dispatch``, ``Router.dispatch``, ``Router.*``), ascending."""
    known = index.derived(_defining)
    files = known.get(name)
    if files is None:
        files = _files_defining(index, name)
        known.put(name, files)
    return files


def _defining(_index: RepoIndex) -> Recent[str, Ints]:
    # As many as the rules of a plan, several times over; each is short.
    return Recent(_MOST_NAMES, lambda _files: 1)


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
