"""Intents to a changed plan and a sentence."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from repo_map import globs
from repo_map.feedback.parse import Intent, Phrase, read_budget, read_numbers, read_phrases
from repo_map.feedback.related import RELATED, Related, find_related, list_places, tell_what_relies
from repo_map.feedback.targets import (
    NamedDefinition,
    Target,
    find_places,
    find_target,
    globs_of_others,
    named_by,
    nearest,
    split_targets,
)
from repo_map.plan.model import FlightPlan
from repo_map.relevance.score import Relevance
from repo_map.selection.exclusions import excluded_by
from repo_map.worktree.file_kinds import FileFlag

if TYPE_CHECKING:
    from repo_map.index import RepoIndex


class PlanChanges:
    """Collects rules, boosts and the budget; later wishes win over earlier ones."""

    def __init__(self, plan: FlightPlan, own: FlightPlan) -> None:
        """Start from the whole plan, of which the user asked for ``own``."""
        self.budget = plan.budget
        self._plan = plan
        self._rules: dict[str, dict[str, Any]] = {}
        self._boosts: dict[str, float] = {}
        known = {rule.pattern for rule in plan.verbosity}
        self._known = known
        self._excluded = {rule.pattern for rule in own.verbosity if rule.level == 0}
        heaviest = max((boost.weight for boost in plan.focus.paths), default=1.0) if plan.focus else 1.0
        self._weight = heaviest + 1.0

    def set_budget(self, budget: int) -> None:
        self.budget = budget

    def set_level(self, target: Target, level: int) -> None:
        """Put what a target names at a level."""
        for pattern in target.patterns:
            self._rules.pop(pattern, None)
            self._rules[pattern] = {"pattern": pattern, "level": level, "sections": None}
        for place in target.places:
            pattern = globs.escape(place.path)
            rule = self._rules.setdefault(pattern, {"pattern": pattern, "sections": []})
            if pattern not in self._known or pattern in self._excluded:
                rule.setdefault("level", 1)
            rule["sections"] = [
                *(
                    section
                    for section in rule["sections"] or ()
                    if section["pattern"] != globs.escape(place.name)
                ),
                {"pattern": globs.escape(place.name), "level": level},
            ]

    def restore(self, target: Target) -> bool:
        """Take back that files were left out; say whether any were."""
        paths = target.patterns or tuple(globs.escape(place.path) for place in target.places)
        found = [pattern for pattern in paths if pattern in self._excluded]
        for pattern in found:
            self._rules[pattern] = {"pattern": pattern, "level": None}
        return bool(found)

    def exclude(self, patterns: Iterable[str]) -> None:
        """Leave files out."""
        for pattern in patterns:
            self._rules[pattern] = {"pattern": pattern, "level": 0, "sections": None}

    def boost(self, target: Target) -> None:
        """Make what a target names weigh more than anything so far."""
        for pattern in target.patterns or tuple(globs.escape(place.path) for place in target.places):
            self._boosts[pattern] = self._weight

    def updates(self) -> dict[str, Any]:
        """Return the partial plan."""
        found: dict[str, Any] = {}
        if self.budget != self._plan.budget:
            found["budget"] = self.budget
        if self._boosts:
            paths = [{"pattern": pattern, "weight": weight} for pattern, weight in self._boosts.items()]
            found["focus"] = {"paths": paths}
        if self._rules:
            found["verbosity"] = list(self._rules.values())
        return found


_MOST_FILES = 3
_MOST_UNITS = 3
_MOST_PLACES = 8


def tell_why(plan: FlightPlan, own: FlightPlan, relevance: Relevance, target: Target) -> str:
    """Say which evidence put the target's files where they are; ``own`` is the user's part of the plan."""
    if not target:
        return f"Nothing in the repository is called `{target.words}`."
    wanted = {place.path for place in target.places}
    ranked = [
        (rank, file)
        for rank, file in enumerate(relevance.files, 1)
        if file.path in wanted or any(globs.matches(pattern, file.path) for pattern in target.patterns)
    ]
    if not ranked:
        return f"`{target.words}` is not among the {len(relevance.files)} files that the goal points at."
    message = []
    shown = set(shown_paths(plan, relevance))
    for rank, file in ranked[:_MOST_FILES]:
        reasons = ", ".join(file.reasons) or "weak evidence only"
        where = "" if file.path in shown else ", and not shown for want of budget"
        if pattern := excluded_by(own, file.path):
            where = f", and left out by your rule for `{pattern}`"
        message.append(f"`{file.path}` ranks {rank} of {len(relevance.files)}{where}: {reasons}.")
        units = [unit for unit in relevance.units if unit.path == file.path and unit.name and unit.reasons]
        message += [f"  `{unit.name}`: {', '.join(unit.reasons)}." for unit in units[:_MOST_UNITS]]
    return "\n".join(message)


def tell_where(index: RepoIndex, relevance: Relevance, target: Target) -> str:
    """Say where a name is defined, or which files a pattern names."""
    places = target.places or tuple(find_places(index, target.words))
    if places:
        rank = {file.path: at for at, file in enumerate(relevance.files)}
        best = sorted(places, key=lambda place: (rank.get(place.path, len(rank)), place.path, place.line))
        return list_places(best, _MOST_PLACES)
    if target.patterns:
        return f"`{target.words}` is {', '.join(f'`{pattern}`' for pattern in target.patterns)}."
    close = nearest(index, target.words)
    hint = f" Nearest: {', '.join(f'`{name}`' for name in close)}." if close else ""
    return f"Nothing in the repository is called `{target.words}`.{hint}"


def tell_left_out(plan: FlightPlan, relevance: Relevance) -> str:
    """Name the best files that the plan does not show."""
    shown = set(shown_paths(plan, relevance))
    missing = [file for file in relevance.files if file.path not in shown]
    if not missing:
        return "Every file that the goal points at is shown."
    named = [
        f"`{file.path}`{f' ({file.reasons[0]})' if file.reasons else ''}" for file in missing[:_MOST_PLACES]
    ]
    return f"Not shown, the most relevant first: {', '.join(named)}."


def shown_paths(plan: FlightPlan, relevance: Relevance) -> tuple[str, ...]:
    """Return the files of the relevance that a plan does not leave out, best first."""
    return tuple(file.path for file in relevance.files if not excluded_by(plan, file.path))


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


def steer(
    index: RepoIndex,
    plan: FlightPlan,
    relevance: Relevance,
    feedback: str,
    *,
    own: FlightPlan | None = None,
    menu: Mapping[int, NamedDefinition] | None = None,
) -> Steering:
    """Read feedback such as "drop the tests, deepen `Router.dispatch`; why is utils.py here?".

    Words that name nothing in the repository say more of the goal. ``own`` is the part of the plan that the
    user asked for, by default all of it: what it leaves out comes back where the words name it. ``menu`` has
    the definitions that were offered by number.
    """
    talk = _FeedbackReader(index, plan, own or plan, relevance, menu or {})
    for phrase in read_phrases(feedback):
        talk.hear(phrase)
    return talk.result()


class _FeedbackReader:
    """What the phrases heard so far come to."""

    def __init__(
        self,
        index: RepoIndex,
        plan: FlightPlan,
        own: FlightPlan,
        relevance: Relevance,
        menu: Mapping[int, NamedDefinition],
    ) -> None:
        self._menu = menu
        self._index = index
        self._plan = plan
        self._own = own
        self._relevance = relevance
        self._changes = PlanChanges(plan, own)
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
        intent, words, _ = phrase
        if intent is Intent.BUDGET:
            budget = read_budget(words, self._changes.budget)
            self._changes.set_budget(budget)
            self._lines.append(f"The budget is {budget:,} tokens now.")
        elif intent is Intent.NUMBERS:
            self._show_numbers(words)
        elif intent is Intent.TALK:
            self._lines.append(f"Nothing to change in `{words}`: say what to drop, deepen, or bring back.")
        elif intent is Intent.LEFT_OUT:
            self._answers.append(tell_left_out(self._plan, self._relevance))
        elif intent is Intent.OTHER:
            self._add(words)
        else:
            for part in split_targets(words):
                self._hear_of(phrase._replace(words=part))

    def _show_numbers(self, words: str) -> None:
        """Show places of the menu in full."""
        numbers, with_tests = read_numbers(words)
        if not self._menu:
            self._lines.append(f"There was no menu to take `{words}` from; name what you want to see.")
            return
        if unknown := [number for number in numbers if number not in self._menu]:
            least, most = min(self._menu), max(self._menu)
            spelled = ", ".join(map(str, unknown))
            self._lines.append(f"The menu has no {spelled}: its numbers go from {least} to {most}.")
        places = tuple(self._menu[number] for number in numbers if number in self._menu)
        if not with_tests:
            places = tuple(place for place in places if not _is_test_file(self._index, place.path))
        # A place without a name is a whole file.
        files = Target(words, tuple(globs.escape(place.path) for place in places if not place.name))
        parts = Target(words, places=tuple(place for place in places if place.name))
        for chosen in filter(None, (parts, files)):
            self._changes.boost(chosen)
            self._changes.set_level(chosen, _BODY)
        if places:
            named = ", ".join(f"`{place.name or place.path}`" for place in places)
            self._lines.append(f"In full: {named}.")

    def _hear_of(self, phrase: Phrase) -> None:
        intent, words, is_question = phrase
        target = find_target(self._index, words).among(shown_paths(self._plan, self._relevance))
        if intent is Intent.WHY:
            self._answers.append(tell_why(self._plan, self._own, self._relevance, target))
        elif intent is Intent.WHERE:
            if target or " " not in words:
                self._answers.append(tell_where(self._index, self._relevance, target))
            else:
                self._add(words)
        elif not target:
            self._unknown(intent, words)
        elif intent is Intent.IMPACT:
            self._answers.append(tell_what_relies(self._index, target))
        elif intent in RELATED:
            self._relate(intent, target, is_question=is_question)
        else:
            self._change(intent, words, target)

    def _change(self, intent: Intent, words: str, target: Target) -> None:
        """Add what one wish changes."""
        changes, named = self._changes, _spelled(target)
        if (
            intent in (Intent.MORE, Intent.DEEPEN, Intent.OUTLINE)
            and self._is_out(target)
            and not _is_name(words)
        ):
            self._lines.append(f"You left out {named}; say `bring back {words}` to see it again.")
            return
        if intent is Intent.DROP:
            changes.set_level(target, _OUT)
            line = f"Left out: {named}."
        elif intent is Intent.BACK:
            line = f"Back: {named}."
            if changes.restore(target):
                if not _is_wide(self._index, target):
                    # Without a wish it would be shown only where it is worth its tokens.
                    changes.set_level(target, _BODY)
            elif not self._admit(target):
                line = f"{named} was not left out by your words."
        elif intent is Intent.ONLY:
            patterns = target.patterns or tuple(place.path for place in target.places)
            changes.exclude(globs_of_others(self._index, patterns))
            self._admit(target)
            line = f"Only {named} from now on."
        elif intent in (Intent.LESS, Intent.OUTLINE):
            line = self._outline(intent, target)
        elif intent is Intent.MORE or _is_wide(self._index, target):
            self._admit(target)
            changes.boost(target)
            self._additions.append(words)
            line = f"More weight on {named}."
        else:
            changes.boost(target)
            changes.set_level(target, _BODY)
            line = f"In full: {named}."
        self._lines.append(line)

    def _is_out(self, target: Target) -> bool:
        """Say whether the user left out all files of a target."""
        paths = _paths(self._index, target)
        return bool(paths) and all(excluded_by(self._own, path) for path in paths)

    def _admit(self, target: Target) -> bool:
        """Show a target again that the user left out as a whole, as it is named now; say whether it was."""
        if not self._is_out(target):
            return False
        self._changes.set_level(target, _OUTLINE if _is_wide(self._index, target) else _BODY)
        return True

    def _outline(self, intent: Intent, target: Target) -> str:
        """Show a target by its definition lines; of many files, less means those that are shown."""
        if intent is Intent.LESS and self._is_out(target):
            return f"Nothing of {_spelled(target)} is shown."
        if intent is Intent.LESS and _is_wide(self._index, target):
            shown = shown_paths(self._plan, self._relevance)
            paths = [path for path in shown if any(globs.matches(each, path) for each in target.patterns)]
            if not paths:
                return f"Nothing of {_spelled(target)} is shown."
            target = Target(target.words, tuple(map(globs.escape, paths)))
        self._changes.set_level(target, _OUTLINE)
        return f"In outline: {_spelled(target)}."

    def _relate(self, intent: Intent, target: Target, *, is_question: bool) -> None:
        """Show, or tell, what stands beside a target."""
        found = find_related(self._index, intent, target)
        what = f"{RELATED[intent]} {_spelled(target)}"
        both = (*found.stated, *found.likely)
        let_in = tuple(place for place in both if place.name and not excluded_by(self._own, place.path))
        if not both:
            self._answers.append(f"The index knows no {what}.")
        elif is_question or not any(place.name for place in both):
            self._answers.append(_told(what, found))
        elif not let_in:
            self._answers.append(f"The {what} stand in what you left out: {list_places(both, _MOST_PLACES)}")
        else:
            chosen = Target(target.words, places=let_in[:_MOST_RELATED])
            self._changes.boost(chosen)
            self._changes.set_level(chosen, _BODY)
            likely = "" if found.stated else "likely "
            self._lines.append(f"In full, as {likely}{what}: {_spelled(chosen)}.")

    def _unknown(self, intent: Intent, words: str) -> None:
        if intent in (Intent.MORE, Intent.DEEPEN) and not _is_name(words):
            self._add(words)
            return
        close = nearest(self._index, words)
        hint = f" Nearest: {', '.join(f'`{name}`' for name in close)}." if close else ""
        what = f"Nothing in the repository is called `{words}`, so there is nothing to change.{hint}"
        self._lines.append(what)

    def _add(self, words: str) -> None:
        self._additions.append(words)
        self._lines.append(f"Added to the goal: {words}")


def _is_test_file(index: RepoIndex, path: str) -> bool:
    file_id = index.file_id(path)
    return file_id is not None and bool(int(index.files.flags[file_id]) & int(FileFlag.TEST))


def _told(what: str, found: Related) -> str:
    """Tell what is resolved, and apart from it what only a name says."""
    told = []
    if found.stated:
        told.append(f"{what[0].upper()}{what[1:]}: {list_places(found.stated, _MOST_PLACES)}")
    if found.likely:
        rest = f"Likely, by name alone: {list_places(found.likely, _MOST_PLACES)}"
        told.append(rest if told else f"Likely {what}, by name alone: {rest.partition(': ')[2]}")
    return " ".join(told)


def _is_wide(index: RepoIndex, target: Target) -> bool:
    """Say whether a target names more files than anybody reads in full."""
    return len(named_by(index, target.patterns)) > _MANY if target.patterns else False


def _is_name(words: str) -> bool:
    """Say whether words can only be meant as a name in the repository, and not as a subject."""
    return re.search(r"[/.]\w|_", words) is not None


def _paths(index: RepoIndex, target: Target) -> set[str]:
    """Return the files that a target names, or whose definitions it does."""
    return named_by(index, target.patterns) | {place.path for place in target.places}


def _spelled(target: Target) -> str:
    names = dict.fromkeys(target.patterns or (f"{place.name} ({place.path})" for place in target.places))
    shown = ", ".join(f"`{name}`" for name in list(names)[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
