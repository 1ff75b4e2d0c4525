"""Words of identifiers that stand for the everyday words of a goal: ``redirect`` for "sent on"."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from itertools import product
from typing import Final, NamedTuple

import numpy as np

from repo_map.ranking.bm25 import (
    Query,
    inverse_frequency,
    match_files,
    match_units,
    name_share,
    score,
    unit_hits,
)
from repo_map.ranking.corpus import Candidates, Corpus, Floats, Ints, scaled
from repo_map.text.terms import stem

_WORD: Final = re.compile(r"[a-z]+")
_MAX_PHRASE_WORDS: Final = 3
_STRENGTH, _DECAY = 0.7, 0.25
"""Of a group's first word, and how much less each further word of it counts."""


@cache
def _thesaurus() -> tuple[list[tuple[str, ...]], dict[tuple[str, ...], list[int]]]:
    """Return groups of words of identifiers, and these by the stems of the expressions they stand for."""
    groups: list[tuple[str, ...]] = []
    groups_of: dict[tuple[str, ...], list[int]] = {}
    text = resources.files("repo_map.ranking").joinpath("thesaurus.txt").read_text("ascii")
    for line in text.splitlines():
        words, _, expressions = line.partition(" | ")
        for phrase in (*expressions.split(", "), *words.split()):
            groups_of.setdefault(_stems(phrase), []).append(len(groups))
        groups.append(tuple(dict.fromkeys(_stems(words))))
    return groups, groups_of


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, _WORD.findall(text.lower())))


def related_terms(text: str) -> dict[str, float]:
    """Return the terms that may stand for the words of a text, each with its strength between 0 and 1.

    An expression of many meanings counts less for each; expressions that agree on a term add up.
    """
    all_groups, groups_of = _thesaurus()
    words = _stems(text)
    found: dict[int, float] = {}
    for size, start in product(range(1, _MAX_PHRASE_WORDS + 1), range(len(words))):
        groups = groups_of.get(words[start : start + size], []) if start + size <= len(words) else []
        for group in groups:
            found[group] = max(found.get(group, 0.0), len(groups) ** -0.5)
    misses: dict[str, float] = {}
    for group, share in found.items():
        for place, term in enumerate(all_groups[group]):
            strength = _STRENGTH * share / (1.0 + _DECAY * place)
            misses[term] = misses.get(term, 1.0) * (1.0 - strength)
    return {term: 1.0 - missed for term, missed in misses.items()}


class Related(NamedTuple):
    """The related terms of a goal that are not in its text."""

    strengths: Mapping[str, float]
    ids: Ints
    """Of those that the repository has, ids in ``index.terms``, ascending."""
    weights: Floats
    """Of the same terms, their strength times their inverse document frequency."""


def related_to(corpus: Corpus, query: Query, text: str) -> Related:
    """Look up the terms that are related to a goal's text."""
    said = {corpus.index.terms[each] for each in query.ids.tolist()}
    strengths = {term: strength for term, strength in related_terms(text).items() if term not in said}
    found = ((corpus.index.terms.get(term), strength) for term, strength in strengths.items())
    known = sorted((each, strength) for each, strength in found if each is not None)
    ids = np.array([each for each, _ in known], np.int64)
    idf = inverse_frequency(corpus.term_postings[ids], len(corpus.index.units.start))
    return Related(strengths, ids, np.array([strength for _, strength in known]) * idf)


def related_file_scores(corpus: Corpus, related: Related) -> Floats:
    """Return the BM25F of the related terms in every file of the repository, between 0 and 1."""
    return scaled(score(match_files(corpus, related.ids), related.weights, len(corpus.index.paths)))


def related_features(
    candidates: Candidates, query: Query, related: Related
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return how units and files match the terms that are related to a goal, each 0 to 1.

    Of units ``t.words`` is the BM25F of the related terms, ``t.name`` the share of the unit's own name that
    these and the goal's words cover, ``t.path`` the weight of the related terms on its path. Of files
    ``t.mean`` is the mean of their best units.
    """
    corpus, ids, strengths = candidates.corpus, related.ids, related.strengths
    on_paths = (corpus.path_terms[file] & strengths.keys() for file in candidates.files.tolist())
    path = scaled(np.array([sum(strengths[term] for term in sorted(each)) for each in on_paths], np.float64))
    matches = match_units(candidates, unit_hits(candidates, ids), len(ids), softly=True)
    words = scaled(score(matches, related.weights, len(candidates.units)), candidates.main_unit)
    covered = np.zeros(len(corpus.index.terms))
    covered[ids] = [strengths[corpus.index.terms[each]] for each in ids.tolist()]
    covered[query.ids] = 1.0
    unit = {"t.words": words, "t.name": name_share(candidates, covered), "t.path": path[candidates.file_row]}
    return unit, {"t.mean": candidates.mean_of_best(words), "t.path": path}
