"""How strongly a goal names each candidate, and how far their paths are words of it: signals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repo_map.ranking.corpus import Candidates, Corpus, Floats, Ints, scaled
from repo_map.ranking.entities import RARE_FOLDER, EntityMatches
from repo_map.ranking.goal import GoalPart, ParsedGoal
from repo_map.text.terms import terms_of, tokenize


def file_mentions(candidates: Candidates, named: EntityMatches) -> dict[str, Floats]:
    """Return how strongly the goal names each candidate file."""
    # The only file of a rare folder comes into sight.
    alone = {file: 1.0 for file, strength in named.rare_folders.items() if strength >= RARE_FOLDER}
    strengths = {
        "m.path": _stronger(named.paths, named.quoted, named.committed, named.rare_folders),
        "m.folder": named.folders,
        "m.frame": named.frames,
        "m.dot": _stronger(named.dotted, alone),
        "m.crash": {named.crash.file: 1.0} if named.crash else {},
    }
    rows, row_of = len(candidates.files), candidates.row_of_file
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def unit_mentions(candidates: Candidates, named: EntityMatches) -> dict[str, Floats]:
    """Return how strongly the goal names each of their units."""
    strengths = {
        "m.frame": named.frame_units,
        "m.dot": _stronger(named.dotted_units, named.quoted_units, named.committed_units),
        "m.crash": {named.crash.unit: 1.0} if named.crash else {},
        "def.unit": named.definitions,
    }
    rows, row_of = len(candidates.units), candidates.row_of_unit
    return {name: _spread(each, row_of, rows) for name, each in strengths.items()}


def _stronger(*all_strengths: Mapping[int, float]) -> dict[int, float]:
    keys = dict.fromkeys(key for strengths in all_strengths for key in strengths)
    return {key: max(strengths.get(key, 0.0) for strengths in all_strengths) for key in keys}


def _spread(strengths: Mapping[int, float], row_of: Ints, rows: int) -> Floats:
    values = np.zeros(rows)
    for key, strength in strengths.items():
        if row_of[key] >= 0:
            values[row_of[key]] = strength
    return values


def path_gain(corpus: Corpus, goal_weights: Mapping[str, float]) -> Floats:
    """Return for every file the weight of the goal's terms on its path, the rare ones counting more."""
    documents = len(corpus.index.paths)
    gained = np.zeros(documents)
    for term, weight in goal_weights.items():
        files = corpus.files_with_path_term.get(term)
        if files:
            gained[files] += weight * np.log1p((documents - len(files) + 0.5) / (len(files) + 0.5))
    return gained


def path_features(candidates: Candidates, goal_weights: Mapping[str, float]) -> dict[str, Floats]:
    """Return how far the words of each path are words of the goal."""
    corpus = candidates.corpus
    gained = path_gain(corpus, goal_weights)[candidates.files]
    lengths = np.array([len(corpus.path_terms[file]) for file in candidates.files], np.float64)
    mean = float(lengths.mean()) if len(lengths) else 1.0
    return {"path.bm25": scaled(gained / (0.7 + 0.3 * lengths / max(mean, 1.0))), "path.gain": scaled(gained)}


def stem_features(candidates: Candidates, goal: ParsedGoal) -> dict[str, Floats]:
    """Tell whether a file is called like an identifier or word of the goal: ``separable.py``."""
    names = {name.replace("_", "").lower() for name in goal.identifiers}
    names |= {part.replace("_", "").lower() for name in goal.dotted for part in name.split(".")}
    title = {word.replace("_", "").lower() for word in tokenize(goal.title)}
    title |= {
        compound
        for compound in goal.compounds
        if compound in "".join(tokenize(goal.title)).replace("_", "").lower()
    }
    title_terms = goal.terms[GoalPart.TITLE]
    exact = np.zeros(len(candidates.files))
    covered = np.zeros(len(candidates.files))
    for row, file in enumerate(candidates.files.tolist()):
        stem = candidates.corpus.index.paths[file].rpartition("/")[2].split(".")[0]
        plain = stem.replace("_", "").replace("-", "").lower()
        exact[row] = 1.0 if plain in title else 0.7 if plain in names else 0.0
        terms = [term for word in tokenize(stem) for term in terms_of(word)]
        covered[row] = sum(term in title_terms for term in terms) / len(terms) if terms else 0.0
    return {"m.stem": exact, "path.stem": covered}
