"""The repositories that a goal is likeliest about, by their summaries alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.bm25 import inverse_frequency, term_weights
from repo_map.relevance.goal import ParsedGoal, parse_goal
from repo_map.repository_choice.summary import STEPS, Summary, digest_of
from repo_map.secrets.masking import mask_text

MOST: Final = 3
"""Repositories of one answer."""
_OF_BEST: Final = 0.5
"""Share of the best one's score that another needs. On 305 issues among 69 repositories it keeps 2.1 of three
on average, and the right one in .885 instead of .889."""
_SATURATION, _LENGTH = 0.1, 0.75
"""BM25's k1, as a share of the usual number of files, and b, over files in which a term stands."""
_PATH_WORTH, _README_WORTH = 10.0, 30.0
"""Files of text that a path, and the README, with a term in it count as."""
_MOST_REASONS: Final = 3


class Likely(NamedTuple):
    """A repository that a goal may be about."""

    name: str
    reasons: tuple[str, ...]
    """Words of the goal that speak most for it, as they are written there."""


def likeliest(goal: str, summaries: Mapping[str, Summary]) -> list[Likely]:
    """Return the repositories that a goal is likeliest about, ``MOST`` at most, the likeliest first.

    BM25 with a repository as a document: a term that few of ``summaries`` have counts most, and a large
    repository, which has most words, has to have them more often. Nothing but ``summaries`` is counted, so
    that no answer depends on what its caller may not read.
    """
    parsed = parse_goal(mask_text(goal))
    weights = term_weights(parsed)
    names, terms = list(summaries), list(weights)
    if not names or not terms:
        return []
    digests = np.array([digest_of(term) for term in terms], np.uint32)
    found = np.array([_worth(summaries[name].rows, digests) for name in names])
    rarity = inverse_frequency(np.count_nonzero(found, axis=0), len(names))
    files = np.array([max(1, summaries[name].files) for name in names], np.float64)
    room = _SATURATION * ((1 - _LENGTH) * np.median(files) + _LENGTH * files)
    parts = found / (found + room[:, None]) * rarity * np.array(list(weights.values()))
    scores = parts.sum(axis=1)
    best = np.argsort(-scores, kind="stable")[:MOST].tolist()
    return [
        Likely(names[at], tuple(dict.fromkeys(_spelt(parsed, terms[term]) for term in _reasons(parts[at]))))
        for at in best
        if scores[at] > 0 and scores[at] >= _OF_BEST * scores[best[0]]
    ]


def _worth(rows: NDArray[Any], digests: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Return in about how many files each term stands, where it stands in a path or the README more."""
    if not len(rows):
        return np.zeros(len(digests))
    at = np.minimum(np.searchsorted(rows["term"], digests), len(rows) - 1)
    counts = [np.exp2(rows[name][at] / STEPS) - 1 for name in ("texts", "paths", "readme")]
    worth = counts[0] + _PATH_WORTH * counts[1] + _README_WORTH * counts[2]
    return np.where(rows["term"][at] == digests, worth, 0.0)


def _reasons(parts: NDArray[np.float64]) -> list[int]:
    best: list[int] = np.argsort(-parts, kind="stable")[:_MOST_REASONS].tolist()
    return [term for term in best if parts[term] > 0]


def _spelt(goal: ParsedGoal, term: str) -> str:
    """Return a term as the goal writes it."""
    return goal.surface.get(term) or goal.part_of.get(term, term)
