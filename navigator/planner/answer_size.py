"""How the tokens of an answer are shared between its list of places and its code, and how confident it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from navigator.planner.outline_text import short_name
from repo_map.outline.costs import file_level_costs
from repo_map.outline.pack import Packed, goal_terms, pack
from repo_map.outline.places import (
    LISTED,
    Place,
    list_places,
    rank_places,
    related_places,
    with_boosts,
)
from repo_map.plan.model import VerbosityRule
from repo_map.ranking.grade import Grade
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.state.reports import OutlineEntry
    from navigator.state.run_state import RunState, SelectedPlace
    from repo_map.index.index import Index
    from repo_map.ranking.score import Relevance

HEADER_TOKENS: Final = 88
"""Of an answer, besides places and code: its header, the repository, how to go on, its confidence."""
_TESTS_TOKENS: Final = 45
"""Of an answer, for its tests;"""
_TESTS_SHARE: Final = 0.08
"""its share of the answer at most."""
_LISTED_SHARE: Final = 0.45
"""Share of an answer besides its header that the list of places takes at most."""
_MAX_SENTENCES: Final = 10
_ABOUT_ONE_TOKENS: Final = 400
"""Tokens of an answer to a short goal that names one definition without doubt."""
_WHOLE: Final = 4
MIN_SHOWN_CHANCE: Final = 0.004
"""Chance from which on the source of a place is shown that is not listed."""


class Answer(NamedTuple):
    """The places of an answer's outline, further ones, and the tokens of its code."""

    listed: tuple[Place, ...]
    others: tuple[Place, ...]
    code: int


def plan_answer(
    index: Index, relevance: Relevance, first_answer: int | None, budget: int, sentences: Sequence[str] = ()
) -> Answer:
    """Return the places of an answer, and the tokens that they leave for code."""
    ranked = rank_places(index, relevance)
    listed = list_places(index, relevance, ranked)
    if relevance.is_about_one and listed:
        # Who relies on the one definition that a short goal names is what is left to ask.
        one = next(each for each in listed if each.name == relevance.spelt[0].name)
        related = related_places(index, one)
        names = {(each.path, each.name) for each in (one, *related)}
        listed = [one, *related, *(each for each in listed if (each.path, each.name) not in names)]
        first_answer = None if first_answer is None else min(first_answer, _ABOUT_ONE_TOKENS)
    code = budget
    if first_answer is not None:
        tests = min(_TESTS_TOKENS, int(_TESTS_SHARE * first_answer))
        around = HEADER_TOKENS + tests + sum(map(tokens.count, sentences[:_MAX_SENTENCES]))
        usable = max(first_answer - around, 0)
        while len(listed) > 1 and list_tokens(listed) > _LISTED_SHARE * usable:
            limit = len(listed) - 1
            is_fixed = relevance.is_about_one
            listed = listed[:limit] if is_fixed else list_places(index, relevance, ranked, limit)
        code = min(max(usable - list_tokens(listed), 0), budget)
    known = {(place.path, place.first, place.name) for place in listed}
    others = [place for place in ranked if (place.path, place.first, place.name) not in known]
    return Answer(tuple(listed), tuple(others), code)


def list_tokens(places: Iterable[Place]) -> int:
    lines: list[str] = []
    path = above = ""
    for place in places:
        if place.path != path:
            path, above = place.path, ""
            lines.append(path)
        why = f": {place.reason}" if place.reason else ""
        also = f": {place.also}" if place.also else ""
        lines.append(f"{LISTED} {short_name(place.name, above)} {place.first}-{place.last}{why}{also}")
        above = place.name
    return tokens.count("\n".join(lines))


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
    listed = sum(
        _PLACE_TOKENS + tokens.count(f"{each.path} {each.name} {each.reason} {each.also}")
        for each in selection
    )
    around = HEADER_TOKENS + _SPENT_TOKENS + _TESTS_TOKENS + _ALSO_LISTED_TOKENS + tokens.count(summary)
    rest = run.first_answer - around - listed
    return max(min(rest, run.map_token_budget), 1)


def pack_answer(index: Index, relevance: Relevance, run: RunState, sentences: Sequence[str] = ()) -> Packed:
    """Return the plan of an answer: what the user asks for, then the source of the likeliest places.

    Where nothing is relevant the plan is the user's own: an overview, or all of a repository that fits.
    """
    own = run.user_plan
    answer = plan_answer(index, with_boosts(index, relevance, own), run.first_answer, own.budget, sentences)
    if not answer.listed:
        is_free = not (own.verbosity or index.build.partial_files)
        whole = is_free and bool(index.paths) and int(file_level_costs(index)[:, _WHOLE].sum()) <= own.budget
        rules = (VerbosityRule(pattern="**", level=_WHOLE),) if whole else own.verbosity
        update: dict[str, object] = {"verbosity": rules}
        if is_free and not whole and not run.fill and run.first_answer is not None:
            update["budget"] = min(own.budget, run.first_answer)
        return Packed(own.model_copy(update=update))
    places = sorted((*answer.listed, *answer.others), key=lambda place: -place.chance)
    if not run.fill:
        places = [place for place in places if place in answer.listed or place.chance >= MIN_SHOWN_CHANCE]
    others = level_of_others(index) if run.fill else 0
    return pack(index, own, places, answer.code, terms=goal_terms(relevance.goal), others=others)


def level_of_others(index: Index) -> int:
    """Return the level of files that nothing leads to, where the room that is left is to be used.

    What a first look has not read could be drawn once the plan is replayed: it is named alone.
    """
    return 1 if index.build.partial_files else 2


def assess_confidence(relevance: Relevance, outline: Sequence[OutlineEntry]) -> tuple[Grade | None, str]:
    """Return how likely an outline holds all that the goal's work changes, and why, in sentences.

    The chances were measured on answers that list the likeliest files, so one that a user has steered away
    from them has only the notes.
    """
    sufficiency = relevance.sufficiency
    is_steered = bool(relevance.files) and not any(each.path == relevance.files[0].path for each in outline)
    if is_steered and sufficiency.confidence:
        return None, " ".join(sufficiency.notes)
    grade = sufficiency.grade if relevance.files else Grade.NONE
    return grade, " ".join((f"Confidence: {grade}.", *sufficiency.notes))
