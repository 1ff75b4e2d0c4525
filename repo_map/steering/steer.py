"""Steer a plan by feedback in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from repo_map.flight_plan import FlightPlan
from repo_map.relevance.scoring import Relevance
from repo_map.steering.answers import tell_where, tell_why
from repo_map.steering.changes import Changes
from repo_map.steering.phrases import Phrase, Wish, read_budget, read_phrases
from repo_map.steering.targets import Target, complement, find_target, nearest, split_targets

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_BODY, _OUTLINE, _OUT = 4, 2, 0


class Steering(NamedTuple):
    """What a feedback comes to."""

    updates: Mapping[str, Any]
    """A partial plan for ``apply_update``: on a plan to draw, or on the ``base`` that ``pack`` keeps to."""
    answer: str
    """The answer to what was asked, empty where nothing was."""
    goal_addition: str
    """Words that say more of the goal; score the goal with them and pack again."""
    lines: tuple[str, ...]
    """What was understood, a sentence for each wish."""


def steer(index: RepoIndex, plan: FlightPlan, relevance: Relevance, feedback: str) -> Steering:
    """Read feedback such as "drop the tests, deepen `Router.dispatch`; why is utils.py here?".

    Words that name nothing in the repository say more of the goal.
    """
    changes = Changes(plan)
    answers: list[str] = []
    additions: list[str] = []
    lines: list[str] = []
    for phrase in read_phrases(feedback):
        if phrase.wish is Wish.BUDGET:
            budget = read_budget(phrase.words, changes.budget)
            changes.set_budget(budget)
            lines.append(f"The budget is {budget:,} tokens now.")
        elif phrase.wish is Wish.OTHER:
            additions.append(phrase.words)
            lines.append(f"Added to the goal: {phrase.words}")
        else:
            for words in split_targets(phrase.words):
                target = find_target(index, words)
                if phrase.wish is Wish.WHY:
                    answers.append(tell_why(plan, relevance, target))
                elif phrase.wish is Wish.WHERE:
                    answers.append(tell_where(index, relevance, target))
                else:
                    lines.append(_wish(index, changes, additions, Phrase(phrase.wish, words), target))
    return Steering(changes.updates(), "\n".join(answers), "\n".join(additions), tuple(lines))


def _wish(index: RepoIndex, changes: Changes, additions: list[str], phrase: Phrase, target: Target) -> str:
    """Add what one wish changes; return what was understood."""
    wish, words = phrase
    if not target:
        return _unknown(index, additions, wish, words)
    named = _spelled(target)
    if wish is Wish.DROP:
        changes.set_level(target, _OUT)
        return f"Left out: {named}."
    if wish is Wish.ONLY:
        patterns = target.patterns or tuple(place.path for place in target.places)
        changes.exclude(complement(index, patterns))
        return f"Only {named} from now on."
    if wish in (Wish.LESS, Wish.OUTLINE):
        changes.set_level(target, _OUTLINE)
        return f"In outline: {named}."
    changes.boost(target)
    if wish is Wish.MORE:
        additions.append(words)
        return f"More weight on {named}."
    changes.set_level(target, _BODY)
    return f"In full: {named}."


def _unknown(index: RepoIndex, additions: list[str], wish: Wish, words: str) -> str:
    if wish in (Wish.MORE, Wish.DEEPEN):
        additions.append(words)
        return f"Added to the goal: {words}"
    close = nearest(index, words)
    hint = f" Nearest: {', '.join(f'`{name}`' for name in close)}." if close else ""
    return f"Nothing in the repository is called `{words}`, so there is nothing to change.{hint}"


def _spelled(target: Target) -> str:
    names = target.patterns or tuple(f"{place.name} ({place.path})" for place in target.places)
    shown = ", ".join(f"`{name}`" for name in names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
