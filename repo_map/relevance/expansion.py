"""Words that the goal does not say, taken from units that are likely already: a second query."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from repo_map.relevance.candidates import Candidates
from repo_map.relevance.corpus import Corpus, Floats, concatenated_ranges, scaled, summed
from repo_map.relevance.lexical import match_units, score, unit_hits
from repo_map.relevance.units import NAME, SIGNATURE

_SIGNATURE_SHARE = 0.4
_FEEDBACK_UNITS = 6
_FEEDBACK_TERMS = 20


def feedback(candidates: Candidates, likely: Floats) -> dict[int, float]:
    """Return the terms that name the likeliest units: pseudo-relevance feedback, after Rocchio 1971."""
    weight = np.zeros(len(candidates.corpus.index.units.start))
    best = np.argsort(-likely, kind="stable")[:_FEEDBACK_UNITS]
    weight[candidates.units[best]] = likely[best]
    return terms_of_units(candidates.corpus, weight, _FEEDBACK_TERMS)


def expansion_scores(candidates: Candidates, terms: Mapping[int, float]) -> Floats:
    """Score the candidates' units by weighted terms, the best being 1."""
    rows = len(candidates.units)
    if not terms or not rows:
        return np.zeros(rows)
    ids = np.array(sorted(terms), np.int64)
    weights = np.array([terms[term] for term in ids.tolist()])
    return scaled(
        score(match_units(candidates, unit_hits(candidates, ids), len(ids)), weights, rows),
        candidates.main_unit,
    )


def terms_of_units(corpus: Corpus, unit_weight: Floats, most: int) -> dict[int, float]:
    """Return the terms in names and signatures of weighted units: often there and rare elsewhere."""
    postings = corpus.index.postings
    units = np.flatnonzero(unit_weight)
    starts, ends = postings.unit_start[units], postings.unit_start[units + 1]
    counts = ends - starts
    where = concatenated_ranges(starts, ends)
    inside = (postings.field[where] == NAME) | (postings.field[where] == SIGNATURE)
    share = np.where(postings.field[where[inside]] == NAME, 1.0, _SIGNATURE_SHARE)
    weight = np.repeat(unit_weight[units], counts)[inside] * share
    term = postings.term[where[inside]]
    gained = summed(term, weight, len(corpus.index.terms))
    documents = len(corpus.index.units.start)
    idf = np.log1p(documents / (corpus.term_postings + 1.0))
    gained *= idf
    best = np.argsort(-gained, kind="stable")[:most]
    total = float(gained.max(initial=0.0)) or 1.0
    return {int(row): float(gained[row] / total) for row in best if gained[row] > 0}
