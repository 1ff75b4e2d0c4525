"""What a goal must choose from: the functions that its commit changed, beside those that look as likely.

    python -m benchmarks.meaning.lists --pairs PAIRS --out LISTS --held-out NAME,NAME

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
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix, csr_matrix

from benchmarks.meaning.corpus import Bags, Floats, Ints, Repository, load, make_vocabulary, names_of

NAME, SIGNATURE = 0, 1
FEATURES = ("words", "title", "names", "past", "length")
SOURCE_WEIGHTS = np.array([2.2, 1.6, 2.0, 0.7, 0.6], np.float32)
FIELD_WEIGHTS = np.array([3.0, 2.5, 0.3, 0.3, 1.7, 1.0], np.float32)
_SATURATION, _LENGTH = 0.2, 0.35
_VOCABULARY = 30_000
_CHANGED, _NEIGHBOURS, _LIKELY, _RANDOM = 5, 8, 12, 3
_VOTERS = 40
_RUN = 256


@dataclass(frozen=True, eq=False)
class Lists:
    """The lists of one repository; matrices have one column per term of the vocabulary."""

    goals: csr_matrix
    """Source weight times rarity of each term, each row of length 1."""
    units: csr_matrix
    """Saturated frequency (BM25F) times rarity of each term."""
    names: csr_matrix
    """1 for each term of the unit's name."""
    signatures: csr_matrix
    lengths: Floats
    """Postings of each unit."""
    candidates: Ints
    """Rows of ``units``: of each list first the changed ones, then the others."""
    starts: Ints
    """First candidate of each list, and the number of candidates at the end."""
    changed: Ints
    """How many candidates of each list were changed."""
    features: Floats
    """Shape (candidates, len(FEATURES))."""

    @property
    def owner(self) -> Ints:
        """The list of each candidate."""
        return np.repeat(np.arange(len(self.changed)), np.diff(self.starts))


_MATRICES = ("goals", "units", "names", "signatures")


def save_lists(lists: Lists, path: Path) -> None:
    """Write lists to a file."""
    arrays: dict[str, Any] = {}
    for name, value in vars(lists).items():
        if name in _MATRICES:
            arrays |= {f"{name}.data": value.data, f"{name}.at": value.indices, f"{name}.row": value.indptr}
            arrays[f"{name}.shape"] = np.array(value.shape)
        else:
            arrays[name] = value
    np.savez(path, **arrays)


def load_lists(path: Path) -> Lists:
    """Read lists that ``save_lists`` wrote."""
    with np.load(path) as stored:
        arrays = {name: stored[name] for name in stored.files}
    matrices = {
        name: csr_matrix(
            (arrays[f"{name}.data"], arrays[f"{name}.at"], arrays[f"{name}.row"]),
            shape=tuple(arrays[f"{name}.shape"]),
        )
        for name in _MATRICES
    }
    return Lists(**matrices, **{name: value for name, value in arrays.items() if "." not in name})


def goal_matrix(owner: Ints, term: Ints, source: Ints, idf: Floats, shape: tuple[int, int]) -> csr_matrix:
    """Return what each goal asks for; terms outside of the vocabulary are left out."""
    known = term < shape[1]
    weight = (SOURCE_WEIGHTS[source] * np.maximum(idf, 0.05))[known].astype(np.float32)
    matrix = coo_matrix((weight, (owner[known], term[known])), shape=shape).tocsr()
    length = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel()) + 1e-6
    matrix.data /= np.repeat(length, np.diff(matrix.indptr)).astype(np.float32)
    return matrix


def unit_matrix(bags: Bags, lengths: Floats, mean: float, size: int) -> csr_matrix:
    """Return the saturated frequency of each term in each unit, as BM25F counts it."""
    known = bags.term < size
    frequency = (FIELD_WEIGHTS[bags.kind] * bags.count)[known].astype(np.float32)
    shape = len(bags.start) - 1, size
    matrix = coo_matrix((frequency, (bags.owner[known], bags.term[known])), shape=shape).tocsr()
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * lengths / mean)
    matrix.data /= matrix.data + np.repeat(norm, np.diff(matrix.indptr)).astype(np.float32)
    return matrix


def field_matrix(bags: Bags, field: int, size: int) -> csr_matrix:
    """Return 1 for each term that stands in one field of a unit."""
    inside = (bags.kind == field) & (bags.term < size)
    shape = len(bags.start) - 1, size
    ones = np.ones(int(inside.sum()), np.float32)
    matrix = coo_matrix((ones, (bags.owner[inside], bags.term[inside])), shape=shape).tocsr()
    matrix.data[:] = 1
    return matrix


class _Scores:
    """Plain scores of one repository's goals over the newest version of each function."""

    def __init__(self, repository: Repository) -> None:
        self.repository = repository
        size, goals = len(repository.idf), repository.goals
        self.lengths = np.diff(repository.units.start).astype(np.float32)
        self.saturated = unit_matrix(repository.units, self.lengths, repository.mean_length, size)
        self.places, self.newest = np.unique(repository.place, return_index=True)
        self.place = np.searchsorted(self.places, repository.place)
        self.wall = self._asked(goals, SOURCE_WEIGHTS[goals.kind], repository.idf)
        title = goals.select(goals.kind == 0)
        self.title = self._asked(title, np.ones(len(title.term), np.float32), repository.idf)
        self.names = field_matrix(repository.units, NAME, size)
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
        return dense / np.maximum(dense.max(axis=1, keepdims=True), 1e-6)


def make_lists(repository: Repository, size: int) -> Lists:
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
            others = _others(scores, commit, words[row], votes[row], chance)
            chosen.append(np.concatenate([kept, *others]))
            changed.append(len(kept))
            past.append(votes[row][scores.place[chosen[-1]]])
    return _gathered(scores, chosen, changed, np.concatenate(past), size)


def _others(
    scores: _Scores, commit: int, words: Floats, votes: Floats, chance: np.random.Generator
) -> tuple[Ints, Ints, Ints]:
    wanted = scores.place[scores.repository.changed_by(commit)]
    near = scores.repository.neighbours_of(commit)
    near = near[~np.isin(scores.place[near], wanted)]
    near = near[np.argsort(-words[scores.place[near]], kind="stable")[:_NEIGHBOURS]]
    worth = words + 0.3 * votes
    worth[wanted] = -1
    likely = np.argsort(-worth, kind="stable")[: _LIKELY + 2]
    likely = likely[(worth[likely] >= 0) & ~np.isin(likely, scores.place[near])][:_LIKELY]
    drawn = chance.integers(0, len(scores.newest), _RANDOM)
    return near, scores.newest[likely], scores.newest[drawn[~np.isin(drawn, wanted)]]


def _gathered(
    scores: _Scores, chosen: Sequence[Ints], changed: Sequence[int], past: Floats, size: int
) -> Lists:
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
    units = unit_matrix(bags, scores.lengths[used], repository.mean_length, size)
    units.data *= repository.idf[units.indices] / 6
    shape = len(changed), size
    return Lists(
        goals=goal_matrix(goals.owner, goals.term, goals.kind, repository.idf[goals.term], shape),
        units=units,
        names=field_matrix(bags, NAME, size),
        signatures=field_matrix(bags, SIGNATURE, size),
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


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held-out", default="")
    options = parser.parse_args()
    held_out = set(options.held_out.split(","))
    names = names_of(options.pairs)
    terms = make_vocabulary(options.pairs, [name for name in names if name not in held_out], _VOCABULARY)
    rows = {term: row for row, term in enumerate(terms)}
    for folder in ("train", "held"):
        (options.out / folder).mkdir(parents=True, exist_ok=True)
    (options.out / "terms.txt").write_text("\n".join(terms), encoding="utf-8")
    for name in names:
        repository = load(options.pairs, name, rows)
        if len(repository.goals.start) < 2 * _VOTERS:
            continue
        lists = make_lists(repository, len(terms))
        save_lists(lists, options.out / ("held" if name in held_out else "train") / f"{name}.npz")
        sys.stdout.write(f"{name}: {len(lists.changed)} lists, {len(lists.candidates)} candidates\n")


if __name__ == "__main__":
    main()
