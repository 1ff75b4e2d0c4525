"""Wishes: what is to be shown, in what detail, and what is left out, as changes of a plan."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from repo_map import globs
from repo_map.feedback.amounts import read_numbers
from repo_map.feedback.answers import Asked, answer, describe_related, list_places, shown_paths, tell_left_out
from repo_map.feedback.changes import PlanChanges
from repo_map.feedback.names import NamedDefinition, Referent, around, globs_of_others, named_by
from repo_map.feedback.operations import Operation
from repo_map.feedback.related import RELATED, find_related
from repo_map.feedback.steering import Wish
from repo_map.messages import counted
from repo_map.selection.exclusions import excluded_by

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_BODY, _OUTLINE, _OUT = 4, 2, 0
IN_FULL: Final = "In full: "
"""Begins what is said of parts that are shown whole."""
_MANY: Final = 5
"""Files beyond which a wish to see them in full means more weight."""
_MOST_RELATED: Final = 8
"""Callers, tests and the like that are shown in full."""
MOST_AROUND: Final = 5
"""Places of a quoted text that are shown."""


class PlanWishes:
    """What the wishes of one feedback come to."""

    def __init__(self, asked: Asked, menu: Mapping[int, NamedDefinition]) -> None:
        """Start from the plan, of which nothing is changed yet; ``menu`` is what numbers mean."""
        self._asked = asked
        self._menu = menu
        self._index = asked.index
        self.changes = PlanChanges(asked.plan, asked.own)
        self.answers: list[str] = []
        self.additions: list[str] = []
        """Words that say more of the goal."""
        self.lines: list[str] = []
        """What was done, a sentence for each."""

    def carry_out(self, wish: Wish) -> None:
        """Add what a wish changes, or the answer to it."""
        if (do := _WITHOUT_NAME.get(wish.operation)) is not None:
            do(self, wish)
            return
        self.lines += [f"`{each.meant}` was read as {each.quoted}." for each in wish.targets if each.meant]
        for target in wish.targets:
            if wish.is_question:
                self.answers.append(answer(self._asked, wish.operation, target))
            elif wish.operation in RELATED:
                self._relate(wish.operation, target)
            else:
                self._change(wish.operation, target, wish.targets)

    def _set_budget(self, wish: Wish) -> None:
        self.changes.set_budget(wish.amount)
        self.lines.append(f"The budget is {counted(wish.amount, 'token')} now.")

    def _search(self, wish: Wish) -> None:
        self.additions.append(wish.subject)
        self.lines.append(f"Looked for beside the goal: {wish.subject}")

    def _tell_left_out(self, _wish: Wish) -> None:
        self.answers.append(tell_left_out(self._asked))

    def _tell_nothing(self, _wish: Wish) -> None:
        self.lines.append("Nothing to change: say what to show, to leave out or to explain.")

    def _show_numbers(self, wish: Wish) -> None:
        """Show places of the menu in full."""
        if unknown := [number for number in wish.numbers if number not in self._menu]:
            self.lines.append(unknown_numbers(unknown, self._menu))
        for part in wish.targets:
            self.changes.boost(part)
            self.changes.set_level(part, _BODY)
        if names := [name for part in wish.targets for name in part.names]:
            self.lines.append(f"{IN_FULL}{', '.join(f'`{name}`' for name in names)}.")

    def _change(self, operation: Operation, target: Referent, targets: Sequence[Referent]) -> None:
        """Add what a wish about ``targets`` changes by one of them."""
        changes, name = self.changes, target.quoted
        wants = operation in (Operation.WHOLE, Operation.MORE, Operation.OUTLINE)
        if wants and self._is_out(target) and not re.search(r"[/.]\w|_", target.words):
            # What else it may be said of than the files that were left out, nobody knows.
            line = f"You left out {name}; say `bring back {target.words}` to see it again."
        elif operation is Operation.OUT:
            changes.set_level(target, _OUT)
            line = f"Left out: {name}."
        elif operation is Operation.BACK:
            line = f"Back: {name}."
            if changes.restore(target):
                if not self._is_wide(target):
                    # Without a wish it would be shown only where it is worth its tokens.
                    changes.set_level(target, _BODY)
            elif not self._admit(target):
                line = f"{name} was not left out by your words."
        elif operation is Operation.ONLY:
            self._only(target, targets)
            line = f"Only {name} from now on."
        elif operation in (Operation.LESS, Operation.OUTLINE):
            line = self._outline(operation, target)
        elif operation is Operation.MORE or self._is_wide(target):
            self._admit(target)
            changes.boost(target)
            self.additions.append(target.words)
            line = f"More weight on {name}."
        else:
            around_it = self._with_surroundings(target)
            changes.boost(around_it)
            changes.set_level(around_it, _BODY)
            line = f"{IN_FULL}{name}."
        self.lines.append(line)

    def _only(self, target: Referent, targets: Sequence[Referent]) -> None:
        """Leave out all but what a target names; of several that one wish names, all stay."""
        if targets and target is not targets[0]:
            self._admit(target)
            return
        patterns = tuple(
            pattern for each in targets for pattern in each.patterns or map(globs.escape, each.paths)
        )
        self.changes.exclude(globs_of_others(self._index, patterns))
        self._admit(target)

    def _with_surroundings(self, target: Referent) -> Referent:
        """Return the definitions around a quoted text in place of its lines."""
        if not target.is_text:
            return target
        places: dict[NamedDefinition, None] = {}
        spans = []
        for span in target.spans[:MOST_AROUND]:
            place = around(self._index, span)
            if place is None:
                spans.append(span._replace(first=max(1, span.first - 3), last=span.last + 3))
            else:
                places[place] = None
        return target._replace(places=tuple(places), spans=tuple(spans))

    def _is_wide(self, target: Referent) -> bool:
        """Say whether a target names more files than anybody reads in full."""
        return len(named_by(self._index, target.patterns)) > _MANY if target.patterns else False

    def _is_out(self, target: Referent) -> bool:
        return is_left_out(self._asked, target)

    def _admit(self, target: Referent) -> bool:
        """Show a target again that the user left out as a whole, as it is named now; say whether it was."""
        if not self._is_out(target):
            return False
        self.changes.set_level(target, _OUTLINE if self._is_wide(target) else _BODY)
        return True

    def _outline(self, operation: Operation, target: Referent) -> str:
        """Show a target by its definition lines; of many files, less means those that are shown."""
        if operation is Operation.LESS and self._is_out(target):
            return f"Nothing of {target.quoted} is shown."
        if operation is Operation.LESS and (self._is_wide(target) or target.is_kind):
            shown = shown_paths(self._asked.plan, self._asked.relevance)
            paths = [path for path in shown if any(globs.matches(each, path) for each in target.patterns)]
            if not paths:
                return f"Nothing of {target.quoted} is shown."
            target = target._replace(patterns=tuple(map(globs.escape, paths)))
        self.changes.set_level(target, _OUTLINE)
        return f"In outline: {target.quoted}."

    def _relate(self, operation: Operation, target: Referent) -> None:
        """Show what stands beside a target, or tell why it can't be shown."""
        found = find_related(self._index, operation, target)
        what = f"{RELATED[operation]} {target.quoted}"
        both = (*found.stated, *found.likely)
        let_in = tuple(place for place in both if place.name and not excluded_by(self._asked.own, place.path))
        if not both:
            self.answers.append(f"The index knows no {what}.")
        elif not any(place.name for place in both):
            self.answers.append(describe_related(what, found))
        elif not let_in:
            self.answers.append(f"The {what} stand in what you left out: {list_places(both)}")
        else:
            chosen = Referent(target.words, places=let_in[:_MOST_RELATED])
            self.changes.boost(chosen)
            self.changes.set_level(chosen, _BODY)
            likely = "" if found.stated else "likely "
            self.lines.append(f"In full, as {likely}{what}: {chosen.quoted}.")


_WITHOUT_NAME: Final = {
    Operation.NUMBERS: PlanWishes._show_numbers,
    Operation.BUDGET: PlanWishes._set_budget,
    Operation.SEARCH: PlanWishes._search,
    Operation.LEFT_OUT: PlanWishes._tell_left_out,
    Operation.NOTHING: PlanWishes._tell_nothing,
}


def is_left_out(asked: Asked, target: Referent) -> bool:
    """Say whether the user left out all files of a target."""
    paths = named_by(asked.index, target.patterns) | set(target.paths)
    return bool(paths) and all(excluded_by(asked.own, path) for path in paths)


def unknown_numbers(unknown: Iterable[int], menu: Collection[int]) -> str:
    """Say that the menu has no such numbers."""
    asked = ", ".join(map(str, unknown))
    if not menu:
        return f"There was no menu to take `{asked}` from; name what you want to see."
    return f"The menu has no {asked}: its numbers go from {min(menu)} to {max(menu)}."


def menu_parts(index: RepoIndex, words: str, menu: Mapping[int, NamedDefinition]) -> tuple[Referent, ...]:
    """Return the places of a menu that words ask for by number: definitions, then files as a whole."""
    numbers, with_tests = read_numbers(words)
    places = [menu[number] for number in numbers if number in menu]
    if not with_tests:
        places = [place for place in places if not _is_test_file(index, place.path)]
    return targets_of(words, places)


def targets_of(words: str, places: Sequence[NamedDefinition]) -> tuple[Referent, ...]:
    """Return places of the menu as definitions, then files as a whole: those without a name."""
    files = tuple(place.path for place in places if not place.name)
    named = tuple(place for place in places if place.name)
    parts = Referent(words, places=named, name=" ".join(dict.fromkeys(place.name for place in named)))
    wholes = Referent(words, tuple(map(globs.escape, files)), name=" ".join(files))
    return tuple(filter(None, (parts, wholes)))


def _is_test_file(index: RepoIndex, path: str) -> bool:
    file_id = index.file_id(path)
    return file_id is not None and index.files.is_test(file_id)
