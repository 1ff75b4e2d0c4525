"""The units that the whole scorer puts first for a task, in the columns of the lists."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from benchmarks.meaning.corpus import Bags, Floats, Ints
from benchmarks.meaning.similarity import inverse_frequency
from benchmarks.meaning.vocabulary import (
    NAME,
    SIGNATURE,
    Vocabulary,
    field_matrix,
    goal_matrix,
    unit_matrix,
)
from benchmarks.signal_rows import load_rows
from benchmarks.tasks import Task, read_tasks
from benchmarks.trees import materialise
from repo_map.index import build_index
from repo_map.relevance.corpus import Corpus, concatenated_ranges, corpus_of
from repo_map.relevance.goal import Source, parse_goal
from repo_map.relevance.model import default_weights
from repo_map.relevance.scoring import score_units

MOST_UNITS = 400
_SOURCES = tuple(Source)


@dataclass(frozen=True, eq=False)
class Candidates:
    """The first units of one task, in the vocabulary of the lists."""

    repo: str
    language: str
    score: Floats
    """What the whole scorer says, best first."""
    gold: NDArray[np.bool_]
    wanted: int
    """Gold units, those that are no candidates included."""
    goal: csr_matrix
    units: csr_matrix
    names: csr_matrix
    signatures: csr_matrix


def read_candidates(options: argparse.Namespace, vocabulary: Vocabulary) -> Iterator[Candidates]:
    """Yield the candidates of every task, in the columns of the lists."""
    for path in options.tasks:
        for task in read_tasks(path):
            tree = materialise(task.repo, task.base_commit, options.mirrors, options.trees)
            yield _candidates(task, corpus_of(build_index(tree)), options.rows, vocabulary)


def _candidates(task: Task, corpus: Corpus, folder: Path, vocabulary: Vocabulary) -> Candidates:
    signals, weights, index = load_rows(folder / f"{task.id}.npz"), default_weights(), corpus.index
    score = score_units(signals.columns, signals.file_scores(weights.file), weights)
    first = np.argsort(-score, kind="stable")[:MOST_UNITS]
    starts = index.units.file_start
    chosen = concatenated_ranges(starts[signals.files], starts[signals.files + 1])[first]
    units, names, signatures = unit_matrices(corpus, chosen, vocabulary)
    gold = signals.unit_gold()
    return Candidates(
        repo=task.repo,
        language=task.language,
        score=score[first],
        gold=gold[first],
        wanted=int(gold.sum()),
        goal=_goal(task.goal, corpus, vocabulary),
        units=units,
        names=names,
        signatures=signatures,
    )


def unit_matrices(
    corpus: Corpus, chosen: Ints, vocabulary: Vocabulary
) -> tuple[csr_matrix, csr_matrix, csr_matrix]:
    """Return the terms of units, of their names and of their signatures, as ``Lists`` has them."""
    index = corpus.index
    at = concatenated_ranges(index.postings.unit_start[chosen], index.postings.unit_start[chosen + 1])
    lengths = np.diff(index.postings.unit_start)[chosen].astype(np.float32)
    bags = Bags(
        np.concatenate(([0], np.cumsum(lengths, dtype=np.int64))),
        index.postings.term[at].astype(np.int32),
        index.postings.field[at],
        index.postings.count[at],
    )
    spread = vocabulary.spread([term.decode("utf-8", "replace") for term in index.terms.iter_bytes()])
    idf = inverse_frequency(corpus, corpus.term_postings) / 6
    units = unit_matrix(bags, lengths, max(float(lengths.mean()), 20.0), idf, spread)
    return units, field_matrix(bags, NAME, spread), field_matrix(bags, SIGNATURE, spread)


def _goal(text: str, corpus: Corpus, vocabulary: Vocabulary) -> csr_matrix:
    table, terms, sources, frequency = corpus.index.terms, [], [], []
    for source, counts in parse_goal(text).terms.items():
        for term in counts:
            found = table.get(term)
            terms.append(term)
            sources.append(_SOURCES.index(source))
            frequency.append(0 if found is None else int(corpus.term_postings[found]))
    idf = inverse_frequency(corpus, np.array(frequency, np.int64))
    ends, ones = np.array([0, len(terms)]), np.ones(len(terms), np.uint8)
    bag = Bags(ends, np.arange(len(terms), dtype=np.int32), np.array(sources, np.uint8), ones)
    return goal_matrix(bag, idf, vocabulary.spread(terms))
