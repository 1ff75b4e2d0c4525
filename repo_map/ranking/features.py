"""Every feature of the candidate files and units, from the goal and the index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from repo_map.ranking.bm25 import (
    Matches,
    Query,
    lexical_file_features,
    lexical_unit_features,
    make_query,
    match_files,
    name_coverage,
    score,
)
from repo_map.ranking.corpus import Candidates, Corpus, Floats, Ints, scaled, summed
from repo_map.ranking.goal import ParsedGoal
from repo_map.ranking.guesses import guess_features
from repo_map.ranking.mentions import RARE_FOLDER, Mentions, find_mentions
from repo_map.ranking.priors import are_main, file_priors, unit_priors
from repo_map.ranking.thesaurus import Related, related_features, related_file_scores, related_to
from repo_map.sources.file_kinds import PATH_ONLY
from repo_map.text.terms import tokenize

MAX_CANDIDATES = 400
_SHARE_OF_REST = 0.3
"""What likeness is worth in tests and copies when neighbours of likely code are looked for."""
_SHARE_OF_RELATED = 0.3
"""What related terms are worth when candidates are chosen."""
_SHARE_OF_TEXT = 0.5
"""What words are worth in prose and data: a manual repeats every word of a goal."""
_MOST_NAMESAKES = 12
_SEEDS = 12


@dataclass(frozen=True, eq=False)
class Features:
    """What is known of each candidate: one column per feature, one row per file or unit."""

    goal: ParsedGoal
    candidates: Candidates
    named: Mentions
    file: Mapping[str, Floats]
    unit: Mapping[str, Floats]

    @property
    def is_named(self) -> bool:
        """Whether the goal names a path, a place of a trace, or a definition of the repository."""
        named = self.named
        return any((named.paths, named.frames, named.dotted, named.literals)) or any(
            strength >= 1.0 for strength in named.definitions.values()
        )

    def given_files(self, file_scores: Floats) -> dict[str, Floats]:
        """Return the features of units that depend on how their files score."""
        row = self.candidates.file_row
        if not len(row):
            return {}
        behind = file_scores - float(file_scores.max())
        return {
            "F.rel": (behind / (float(file_scores.std()) or 1.0))[row],
            "F.score": behind[row],
            "F.size": self.file["p.size"][row],
            "m.path": self.file["m.path"][row],
            "p.aux": self.file["p.aux"][row],
        }


def read_features(corpus: Corpus, goal: ParsedGoal) -> Features:
    """Choose the candidate files and compute their features and those of their units."""
    query = make_query(corpus, goal)
    # Names and reports have the words of the code already: beside them the thesaurus adds noise.
    related = related_to(corpus, query, goal.text) if goal.kind == "question" else None
    matches = match_files(corpus, query.ids)
    named = find_mentions(corpus, goal)
    files = _choose(corpus, query, matches, named, related)
    candidates = Candidates(corpus, files, are_main(corpus, files, named.intended))
    unit = {
        **lexical_unit_features(candidates, query),
        **name_coverage(candidates, query),
        **unit_priors(candidates),
        **_unit_mentions(candidates, named),
        **guess_features(candidates, goal.names),
    }
    likely = unit["b.unit"] + 0.5 * unit["m.frame"] + 0.5 * unit["m.dot"] + 0.3 * unit["def.unit"]
    unit |= _call_features(candidates, likely * np.where(candidates.main_unit, 1.0, _SHARE_OF_REST))
    best = candidates.best_of_file(unit["b.unit"])
    unit["top:b.unit"] = np.minimum(unit["b.unit"] / np.maximum(best[candidates.file_row], 1e-9), 1.0)
    file = {
        **lexical_file_features(candidates, query, matches),
        "path.bm25": _path_scores(candidates, query.goal_weights),
        "m.stem": _stem_matches(candidates, goal),
        **file_priors(candidates, named.intended, is_outright=goal.aims.is_outright),
        **_file_mentions(candidates, named),
        "b.umax": best,
        "def.umax": candidates.best_of_file(unit["def.unit"]),
        "nm.tcov": candidates.best_of_file(unit["nm.tcov"]),
        "um.wall": candidates.best_of_file(unit["u.wall"]),
    }
    if related is not None:
        of_units, of_files = related_features(candidates, query, related)
        unit, file = unit | of_units, file | of_files
    return Features(goal, candidates, named, file, unit)


def _choose(corpus: Corpus, query: Query, matches: Matches, named: Mentions, related: Related | None) -> Ints:
    """Return the files worth a closer look: by words, path, mention and the thesaurus."""
    files = len(corpus.index.paths)
    values = scaled(score(matches, query.weights * query.idf, files))
    values += 0.5 * scaled(_path_gain(corpus, query.goal_weights))
    if related is not None:
        values += _SHARE_OF_RELATED * related_file_scores(corpus, related)
    outright = (named.paths, named.frames, named.dotted, named.folders)
    for strengths in (*outright, named.rare_folders, named.literals):
        for file, strength in strengths.items():
            values[file] += strength
    for unit, strength in named.definitions.items():
        values[corpus.file_of_unit[unit]] += 0.5 * strength
    values *= np.where(corpus.is_code | named.intended, 1.0, _SHARE_OF_TEXT)
    values[(corpus.index.files.flags & int(PATH_ONLY)) != 0] = 0.0
    best = np.argsort(-values, kind="stable")[:MAX_CANDIDATES]
    return np.sort(best[values[best] > 0])


def _path_gain(corpus: Corpus, goal_weights: Mapping[str, float]) -> Floats:
    """Return for every file the weight of the goal's terms on its path, the rare ones counting more."""
    documents = len(corpus.index.paths)
    gained = np.zeros(documents)
    for term, weight in goal_weights.items():
        files = corpus.files_with_path_term.get(term)
        if files:
            gained[files] += weight * np.log1p((documents - len(files) + 0.5) / (len(files) + 0.5))
    return gained


def _path_scores(candidates: Candidates, goal_weights: Mapping[str, float]) -> Floats:
    """Return how far the words of each path are words of the goal."""
    corpus = candidates.corpus
    gained = _path_gain(corpus, goal_weights)[candidates.files]
    lengths = np.array([len(corpus.path_terms[file]) for file in candidates.files], np.float64)
    mean = float(lengths.mean()) if len(lengths) else 1.0
    return scaled(gained / (0.7 + 0.3 * lengths / max(mean, 1.0)))


def _stem_matches(candidates: Candidates, goal: ParsedGoal) -> Floats:
    """Return whether each file is called like a word of the title (1) or an identifier of the goal (.7)."""
    names = {name.replace("_", "").lower() for name in goal.identifiers}
    names |= {part.replace("_", "").lower() for name in goal.dotted for part in name.split(".")}
    words = [word.replace("_", "").lower() for word in tokenize(goal.title)]
    title = {*words, *(each for each in goal.compounds if each in "".join(words))}
    paths = (candidates.corpus.index.paths[file] for file in candidates.files.tolist())
    stems = (path.rpartition("/")[2].split(".")[0] for path in paths)
    plain = (stem.replace("_", "").replace("-", "").lower() for stem in stems)
    return np.array([1.0 if stem in title else 0.7 if stem in names else 0.0 for stem in plain])


def _file_mentions(candidates: Candidates, named: Mentions) -> dict[str, Floats]:
    """Return how strongly the goal names each candidate file."""
    # The only file of a rare folder comes into sight.
    alone = {file: 1.0 for file, strength in named.rare_folders.items() if strength >= RARE_FOLDER}
    strengths = {
        "m.path": _strongest(named.paths, named.literals, named.rare_folders),
        "m.frame": named.frames,
        "m.dot": _strongest(named.dotted, alone),
        "m.crash": {int(candidates.corpus.file_of_unit[named.crash]): 1.0} if named.crash >= 0 else {},
    }
    rows, row_of = len(candidates.files), candidates.row_of_file
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def _unit_mentions(candidates: Candidates, named: Mentions) -> dict[str, Floats]:
    """Return how strongly the goal names each of their units."""
    strengths = {
        "m.frame": named.frame_units,
        "m.dot": _strongest(named.dotted_units, named.literal_units),
        "m.crash": {named.crash: 1.0} if named.crash >= 0 else {},
        "def.unit": named.definitions,
    }
    rows, row_of = len(candidates.units), candidates.row_of_unit
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def _strongest(*all_strengths: Mapping[int, float]) -> dict[int, float]:
    keys = dict.fromkeys(key for strengths in all_strengths for key in strengths)
    return {key: max(strengths.get(key, 0.0) for strengths in all_strengths) for key in keys}


def _spread(strengths: Mapping[int, float], row_of: Ints, rows: int) -> Floats:
    values = np.zeros(rows)
    for key, strength in strengths.items():
        if row_of[key] >= 0:
            values[row_of[key]] = strength
    return values


def _call_features(candidates: Candidates, likely: Floats) -> dict[str, Floats]:
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
    references = corpus.index.references
    where = candidates.rows_of(references.file_start)
    where = where[references.definition[where] >= 0]
    file = np.searchsorted(references.file_start, where, side="right") - 1
    unit = corpus.unit_of_symbol[corpus.index.symbols.file_start[file] + references.definition[where]]
    return where[unit >= 0], candidates.row_of_unit[unit[unit >= 0]]


def _definitions(candidates: Candidates) -> tuple[Ints, Ints]:
    """Return the rows of the candidate files' definitions that stand in a unit, and that unit's row."""
    rows = candidates.rows_of(candidates.corpus.index.symbols.file_start)
    unit = candidates.corpus.unit_of_symbol[rows]
    return rows[unit >= 0], candidates.row_of_unit[unit[unit >= 0]]
