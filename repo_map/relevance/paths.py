"""What the goal says of paths: words on the way to a file, and files called like a word of the goal."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repo_map.relevance.candidates import Candidates
from repo_map.relevance.corpus import Corpus, Floats, scaled
from repo_map.relevance.goal import ParsedGoal, Source
from repo_map.relevance.terms import terms_of, words


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
    title = {word.replace("_", "").lower() for word in words(goal.title)}
    title |= {
        compound
        for compound in goal.compounds
        if compound in "".join(words(goal.title)).replace("_", "").lower()
    }
    title_terms = goal.terms[Source.TITLE]
    exact = np.zeros(len(candidates.files))
    covered = np.zeros(len(candidates.files))
    for row, file in enumerate(candidates.files.tolist()):
        stem = candidates.corpus.index.paths[file].rpartition("/")[2].split(".")[0]
        plain = stem.replace("_", "").replace("-", "").lower()
        exact[row] = 1.0 if plain in title else 0.7 if plain in names else 0.0
        terms = [term for word in words(stem) for term in terms_of(word)]
        covered[row] = sum(term in title_terms for term in terms) / len(terms) if terms else 0.0
    return {"m.stem": exact, "path.stem": covered}
