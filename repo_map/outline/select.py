"""What a plan asks of each file of an index, before any budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map import globs
from repo_map.cache import LRUCache
from repo_map.errors import FlightPlanError
from repo_map.graph.pagerank import boosts
from repo_map.outline.sections import Section, Shape, captured_spans
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, PATH_ONLY

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan

DEFAULT_LEVEL = 2
"""Level of a file that no rule names."""
_MOST_NAMED = 2_000_000
"""Files that the globs remembered name, all together."""
_MOST_TRIED = 2_000_000


class Selection(NamedTuple):
    """Every file's level, and the shape of those whose parts have levels of their own."""

    levels: NDArray[np.int64]
    """Level of what no section names, shape (files,)."""
    explicit: NDArray[np.bool_]
    """Whether a rule names the file, shape (files,)."""
    weights: NDArray[np.float64]
    """The largest focus weight that names the file or a symbol of it, else 1, shape (files,)."""
    shapes: dict[int, Shape]


def files_named(index: Index, pattern: str) -> NDArray[np.int64]:
    """Return the ids of the files that a glob names, ascending; those of the latest globs are remembered."""
    known = index.memo(_named)
    named = known.get(pattern)
    if named is None:
        named = np.array(globs.select(pattern, index.paths), dtype=np.int64)
        known.put(pattern, named)
    return named


def _named(_index: Index) -> LRUCache[str, NDArray[np.int64]]:
    return LRUCache(_MOST_NAMED, lambda named: 1 + len(named))


def select(index: Index, plan: FlightPlan) -> Selection:
    """Apply the plan's rules in order; of several rules that name a file the last one holds."""
    flags = index.files.flags
    levels = np.full(len(index.paths), DEFAULT_LEVEL, dtype=np.int64)
    levels[(flags & int(GENERATED_OR_VENDORED)) > 0] = 1
    explicit = np.zeros(len(levels), dtype=bool)
    weights = np.zeros(len(levels))
    sections: dict[int, tuple[Section, ...]] = {}
    for rule in plan.verbosity:
        named = files_named(index, rule.pattern)
        levels[named] = 1 if rule.level is None else rule.level
        explicit[named] = True
        own = tuple(map(Section.of, rule.sections))
        for file_id in named.tolist() if own or sections else ():
            sections[file_id] = own
    for named, weight in boosts(index, plan.focus) if plan.focus else ():
        weights[named] = np.maximum(weights[named], weight)
    weights[weights == 0] = 1.0
    _require_quick(index, sections)
    path_only = (flags & int(PATH_ONLY)) > 0
    levels[path_only] = np.minimum(levels[path_only], 1)
    spans = captured_spans(index, plan.custom_queries)
    shapes = {
        file_id: Shape(int(levels[file_id]), sections.get(file_id, ()), spans.get(file_id, ()))
        for file_id in sorted({file_id for file_id, own in sections.items() if own} | spans.keys())
        if levels[file_id] > 0 and not path_only[file_id]
    }
    return Selection(levels, explicit, weights, shapes)


def _require_quick(index: Index, sections: dict[int, tuple[Section, ...]]) -> None:
    """Raise FlightPlanError where wildcards of sections would be tried on too many names."""
    starts = index.symbols.file_start
    tried = sum(
        int(starts[file_id + 1] - starts[file_id])
        * sum(bool(each.pattern) and globs.literal(each.pattern) is None for each in own)
        for file_id, own in sections.items()
    )
    if tried > _MOST_TRIED:
        raise FlightPlanError(
            f"The wildcards of the plan's `sections` would be tried on {tried:,} names, more than "
            f"{_MOST_TRIED:,}; let their rules name fewer files, or write the names out."
        )
