"""Typed references: the wishes that a caller gave in fields, with what each of their names means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import TYPE_CHECKING

from repo_map.feedback.answers import is_change, unknown_name
from repo_map.feedback.interpret import Interpretation
from repo_map.feedback.name_lookup import NameLookup
from repo_map.feedback.names import NamedDefinition, Referent, nearest
from repo_map.feedback.operations import Operation
from repo_map.feedback.related import as_asked_of
from repo_map.feedback.steering import NotUnderstood, Wish
from repo_map.feedback.typed import QUESTIONS, Argument, TypedWishes
from repo_map.feedback.wishes import is_left_out, targets_of, unknown_numbers
from repo_map.selection.exclusions import included_paths

if TYPE_CHECKING:
    from repo_map.feedback.answers import Asked


def resolve(
    asked: Asked, typed: TypedWishes, menu: Mapping[int, NamedDefinition], mentioned: Wish
) -> Interpretation:
    """Return wishes of fields as wishes; an unknown name is reported, and leaves the others as they are."""
    if not typed:
        return Interpretation((), (), mentioned)
    named = NameLookup(asked.index, included_paths(asked.index, asked.plan))
    found = [
        _resolved(asked, named, menu, operation=operation, field=field, about=about)
        for operation, field, about in _single(typed)
    ]
    wishes = tuple(chain(_of_the_menu(typed, menu), (each for each in found if isinstance(each, Wish))))
    missed = tuple(each for each in found if isinstance(each, NotUnderstood))
    return Interpretation(wishes, missed, wishes[-1] if wishes else mentioned)


def _of_the_menu(typed: TypedWishes, menu: Mapping[int, NamedDefinition]) -> Iterator[Wish]:
    """Yield the wish for the numbers to show, which are one."""
    numbers = tuple(dict.fromkeys(each for each in typed.show if isinstance(each, int)))
    if numbers:
        words = ", ".join(map(str, numbers))
        targets = targets_of(words, [menu[number] for number in numbers if number in menu])
        yield Wish(Operation.NUMBERS, targets=targets, numbers=numbers, words=words)


def _single(typed: TypedWishes) -> Iterator[tuple[Operation, str, Argument]]:
    """Yield every other wish once: its operation, the field it stands in, and what it is about."""
    for name in dict.fromkeys(each for each in typed.show if isinstance(each, str)):
        yield Operation.WHOLE, "show", name
    for about in dict.fromkeys(typed.drop):
        yield Operation.OUT, "drop", about
    for question, about in dict.fromkeys(typed.ask):
        yield QUESTIONS[question], question, about


def _resolved(
    asked: Asked,
    named: NameLookup,
    menu: Mapping[int, NamedDefinition],
    *,
    operation: Operation,
    field: str,
    about: Argument,
) -> Wish | NotUnderstood:
    is_question = operation not in (Operation.WHOLE, Operation.OUT)
    words = f"{field} {about}"
    if operation is Operation.IMPACT and isinstance(about, str) and is_change(about):
        return Wish(operation, is_question, (Referent(words, name=about),), words=words)
    if isinstance(about, int):
        targets = targets_of(words, [menu[about]] if about in menu else [])
        why = "" if targets else unknown_numbers((about,), menu)
    else:
        targets = tuple(filter(None, (named.of_argument(about, operation),)))
        why = "" if targets else unknown_name(asked.index, about, nearest(asked.index, about))
    if not targets:
        return NotUnderstood(words, (), why, str(about), is_question)
    if is_question:
        operation, _ = as_asked_of(asked.index, operation, is_question, targets)
    elif operation is Operation.WHOLE and all(is_left_out(asked, each) for each in targets):
        operation = Operation.BACK
    return Wish(operation, is_question, targets, words=words)
