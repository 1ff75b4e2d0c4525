"""The trainable embedding: weighted sums of term vectors, one side for goals and one for code."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.meaning.corpus import Bags, Floats, Repository

FIELDS, SOURCES = 6, 5


@dataclass(frozen=True)
class Shape:
    """What an encoder is made of."""

    terms: int
    dimensions: int = 128
    tied: bool = False
    """Whether goals and code share one table of vectors."""
    drop: float = 0.2
    """Share of the terms that each training step leaves out."""
    start: float = 1.0
    """Length of the random vectors before training; short ones let words that were hardly seen say little."""
    cosine: bool = False
    """Whether a unit's vector gets length 1; else it is divided by the length that its weights alone would
    give it, which needs no vector sum: a unit's score is then a sum over its terms."""


class Side(nn.Module):
    """Bags in, unit vectors out: a term counts by its own weight, its place, its count and its rarity."""

    def __init__(self, table: nn.EmbeddingBag, terms: int, kinds: int) -> None:
        super().__init__()
        self.table = table
        self.weight = nn.Embedding(terms, 1)
        nn.init.zeros_(self.weight.weight)
        self.kind = nn.Parameter(torch.zeros(kinds))
        self.power = nn.Parameter(torch.tensor(0.5))
        """How strongly a repeated term counts: count ** power."""
        self.rarity = nn.Parameter(torch.tensor(0.7))
        """How strongly a rare term counts: idf ** rarity."""

    def forward(self, bags: Bags, idf: Floats, drop: float = 0.0, *, cosine: bool = True) -> Tensor:
        bags = bags.select(bags.term < self.table.num_embeddings)
        term = torch.from_numpy(bags.term).long()
        count = torch.from_numpy(bags.count).float()
        rare = torch.from_numpy(idf[bags.term])
        kind = torch.from_numpy(bags.kind).long()
        exponent = (
            self.weight(term)[:, 0] + self.kind[kind] + self.power * count.log() + self.rarity * rare.log()
        )
        weight = exponent.clamp(-8, 8).exp()
        if drop and self.training:
            weight = weight * (torch.rand(len(weight)) >= drop)
        summed = self.table(term, torch.from_numpy(bags.start[:-1]), per_sample_weights=weight)
        if cosine:
            return functional.normalize(summed, dim=1, eps=1e-6)
        owner = torch.from_numpy(bags.owner)
        power = torch.zeros(len(summed)).index_add(0, owner, weight * weight)
        return summed / (power + 1e-6).sqrt()[:, None]


class Encoder(nn.Module):
    """Goals and code in one space, and how much their nearness weighs beside words in common."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        goal_table = nn.EmbeddingBag(shape.terms, shape.dimensions, mode="sum")
        nn.init.normal_(goal_table.weight, std=shape.start * shape.dimensions**-0.5)
        code_table = goal_table
        if not shape.tied:
            code_table = nn.EmbeddingBag(shape.terms, shape.dimensions, mode="sum")
            # Both sides start equal, so that a word means itself before anything is learned.
            code_table.weight.data.copy_(goal_table.weight.data)
        self.goal = Side(goal_table, shape.terms, SOURCES)
        self.code = Side(code_table, shape.terms, FIELDS)
        with torch.no_grad():
            self.goal.kind.copy_(torch.tensor([2.2, 1.6, 2.0, 0.7, 0.6]).log())
            self.code.kind.copy_(torch.tensor([3.0, 2.5, 0.5, 0.5, 1.7, 1.0]).log())
        self.scale = nn.Parameter(torch.tensor(2.5))
        self.lexical = nn.Parameter(torch.tensor(2.0))

    def start_from(self, vectors: Floats) -> None:
        """Give both sides the same vectors to begin with, shape (terms, dimensions)."""
        with torch.no_grad():
            for side in (self.goal, self.code):
                side.table.weight.copy_(torch.from_numpy(vectors))

    def goals(self, bags: Bags, repository: Repository) -> Tensor:
        """Encode goals, shape (goals, dimensions)."""
        return self.goal(bags, repository.idf, self.shape.drop, cosine=self.shape.cosine)

    def units(self, bags: Bags, repository: Repository) -> Tensor:
        """Encode units, shape (units, dimensions)."""
        return self.code(bags, repository.idf, self.shape.drop, cosine=self.shape.cosine)
