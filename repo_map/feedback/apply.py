"""Feedback heard: what it changes in a plan, what it asks, and what of it was not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repo_map import globs
from repo_map.feedback.amounts import EVERY_STEP, read_budget, read_numbers, read_steps
from repo_map.feedback.answers import (
    Asked,
    answer,
    list_places,
    shown_paths,
    tell_left_out,
    told_related,
    told_together,
    unknown_name,
)
from repo_map.feedback.changes import PlanChanges
from repo_map.feedback.names import (
    NamedDefinition,
    Target,
    around,
    globs_of_others,
    named_by,
    nearest,
)
from repo_map.feedback.operations import Operation
from repo_map.feedback.parse import Phrase, readings
from repo_map.feedback.related import RELATED, find_related
from repo_map.feedback.sentences import HELD, Clause, clauses, spelled_right
from repo_map.feedback.suggestions import Suggestion, nearest_sayings
from repo_map.feedback.targets import Named, is_subject, spelled, subject_of
from repo_map.messages import counted
from repo_map.plan.model import FlightPlan
from repo_map.relevance.score import Relevance
from repo_map.selection.exclusions import excluded, excluded_by
from repo_map.worktree.file_kinds import FileFlag, spoken_words

if TYPE_CHECKING:
    from repo_map.history.history import History
    from repo_map.index import RepoIndex

_BODY, _OUTLINE, _OUT = 4, 2, 0
_MANY: Final = 5
"""Files beyond which a wish to see them in full means more weight."""
_MOST_RELATED: Final = 8
"""Callers, tests and the like that are shown in full."""
_MOST_AROUND: Final = 5
"""Places of a quoted text that are shown."""


class Wish(NamedTuple):
    """One thing that was understood."""

    operation: Operation
    is_question: bool = False
    targets: tuple[Target, ...] = ()
    detail: str = ""
    """Numbers, steps, tokens or words, where it is about those."""

    @property
    def told(self) -> str:
        """The wish in one short line: ``whole src/a.py``, ``callers? Session.send``, ``undo 2``."""
        about = self.detail or " ".join(target.name for target in self.targets)
        return f"{self.operation}{'?' if self.is_question else ''} {about}".strip()


class NotUnderstood(NamedTuple):
    """One thing that was not, which changes nothing."""

    words: str
    nearest: tuple[Suggestion, ...]
    why: str = ""
    """What is wrong with it, where more is known than that it was not understood."""

    @property
    def told(self) -> str:
        """One honest sentence, with what would be understood."""
        would = ", ".join(f'"{each.say}"' for each in self.nearest)
        message = f"Not understood, so nothing was changed by it: “{self.words}”."
        return " ".join(filter(None, (message, self.why, f"Understood would be: {would}.")))


class Steering(NamedTuple):
    """What a feedback comes to."""

    updates: Mapping[str, Any]
    """A partial plan for ``apply_update``: on a plan to draw, or on the ``base`` that ``pack`` keeps to."""
    answer: str
    """The answer to what was asked, empty where nothing was."""
    goal_addition: str
    """Words that say more of the goal; score the goal with them and pack again."""
    lines: tuple[str, ...]
    """What was understood, a sentence for each wish, and what was not."""
    heard: tuple[Wish, ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()
    undo: int = 0
    """Changes to take back before all else; ``EVERY_STEP`` for all."""
    finish: bool = False
    """The context is taken as it is."""

    @property
    def changes(self) -> bool:
        """Whether anything is different afterwards."""
        return bool(self.updates or self.goal_addition or self.undo or self.finish)


def steer(
    index: RepoIndex,
    plan: FlightPlan,
    relevance: Relevance,
    feedback: str,
    *,
    own: FlightPlan | None = None,
    menu: Mapping[int, NamedDefinition] | None = None,
    history: History | None = None,
) -> Steering:
    """Read feedback such as "drop the tests, deepen `Router.dispatch`; why is utils.py here?".

    What is not understood changes nothing, and is told with what would be. ``own`` is the part of the plan
    that the user asked for, by default all of it: what it leaves out comes back where the words name it.
    ``menu`` has the definitions that were offered by number; ``history`` is what commits are told from.
    """
    reader = _FeedbackReader(Asked(index, plan, own or plan, relevance, history), menu or {})
    for clause in clauses(feedback):
        reader.hear(clause)
    return reader.result()


class _FeedbackReader:
    """What the clauses heard so far come to."""

    def __init__(self, asked: Asked, menu: Mapping[int, NamedDefinition]) -> None:
        self._asked = asked
        self._index = asked.index
        self._menu = menu
        out = excluded(asked.index, asked.plan).tolist()
        shown = [path for path, is_out in zip(asked.index.paths, out, strict=True) if not is_out]
        self._named = Named(asked.index, shown)
        self._changes = PlanChanges(asked.plan, asked.own)
        self._answers: list[str] = []
        self._additions: list[str] = []
        self._lines: list[str] = []
        self._heard: list[Wish] = []
        self._missed: list[NotUnderstood] = []
        self._undo = 0
        self._finish = False

    def result(self) -> Steering:
        """Return what was understood."""
        heard = [wish for wish in self._heard if wish.operation is not Operation.NOTHING] or self._heard[:1]
        if not self._missed and heard and heard[0].operation is Operation.NOTHING:
            self._lines.append("Nothing to change: say what to show, to leave out or to explain.")
        return Steering(
            self._changes.updates(),
            told_together(self._answers) if self._answers else "",
            "\n".join(self._additions),
            (*self._lines, *(each.told for each in self._missed)),
            tuple(heard),
            tuple(self._missed),
            self._undo,
            self._finish,
        )

    def hear(self, clause: Clause) -> None:
        """Take one clause in."""
        if self._understood(clause):
            return
        corrected = spelled_right(clause, spoken_words())
        if corrected != clause and self._understood(corrected):
            return
        self._missed.append(self._not_understood(clause, corrected))

    def _understood(self, clause: Clause) -> bool:
        return any(self._takes(clause, phrase) for phrase in readings(clause))

    def _takes(self, clause: Clause, phrase: Phrase) -> bool:
        """Take a reading of a clause, if what it is about is known; say whether it was taken."""
        operation = phrase.operation
        if operation is Operation.SEARCH:
            return self._search(clause, phrase)
        if operation in _SIMPLE:
            _SIMPLE[operation](self, clause.written(phrase.words), clause)
            return True
        texts = operation in (Operation.WHOLE, Operation.WHERE)
        anywhere = operation is Operation.WHOLE and not phrase.is_bare
        targets = self._named.all_in(clause, phrase.words, anywhere=anywhere, texts=texts)
        if not targets or (phrase.is_bare and not all(map(self._is_one_thing, targets))):
            return False
        is_question = phrase.is_question
        if operation is Operation.CALLERS and all(map(self._is_imported, targets)):
            operation, is_question = Operation.IMPORTERS, True
        self._named.last = targets
        self._heard.append(Wish(operation, is_question, targets))
        self._lines += [
            f"`{target.meant}` was read as {spelled(target)}." for target in targets if target.meant
        ]
        for target in targets:
            if is_question:
                self._answers.append(answer(self._asked, operation, target))
            elif operation in RELATED:
                self._relate(operation, target)
            else:
                self._change(operation, target)
        return True

    def _is_imported(self, target: Target) -> bool:
        """Say whether a target is files of code, which are imported and not called."""
        return bool(target.patterns) and not any(find_related(self._index, Operation.CALLERS, target))

    def _is_one_thing(self, target: Target) -> bool:
        """Say whether a target is something that only somebody names who wants to see it."""
        return bool(target.places or target.spans) or len(named_by(self._index, target.patterns)) == 1

    def _search(self, clause: Clause, phrase: Phrase) -> bool:
        subject = subject_of(clause, phrase.words)
        explicit = re.match(
            r"(?:show |give |tell )?(?:me )?more (?:about|on|around) ", clause.text, re.I
        ) or not re.match(
            r"(?:search|find|show|include|add|display|give|get|read|see|list|open|print|have|look at)\b",
            clause.text,
            re.I,
        )
        unknown = any(not self._named.one(clause.name(held)) for held in re.findall(HELD, phrase.words))
        if not explicit and (unknown or re.search(HELD, phrase.words)):
            return False
        if re.fullmatch(rf"(?:{HELD}|\W)*", phrase.words) or not (explicit or is_subject(phrase.words)):
            return False
        if re.fullmatch(
            r"\W*(?:it|this|that|them|everything|anything|something|all|more|here)?\W*", subject, re.I
        ):
            return False
        self._heard.append(Wish(Operation.SEARCH, detail=subject))
        self._additions.append(subject)
        self._lines.append(f"Looked for beside the goal: {subject}")
        return True

    def _not_understood(self, clause: Clause, corrected: Clause) -> NotUnderstood:
        words = clause.written()
        names = [clause.name(held) for held in re.findall(HELD, clause.text)]
        targets = [target for name in names if (target := self._named.one(name))]
        bare = [name.strip("`\"'“”„") for name in names]
        unknown = [name for name in bare if not self._named.one(name)]
        close = [near for name in unknown for near in nearest(self._index, name)]
        tried = [phrase.operation for phrase in readings(corrected) if not phrase.is_bare]
        if not targets:
            targets = [
                target for word in re.findall(r"[\w-]{4,}", clause.text) if (target := self._named.one(word))
            ]
        shown = shown_paths(self._asked.plan, self._asked.relevance)
        why = unknown_name(self._index, unknown[0]) if unknown and tried else ""
        offered = nearest_sayings(clause, targets, (*close, *shown[:1]), frozenset(tried))
        return NotUnderstood(words, offered, why)

    # What is about no name.

    def _budget(self, words: str, _clause: Clause) -> None:
        budget = read_budget(words, self._changes.budget)
        self._changes.set_budget(budget)
        self._heard.append(Wish(Operation.BUDGET, detail=str(budget)))
        self._lines.append(f"The budget is {counted(budget, 'token')} now.")

    def _end(self, _words: str, _clause: Clause) -> None:
        self._finish = True
        self._heard.append(Wish(Operation.FINISH))

    def _nothing(self, _words: str, _clause: Clause) -> None:
        self._heard.append(Wish(Operation.NOTHING))

    def _take_back(self, _words: str, clause: Clause) -> None:
        steps = read_steps(clause.text)
        self._undo = min(EVERY_STEP, self._undo + steps)
        self._heard.append(Wish(Operation.UNDO, detail="all" if steps == EVERY_STEP else str(steps)))

    def _left_out(self, _words: str, _clause: Clause) -> None:
        self._heard.append(Wish(Operation.LEFT_OUT, is_question=True))
        self._answers.append(tell_left_out(self._asked))

    def _show_numbers(self, words: str, _clause: Clause) -> None:
        """Show places of the menu in full."""
        numbers, with_tests = read_numbers(words)
        self._heard.append(Wish(Operation.NUMBERS, detail=",".join(map(str, numbers))))
        if not self._menu:
            self._lines.append(f"There was no menu to take `{words}` from; name what you want to see.")
            return
        if unknown := [number for number in numbers if number not in self._menu]:
            least, most = min(self._menu), max(self._menu)
            told = ", ".join(map(str, unknown))
            self._lines.append(f"The menu has no {told}: its numbers go from {least} to {most}.")
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

    # What changes the plan.

    def _change(self, operation: Operation, target: Target) -> None:
        """Add what one wish changes."""
        changes, told = self._changes, spelled(target)
        wants = operation in (Operation.WHOLE, Operation.MORE, Operation.OUTLINE)
        if wants and self._is_out(target) and not re.search(r"[/.]\w|_", target.words):
            # What else it may be said of than the files that were left out, nobody knows.
            line = f"You left out {told}; say `bring back {target.words}` to see it again."
        elif operation is Operation.OUT:
            changes.set_level(target, _OUT)
            line = f"Left out: {told}."
        elif operation is Operation.BACK:
            line = f"Back: {told}."
            if changes.restore(target):
                if not self._is_wide(target):
                    # Without a wish it would be shown only where it is worth its tokens.
                    changes.set_level(target, _BODY)
            elif not self._admit(target):
                line = f"{told} was not left out by your words."
        elif operation is Operation.ONLY:
            self._only(target)
            line = f"Only {told} from now on."
        elif operation in (Operation.LESS, Operation.OUTLINE):
            line = self._outline(operation, target)
        elif operation is Operation.MORE or self._is_wide(target):
            self._admit(target)
            changes.boost(target)
            self._additions.append(target.words)
            line = f"More weight on {told}."
        else:
            around_it = self._with_surroundings(target)
            changes.boost(around_it)
            changes.set_level(around_it, _BODY)
            line = f"In full: {told}."
        self._lines.append(line)

    def _only(self, target: Target) -> None:
        """Leave out all but what a target names; of several that one wish names, all stay."""
        wish = self._heard[-1]
        if wish.targets and target is not wish.targets[0]:
            self._admit(target)
            return
        patterns = tuple(
            pattern for each in wish.targets for pattern in each.patterns or map(globs.escape, each.paths)
        )
        self._changes.exclude(globs_of_others(self._index, patterns))
        self._admit(target)

    def _with_surroundings(self, target: Target) -> Target:
        """Return the definitions around a quoted text in place of its lines."""
        if not target.name.startswith('"'):
            return target
        places: dict[NamedDefinition, None] = {}
        spans = []
        for span in target.spans[:_MOST_AROUND]:
            place = around(self._index, span)
            if place is None:
                spans.append(span._replace(first=max(1, span.first - 3), last=span.last + 3))
            else:
                places[place] = None
        return target._replace(places=tuple(places), spans=tuple(spans))

    def _is_wide(self, target: Target) -> bool:
        """Say whether a target names more files than anybody reads in full."""
        return len(named_by(self._index, target.patterns)) > _MANY if target.patterns else False

    def _is_out(self, target: Target) -> bool:
        """Say whether the user left out all files of a target."""
        paths = named_by(self._index, target.patterns) | set(target.paths)
        return bool(paths) and all(excluded_by(self._asked.own, path) for path in paths)

    def _admit(self, target: Target) -> bool:
        """Show a target again that the user left out as a whole, as it is named now; say whether it was."""
        if not self._is_out(target):
            return False
        self._changes.set_level(target, _OUTLINE if self._is_wide(target) else _BODY)
        return True

    def _outline(self, operation: Operation, target: Target) -> str:
        """Show a target by its definition lines; of many files, less means those that are shown."""
        if operation is Operation.LESS and self._is_out(target):
            return f"Nothing of {spelled(target)} is shown."
        if operation is Operation.LESS and (self._is_wide(target) or target.name.startswith("{")):
            shown = shown_paths(self._asked.plan, self._asked.relevance)
            paths = [path for path in shown if any(globs.matches(each, path) for each in target.patterns)]
            if not paths:
                return f"Nothing of {spelled(target)} is shown."
            target = target._replace(patterns=tuple(map(globs.escape, paths)))
        self._changes.set_level(target, _OUTLINE)
        return f"In outline: {spelled(target)}."

    def _relate(self, operation: Operation, target: Target) -> None:
        """Show what stands beside a target, or tell why it can't be shown."""
        found = find_related(self._index, operation, target)
        what = f"{RELATED[operation]} {spelled(target)}"
        both = (*found.stated, *found.likely)
        let_in = tuple(place for place in both if place.name and not excluded_by(self._asked.own, place.path))
        if not both:
            self._answers.append(f"The index knows no {what}.")
        elif not any(place.name for place in both):
            self._answers.append(told_related(what, found))
        elif not let_in:
            self._answers.append(f"The {what} stand in what you left out: {list_places(both)}")
        else:
            chosen = Target(target.words, places=let_in[:_MOST_RELATED])
            self._changes.boost(chosen)
            self._changes.set_level(chosen, _BODY)
            likely = "" if found.stated else "likely "
            self._lines.append(f"In full, as {likely}{what}: {spelled(chosen)}.")


_SIMPLE: Final = {
    Operation.NUMBERS: _FeedbackReader._show_numbers,
    Operation.BUDGET: _FeedbackReader._budget,
    Operation.FINISH: _FeedbackReader._end,
    Operation.NOTHING: _FeedbackReader._nothing,
    Operation.UNDO: _FeedbackReader._take_back,
    Operation.LEFT_OUT: _FeedbackReader._left_out,
}


def _is_test_file(index: RepoIndex, path: str) -> bool:
    file_id = index.file_id(path)
    return file_id is not None and bool(int(index.files.flags[file_id]) & int(FileFlag.TEST))
