"""Checks of arguments, and the request of one turn; an error carries the name of its argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple, cast, get_args

from navigator.errors import InvalidArgumentError, InvalidRequestError
from navigator.settings import MAX_TOKEN_BUDGET, StepAction
from navigator.storage.state import can_be_stored
from repo_map.lookup.requests import LookupRequestError, Request, parse_request
from repo_map.secrets.masking import mask_text
from repo_map.steering.commands import NO_WISHES, OF_FILES, Argument, TypedWishes

MAX_WISHES: Final = 50
"""Entries of ``show``, ``drop`` and ``ask`` in one step, all together."""
_MAX_ENTRY_CHARS: Final = 500
_MAX_NUMBER: Final = 9_999
"""More entries than an outline has."""
MAX_FEEDBACK_CHARS: Final = 4_000


def map_texts(change: Callable[[str], str], value: Any, depth: int = 100) -> Any:
    """Return JSON with each text in it changed, names of fields included."""
    if isinstance(value, str):
        return change(value)
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, Mapping):
        return {change(str(name)): map_texts(change, each, depth - 1) for name, each in value.items()}
    return [map_texts(change, each, depth - 1) for each in value]


def require_storable(argument: str, value: object) -> None:
    """Raise ``InvalidArgumentError`` for a text within an argument of any shape that no database can hold.

    JSON can express NUL characters and unpaired surrogates.
    """

    def checked(text: str) -> str:
        if not can_be_stored(text):
            raise InvalidArgumentError(
                argument, "has a NUL character or an unpaired surrogate; leave out what is no text."
            )
        return text

    try:
        map_texts(checked, value)
    except ValueError as error:
        raise InvalidArgumentError(argument, f"is {error}.") from None


def require_goal(goal: str) -> str:
    """Return a goal that has words; raise ``InvalidArgumentError`` if it has none."""
    if not goal.strip():
        raise InvalidArgumentError("goal", "is empty; say in a sentence what you want to do in the code.")
    return goal


def require_token_budget(budget: int, minimum: int = 1) -> int:
    """Return a budget of tokens, from ``minimum`` to ``MAX_TOKEN_BUDGET``."""
    meaning = "how many tokens the context may take"
    return whole_number("token_budget", budget, MAX_TOKEN_BUDGET, meaning, minimum)


def whole_number(argument: str, value: int, maximum: int, meaning: str, minimum: int = 1) -> int:
    """Return a whole number from ``minimum`` to ``maximum``; raise ``InvalidArgumentError`` for another."""
    if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= maximum:
        raise InvalidArgumentError(
            argument, f"is {value}; give {meaning}: a whole number from {minimum} to {maximum}."
        )
    return value


def dollars_limit(value: Decimal | float) -> Decimal:
    """Return a limit in US dollars, above zero; raise ``InvalidArgumentError`` if it is none."""
    try:
        cost = Decimal("NaN") if isinstance(value, bool) else Decimal(str(value))
    except InvalidOperation:
        cost = Decimal("NaN")
    if not cost.is_finite() or cost <= 0:
        raise InvalidArgumentError(
            "max_cost_usd",
            f"is {value}; give a positive number of US dollars, or leave it out: "
            "the embedded planner costs nothing.",
        )
    return cost


def require_choice(argument: str, value: str, choices: object) -> None:
    """Raise ``InvalidRequestError`` for a value that is not among those of a ``Literal``."""
    names = [f"`{each}`" for each in get_args(choices)]
    if value not in get_args(choices):
        raise InvalidRequestError(
            f"The {argument} is `{value}`; choose {', '.join(names[:-1])} or {names[-1]}.",
            code=InvalidArgumentError.code,
            argument=argument,
        )


def require_length(argument: str, text: str, maximum: int, advice: str) -> None:
    """Refuse a text of more than ``maximum`` characters; raise ``InvalidRequestError`` if it is longer."""
    if len(text) > maximum:
        raise InvalidRequestError(
            f"The {argument} has {len(text)} characters, more than {maximum}; {advice}.",
            code=InvalidArgumentError.code,
            argument=argument,
        )


MAX_NAMES: Final = 20
"""Guessed names; more than about ten do not help."""
_MAX_GUESS_CHARS: Final = 100


def guessed_names(given: object) -> tuple[str, ...]:
    """Return the identifiers that a caller guesses, each once, secrets masked; a text is split at commas."""
    entries = given.split(",") if isinstance(given, str) else given
    if not isinstance(entries, list | tuple) or not all(isinstance(each, str) for each in entries):
        raise InvalidArgumentError("names", f'is {_clipped(given)}; give identifiers, as ["ask_rename"].')
    require_storable("names", entries)
    names = tuple(dict.fromkeys(mask_text(" ".join(each.split())) for each in entries if each.strip()))
    if len(names) > MAX_NAMES:
        raise InvalidArgumentError("names", f"has {len(names)} entries; the maximum is {MAX_NAMES}.")
    if (size := max(map(len, names), default=0)) > _MAX_GUESS_CHARS:
        raise InvalidArgumentError(
            "names", f"has an entry of {size} characters; the maximum is {_MAX_GUESS_CHARS}."
        )
    return names


def first_look_goal(goal: str, names: Sequence[str]) -> str:
    """Return what a first look searches for: the goal, and the names that the caller guesses."""
    return "\n\n".join(filter(None, (goal, ", ".join(names))))


class TurnRequest(NamedTuple):
    """What one turn is asked to do."""

    feedback: str = ""
    """The user's words."""
    wishes: TypedWishes = NO_WISHES
    """What the user asks in fields."""
    updates: Mapping[str, Any] | None = None
    action: StepAction = "continue"
    outline_step: int | None = None
    """The step whose outline its numbers mean; None for the latest."""

    @property
    def has_feedback(self) -> bool:
        """Whether words or fields steer the turn."""
        return bool(self.feedback or self.wishes)

    @property
    def summary(self) -> str:
        """The fields and the words, for the record of the step."""
        return "\n".join(filter(None, (self.wishes.summary, self.feedback)))


def turn_request(
    feedback: str | None = None,
    updates: Mapping[str, Any] | None = None,
    action: str | None = None,
    outline_step: int | None = None,
    *,
    show: object = None,
    drop: object = None,
    ask: object = None,
) -> TurnRequest:
    """Return what one turn is asked to do, checked; secrets are masked.

    ``show`` and ``drop`` are numbers of the outline of ``outline_step``, names, paths or globs, also one
    alone; ``ask`` has questions with their subjects, as ``{"callers": "Session.send"}``, also a list.
    """
    action = action or "continue"
    require_choice("action", action, StepAction)
    given = {"feedback": feedback, "updates": updates, "show": show, "drop": drop, "ask": ask}
    for argument, value in given.items():
        require_storable(argument, value)
    words = mask_text((feedback or "").strip())
    require_length("feedback", words, MAX_FEEDBACK_CHARS, "say it in a few sentences")
    wishes = _parse_wishes(show, drop, ask)
    return TurnRequest(words, wishes, updates, cast(StepAction, action), outline_step)


def _parse_wishes(show: object, drop: object, ask: object) -> TypedWishes:
    if not isinstance(ask, Mapping | None):
        raise InvalidArgumentError("ask", f'is {_clipped(ask)}; give questions, as {{"callers": "NAME"}}.')
    questions: list[tuple[str, Argument | Request]] = []
    for question, subject in (ask or {}).items():
        if question in OF_FILES:
            questions += [(question, each) for each in _parse_references("ask", subject)]
            continue
        values = subject if isinstance(subject, list) and question != "read" else [subject]
        try:
            questions += [
                (question, parse_request(str(question), map_texts(mask_text, each), OF_FILES))
                for each in values
            ]
        except LookupRequestError as error:
            raise InvalidArgumentError("ask", f"can't be answered: {error}") from None
    wishes = TypedWishes(_parse_references("show", show), _parse_references("drop", drop), tuple(questions))
    if len(wishes.show) + len(wishes.drop) + len(wishes.ask) > MAX_WISHES:
        raise InvalidArgumentError(
            "show", f"has, with `drop` and `ask`, more than {MAX_WISHES} entries; name folders instead."
        )
    return wishes


def _parse_references(argument: str, given: object) -> tuple[Argument, ...]:
    if given is None:
        return ()
    found: list[Argument] = []
    for each in given if isinstance(given, list | tuple) else (given,):
        if isinstance(each, bool) or not isinstance(each, int | str):
            raise InvalidArgumentError(
                argument, f"has {_clipped(each)}; give numbers of the outline, names, paths or `path:lines`."
            )
        if isinstance(each, int) and not 0 <= each <= _MAX_NUMBER:
            raise InvalidArgumentError(
                argument, f"has a number that is not in the outline, which goes to {_MAX_NUMBER}."
            )
        if len(text := str(each).strip()) > _MAX_ENTRY_CHARS:
            raise InvalidArgumentError(
                argument, f"has an entry of {len(text)} characters, more than {_MAX_ENTRY_CHARS}; give names."
            )
        if text:
            is_number = text.isdecimal() and len(text) <= len(str(_MAX_NUMBER))
            found.append(int(text) if is_number else mask_text(text))
    return tuple(found)


def _clipped(value: object) -> str:
    text = str(value) if isinstance(value, int | float) else repr(value)
    return f"`{text if len(text) <= 60 else f'{text[:57]}...'}`"
