"""Whether an argument of a request can be used; a refusal carries it, for each surface to name."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, cast, get_args

from navigator.errors import InvalidArgumentError, InvalidRequestError
from navigator.settings import StepAction
from navigator.storage.state import can_be_stored
from repo_map.lookup.locations import LookupRequestError
from repo_map.lookup.requests import Request, parse_request
from repo_map.secrets.masking import mask_text
from repo_map.steering.commands import NO_WISHES, OF_FILES, Argument, TypedWishes

MAX_TOKEN_BUDGET = 2_000_000


def require_storable(argument: str, value: object) -> None:
    """Refuse texts that no database can hold, within an argument of any shape.

    Raises:
        InvalidArgumentError: one has a NUL character or an unpaired surrogate, which JSON can express.
    """
    if isinstance(value, Mapping):
        for name, each in value.items():
            require_storable(argument, name)
            require_storable(argument, each)
    elif isinstance(value, list | tuple):
        for each in value:
            require_storable(argument, each)
    elif isinstance(value, str) and not can_be_stored(value):
        raise InvalidArgumentError(
            argument, "has a NUL character or an unpaired surrogate; leave out what is no text."
        )


def require_goal(goal: str) -> str:
    """Return a goal that has words.

    Raises:
        InvalidArgumentError: it has none.
    """
    if not goal.strip():
        raise InvalidArgumentError("goal", "is empty; say in a sentence what you want to do in the code.")
    return goal


def require_token_budget(budget: int) -> int:
    """Return a budget of tokens, from 1 to ``MAX_TOKEN_BUDGET``.

    Raises:
        InvalidArgumentError: it is none.
    """
    return whole_number("token_budget", budget, MAX_TOKEN_BUDGET, "how many tokens the context may take")


def whole_number(argument: str, value: int, most: int, meaning: str) -> int:
    """Return a whole number from 1 to ``most``.

    Raises:
        InvalidArgumentError: it is none, or out of that range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise InvalidArgumentError(argument, f"is {value}; give {meaning}: a whole number from 1 to {most}.")
    return value


MOST_WISHES = 50
"""Entries of ``show``, ``drop`` and ``ask`` in one step, all together."""
_MOST_LETTERS = 500
"""Characters of one name."""


_MOST_NUMBER = 9_999
"""More places than an outline has."""


def parse_wishes(show: object = None, drop: object = None, ask: object = None) -> TypedWishes:
    """Return what a step is asked for in fields, secrets masked; a number may be written as text.

    Args:
        show: numbers of the outline, names, paths, globs; one of them alone too.
        drop: the same.
        ask: a question to what it is about, as ``{"callers": "Session.send"}``; a list asks about each.

    Raises:
        InvalidArgumentError: it is not to be understood.
    """
    if not isinstance(ask, Mapping | None):
        raise InvalidArgumentError("ask", f'is {_clipped(ask)}; give questions, as {{"callers": "NAME"}}.')
    questions: list[tuple[str, Argument | Request]] = []
    for question, about in (ask or {}).items():
        if question in OF_FILES:
            questions += [(question, each) for each in _references("ask", about)]
            continue
        values = about if isinstance(about, list) and question != "read" else [about]
        try:
            questions += [(question, parse_request(str(question), _masked(each))) for each in values]
        except LookupRequestError as error:
            raise InvalidArgumentError("ask", f"can't be answered: {error}") from None
    wishes = TypedWishes(_references("show", show), _references("drop", drop), tuple(questions))
    if len(wishes.show) + len(wishes.drop) + len(wishes.ask) > MOST_WISHES:
        raise InvalidArgumentError(
            "show", f"has, with `drop` and `ask`, more than {MOST_WISHES} entries; name folders instead."
        )
    return wishes


def _references(argument: str, given: object) -> tuple[Argument, ...]:
    if given is None:
        return ()
    entries = list(given) if isinstance(given, list | tuple) else [given]
    found: list[Argument] = []
    for each in entries:
        if isinstance(each, bool) or not isinstance(each, int | str):
            raise InvalidArgumentError(
                argument, f"has {_clipped(each)}; give numbers of the outline, names, paths or `path:lines`."
            )
        if isinstance(each, int) and not 0 <= each <= _MOST_NUMBER:
            raise InvalidArgumentError(
                argument, f"has a number that is not in the outline, which goes to {_MOST_NUMBER}."
            )
        if len(text := str(each).strip()) > _MOST_LETTERS:
            raise InvalidArgumentError(
                argument, f"has an entry of {len(text)} characters, more than {_MOST_LETTERS}; give names."
            )
        if text:
            is_number = text.isdecimal() and len(text) <= len(str(_MOST_NUMBER))
            found.append(int(text) if is_number else mask_text(text))
    return tuple(found)


def _masked(value: object) -> object:
    """Return a value of a question with the secrets in its texts masked."""
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, list | tuple):
        return [_masked(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): _masked(each) for name, each in value.items()}
    return value


def _clipped(value: object) -> str:
    text = str(value) if isinstance(value, int | float) else repr(value)
    return f"`{text if len(text) <= 60 else f'{text[:57]}...'}`"


def dollars_limit(value: Decimal | float) -> Decimal:
    """Return a limit in US dollars, above zero.

    Raises:
        InvalidArgumentError: it is none.
    """
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


MAX_FEEDBACK = 4_000
"""Characters of one message."""


class Feedback(NamedTuple):
    """What the user wants of a step, in words and in fields."""

    words: str = ""
    typed: TypedWishes = NO_WISHES

    def __bool__(self) -> bool:
        return bool(self.words or self.typed)

    def showing(self, numbers: tuple[int, ...]) -> Feedback:
        """Return it with numbers of the outline to show before all else."""
        return self._replace(typed=self.typed._replace(show=(*numbers, *self.typed.show)))

    @property
    def summary(self) -> str:
        """All of it, for the record of the step."""
        return "\n".join(filter(None, (self.typed.summary, self.words)))


class TurnRequest(NamedTuple):
    """What one turn is asked to do."""

    feedback: Feedback = Feedback()
    updates: Mapping[str, Any] | None = None
    action: StepAction = "continue"
    outline_step: int | None = None
    """The step whose outline its numbers mean; None for the latest."""


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
    """Return what one turn is asked to do, in words and in fields; secrets are masked.

    Raises:
        InvalidRequestError: it is not to be understood.
    """
    action = action or "continue"
    if action not in get_args(StepAction):
        raise InvalidRequestError(
            f"The action is `{action}`; choose `continue`, `finish` or `cancel`.",
            code=InvalidArgumentError.code,
            argument="action",
        )
    asked = {"feedback": feedback, "updates": updates, "show": show, "drop": drop, "ask": ask}
    for argument, value in asked.items():
        require_storable(argument, value)
    words = mask_text((feedback or "").strip())
    if len(words) > MAX_FEEDBACK:
        raise InvalidRequestError(
            f"The feedback has {len(words)} characters, more than {MAX_FEEDBACK}; say it in a few sentences.",
            code=InvalidArgumentError.code,
            argument="feedback",
        )
    given = Feedback(words, parse_wishes(show, drop, ask))
    return TurnRequest(given, updates, cast(StepAction, action), outline_step)
