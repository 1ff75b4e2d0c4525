"""What a feedback comes to: wishes, what was not understood, and what they change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from repo_map.feedback.amounts import EVERY_STEP
from repo_map.feedback.names import Referent
from repo_map.feedback.operations import Operation
from repo_map.feedback.suggestions import Suggestion
from repo_map.messages import one_line

_MOST_QUOTED: Final = 200
"""Characters of words that are quoted back."""


class Wish(NamedTuple):
    """One thing that was understood."""

    operation: Operation
    is_question: bool = False
    targets: tuple[Referent, ...] = ()
    numbers: tuple[int, ...] = ()
    """Of the menu."""
    amount: int = 0
    """Tokens of the budget, or changes to take back; ``EVERY_STEP`` for all."""
    subject: str = ""
    """What is looked for, in words."""
    words: str = ""
    """The words that wish it."""

    @property
    def text(self) -> str:
        """The wish in one short line: ``whole src/a.py``, ``callers? Session.send``, ``undo 2``."""
        is_all = self.operation is Operation.UNDO and self.amount == EVERY_STEP
        amount = "all" if is_all else str(self.amount or "")
        about = self.subject or amount or ",".join(map(str, self.numbers))
        about = about or " ".join(target.name for target in self.targets)
        return f"{self.operation}{'?' if self.is_question else ''} {about}".strip()


class NotUnderstood(NamedTuple):
    """One thing that was not, which changes nothing."""

    words: str
    nearest: tuple[Suggestion, ...]
    why: str = ""
    """What is wrong with it, where more is known than that it was not understood."""
    unknown: str = ""
    """The name in it that nothing bears, where the words themselves were understood."""
    is_question: bool = False
    """Whether it asks something about that name."""
    withheld: tuple[str, ...] = ()
    """What was understood, and is not done because of it."""

    def besides(self, withheld: Iterable[str]) -> NotUnderstood:
        """Return it with more that is not done because of it."""
        return self._replace(withheld=(*self.withheld, *withheld))

    @property
    def message(self) -> str:
        """One honest sentence, with what would be understood."""
        held = ", ".join(f"“{each}”" for each in self.withheld)
        also = f"Not done because of it: {held}." if held else ""
        words = one_line(self.words)
        words = words if len(words) <= _MOST_QUOTED else f"{words[: _MOST_QUOTED - 1].rstrip()}…"
        if self.unknown:
            undone = "answered" if self.is_question else "done"
            return " ".join(filter(None, (f"Not {undone}: “{words}”.", self.why, also)))
        would = ", ".join(f'"{each.say}"' for each in self.nearest)
        missed = f"Not understood, so nothing was changed by it: “{words}”."
        offer = f"Understood would be: {would}." if would else ""
        return " ".join(filter(None, (missed, self.why, also, offer)))


NOTHING_MENTIONED: Final = Wish(Operation.NOTHING)
"""What words were about last that named nothing."""


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
    wishes: tuple[Wish, ...] = ()
    not_understood: tuple[NotUnderstood, ...] = ()
    undo: int = 0
    """Changes to take back before all else; ``EVERY_STEP`` for all."""
    finish: bool = False
    """The context is accepted."""
    mentioned: Wish = NOTHING_MENTIONED
    """What the words were about, which "it" means in the next ones."""

    @property
    def changes(self) -> bool:
        """Whether anything is different afterwards."""
        return bool(self.updates or self.goal_addition or self.undo or self.finish)
