"""Interpretation: what each clause of a feedback wishes, and what of it is not understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.feedback.amounts import read_budget, read_numbers, read_steps
from repo_map.feedback.answers import Asked, unknown_name
from repo_map.feedback.asides import HELD, narrows
from repo_map.feedback.name_lookup import NameLookup, describes, subject_of
from repo_map.feedback.names import NamedDefinition, Referent, nearest
from repo_map.feedback.operations import OF_FILES, TAKES_AWAY, Operation
from repo_map.feedback.parse import Phrase, readings
from repo_map.feedback.related import RELATED, as_asked_of
from repo_map.feedback.sentences import (
    MOST_LETTERS,
    MOST_SENTENCES,
    QUOTES,
    Clause,
    is_statement,
    sentences,
)
from repo_map.feedback.steering import NOTHING_MENTIONED, NotUnderstood, Wish
from repo_map.feedback.suggestions import nearest_sayings
from repo_map.feedback.wishes import menu_parts
from repo_map.selection.exclusions import included_paths

if TYPE_CHECKING:
    from collections.abc import Sequence


class Interpretation(NamedTuple):
    """What was said."""

    wishes: tuple[Wish, ...]
    missed: tuple[NotUnderstood, ...]
    mentioned: Wish = NOTHING_MENTIONED
    """What it was about last."""


def interpret(
    asked: Asked, feedback: str, menu: Mapping[int, NamedDefinition], mentioned: Wish
) -> Interpretation:
    """Return the wishes of a feedback, and what of it was not understood; ``it`` is what was ``mentioned``.

    The clear part of a message is done. Beside words that could narrow what was wished, nothing is changed;
    beside any that are not understood, nothing is taken away.
    """
    interpreter = _Interpreter(asked, menu, mentioned)
    for sentence in sentences(feedback):
        interpreter.take_in(sentence)
    return interpreter.settled()._replace(mentioned=interpreter.mentioned())


class _Interpreter:
    """What the sentences so far come to."""

    def __init__(self, asked: Asked, menu: Mapping[int, NamedDefinition], mentioned: Wish) -> None:
        self._asked = asked
        self._index = asked.index
        self._menu = menu
        self._names = NameLookup(asked.index, included_paths(asked.index, asked.plan))
        self._earlier = mentioned
        self._names.last = mentioned.targets
        self._names.answered = mentioned.is_question and mentioned.operation in RELATED
        self._wishes: list[Wish] = []
        self._missed: list[NotUnderstood] = []
        self._remarks: list[NotUnderstood] = []
        self._near: dict[str, list[str]] = {}

    def settled(self) -> Interpretation:
        """Return what stands when all was said."""
        wishes = [wish for wish in self._wishes if wish.operation is not Operation.NOTHING]
        if not wishes and not self._missed:
            # To a statement without a wish the answer names what could be said.
            return Interpretation(tuple(self._wishes[:1]), () if self._wishes else tuple(self._remarks))
        if self._missed:
            turns = any(narrows(missed.words) for missed in self._missed)
            kept = [
                wish
                for wish in wishes
                if wish.is_question or (not turns and wish.operation not in TAKES_AWAY)
            ]
            withheld = tuple(wish.words for wish in wishes if wish not in kept)
            self._missed[0] = self._missed[0].besides(withheld)
            wishes = kept
        return Interpretation(tuple(wishes), tuple(self._missed))

    def mentioned(self) -> Wish:
        """Return what the words were about last, or those before them where these name nothing."""
        last = self._names.last
        if last == self._earlier.targets and not any(wish.targets for wish in self._wishes):
            return self._earlier
        about = next((wish for wish in reversed(self._wishes) if wish.targets == last), None)
        return about or Wish(Operation.NOTHING, targets=last)

    @property
    def _before(self) -> Wish | None:
        """The wish before this one; the question of the words before these, where it is the first."""
        if self._wishes:
            return self._wishes[-1]
        return self._earlier if self._earlier.is_question else None

    def take_in(self, sentence: Sequence[Clause]) -> None:
        """Take a sentence in."""
        missed: list[NotUnderstood] = []
        for clause in sentence:
            if clause.is_unread:
                missed.append(NotUnderstood(clause.written(), (), _UNREAD))
                continue
            if self._understood(clause):
                continue
            problem = self._not_understood(clause)
            if not clause.is_asked and is_statement(clause.text):
                self._names.last = self._mentioned(clause) or self._names.last
                self._remarks.append(problem)
            else:
                missed.append(problem)
        if missed:
            self._missed += missed
            self._names.last = ()

    def _mentioned(self, clause: Clause) -> tuple[Referent, ...]:
        """Return what a statement names, which ``it`` means in the clause behind it."""
        found = (self._names.all_in(clause, held, Operation.WHOLE) for held in re.findall(HELD, clause.text))
        return tuple(target for each in found for target in each)

    def _understood(self, clause: Clause) -> bool:
        return any(self._takes(clause, phrase) for phrase in readings(clause))

    def _takes(self, clause: Clause, phrase: Phrase) -> bool:
        """Take a reading of a clause, if what it is about is known; say whether it was taken."""
        operation = phrase.operation
        if self._is_doubtful(clause, operation):
            return False
        if operation is Operation.SEARCH:
            return self._search(clause, phrase.words)
        if operation in _WITHOUT_NAME:
            self._takes_nameless(clause, operation, clause.written(phrase.words))
            return True
        self._names.referred = False
        targets = self._names.all_in(clause, phrase.words, operation, is_question=phrase.is_question)
        if operation in OF_FILES and not all(target.patterns for target in targets):
            # What a definition's file imports, or when it was changed, is another question.
            return False
        if not targets:
            return False
        is_question, before = phrase.is_question, self._before
        if before is not None and before.is_question and before.targets and _GOES_ON.match(clause.text):
            # "What about X?" after a question asks the same of X.
            operation, is_question = before.operation, True
        operation, is_question = as_asked_of(self._index, operation, is_question, targets)
        if self._is_said(operation, clause, targets):
            return True
        if self._is_of_the_answer(clause, targets):
            if operation is not Operation.WHOLE:
                return False
            # "Them" are what was asked for, not what it was asked of.
            operation = self._before.operation if self._before else operation
        self._names.last, self._names.answered = targets, is_question and operation in RELATED
        self._wishes.append(Wish(operation, is_question, targets, words=clause.written()))
        return True

    def _is_doubtful(self, clause: Clause, operation: Operation) -> bool:
        """Say whether words may well mean something else than an operation that they have the form of."""
        if operation in TAKES_AWAY - {Operation.OUTLINE} and clause.is_asked and not clause.is_begged:
            # "Drop the tests?" may ask whether that would be wise.
            return True
        before = self._wishes[-1] if self._wishes else None
        if before is None:
            return False
        if operation is Operation.OUT and clause.text.lower().startswith("not "):
            # "Drop this, not that" spares that.
            return before.is_question or before.operation in TAKES_AWAY
        # "The first one", after a question, is that of the answer.
        return operation is Operation.NUMBERS and before.is_question and not re.search(r"\d", clause.text)

    def _is_said(self, operation: Operation, clause: Clause, targets: tuple[Referent, ...]) -> bool:
        """Say whether a wish repeats the last one, or says of what it shows that it is needed."""
        if not self._wishes or not self._names.referred or self._wishes[-1].targets != targets:
            return False
        before = self._wishes[-1].operation
        return operation is before or (operation is Operation.WHOLE and before in _SHOWING)

    def _is_of_the_answer(self, clause: Clause, targets: tuple[Referent, ...]) -> bool:
        """Say whether "them" are the callers, tests and the like that were asked for just before."""
        before = self._before
        if before is None or not before.is_question or before.operation not in RELATED:
            return False
        return _THEM.search(clause.text) is not None and before.targets == targets

    def _not_understood(self, clause: Clause) -> NotUnderstood:
        if self._names.is_spent:
            return NotUnderstood(clause.written(), (), _TOO_MANY_NAMES)
        phrases = [phrase for phrase in readings(clause) if not phrase.is_bare]
        written = [clause.name(held) for held in re.findall(HELD, clause.text)]
        strange = [name for phrase in phrases for name in self._names.unknown_in(clause, phrase.words)][:1]
        unknown = strange or [name.strip(QUOTES) for name in written if not self._names.one(name)]
        close = self._nearest(unknown[0]) if unknown else []
        why = unknown_name(self._index, unknown[0], close) if unknown and phrases else ""
        named = (*written, *re.findall(r"[\w-]{4,}", clause.text), *close)
        about = next(filter(None, map(self._names.on_screen, named)), None)
        offered = nearest_sayings(clause, about, {phrase.operation for phrase in phrases}) if about else ()
        is_question = bool(strange) and phrases[0].is_question
        return NotUnderstood(clause.written(), offered, why, "".join(strange), is_question)

    def _nearest(self, name: str) -> list[str]:
        """Return what is spelled much like an unknown name, for the first of them."""
        if name not in self._near and len(self._near) < _MOST_NEAREST:
            self._near[name] = nearest(self._index, name)
        return self._near.get(name, [])

    def _search(self, clause: Clause, words: str) -> bool:
        """Take words that describe what is looked for, restrict nothing, and name nothing unknown."""
        names = re.findall(HELD, words)
        if not describes(words) or not all(self._names.one(clause.name(held)) for held in names):
            return False
        subject = subject_of(clause.written(words))
        self._wishes.append(Wish(Operation.SEARCH, subject=subject, words=clause.written()))
        return True

    def _takes_nameless(self, clause: Clause, operation: Operation, words: str) -> None:
        """Take a wish that is about no name."""
        wish = Wish(operation, operation is Operation.LEFT_OUT, words=clause.written())
        if operation is Operation.NUMBERS:
            self._names.last = menu_parts(self._index, words, self._menu)
            wish = wish._replace(targets=self._names.last, numbers=read_numbers(words)[0])
        elif operation is Operation.UNDO:
            wish = wish._replace(amount=read_steps(clause.text))
        elif operation is Operation.BUDGET:
            sizes = [each.amount for each in self._wishes if each.operation is Operation.BUDGET]
            base = sizes[-1] if sizes else self._asked.plan.budget
            if self._wishes and self._wishes[-1].operation is Operation.BUDGET:
                # Of two sizes the later one is meant, and "half" means that of what is there.
                self._wishes.pop()
                base = self._asked.plan.budget
            wish = wish._replace(amount=read_budget(clause.text, base) or base)
        elif operation is Operation.FINISH:
            self._wishes = [each for each in self._wishes if each.operation is not Operation.FINISH]
        self._wishes.append(wish)


_MOST_NEAREST: Final = 5
"""Unknown names of a message of which the nearest are named: each is held against all names there are."""
_TOO_MANY_NAMES: Final = "The message names too much to look all of it up; say it in several."
_UNREAD: Final = (
    f"At most {MOST_SENTENCES} sentences of {MOST_LETTERS} characters each are read; say it in fewer words."
)
_GOES_ON: Final = re.compile("what about ", re.IGNORECASE)
_THEM: Final = re.compile(r"\b(?:them|those|these)(?: all| in full| fully| completely)?$", re.IGNORECASE)
_SHOWING: Final = frozenset({Operation.BACK, Operation.MORE, Operation.OUTLINE})
_WITHOUT_NAME: Final = frozenset(
    {
        Operation.NUMBERS,
        Operation.BUDGET,
        Operation.FINISH,
        Operation.NOTHING,
        Operation.UNDO,
        Operation.LEFT_OUT,
    }
)
