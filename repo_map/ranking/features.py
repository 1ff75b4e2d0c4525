"""Every signal about every candidate, from all that the goal, the index and the past tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from repo_map.history.history import History
from repo_map.ranking.bm25 import (
    SOURCES,
    Matches,
    Query,
    expansion_scores,
    lexical_file_features,
    lexical_unit_features,
    make_query,
    match_files,
    name_coverage,
    score,
)
from repo_map.ranking.commit_votes import (
    CommitVotes,
    aligned_history,
    changed_together,
    file_past_features,
    translate,
    unit_past_features,
    vote,
)
from repo_map.ranking.corpus import Candidates, Corpus, Floats, Ints, scaled, summed
from repo_map.ranking.entities import EntityMatches, find_named
from repo_map.ranking.goal import ParsedGoal
from repo_map.ranking.mentions import (
    file_mentions,
    path_features,
    path_gain,
    stem_features,
    unit_mentions,
)
from repo_map.ranking.neighbours import call_features
from repo_map.ranking.priors import are_main, file_priors, unit_priors

MOST_CANDIDATES = 400
_SEED_FILES = 5
_SHARE_OF_REST = 0.3
"""What likeness is worth in tests and copies when neighbours of likely code are looked for."""
_SHARE_OF_TEXT = 0.5
"""What words are worth in prose and data: a manual repeats every word of a goal."""
_COMPARED_IN_FILE = ("b.unit", "u.title", "u.wall", "tr.unit", "h.unit")
"""Unit signals that are also measured by the best unit of the same file."""


@dataclass(frozen=True, eq=False)
class Signals:
    """What is known of each candidate: one column per signal, one row per file or unit."""

    goal: ParsedGoal
    query: Query
    candidates: Candidates
    named: EntityMatches
    votes: CommitVotes | None
    file: Mapping[str, Floats]
    unit: Mapping[str, Floats]


def read_signals(corpus: Corpus, goal: ParsedGoal, history: History | None) -> Signals:
    """Choose the candidate files and compute their signals and those of their units."""
    past = aligned_history(corpus, history) if history is not None and len(history) else None
    fresh = np.zeros(0, np.int64) if past is None else past.fresh_units
    query = make_query(corpus, goal)
    matches = match_files(corpus, query, fresh)
    named = find_named(corpus, goal, past)
    votes = vote(past, query.goal_weights) if past is not None else None
    files = _choose(corpus, query, matches, named, votes)
    established = named.established[files]
    candidates = Candidates(
        corpus, files, are_main(corpus, files, named.aimed) & established, established, fresh
    )
    unit = {
        **lexical_unit_features(candidates, query),
        **name_coverage(candidates, query),
        **unit_priors(candidates),
        **unit_mentions(candidates, named),
    }
    if votes is not None:
        unit |= unit_past_features(candidates, votes)
        unit["tr.unit"] = expansion_scores(candidates, translate(votes))
    likely = _first_guess(unit) * np.where(candidates.main_unit, 1.0, _SHARE_OF_REST)
    unit |= call_features(candidates, likely)
    unit |= {
        f"top:{name}": _of_best_in_file(candidates, unit[name]) for name in _COMPARED_IN_FILE if name in unit
    }
    file = {
        **lexical_file_features(candidates, query, matches),
        **path_features(candidates, query.goal_weights),
        **stem_features(candidates, goal),
        **file_priors(candidates, named.aimed, is_outright=goal.aims.is_outright),
        **file_mentions(candidates, named),
        **_unit_maxima(candidates, unit),
    }
    if votes is not None:
        file |= file_past_features(candidates, votes)
        file["h.co"] = changed_together(candidates, votes.past, _seeds(candidates, file))
    return Signals(goal, query, candidates, named, votes, file, unit)


def _choose(
    corpus: Corpus, query: Query, matches: Matches, named: EntityMatches, votes: CommitVotes | None
) -> Ints:
    """Return the files worth a closer look: by words, path, past and mention."""
    files = len(corpus.index.paths)
    worth = scaled(score(matches, query.weights * query.idf, files))
    worth += 0.5 * scaled(path_gain(corpus, query.goal_weights))
    if votes is not None:
        worth += 0.7 * scaled(votes.per_file)
    for strengths in (
        named.paths,
        named.frames,
        named.dotted,
        named.folders,
        named.quoted,
        named.committed,
        named.rare_folders,
    ):
        for file, strength in strengths.items():
            worth[file] += strength
    for unit, strength in named.definitions.items():
        worth[corpus.file_of_unit[unit]] += 0.5 * strength
    worth *= np.where(corpus.is_code | named.aimed, 1.0, _SHARE_OF_TEXT)
    worth[~corpus.readable] = 0.0
    best = np.argsort(-worth, kind="stable")[:MOST_CANDIDATES]
    return np.sort(best[worth[best] > 0])


def _first_guess(unit: Mapping[str, Floats]) -> Floats:
    """Return a plain score of each unit, to find the neighbours of the likely ones."""
    guess = unit["b.unit"] + 0.5 * unit["m.frame"] + 0.5 * unit["m.dot"] + 0.3 * unit["def.unit"]
    return guess + 0.3 * unit["h.unit"] if "h.unit" in unit else guess


def _unit_maxima(candidates: Candidates, unit: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return what a file's best units say of it."""
    best = candidates.best_of_file
    features = {f"um.{source}": best(unit[f"u.{source}"]) for source in SOURCES}
    features |= {
        "b.umax": best(unit["b.unit"]),
        "def.umax": best(unit["def.unit"]),
        "m.udot": best(unit["m.dot"]),
        "s.ucallee": best(unit["s.callee"]),
        "s.ucaller": best(unit["s.caller"]),
        "nm.cov": best(unit["nm.cov"]),
        "nm.tcov": best(unit["nm.tcov"]),
    }
    features |= {name: best(unit[name]) for name in ("fld.name", "fld.sig", "fld.doc", "fld.str")}
    if "tr.unit" in unit:
        features["tr.umax"] = best(unit["tr.unit"])
    return features


def _of_best_in_file(candidates: Candidates, values: Floats) -> Floats:
    """Return each unit's value as a share of the largest in its file."""
    best = candidates.best_of_file(values)[candidates.file_row]
    return np.minimum(values / np.maximum(best, 1e-9), 1.0)


def _seeds(candidates: Candidates, file: Mapping[str, Floats]) -> dict[int, float]:
    """Return the likeliest files by words alone and their shares, for what changed together with them."""
    guess = file["b.file"] + file["b.umax"] + 0.5 * file["f.title"] + 0.4 * file["path.bm25"]
    guess = (
        guess
        + 0.7 * (file["m.path"] + file["m.frame"] + file["m.dot"])
        - 0.5 * file["p.gen"]
        - 0.5 * file["p.aux"]
    )
    best = np.argsort(-guess, kind="stable")[:_SEED_FILES]
    top = float(guess[best[0]]) if len(best) else 0.0
    return (
        {int(candidates.files[row]): float(guess[row]) / top for row in best if guess[row] > 0}
        if top > 0
        else {}
    )


class FileColumns(NamedTuple):
    """What the unit signals that hang on files need: all signals, and the file row of each unit."""

    file: Mapping[str, Floats]
    unit: Mapping[str, Floats]
    file_row: Ints


def unit_signals_given_files(columns: FileColumns, file_scores: Floats) -> dict[str, Floats]:
    """Return the unit signals that depend on how well their files score."""
    row = columns.file_row
    if not len(row):
        return {}
    count = len(file_scores)
    behind = file_scores - float(file_scores.max())
    own = columns.unit["b.unit"]
    total = summed(row, own, count)
    of_file = {
        "F.rel": behind / (float(file_scores.std()) or 1.0),
        "F.score": behind,
        "F.size": columns.file["p.size"],
        "m.path": columns.file["m.path"],
        "p.aux": columns.file["p.aux"],
    }
    return {
        **{name: values[row] for name, values in of_file.items()},
        "s.share": own / np.maximum(total[row], 1e-9),
    }
