"""How well goals find what their commits changed, in repositories that were not trained on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from benchmarks.meaning.corpus import Repository, lexical_scores
from benchmarks.meaning.encoder import Encoder

BLENDS = (0.05, 0.1, 0.25, 0.5, 1.0)
_MOST_COMMITS = 300


class Ranking(NamedTuple):
    """Mean reciprocal rank of the first changed function: by words, meaning, and both at several weights."""

    words: float
    meaning: float
    both: tuple[float, ...]
    recall_words: float
    """Share of the changed functions among the first 20, by words."""
    recall_meaning: float
    recall_both: tuple[float, ...]

    @staticmethod
    def mean(rankings: list[Ranking]) -> Ranking:
        """Return the mean of several repositories' figures, each weighing the same."""
        if not rankings:
            return Ranking(0, 0, (0,) * len(BLENDS), 0, 0, (0,) * len(BLENDS))
        words, meaning, both, *recalls = (
            np.mean(column, axis=0).tolist() for column in zip(*rankings, strict=True)
        )
        recall_words, recall_meaning, recall_both = recalls
        return Ranking(words, meaning, tuple(both), recall_words, recall_meaning, tuple(recall_both))


def describe(ranking: Ranking) -> str:
    """Say a ranking in one line."""
    both = " ".join(f"{value:.3f}" for value in ranking.both)
    recall = " ".join(f"{value:.3f}" for value in ranking.recall_both)
    return (
        f"MRR words {ranking.words:.3f} meaning {ranking.meaning:.3f} both {both}"
        f" | R@20 {ranking.recall_words:.3f} {ranking.recall_meaning:.3f} both {recall}"
    )


@torch.no_grad()
def rank_changes(encoder: Encoder, repository: Repository) -> Ranking:
    """Rank every function of the repository for its newest commits, the changed ones as they were before."""
    encoder.eval()
    places, newest = np.unique(repository.place, return_index=True)
    commits = range(min(_MOST_COMMITS, len(repository.goals.start) - 1))
    rows = np.unique(np.concatenate([newest, *(repository.changed_by(commit) for commit in commits)]))
    units, goals = repository.units.take(rows), repository.goals.take(np.array(commits))
    words = lexical_scores(repository, goals, units)
    near = (encoder.goals(goals, repository) @ encoder.units(units, repository).T).numpy()
    mixes = [words, near, *(words + blend * near for blend in BLENDS)]
    place_of_row = np.searchsorted(places, repository.place[rows])
    position = np.full(len(repository.place), -1)
    position[rows] = np.arange(len(rows))
    standard = np.zeros(len(rows), np.bool_)
    standard[position[newest]] = True
    first: list[list[float]] = [[] for _ in mixes]
    recall: list[list[float]] = [[] for _ in mixes]
    for commit in commits:
        wanted = position[repository.changed_by(commit)]
        # One version of each function competes: the one before the change, or else the newest.
        shown = standard & ~np.isin(place_of_row, place_of_row[wanted])
        for mix, firsts, recalls in zip(mixes, first, recall, strict=True):
            others = np.sort(mix[commit][shown])
            above = len(others) - np.searchsorted(others, mix[commit][wanted], side="left")
            firsts.append(1.0 / (1.0 + above.min()))
            recalls.append(float((above < 20).mean()))
    means, recalled = [float(np.mean(f)) for f in first], [float(np.mean(r)) for r in recall]
    return Ranking(means[0], means[1], tuple(means[2:]), recalled[0], recalled[1], tuple(recalled[2:]))
