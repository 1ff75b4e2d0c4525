"""Train the embedding: a goal comes near the functions that its commit changed, and far from the others.

    python -m benchmarks.meaning.train --pairs FOLDER --out NAME [--held-out NAME,NAME] [options]

A batch comes from one repository: the functions of other commits and neighbours in the same files are what
a goal must tell its own from (InfoNCE, van den Oord et al. 2018). With ``--residual`` words in common (BM25F)
stand in the score while it learns: the vectors learn what words do not say. Needs torch and scipy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.meaning.company import word_vectors
from benchmarks.meaning.corpus import (
    DOCS,
    Bags,
    Ints,
    Repository,
    lexical_scores,
    load,
    make_vocabulary,
    names_of,
)
from benchmarks.meaning.encoder import Encoder, Shape
from benchmarks.meaning.held_out import Ranking, describe, rank_changes


def parse_options(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--held-out", default="")
    parser.add_argument("--only", default="", help="train on these repositories alone")
    parser.add_argument("--least", type=int, default=3, help="repositories that a term must occur in")
    parser.add_argument("--terms", type=int, default=30_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--tied", action="store_true")
    parser.add_argument("--paths", action="store_true", help="let units hold the words of their paths")
    parser.add_argument("--cosine", action="store_true")
    parser.add_argument("--residual", action="store_true")
    parser.add_argument(
        "--documented", type=float, default=0.0, help="weight of the comment-to-function objective"
    )
    parser.add_argument("--epochs", type=float, default=8)
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--neighbours", type=int, default=3)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--decay", type=float, default=0.0)
    parser.add_argument("--eps", type=float, default=1e-8, help="of Adam; a large one spares rare words")
    parser.add_argument("--length", type=float, default=1.0, help="of the random vectors to start from")
    parser.add_argument("--drop", type=float, default=0.2)
    parser.add_argument("--company", action="store_true", help="start from the company that words keep (SVD)")
    parser.add_argument("--start", type=Path, help="a trained model to go on from, same vocabulary")
    parser.add_argument("--every", type=float, default=2, help="epochs between measurements")
    return parser.parse_args(arguments)


class Batch:
    """Some commits of one repository: goals, units, and which unit belongs to which goal."""

    def __init__(
        self, repository: Repository, commits: Ints, neighbours: int, chance: np.random.Generator
    ) -> None:
        changed = [repository.changed_by(commit) for commit in commits]
        wanted = np.array([rows[chance.integers(len(rows))] for rows in changed])
        others = [rows if len(rows) <= neighbours else chance.choice(rows, neighbours, replace=False)
                  for rows in map(repository.neighbours_of, commits)]  # fmt: skip
        self.rows = np.concatenate([wanted, *others])
        self.goals = repository.goals.take(commits)
        self.units = repository.units.take(self.rows)
        place = repository.place[self.rows]
        allowed = np.ones((len(commits), len(self.rows)), np.bool_)
        for row, units in enumerate(changed):
            # The same function at another commit, or changed by the same one, is no wrong answer.
            allowed[row] = ~np.isin(place, repository.place[units])
        allowed[np.arange(len(commits)), np.arange(len(commits))] = True
        self.allowed = torch.from_numpy(allowed)


def contrast(encoder: Encoder, repository: Repository, batch: Batch, *, residual: bool) -> Tensor:
    """Return the InfoNCE loss of a batch."""
    goals = encoder.goals(batch.goals, repository)
    units = encoder.units(batch.units, repository)
    logits = goals @ units.T * encoder.scale.exp()
    if residual:
        words = lexical_scores(repository, batch.goals, batch.units)
        logits = logits + torch.from_numpy(words) * encoder.lexical.exp()
    logits = logits.masked_fill(~batch.allowed, -1e4)
    return functional.cross_entropy(logits, torch.arange(len(goals)))


def contrast_comments(encoder: Encoder, repository: Repository, batch: Batch) -> Tensor | None:
    """Return the loss of telling a function by its own comment; ``None`` where few have one."""
    bags = batch.units
    comment = bags.kind == DOCS
    enough = np.bincount(bags.owner[comment], minlength=len(batch.rows)) >= 5
    _, first = np.unique(repository.place[batch.rows], return_index=True)
    rows = np.array([row for row in np.sort(first) if enough[row]], np.int64)
    if len(rows) < 16:
        return None
    said, code = _only(bags.take(rows), wanted=True), _only(bags.take(rows), wanted=False)
    goals, units = encoder.goals(said, repository), encoder.units(code, repository)
    return functional.cross_entropy(goals @ units.T * encoder.scale.exp(), torch.arange(len(rows)))


def _only(bags: Bags, *, wanted: bool) -> Bags:
    bags = bags.select((bags.kind == DOCS) == wanted)
    return Bags(bags.start, bags.term, np.ones_like(bags.kind), bags.count) if wanted else bags


def _schedule(
    repositories: list[Repository], size: int, chance: np.random.Generator
) -> list[tuple[int, Ints]]:
    """Return one epoch's batches: each repository's commits in runs, long and short repositories mixed."""
    batches = []
    for at, repository in enumerate(repositories):
        commits = chance.permutation(len(repository.goals.start) - 1)
        parts = max(1, round(len(commits) / size))
        batches += [(at, part) for part in np.array_split(commits, parts) if len(part) > 16]
    return [batches[at] for at in chance.permutation(len(batches))]


def train(options: argparse.Namespace) -> None:
    """Train, measure on held-out repositories, and save."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    chance = np.random.default_rng(0)
    held_out = [name for name in options.held_out.split(",") if name]
    names = [name for name in names_of(options.pairs) if name not in held_out]
    names = [name for name in names if not options.only or name in options.only.split(",")]
    terms = make_vocabulary(options.pairs, names, options.terms, least_repositories=options.least)
    rows = {term: row for row, term in enumerate(terms)}
    repositories = [load(options.pairs, name, rows, paths=options.paths) for name in names]
    measured = [load(options.pairs, name, rows, paths=options.paths) for name in held_out]
    encoder = Encoder(
        Shape(len(terms), options.dimensions, options.tied, options.drop, options.length, options.cosine)
    )
    if options.company:
        encoder.start_from(word_vectors(repositories, len(terms), options.dimensions))
    if options.start:
        encoder.load_state_dict(torch.load(options.start)["state"])
    optimizer = torch.optim.AdamW(
        encoder.parameters(), options.rate, weight_decay=options.decay, betas=(0.9, 0.98), eps=options.eps
    )
    epoch = _schedule(repositories, options.batch, chance)
    steps = int(len(epoch) * options.epochs)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, options.rate, total_steps=steps + 1, pct_start=0.1
    )
    _say(
        f"{len(names)} repositories, {sum(len(r.changed) for r in repositories)} pairs,"
        f" {len(terms)} terms, {steps} steps"
    )
    began, losses = time.monotonic(), []
    waiting: list[tuple[int, Ints]] = []
    for step in range(1, steps + 1):
        if not waiting:
            waiting = _schedule(repositories, options.batch, chance)
        at, commits = waiting.pop()
        batch = Batch(repositories[at], commits, options.neighbours, chance)
        encoder.train()
        loss = contrast(encoder, repositories[at], batch, residual=options.residual)
        losses.append(loss.item())
        if options.documented:
            said = contrast_comments(encoder, repositories[at], batch)
            loss = loss if said is None else loss + options.documented * said
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % max(1, int(len(epoch) * options.every)) == 0 or step == steps:
            ranks = [rank_changes(encoder, repository) for repository in measured]
            _say(
                f"step {step}, {time.monotonic() - began:.0f} s, loss {np.mean(losses):.3f}:"
                f" {describe(Ranking.mean(ranks))}"
            )
            losses = []
    for repository, ranking in zip(measured, ranks, strict=True):
        _say(f"  {repository.name}: {describe(ranking)}")
    torch.save({"terms": terms, "shape": vars(encoder.shape), "state": encoder.state_dict()}, options.out)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    train(parse_options())
