"""Steer a plan by feedback in words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from repo_map import globs
from repo_map.flight_plan import FlightPlan
from repo_map.relevance.scoring import Relevance
from repo_map.steering.answers import list_places, shown_paths, tell_left_out, tell_where, tell_why
from repo_map.steering.changes import Changes
from repo_map.steering.phrases import Phrase, Wish, read_budget, read_phrases
from repo_map.steering.related import RELATED, find_related, namesakes
from repo_map.steering.targets import Target, complement, find_target, named_by, nearest, split_targets

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_BODY, _OUTLINE, _OUT = 4, 2, 0
_MANY = 5
"""Files beyond which a wish to see them in full means more weight."""
_MOST_RELATED = 8
"""Callers, tests and the like that are shown in full."""


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
    talk = _Talk(index, plan, relevance)
    for phrase in read_phrases(feedback):
        talk.hear(phrase)
    return talk.result()


class _Talk:
    """What the phrases heard so far come to."""

    def __init__(self, index: RepoIndex, plan: FlightPlan, relevance: Relevance) -> None:
        self._index = index
        self._plan = plan
        self._relevance = relevance
        self._changes = Changes(plan)
        self._answers: list[str] = []
        self._additions: list[str] = []
        self._lines: list[str] = []

    def result(self) -> Steering:
        """Return what was understood."""
        return Steering(
            self._changes.updates(),
            "\n".join(self._answers),
            "\n".join(self._additions),
            tuple(self._lines),
        )

    def hear(self, phrase: Phrase) -> None:
        """Take one phrase in."""
        wish, words, _ = phrase
        if wish is Wish.BUDGET:
            budget = read_budget(words, self._changes.budget)
            self._changes.set_budget(budget)
            self._lines.append(f"The budget is {budget:,} tokens now.")
        elif wish is Wish.TALK:
            self._lines.append(f"Nothing to change in `{words}`: say what to drop, deepen, or bring back.")
        elif wish is Wish.LEFT_OUT:
            self._answers.append(tell_left_out(self._plan, self._relevance))
        elif wish is Wish.OTHER:
            self._add(words)
        else:
            for part in split_targets(words):
                self._hear_of(phrase._replace(words=part))

    def _hear_of(self, phrase: Phrase) -> None:
        wish, words, is_question = phrase
        target = find_target(self._index, words).among(shown_paths(self._plan, self._relevance))
        if wish is Wish.WHY:
            self._answers.append(tell_why(self._plan, self._relevance, target))
        elif wish is Wish.WHERE:
            if target or " " not in words:
                self._answers.append(tell_where(self._index, self._relevance, target))
            else:
                self._add(words)
        elif not target:
            self._unknown(wish, words)
        elif wish in RELATED:
            self._relate(wish, target, is_question=is_question)
        else:
            self._change(wish, words, target)

    def _change(self, wish: Wish, words: str, target: Target) -> None:
        """Add what one wish changes."""
        changes, named = self._changes, _spelled(target)
        if wish is Wish.DROP:
            changes.set_level(target, _OUT)
            line = f"Left out: {named}."
        elif wish is Wish.BACK:
            line = (
                f"Back: {named}." if changes.restore(target) else f"{named} was not left out by your words."
            )
        elif wish is Wish.ONLY:
            patterns = target.patterns or tuple(place.path for place in target.places)
            changes.exclude(complement(self._index, patterns))
            line = f"Only {named} from now on."
        elif wish in (Wish.LESS, Wish.OUTLINE):
            line = self._outline(wish, target)
        elif wish is Wish.MORE or _is_wide(self._index, target):
            changes.boost(target)
            self._additions.append(words)
            line = f"More weight on {named}."
        else:
            changes.boost(target)
            changes.set_level(target, _BODY)
            line = f"In full: {named}."
        self._lines.append(line)

    def _outline(self, wish: Wish, target: Target) -> str:
        """Show a target by its definition lines; of many files, less means those that are shown."""
        if wish is Wish.LESS and _is_wide(self._index, target):
            shown = shown_paths(self._plan, self._relevance)
            paths = [path for path in shown if any(globs.matches(each, path) for each in target.patterns)]
            if not paths:
                return f"Nothing of {_spelled(target)} is shown."
            target = Target(target.words, tuple(map(globs.escape, paths)))
        self._changes.set_level(target, _OUTLINE)
        return f"In outline: {_spelled(target)}."

    def _relate(self, wish: Wish, target: Target, *, is_question: bool) -> None:
        """Show, or tell, what stands beside a target."""
        found = find_related(self._index, wish, target)
        what = f"{RELATED[wish]} {_spelled(target)}"
        what += namesakes(self._index, target) if wish is not Wish.USES else ""
        if not found:
            self._answers.append(f"The index knows no {what}.")
        elif is_question:
            self._answers.append(f"{what[0].upper()}{what[1:]}: {list_places(found)}")
        else:
            chosen = Target(target.words, places=found[:_MOST_RELATED])
            self._changes.boost(chosen)
            self._changes.set_level(chosen, _BODY)
            self._lines.append(f"In full, as {what}: {_spelled(chosen)}.")

    def _unknown(self, wish: Wish, words: str) -> None:
        looks_like_name = re.search(r"[/.]\w|_", words) is not None
        if wish in (Wish.MORE, Wish.DEEPEN) and not looks_like_name:
            self._add(words)
            return
        close = nearest(self._index, words)
        hint = f" Nearest: {', '.join(f'`{name}`' for name in close)}." if close else ""
        what = f"Nothing in the repository is called `{words}`, so there is nothing to change.{hint}"
        self._lines.append(what)

    def _add(self, words: str) -> None:
        self._additions.append(words)
        self._lines.append(f"Added to the goal: {words}")


def _is_wide(index: RepoIndex, target: Target) -> bool:
    """Say whether a target names more files than anybody reads in full."""
    return len(named_by(index, target.patterns)) > _MANY if target.patterns else False


def _spelled(target: Target) -> str:
    names = dict.fromkeys(target.patterns or (f"{place.name} ({place.path})" for place in target.places))
    shown = ", ".join(f"`{name}`" for name in list(names)[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
