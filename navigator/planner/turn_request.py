"""What one turn is asked to do, checked before anything is read or loaded for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

from navigator.errors import InvalidArgumentError, InvalidRequestError
from navigator.planner.arguments import require_storable, typed_wishes
from navigator.settings import StepAction
from repo_map.secrets.masking import mask_text
from repo_map.steering.commands import NO_WISHES, TypedWishes

MAX_FEEDBACK = 4_000
"""Characters of one message."""


class Feedback(NamedTuple):
    """What the user wants of a step, in words and in fields."""

    words: str = ""
    typed: TypedWishes = NO_WISHES

    def __bool__(self) -> bool:
        return bool(self.words or self.typed)

    def showing(self, numbers: tuple[int, ...]) -> Feedback:
        """Return it with numbers of the menu to show before all else."""
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
    menu_step: int | None = None
    """The step whose menu its numbers mean; None for the latest."""


def turn_request(
    feedback: str | None = None,
    updates: Mapping[str, Any] | None = None,
    action: str | None = None,
    menu_step: int | None = None,
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
    given = Feedback(words, typed_wishes(show, drop, ask))
    return TurnRequest(given, updates, cast(StepAction, action), menu_step)
