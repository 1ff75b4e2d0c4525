"""What a goal must choose from: the functions that its commit changed, beside those that look as likely.

    python -m benchmarks.meaning.lists --pairs PAIRS --out LISTS --held-out NAME,NAME [--pieces 12000]

Each commit gets a list: up to five changed functions, eight neighbours that share most words with the goal,
the twelve functions of the repository that words and earlier commits put first, and three by chance. Five
plain features stand in for the scorer, so that a model can learn what it does not know yet. Needs scipy.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix, identity

from benchmarks.meaning.corpus import (
    Bags,
    Floats,
    Ints,
    Repository,
    count_terms,
    load,
    make_vocabulary,
    names_of,
    terms_by_row,
)
from benchmarks.meaning.list_file import Lists, save_lists
from benchmarks.meaning.pieces import Pieces, learn_merges, write_merges
from benchmarks.meaning.vocabulary import (
    NAME,
    SIGNATURE,
    SOURCE_WEIGHTS,
    Vocabulary,
    field_matrix,
    goal_matrix,
    read_vocabulary,
    saturated,
    unit_matrix,
)

_VOCABULARY, _SHARED = 30_000, 3
_CHANGED = 5
_VOTERS = 40
_RUN = 256


@dataclass(frozen=True)
class Sizes:
    """How many functions stand beside the changed ones."""

    neighbours: int = 8
    likely: int = 12
    random: int = 3


class _Scores:
    """Plain scores of one repository's goals over the newest version of each function."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        size, goals = len(repository.idf), repository.goals
        self.lengths = np.diff(repository.units.start).astype(np.float32)
        self.saturated = saturated(repository.units, self.lengths, repository.mean_length, size)
        self.places, self.newest = np.unique(repository.place, return_index=True)
        self.place = np.searchsorted(self.places, repository.place)
        self.wall = self._asked(goals, SOURCE_WEIGHTS[goals.kind], repository.idf)
        title = goals.select(goals.kind == 0)
        self.title = self._asked(title, np.ones(len(title.term), np.float32), repository.idf)
        self.names = field_matrix(repository.units, NAME, identity(size, np.float32, "csr"))
        self._pool = self.saturated[self.newest].T.tocsr()
        self._changed = self._changes(repository)

    @staticmethod
    def _asked(goals: Bags, weight: Floats, idf: Floats) -> csr_matrix:
        shape = len(goals.start) - 1, len(idf)
        matrix = coo_matrix((weight * idf[goals.term], (goals.owner, goals.term)), shape=shape).tocsr()
        total = np.maximum(np.asarray(matrix.sum(axis=1)).ravel(), 1e-6)
        matrix.data /= np.repeat(total, np.diff(matrix.indptr)).astype(np.float32)
        return matrix

    def _changes(self, repository: Repository) -> csr_matrix:
        commits = len(repository.goals.start) - 1
        owner = np.repeat(np.arange(commits), np.diff(repository.changed_start))
        ones = np.ones(len(owner), np.float32)
        shape = commits, len(self.places)
        matrix = coo_matrix((ones, (owner, self.place[repository.changed])), shape=shape).tocsr()
        matrix.data[:] = 1
        return matrix

    def words(self, commits: Ints) -> Floats:
        """Return BM25F of some goals and every function, shape (commits, places)."""
        return np.asarray((self.wall[commits] @ self._pool).todense(), np.float32)

    def past(self, commits: Ints) -> Floats:
        """Return how strongly older commits that sound alike vote for each function, the best being 1.

        Commits stand newest first, so the older ones have the higher numbers.
        """
        alike = np.asarray((self.wall[commits] @ self.wall.T).todense(), np.float32)
        alike[np.arange(alike.shape[1])[None, :] <= commits[:, None]] = 0
        voters = min(_VOTERS, alike.shape[1] - 1)
        least = np.partition(alike, -voters, axis=1)[:, -voters][:, None]
        votes = csr_matrix(np.where(alike >= least, alike, 0) ** 2) @ self._changed
        dense = np.asarray(votes.todense(), np.float32)
        shares: Floats = dense / np.maximum(dense.max(axis=1, keepdims=True), 1e-6)
        return shares


def make_lists(repository: Repository, spread: csr_matrix, sizes: Sizes) -> Lists:
    """Choose what stands beside the changed functions of every commit."""
    scores, chance = _Scores(repository), np.random.default_rng(0)
    commits = len(repository.goals.start) - 1
    chosen: list[Ints] = []
    changed: list[int] = []
    past: list[Floats] = []
    for first in range(0, commits, _RUN):
        run = np.arange(first, min(first + _RUN, commits))
        words, votes = scores.words(run), scores.past(run)
        for row, commit in enumerate(run.tolist()):
            mine = repository.changed_by(commit)
            kept = mine if len(mine) <= _CHANGED else chance.choice(mine, _CHANGED, replace=False)
            others = _others(scores, commit, (words[row], votes[row]), sizes, chance)
            chosen.append(np.concatenate([kept, *others]))
            changed.append(len(kept))
            past.append(votes[row][scores.place[chosen[-1]]])
    return _gathered(scores, (chosen, changed), np.concatenate(past), spread)


def _others(
    scores: _Scores,
    commit: int,
    worths: tuple[Floats, Floats],
    sizes: Sizes,
    chance: np.random.Generator,
) -> tuple[Ints, Ints, Ints]:
    words, votes = worths
    wanted = scores.place[scores.repository.changed_by(commit)]
    near = scores.repository.neighbours_of(commit)
    near = near[~np.isin(scores.place[near], wanted)]
    near = near[np.argsort(-words[scores.place[near]], kind="stable")[: sizes.neighbours]]
    worth = words + 0.3 * votes
    worth[wanted] = -1
    likely = np.argsort(-worth, kind="stable")[: sizes.likely + 2]
    likely = likely[(worth[likely] >= 0) & ~np.isin(likely, scores.place[near])][: sizes.likely]
    drawn = chance.integers(0, len(scores.newest), sizes.random)
    return near, scores.newest[likely], scores.newest[drawn[~np.isin(drawn, wanted)]]


def _gathered(
    scores: _Scores, rows_of: tuple[Sequence[Ints], Sequence[int]], past: Floats, spread: csr_matrix
) -> Lists:
    chosen, changed = rows_of
    repository, rows = scores.repository, np.concatenate(chosen)
    starts = np.cumsum([0, *map(len, chosen)])
    owner = np.repeat(np.arange(len(changed)), np.diff(starts))
    columns = (
        _row_products(scores.wall, scores.saturated, owner, rows),
        _row_products(scores.title, scores.saturated, owner, rows),
        _row_products(scores.wall, scores.names, owner, rows),
        past,
        np.log1p(scores.lengths[rows]) / 5,
    )
    used, candidates = np.unique(rows, return_inverse=True)
    bags, goals = repository.units.take(used), repository.goals
    return Lists(
        goals=goal_matrix(goals, repository.idf[goals.term], spread),
        units=unit_matrix(bags, scores.lengths[used], repository.mean_length, repository.idf / 6, spread),
        names=field_matrix(bags, NAME, spread),
        signatures=field_matrix(bags, SIGNATURE, spread),
        lengths=scores.lengths[used],
        candidates=candidates.astype(np.int64),
        starts=starts.astype(np.int64),
        changed=np.array(changed, np.int64),
        features=np.stack(columns, axis=1).astype(np.float32),
    )


def _row_products(left: csr_matrix, right: csr_matrix, first: Ints, second: Ints) -> NDArray[np.float32]:
    products = np.empty(len(first), np.float32)
    for at in range(0, len(first), 4096):
        rows = left[first[at : at + 4096]].multiply(right[second[at : at + 4096]])
        products[at : at + 4096] = np.asarray(rows.sum(axis=1)).ravel()
    return products


def learn_vocabulary(options: argparse.Namespace, names: Sequence[str]) -> Vocabulary:
    """Write and return the columns: the most shared terms, or the pieces that they are made of."""
    options.out.mkdir(parents=True, exist_ok=True)
    terms = make_vocabulary(options.pairs, names, _VOCABULARY)
    if options.pieces:
        repositories, units = count_terms(options.pairs, names)
        shared = {term: units[term] for term, count in sorted(repositories.items()) if count >= _SHARED}
        merges = learn_merges(shared, options.pieces)
        write_merges(merges, options.out / "merges.txt")
        terms = Pieces(merges).vocabulary
    (options.out / "terms.txt").write_text("\n".join(terms), encoding="utf-8")
    return read_vocabulary(options.out)


def parse_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held-out", default="")
    parser.add_argument(
        "--pieces", type=int, default=0, help="byte-pair merges for columns, instead of terms"
    )
    parser.add_argument("--neighbours", type=int, default=Sizes.neighbours)
    parser.add_argument("--likely", type=int, default=Sizes.likely)
    parser.add_argument("--random", type=int, default=Sizes.random)
    return parser.parse_args()


def main() -> None:
    """Run from the command line."""
    options = parse_options()
    held_out = set(options.held_out.split(","))
    names = names_of(options.pairs)
    train = [name for name in names if name not in held_out]
    vocabulary = learn_vocabulary(options, train)
    rows = {term: row for row, term in enumerate(make_vocabulary(options.pairs, train, _VOCABULARY))}
    wide = Sizes(options.neighbours, options.likely, options.random)
    for folder in ("train", "held"):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        repository = load(options.pairs, name, rows)
        if len(repository.goals.start) < 2 * _VOTERS:
            continue
        held = name in held_out
        spread = vocabulary.spread(terms_by_row(options.pairs, name, rows))
        lists = make_lists(repository, spread, Sizes() if held else wide)
        save_lists(lists, options.out / ("held" if held else "train") / f"{name}.npz")
        sys.stdout.write(f"{name}: {len(lists.changed)} lists, {len(lists.candidates)} candidates\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
