"""How the tokens of a first answer are shared between its outline and its code, and how confident it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.outline.listing import list_places, tokens_of
from repo_map.outline.pack import pack
from repo_map.ranking.completeness import Evidence, completeness, completeness_signals, in_ten
from repo_map.ranking.model import default_weights
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from navigator.state.run_state import RunState, SelectedPlace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance

HEADER_TOKENS: Final = 88
"""Of an answer, besides outline and code: its header, the repository, how to go on, its confidence."""
_BASE_OUTLINE: Final = 180
"""Tokens of the outline, before"""
_OUTLINE_SHARE: Final = 0.22
"""its share of an answer besides the header: the code takes the rest, the outline what that leaves."""
_UNSURE_FACTOR: Final = 2.6
"""How many times that an outline takes if nothing says that the best places hold the work, less"""
_CONFIDENCE_FACTOR: Final = 2.2
"""this, times the confidence that they do. Of a sure choice the places behind the first dozen hold next to
nothing, and its code is likely what is edited; of an unsure one each further place adds some."""
_MAX_UNSURE_OUTLINE: Final = 540
"""Tokens of such an outline at most: a larger answer has more code."""
_MIN_OUTLINE_OF_BEST: Final = 250
"""Tokens of the outline at least, if the best part takes the others' room."""
MAX_OUTLINE_TOKENS: Final = 480
"""Of what further lines tell, next to nothing is right."""
_MIN_OUTLINE: Final = 60
_TESTS_TOKENS: Final = 45
"""Of an answer, for its tests;"""
_TESTS_SHARE: Final = 0.08
"""its share of the answer at most."""
_MAX_SENTENCES: Final = 10
_ABOUT_ONE_TOKENS: Final = 400
"""Tokens of an answer to a short goal that names one definition without doubt."""
MAX_RELATED: Final = 3
"""Related definitions that are not listed for their own words, if nothing but the plan's budget limits the
answer: in a smaller one they were never the place to change;"""
_RELATED_TO_ONE: Final = 8
"""so many of one definition: who relies on it is what is left to ask."""
_WHOLE: Final = 4


class AnswerSize(NamedTuple):
    """Tokens of the parts of an answer, estimated."""

    outline: int
    """For the likeliest places; related ones come on top."""
    rest: int | None
    """For these places and the code; None for as many as the plan's budget allows."""
    tests: int
    """For its tests, and for related definitions."""
    related: int = 0
    """Most related definitions."""

    def max_outline(self, code: int) -> int | None:
        """Return what the whole outline may take beside ``code`` tokens of code; None for any size."""
        return None if self.rest is None else max(self.rest + self.tests - code, _MIN_OUTLINE)


def answer_size(
    first_answer: int | None,
    map_budget: int,
    sentences: Sequence[str] = (),
    *,
    confidence: float,
    is_about_one: bool = False,
) -> AnswerSize:
    """Return what the parts of an answer may take.

    Args:
        first_answer: tokens of the whole answer; None if the plan's budget alone limits it.
        map_budget: tokens of the plan.
        sentences: that the answer has besides, of which the first are shown.
        confidence: that the best places hold all of the goal's work, 0 to 1.
        is_about_one: whether the goal is about one definition, whose source comes before other places.
    """
    if first_answer is None:
        outline = max(min(MAX_OUTLINE_TOKENS, map_budget // 4), _MIN_OUTLINE)
        return AnswerSize(outline, None, _TESTS_TOKENS, MAX_RELATED)
    if is_about_one:
        first_answer = min(first_answer, _ABOUT_ONE_TOKENS)
    tests = min(_TESTS_TOKENS, int(_TESTS_SHARE * first_answer))
    usable = max(first_answer - HEADER_TOKENS - sum(map(tokens.count, sentences[:_MAX_SENTENCES])), 0)
    if is_about_one:
        return AnswerSize(_MIN_OUTLINE, max(usable - tests, _MIN_OUTLINE), tests, _RELATED_TO_ONE)
    usual = min(MAX_OUTLINE_TOKENS, _BASE_OUTLINE + int(_OUTLINE_SHARE * usable))
    by_need = int((_UNSURE_FACTOR - _CONFIDENCE_FACTOR * confidence) * usual)
    outline = max(min(by_need, _MAX_UNSURE_OUTLINE, usable - tests), _MIN_OUTLINE)
    return AnswerSize(outline, max(usable - tests, outline), tests)


_PLACE_TOKENS: Final = 12
"""Of the path, the name and the lines of a selected place, about;"""
_ALSO_LISTED_TOKENS: Final = 90
"""of the line on what else the index lists;"""
_SPENT_TOKENS: Final = 40
"""of the model and what it cost, and of the markers."""


def code_tokens_of(run: RunState, selection: Sequence[SelectedPlace], summary: str = "") -> int:
    """Return what the source of a selection may take in an answer, beside its summary and its places."""
    if run.first_answer is None:
        return run.map_token_budget
    listed = sum(_PLACE_TOKENS + tokens.count(f"{each.path} {each.name} {each.reason}") for each in selection)
    around = HEADER_TOKENS + _SPENT_TOKENS + _TESTS_TOKENS + _ALSO_LISTED_TOKENS + tokens.count(summary)
    rest = run.first_answer - around - listed
    return max(min(rest, run.map_token_budget), 1)


def pack_answer(
    index: Index,
    relevance: Relevance,
    run: RunState,
    budget: int,
    sentences: Sequence[str] = (),
    *,
    is_about_one: bool = False,
) -> FlightPlan:
    """Return the plan that shows the most useful code beside the outline, within ``budget`` tokens.

    The outline gives way to the best part alone, but for what the goal names literally.
    """
    confidence = relevance.sufficiency.confidence
    size = answer_size(run.first_answer, budget, sentences, confidence=confidence, is_about_one=is_about_one)
    outline, literal = (tokens_of(list_places(index, relevance, room)) for room in (size.outline, 0))
    code_tokens = alone = None
    if size.rest is not None:
        code_tokens = max(size.rest - outline, 0)
        alone = max(size.rest - max(min(_MIN_OUTLINE_OF_BEST, outline), literal), 0)
    return pack(
        index, relevance, budget, base=run.user_plan, fill=run.fill, most=code_tokens, most_alone=alone
    )


def assess_confidence(
    relevance: Relevance, drawn: RepoMap, outline: Sequence[OutlineEntry]
) -> tuple[Evidence | None, str]:
    """Return how likely a packet holds all that the goal's work changes, and why, in sentences.

    The chances were measured on packets that show the likeliest files, so one that a user has
    steered away from them has only the notes.
    """
    sufficiency = relevance.sufficiency
    if not sufficiency.confidence or not relevance.files:
        grade, meaning = Evidence.NOTHING, ""
    elif not drawn.excluded and all(block.level == _WHOLE for block in drawn.blocks):
        grade, meaning = Evidence.SURE, "The whole repository is shown."
    else:
        first = relevance.files[0].path
        if drawn.block(first) is None and not any(entry.path == first for entry in outline):
            return None, " ".join(sufficiency.notes)
        weights = default_weights()
        signals = completeness_signals(sufficiency.confidence, drawn.tokens)
        chance = completeness(signals, weights.shown, weights.reached)
        grade, meaning = chance.evidence, ""
        if sufficiency.is_measured:
            shown, reached = in_ten(chance.shown), in_ten(chance.reached)
            listed = f", {reached} at least list it" if outline and reached > shown else ""
            meaning = f"Of 10 such answers, {shown} show all code to change{listed}."
    return grade, " ".join(filter(None, (f"Evidence: {grade}.", meaning, *sufficiency.notes)))
