"""Negatives mined again: of wide lists, what a model that has learned once still takes for changed.

    python -m benchmarks.meaning.lists --pairs PAIRS --out WIDE --neighbours 14 --likely 100 --random 60 …
    python -m benchmarks.meaning.mined --lists WIDE --late late.npz --out MINED

Each list keeps its changed functions, the twenty others that the plain score and the model put first, and
three of the rest by chance. Held-out lists stay as they are.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from shutil import copy, copytree

import numpy as np

from benchmarks.meaning.corpus import Floats, Ints
from benchmarks.meaning.expansion import plain_scores
from benchmarks.meaning.list_file import Lists, save_lists
from benchmarks.meaning.list_loss import read_folder
from benchmarks.meaning.meeting import Shape, read_model

_HARD, _RANDOM = 20, 3


def hardest(lists: Lists, scores: Floats) -> Lists:
    """Return narrower lists: the changed, the others of the highest scores, and a few by chance."""
    chance = np.random.default_rng(0)
    kept: list[Ints] = []
    for first, last, changed in zip(lists.starts, lists.starts[1:], lists.changed, strict=False):
        others = first + changed + np.argsort(-scores[first + changed : last], kind="stable")
        rest = others[_HARD:]
        drawn = chance.choice(rest, min(_RANDOM, len(rest)), replace=False)
        kept.append(np.concatenate([np.arange(first, first + changed), others[:_HARD], drawn]))
    rows = np.concatenate(kept)
    return replace(
        lists,
        candidates=lists.candidates[rows],
        features=lists.features[rows],
        starts=np.cumsum([0, *map(len, kept)]),
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lists", type=Path, required=True)
    parser.add_argument("--late", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    folder = options.out / "train"
    folder.mkdir(parents=True, exist_ok=True)
    for vocabulary in sorted(options.lists.glob("*.txt")):
        copy(vocabulary, options.out)
    copytree(options.lists / "held", options.out / "held", dirs_exist_ok=True)
    wide, model = read_folder(options.lists / "train"), read_model(options.late, Shape())
    names = sorted((options.lists / "train").glob("*.npz"))
    for path, one, plain in zip(names, wide, plain_scores(wide, wide, None), strict=True):
        scores = model.scores(one, plain, np.arange(len(one.changed)), 0.0)
        save_lists(hardest(one, scores), folder / path.name)


if __name__ == "__main__":
    main()
