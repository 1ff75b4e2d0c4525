"""Who goes with whom: callers and callees of likely units."""

from __future__ import annotations

import numpy as np

from repo_map.ranking.corpus import Candidates, Floats, Ints, concatenated_ranges, scaled, summed

_MOST_NAMESAKES = 12
_SEEDS = 12


def call_features(candidates: Candidates, likely: Floats) -> dict[str, Floats]:
    """Return for each unit how much the likeliest units call it (``callee``), and it them (``caller``).

    ``likely`` is a first score of each unit. A name that many definitions share carries little of either.
    """
    corpus = candidates.corpus
    index = corpus.index
    rows = len(candidates.units)
    callee, caller = np.zeros(rows), np.zeros(rows)
    if not rows or not likely.any():
        return {"s.callee": callee, "s.caller": caller}
    share = np.zeros(rows)
    seeds = np.argsort(-likely, kind="stable")[:_SEEDS]
    share[seeds] = likely[seeds] / max(float(likely[seeds].max()), 1e-9)
    reference_rows, user = _references(candidates)
    names = index.references.name[reference_rows]
    definers = corpus.definition_counts[names]
    known = (definers > 0) & (definers <= _MOST_NAMESAKES)
    names, user, definers = names[known], user[known], definers[known]
    symbol_rows, symbol_unit = _definitions(candidates)
    defined = index.symbols.name[symbol_rows]
    weight = 1.0 / definers
    # Seeds hand their share to the names that they use, and names to the units that define them.
    used = summed(names, share[user] * weight, len(index.strings))
    np.maximum.at(callee, symbol_unit, used[defined])
    # Seeds hand their share to the names that they define, and names to the units that use them.
    offered = np.zeros(len(index.strings))
    np.maximum.at(offered, defined, share[symbol_unit])
    caller = summed(user, offered[names] * weight, rows)
    return {"s.callee": scaled(callee), "s.caller": scaled(np.log1p(caller))}


def _references(candidates: Candidates) -> tuple[Ints, Ints]:
    """Return the rows of the candidate files' references that stand in a unit, and that unit's row."""
    corpus = candidates.corpus
    references, symbols = corpus.index.references, corpus.index.symbols
    first, last = references.file_start[candidates.files], references.file_start[candidates.files + 1]
    where = concatenated_ranges(first, last)
    definition = references.definition[where].astype(np.int64)
    base = np.repeat(symbols.file_start[candidates.files], last - first)
    inside = definition >= 0
    unit = np.full(len(where), -1, np.int64)
    if len(corpus.unit_of_symbol):
        unit[inside] = corpus.unit_of_symbol[(base + definition)[inside]]
    kept = unit >= 0
    return where[kept], candidates.row_of_unit[unit[kept]]


def _definitions(candidates: Candidates) -> tuple[Ints, Ints]:
    """Return the rows of the candidate files' definitions that stand in a unit, and that unit's row."""
    corpus = candidates.corpus
    symbols = corpus.index.symbols
    rows = concatenated_ranges(symbols.file_start[candidates.files], symbols.file_start[candidates.files + 1])
    unit = corpus.unit_of_symbol[rows]
    return rows[unit >= 0], candidates.row_of_unit[unit[unit >= 0]]
