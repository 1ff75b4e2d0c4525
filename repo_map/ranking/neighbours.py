"""Who goes with whom: callers and callees of likely units, and namesakes of likely units and files."""

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


def namesake_units(candidates: Candidates, likely: Floats) -> Floats:
    """Return how likely the likeliest other unit of the same file and name is, such as an overload."""
    index = candidates.corpus.index
    definition = index.units.definition[candidates.units].astype(np.int64)
    names = np.full(len(definition), -1, np.int64)
    named = definition >= 0
    file = candidates.files[candidates.file_row[named]]
    names[named] = index.symbols.name[index.symbols.file_start[file] + definition[named]]
    groups = candidates.file_row * (len(index.strings) + 1) + names
    return scaled(np.where(named, _best_other(groups, likely), 0.0))


def namesake_files(candidates: Candidates, likely: Floats) -> Floats:
    """Return how likely the likeliest other file of the same stem is: a header, an implementation."""
    paths = candidates.corpus.index.paths
    stems = [paths[file].rpartition("/")[2].split(".")[0].lower() for file in candidates.files.tolist()]
    numbers = {stem: number for number, stem in enumerate(dict.fromkeys(stems))}
    groups = np.array([numbers[stem] for stem in stems], np.int64)
    return scaled(_best_other(groups, likely))


def _best_other(groups: Ints, values: Floats) -> Floats:
    """Return for each row the largest value among the other rows of its group, 0 where it is alone."""
    if not len(values):
        return values
    order = np.lexsort((-values, groups))
    ordered = groups[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1]))
    leader = order[np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))]
    second = np.zeros(len(values))
    heads = np.flatnonzero(first)
    followed = heads + 1 < len(order)
    followed[followed] &= ~first[heads[followed] + 1]
    second[order[heads[followed]]] = values[order[heads[followed] + 1]]
    best = np.empty(len(values))
    best[order] = values[leader]
    best[order[heads]] = second[order[heads]]
    return best
