"""The words of a goal as bytes to be found in files, each with what it is worth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from repo_map.ranking.bm25 import term_weights
from repo_map.ranking.goal import GoalPart, ParsedGoal

_SHORTEST = 3
"""Bytes."""
_MOST = 400
_COMPOUND_WEIGHT = 1.0
_IDENTIFIER_WEIGHT = 3.0
_DEFINITION_WEIGHT = 6.0
_MESSAGE_WEIGHT = 4.0
_MOST_IDENTIFIERS = 24
_MOST_MESSAGES = 12
_LONGEST_MESSAGE = 120
_DEFINING: Final = (
    *("def", "class", "func", "function", "fn", "struct", "interface", "type", "trait", "enum"),
    *("const", "let", "var", "#define", "module", "object", "record"),
)
_IN_CODE: Final = re.compile(r"[A-Za-z_]\w{2,}")


class SearchedWords(NamedTuple):
    """What is looked for in files."""

    patterns: tuple[bytes, ...]
    """In lower case."""
    weights: tuple[float, ...]


def searched_words(goal: ParsedGoal) -> SearchedWords:
    """Return what of a goal is looked for: its terms, and its names with what defines them."""
    found: dict[bytes, float] = {}
    for text, weight in _texts(goal):
        pattern = text.lower().encode("utf-8", "replace")
        if len(pattern) >= _SHORTEST and len(found) < _MOST:
            found[pattern] = max(found.get(pattern, 0.0), weight)
    return SearchedWords(tuple(found), tuple(found.values()))


def _texts(goal: ParsedGoal) -> Iterator[tuple[str, float]]:
    strong = [name for name, part in goal.identifiers.items() if part is not GoalPart.CODE]
    weak = [name for name, part in goal.identifiers.items() if part is GoalPart.CODE]
    dotted = [part for name in goal.dotted for part in name.split(".") if _IN_CODE.fullmatch(part)]
    names = dict.fromkeys([*strong, *dotted, *weak])
    for name in list(names)[:_MOST_IDENTIFIERS]:
        yield name, _IDENTIFIER_WEIGHT
        for keyword in _DEFINING:
            yield f"{keyword} {name}", _DEFINITION_WEIGHT
    for message in goal.messages[:_MOST_MESSAGES]:
        yield message[:_LONGEST_MESSAGE], _MESSAGE_WEIGHT
    yield from term_weights(goal).items()
    for compound in goal.compounds:
        yield compound, _COMPOUND_WEIGHT
        yield goal.surface.get(compound, compound).replace(" ", "_"), _COMPOUND_WEIGHT
