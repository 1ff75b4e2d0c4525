"""Training pairs from histories: what a commit says, the functions it changed, and neighbours that it left.

    python -m training.pairs GIT_FOLDER… --out FOLDER [--commits 800] [--parts 1]

Each part of a repository becomes one ``.npz`` of flat columns (see ``Pairs``). The functions are read as they
were before the commit, by the parser and the units of the product, so what is learned fits what is indexed.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from repo_map.languages.registry import language_of
from repo_map.relevance.goal import GoalPart, parse_goal
from training.before import Before
from training.messages import goal_of
from training.past_changes import PastChange, past_changes

SOURCES = tuple(GoalPart)
_MOST_NEIGHBOURS = 14


class Pairs:
    """What one repository teaches, as growing columns; lists of lists are flattened with their starts."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.unit_start, self.unit_term = array("i", [0]), array("i")
        self.unit_field, self.unit_count = array("B"), array("B")
        self.unit_place: list[int] = []
        """Equal for the same function at different commits."""
        self.unit_language: list[str] = []
        self.goal_time: list[int] = []
        self.commits_read = 0
        self.goal_start, self.goal_term = array("i", [0]), array("i")
        self.goal_source, self.goal_count = array("B"), array("B")
        self.changed_start, self.changed = array("i", [0]), array("i")
        self.neighbour_start, self.neighbour = array("i", [0]), array("i")

    def add_goal(self, goal: str) -> None:
        """Append the terms of a goal, by where they stand in it."""
        for source, counts in parse_goal(goal).terms.items():
            for term, count in counts.items():
                self.goal_term.append(self.terms.setdefault(term, len(self.terms)))
                self.goal_source.append(SOURCES.index(source))
                self.goal_count.append(min(count, 255))
        self.goal_start.append(len(self.goal_term))

    def add_unit(self, file: Before, row: int) -> int:
        """Append the terms of a unit and return its row."""
        for term, field, count in file.unit(row):
            self.unit_term.append(self.terms.setdefault(term, len(self.terms)))
            self.unit_field.append(field)
            self.unit_count.append(count)
        self.unit_start.append(len(self.unit_term))
        self.unit_language.append(language_of(file.path))
        self.unit_place.append(file.place(row))
        return len(self.unit_language) - 1

    def save(self, path: Path) -> None:
        """Write every column to one file."""
        columns: dict[str, NDArray[Any]] = {
            name: np.array(values, np.int64 if name == "goal_time" else np.int32)
            for name, values in vars(self).items()
            if name not in ("terms", "unit_language")
        }
        vocabulary = np.frombuffer("\n".join(self.terms).encode(), np.uint8)
        columns |= {"terms": vocabulary, "unit_language": np.array(self.unit_language)}
        # Written aside first, so that an interrupted run leaves no half a file.
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            np.savez_compressed(file, **columns)  # type: ignore[arg-type]
        partial.rename(path)


def teach(pairs: Pairs, change: PastChange) -> None:
    """Append one commit."""
    chance = random.Random(change.commit.id)
    pairs.add_goal(goal_of(change.commit.message))
    pairs.goal_time.append(change.commit.time)
    for file in change.files:
        pairs.changed.extend(pairs.add_unit(file, row) for row in file.changed)
        others = [row for row in range(len(file.units.start)) if row not in file.changed]
        chosen = sorted(chance.sample(others, min(_MOST_NEIGHBOURS, len(others))))
        pairs.neighbour.extend(pairs.add_unit(file, row) for row in chosen)
    pairs.changed_start.append(len(pairs.changed))
    pairs.neighbour_start.append(len(pairs.neighbour))


def read_repository(root: Path, most: int, skip: int = 0) -> Pairs:
    """Read a repository's newest commits, ``skip`` left out, until ``most`` of them taught something."""
    pairs, taught = Pairs(), 0
    for batch in past_changes(root, skip=skip):
        pairs.commits_read += batch.commits_read
        for change in batch.changes:
            teach(pairs, change)
        taught += len(batch.changes)
        if taught >= most:
            break
    return pairs


def main(arguments: Iterable[str] | None = None) -> None:
    """Write the pairs of each repository that has none yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=800, help="useful commits in each part")
    parser.add_argument("--parts", type=int, default=1, help="run again with more to read older commits too")
    options = parser.parse_args(None if arguments is None else list(arguments))
    for root in options.roots:
        name = root.parent.name if root.name == "repo" else root.name
        earlier = sorted(options.out.glob(f"{name}.*.npz"))
        if len(earlier) >= options.parts:
            continue
        began = time.monotonic()
        skip = sum(int(np.load(part)["commits_read"]) for part in earlier)
        pairs = read_repository(root, options.commits, skip)
        path = options.out / f"{name}.{len(earlier)}.npz"
        pairs.save(path)
        counts = f"{len(pairs.goal_start) - 1} commits, {len(pairs.changed)} pairs"
        sys.stdout.write(f"{name}: {counts}, {time.monotonic() - began:.0f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
