"""Units that look like what a goal wants and are not it: of the same files, and of the same repository."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from training.text_pairs import TextPair

_LIKELIEST = 8
"""Of the units that share most with a goal, those that one is drawn from."""


class Example(NamedTuple):
    """A goal, a unit that its commit changed, and units that it left alone."""

    goal: str
    changed: str
    others: tuple[str, ...]


def examples_of(pairs: Sequence[TextPair], negatives: int, chance: random.Random) -> list[Example]:
    """Return an example for each commit of one repository: half of its others are of the same file."""
    units = list(dict.fromkeys(text for pair in pairs for text in (*pair.changed, *pair.neighbours)))
    holders: dict[str, list[int]] = defaultdict(list)
    for row, text in enumerate(units):
        for word in set(text.lower().split()):
            holders[word].append(row)
    lengths = [math.sqrt(1 + len(text)) for text in units]
    found = []
    for pair in pairs:
        scores: dict[int, float] = defaultdict(float)
        for word in set(pair.goal.lower().split()):
            rows = holders.get(word, ())
            weight = math.log((1 + len(units)) / (1 + len(rows)))
            for row in rows:
                scores[row] += weight / lengths[row]
        own = {*pair.changed, *pair.neighbours}
        best = sorted(scores, key=lambda row: -scores[row])
        far = [units[row] for row in best[: 3 * _LIKELIEST] if units[row] not in own][:_LIKELIEST]
        near = chance.sample(pair.neighbours, min(len(pair.neighbours), (negatives + 1) // 2))
        others = near + chance.sample(far, min(len(far), negatives - len(near)))
        found.append(Example(pair.goal, chance.choice(pair.changed), tuple(others)))
    return found
