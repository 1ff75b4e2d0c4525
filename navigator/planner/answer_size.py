"""How the tokens of a first answer are shared between its outline and its code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from repo_map.text import tokens

AROUND_TOKENS: Final = 80
"""Of an answer, what stands around its outline and its code: how it went and goes on, the evidence."""
_FIRST_OUTLINE: Final = 180
"""Tokens of the outline, before"""
_SHARE_OF_OUTLINE: Final = 0.22
"""its share of an answer beside what stands around: the code takes the rest, the outline what that leaves."""
_OUTLINE_OF_UNSURE: Final = 2.6
"""How many times that an outline takes where nothing says that the best places hold the work, less"""
_LESS_OF_SURE: Final = 2.2
"""this, times the confidence that they do. Of a sure choice the places behind the first dozen hold next to
nothing, and its code is likely what is edited; of an unsure one each further place adds some."""
_MOST_OF_UNSURE: Final = 540
"""Tokens of such an outline at most: a larger answer has more code."""
_OUTLINE_BESIDE_SUREST: Final = 250
"""Tokens of the outline at least, where the surest part takes the others alone."""
MOST_OUTLINE: Final = 480
"""Tokens: of what further lines tell, next to nothing is right."""
_LEAST_OUTLINE: Final = 60
_BESIDE_TOKENS: Final = 45
"""Of an answer, for its tests;"""
_BESIDE_SHARE: Final = 0.08
"""its share of the answer at most."""
_MOST_SAID: Final = 10
ABOUT_ONE: Final = 400
"""Tokens of an answer to a short goal that names one definition without doubt."""
RELATED: Final = 3
"""Places that stand beside shown code by resolved relations, and are not listed for their own words, where
nothing but the plan's budget limits the answer: in a smaller one they were never the place to change;"""
_RELATED_TO_ONE: Final = 8
"""so many of one definition: who relies on it is what is left to ask."""


class AnswerSize(NamedTuple):
    """Tokens of the parts of an answer, estimated."""

    outline: int
    """For the likeliest places; what stands beside them comes on top."""
    rest: int | None
    """For these places and the code; None for as many as the plan's budget allows."""

    beside: int
    """For its tests, and for what stands beside shown code."""

    related: int = 0
    """Most places of what stands beside shown code."""

    def whole(self, code: int) -> int | None:
        """Return what the whole outline may take beside ``code`` tokens of code; None for any size."""
        return None if self.rest is None else max(self.rest + self.beside - code, _LEAST_OUTLINE)

    def code(self, outline: int) -> int | None:
        """Return what code may take beside ``outline`` tokens of places."""
        return None if self.rest is None else max(self.rest - outline, 0)

    def alone(self, outline: int, spelt: int) -> int | None:
        """Return what the surest part may take alone: the outline gives way to it, but for what is spelt.

        Args:
            outline: tokens of the places beside the other code.
            spelt: those of the places that the goal spells out.
        """
        least = max(min(_OUTLINE_BESIDE_SUREST, outline), spelt)
        return None if self.rest is None else max(self.rest - least, 0)


def answer_size(
    first_answer: int | None,
    map_budget: int,
    said: Sequence[str] = (),
    *,
    confidence: float,
    is_about_one: bool = False,
) -> AnswerSize:
    """Return what the parts of an answer may take.

    Args:
        first_answer: tokens of the whole answer; None where the plan's budget alone limits it.
        map_budget: of the plan.
        said: sentences that the answer tells besides, of which the first are told.
        confidence: that the best places hold all of the goal's work, 0 to 1.
        is_about_one: whether the goal is about one definition, whose source comes before other places.
    """
    if first_answer is None:
        return AnswerSize(
            max(min(MOST_OUTLINE, map_budget // 4), _LEAST_OUTLINE), None, _BESIDE_TOKENS, RELATED
        )
    if is_about_one:
        first_answer = min(first_answer, ABOUT_ONE)
    said_tokens = sum(map(tokens.count, said[:_MOST_SAID]))
    beside = min(_BESIDE_TOKENS, int(_BESIDE_SHARE * first_answer))
    usable = max(first_answer - AROUND_TOKENS - said_tokens, 0)
    usual = min(MOST_OUTLINE, _FIRST_OUTLINE + int(_SHARE_OF_OUTLINE * usable))
    by_need = int((_OUTLINE_OF_UNSURE - _LESS_OF_SURE * confidence) * usual)
    wanted = min(by_need, _MOST_OF_UNSURE, usable - beside)
    if is_about_one:
        return AnswerSize(_LEAST_OUTLINE, max(usable - beside, _LEAST_OUTLINE), beside, _RELATED_TO_ONE)
    outline = max(wanted, _LEAST_OUTLINE)
    return AnswerSize(outline, max(usable - beside, outline), beside)
