"""Feedback heard: what it changes in a plan, what it asks, and what of it was not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from repo_map.feedback.amounts import EVERY_STEP, read_budget, read_numbers, read_steps
from repo_map.feedback.answers import (
    Asked,
    answer,
    shown_paths,
    tell_left_out,
    told_together,
    unknown_name,
)
from repo_map.feedback.names import (
    NamedDefinition,
    Target,
    around,
    find_text,
    named_by,
    nearest,
)
from repo_map.feedback.operations import Operation
from repo_map.feedback.parse import Phrase, readings
from repo_map.feedback.related import RELATED, find_related
from repo_map.feedback.sentences import HELD, Clause, clauses, is_statement, looks_like_code, spelled_right
from repo_map.feedback.steering import NotUnderstood, Steering, Wish
from repo_map.feedback.suggestions import nearest_sayings
from repo_map.feedback.targets import Named, is_beside, is_subject, spelled, subject_of
from repo_map.feedback.wishes import MOST_AROUND, PlanWishes
from repo_map.messages import counted
from repo_map.plan.model import FlightPlan
from repo_map.relevance.score import Relevance
from repo_map.selection.exclusions import excluded
from repo_map.worktree.file_kinds import spoken_words

if TYPE_CHECKING:
    from repo_map.history.history import History
    from repo_map.index import RepoIndex


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
        self._wishes = PlanWishes(asked)
        self._heard: list[Wish] = []
        self._missed: list[NotUnderstood] = []
        self._remarks: list[NotUnderstood] = []
        self._undo = 0
        self._finish = False
        self._stated: NotUnderstood | None = None
        """A statement that names what the next clause may be about."""

    def result(self) -> Steering:
        """Return what was understood."""
        heard = [wish for wish in self._heard if wish.operation is not Operation.NOTHING] or self._heard[:1]
        if not heard:
            # Who states something and wishes nothing is told what he could say.
            self._missed = [*self._remarks, *self._missed]
        if not self._missed and heard and heard[0].operation is Operation.NOTHING:
            self._wishes.lines.append("Nothing to change: say what to show, to leave out or to explain.")
        return Steering(
            self._wishes.changes.updates(),
            told_together(self._wishes.answers) if self._wishes.answers else "",
            "\n".join(self._wishes.additions),
            (*self._wishes.lines, *(each.told for each in self._missed)),
            tuple(heard),
            tuple(self._missed),
            self._undo,
            self._finish,
        )

    def hear(self, clause: Clause) -> None:
        """Take one clause in."""
        corrected = spelled_right(clause, spoken_words())
        self._named.referred = False
        if self._understood(clause) or (corrected != clause and self._understood(corrected)):
            if self._named.referred:
                # What "it" means was only stated before: nothing else is wished of that.
                self._missed = [each for each in self._missed if each is not self._stated]
            self._stated = None
            return
        if self._shows_source(clause):
            return
        missed = self._not_understood(clause, corrected)
        self._stated = None
        if is_statement(corrected):
            if targets := self._mentioned(clause):
                self._named.last, self._stated = targets, missed
            else:
                self._remarks.append(missed)
                return
        self._missed.append(missed)

    def _shows_source(self, clause: Clause) -> bool:
        """Take a line of code that stands in the repository for the definition around it."""
        text = clause.written().rstrip(" {:;")
        if not looks_like_code(text):
            return False
        spans = find_text(self._index, text, self._named.shown).spans
        found = (around(self._index, span) for span in spans[:MOST_AROUND])
        places = tuple(dict.fromkeys(place for place in found if place is not None))
        if not places:
            return False
        target = Target(text, places=places, name=" ".join(dict.fromkeys(place.name for place in places)))
        self._named.last = (target,)
        self._heard.append(Wish(Operation.WHOLE, targets=(target,)))
        self._wishes.change(Operation.WHOLE, target, (target,))
        return True

    def _mentioned(self, clause: Clause) -> tuple[Target, ...]:
        """Return what a statement names, which ``it`` means in the clause behind it."""
        found = [self._named.all_in(clause, held, texts=True) for held in re.findall(HELD, clause.text)]
        return tuple(target for each in found for target in each)

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
        anywhere = operation is Operation.WHOLE and not (
            phrase.is_bare or _EDITS.match(clause.text) or is_beside(clause.text)
        )
        targets = self._named.all_in(clause, phrase.words, anywhere=anywhere, texts=texts)
        if not targets or (phrase.is_bare and not all(map(self._is_one_thing, targets))):
            return False
        is_question = phrase.is_question
        if operation is Operation.CALLERS and all(map(self._is_imported, targets)):
            operation, is_question = Operation.IMPORTERS, True
        if self._is_said(operation, clause, targets):
            return True
        if self._is_of_the_answer(clause, targets):
            if operation is not Operation.WHOLE or not _THEM.search(clause.text):
                return False
            # "Them" are what was asked for, not what it was asked of.
            operation = self._heard[-1].operation
        self._named.last = targets
        self._heard.append(Wish(operation, is_question, targets))
        self._wishes.lines += [
            f"`{target.meant}` was read as {spelled(target)}." for target in targets if target.meant
        ]
        self._carry_out(self._heard[-1])
        return True

    def _carry_out(self, wish: Wish) -> None:
        for target in wish.targets:
            if wish.is_question:
                self._wishes.answers.append(answer(self._asked, wish.operation, target))
            elif wish.operation in RELATED:
                self._wishes.relate(wish.operation, target)
            else:
                self._wishes.change(wish.operation, target, wish.targets)

    def _is_said(self, operation: Operation, clause: Clause, targets: tuple[Target, ...]) -> bool:
        """Say whether a wish repeats the last one, or says of what it shows that it is needed."""
        if not self._heard or not self._named.referred or self._heard[-1].targets != targets:
            return False
        before = self._heard[-1].operation
        if self._heard[-1].is_question and _LISTS.fullmatch(clause.text):
            return True
        return operation is before or (operation is Operation.WHOLE and before in _SHOWING)

    def _is_of_the_answer(self, clause: Clause, targets: tuple[Target, ...]) -> bool:
        """Say whether "them" are the callers, tests and the like that were asked for just before."""
        before = self._heard[-1] if self._heard else None
        if before is None or not before.is_question or before.operation not in RELATED:
            return False
        is_them = _THEM.search(clause.text) is not None and before.targets == targets
        return is_them or _SOME_OF_THEM.search(clause.text) is not None

    def _is_imported(self, target: Target) -> bool:
        """Say whether a target is files of code, which are imported and not called."""
        return bool(target.patterns) and not any(find_related(self._index, Operation.CALLERS, target))

    def _is_one_thing(self, target: Target) -> bool:
        """Say whether a target is something that only somebody names who wants to see it."""
        return bool(target.places or target.spans) or len(named_by(self._index, target.patterns)) == 1

    def _search(self, clause: Clause, phrase: Phrase) -> bool:
        if _EDITS.match(clause.text) and re.search(r"\bto\b", phrase.words):
            return False
        subject = subject_of(clause, phrase.words)
        explicit = re.match(
            r"(?:show |give |tell )?(?:me )?more (?:about|on|around) ", clause.text, re.I
        ) or not re.match(
            r"(?:search|find|show|include|add|display|give|get|read|see|list|open|print|have|look at)\b",
            clause.text,
            re.I,
        )
        unknown = any(not self._named.one(clause.name(held)) for held in re.findall(HELD, phrase.words))
        if not explicit and (unknown or is_beside(phrase.words) or re.search(HELD, phrase.words)):
            return False
        if re.fullmatch(rf"(?:{HELD}|\W)*", phrase.words) or not (explicit or is_subject(phrase.words)):
            return False
        if _SOME_OF_THEM.match(subject) or re.fullmatch(
            r"\W*(?:it|this|that|them|everything|anything|something|all|more|here)?\W*", subject, re.I
        ):
            return False
        self._heard.append(Wish(Operation.SEARCH, detail=subject))
        self._wishes.additions.append(subject)
        self._wishes.lines.append(f"Looked for beside the goal: {subject}")
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
        if self._heard and self._heard[-1].operation is Operation.BUDGET:
            # Of two sizes the later one is meant, and "half" means that of what is there.
            del self._heard[-1], self._wishes.lines[-1]
            self._wishes.changes.set_budget(self._asked.plan.budget)
        budget = read_budget(words, self._wishes.changes.budget)
        self._wishes.changes.set_budget(budget)
        self._heard.append(Wish(Operation.BUDGET, detail=str(budget)))
        self._wishes.lines.append(f"The budget is {counted(budget, 'token')} now.")

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
        self._wishes.answers.append(tell_left_out(self._asked))

    def _show_numbers(self, words: str, _clause: Clause) -> None:
        """Show places of the menu in full."""
        numbers, with_tests = read_numbers(words)
        self._heard.append(Wish(Operation.NUMBERS, detail=",".join(map(str, numbers))))
        if not self._menu:
            self._wishes.lines.append(f"There was no menu to take `{words}` from; name what you want to see.")
            return
        if unknown := [number for number in numbers if number not in self._menu]:
            least, most = min(self._menu), max(self._menu)
            told = ", ".join(map(str, unknown))
            self._wishes.lines.append(f"The menu has no {told}: its numbers go from {least} to {most}.")
        places = tuple(self._menu[number] for number in numbers if number in self._menu)
        self._named.last = self._wishes.show_places(words, places, with_tests=with_tests)


_EDITS: Final = re.compile(r"(?:add|insert|open|load|put|write)\b", re.IGNORECASE)
"""Verbs that are said of code as often as of what is shown of it."""
_LISTS: Final = re.compile(
    r"(?:list|name|tell|enumerate)(?: me)? (?:them|those|these)(?: all)?", re.IGNORECASE
)
_THEM: Final = re.compile(r"\b(?:them|those|these)(?: all| in full| fully| completely)?$", re.IGNORECASE)
_SOME_OF_THEM: Final = re.compile(
    r"\b(?:those|these|the ones) (?:in|of|from|under|that|which)\b", re.IGNORECASE
)
_SHOWING: Final = frozenset({Operation.BACK, Operation.MORE, Operation.OUTLINE})
_SIMPLE: Final = {
    Operation.NUMBERS: _FeedbackReader._show_numbers,
    Operation.BUDGET: _FeedbackReader._budget,
    Operation.FINISH: _FeedbackReader._end,
    Operation.NOTHING: _FeedbackReader._nothing,
    Operation.UNDO: _FeedbackReader._take_back,
    Operation.LEFT_OUT: _FeedbackReader._left_out,
}
