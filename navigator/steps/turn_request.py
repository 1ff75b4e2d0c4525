"""What one turn is asked to do, checked before anything is read or loaded for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, cast, get_args

from navigator.errors import InvalidRequestError
from navigator.settings import StepAction
from repo_map.secrets.masking import mask_text

MAX_FEEDBACK = 4_000
"""Characters of one message."""


class TurnRequest(NamedTuple):
    """What one turn is asked to do."""

    words: str = ""
    updates: Mapping[str, Any] | None = None
    action: StepAction = "continue"
    menu_step: int | None = None
    """The step whose menu its numbers mean; None for the latest."""


def turn_request(
    feedback: str | None = None,
    updates: Mapping[str, Any] | None = None,
    action: str | None = None,
    menu_step: int | None = None,
) -> TurnRequest:
    """Return what one turn is asked to do; secrets in its words are masked.

    Raises:
        InvalidRequestError: it is not to be understood.
    """
    action = action or "continue"
    if action not in get_args(StepAction):
        raise InvalidRequestError(f"The action is `{action}`; choose `continue`, `finish` or `cancel`.")
    words = mask_text((feedback or "").encode("utf-8", "replace").decode("utf-8").strip())
    if len(words) > MAX_FEEDBACK:
        raise InvalidRequestError(
            f"The feedback has {len(words)} characters, more than {MAX_FEEDBACK}; say it in a few sentences."
        )
    return TurnRequest(words, updates, cast(StepAction, action), menu_step)
