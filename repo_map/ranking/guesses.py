"""How the definitions match the identifiers that a caller guesses to be in the code."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from repo_map.arrays import distinct
from repo_map.ranking.bm25 import Hits, inverse_frequency, match_units, score, unit_hits
from repo_map.ranking.corpus import Candidates, Floats, Ints, scaled, summed
from repo_map.text.terms import terms_of, tokenize
from repo_map.text.units import NAME

_SEPARATOR: Final = re.compile(r"[.:#/\s]+")
_MAX_ALIKE: Final = 2
"""Guesses that share words with one name, beyond which more tell no more."""
GUESS_FEATURES: Final = ("n.exact", "n.part", "n.owner", "n.text", "n.words", "n.file", "n.path")


class _Name(NamedTuple):
    plain: str
    """Lower case, without underscores."""
    words: frozenset[str]
    """Stems of its parts."""


@lru_cache(maxsize=1 << 13)
def _read(name: str) -> _Name:
    found = [terms_of(word) for word in tokenize(name)]
    return _Name(
        re.sub(r"[\W_]", "", name).lower(), frozenset(term for each in found for term in (each[1:] or each))
    )


def _is_alike(name: _Name, guess: _Name) -> bool:
    """Return whether one has all words of the other; a single word says too little."""
    return min(len(name.words), len(guess.words)) > 1 and (
        name.words <= guess.words or guess.words <= name.words
    )


def guess_features(candidates: Candidates, names: Sequence[str]) -> dict[str, Floats]:
    """Return how the units of the candidates match guessed names, each 0 to 1; all 0 without names.

    ``n.exact``: its own name is a guess, the less the more definitions have it. ``n.part``: its name has all
    words of guesses, or only such. ``n.owner``: it is a member of a guessed class. ``n.text``: its text has
    guessed names. ``n.words``: BM25F of the guesses' words. ``n.file``: that of the best definitions in its
    file. ``n.path``: its file is called like a guess.
    """
    rows = len(candidates.units)
    features = {name: np.zeros(rows) for name in GUESS_FEATURES}
    guesses = [each for each in map(_read, (_SEPARATOR.split(name)[-1] for name in names)) if each.words]
    guesses = list(dict.fromkeys(guesses))
    if not guesses or not rows:
        return features
    index = candidates.corpus.index
    said = dict.fromkeys(term for each in guesses for term in (*sorted(each.words), each.plain))
    ids = sorted({known for term in said if (known := index.terms.get(term)) is not None})
    column = {index.terms[term]: at for at, term in enumerate(ids)}
    hits = unit_hits(candidates, np.array(ids, np.int64))
    idf = inverse_frequency(candidates.corpus.term_postings[np.array(ids, np.int64)], len(index.units.start))
    features |= _of_names(candidates, guesses, distinct(hits.row[hits.field == NAME]))
    weights = np.zeros(len(ids))
    whole = np.zeros(len(ids))
    for each in guesses:
        for word in sorted(each.words & column.keys()):
            weights[column[word]] += 1.0 / math.sqrt(len(each.words))
        if len(each.words) > 1 and each.plain in column:
            whole[column[each.plain]] = 1.0
    features["n.text"] = _of_text(hits, whole * idf, rows)
    matches = match_units(candidates, hits, len(ids), softly=True)
    features["n.words"] = scaled(score(matches, weights * idf, rows), candidates.main_unit)
    features["n.file"] = candidates.mean_of_best(features["n.words"])[candidates.file_row]
    paths = [
        _read(index.paths[file].rpartition("/")[2].partition(".")[0]) for file in candidates.files.tolist()
    ]
    called = [max(_likeness(path, guess) for guess in guesses) for path in paths]
    features["n.path"] = np.array(called)[candidates.file_row]
    return features


def _of_names(candidates: Candidates, guesses: Sequence[_Name], rows: Ints) -> dict[str, Floats]:
    """Return the features of the units' own names; those of ``rows`` share words with guesses."""
    exact = {each.plain for each in guesses}
    found = {name: np.zeros(len(candidates.units)) for name in ("n.exact", "n.part", "n.owner")}
    plain: dict[int, str] = {}
    for row in rows.tolist():
        owner, _, leaf = candidates.name_of(row).rpartition(".")
        own = _read(leaf)
        alike = sum(_is_alike(own, guess) for guess in guesses)
        found["n.part"][row] = min(alike, _MAX_ALIKE) / _MAX_ALIKE
        found["n.owner"][row] = float(_read(owner.rpartition(".")[2]).plain in exact)
        if own.plain in exact:
            plain[row] = own.plain
    named = list(plain.values())
    for row, name in plain.items():
        found["n.exact"][row] = 1.0 / (1.0 + math.log(named.count(name)))
    return found


def _of_text(hits: Hits, weights: Floats, rows: int) -> Floats:
    """Return how many of the guessed names stand in each unit's text, the rare ones counting more."""
    columns = max(len(weights), 1)
    inside = hits.field != NAME
    held = distinct(hits.row[inside] * columns + hits.column[inside])
    return scaled(summed(held // columns, weights[held % columns], rows))


def _likeness(path: _Name, guess: _Name) -> float:
    return 1.0 if path.plain == guess.plain else 0.5 if _is_alike(path, guess) else 0.0
