"""Typed wishes: what a caller asks for in fields, which nothing has to read out of a sentence."""

from __future__ import annotations

from typing import Final, NamedTuple

from repo_map.feedback.operations import Operation

QUESTIONS: Final = {
    "callers": Operation.CALLERS,
    "tests": Operation.TESTS,
    "uses": Operation.USES,
    "definition": Operation.WHERE,
    "breaks": Operation.IMPACT,
    "imports": Operation.IMPORTS,
    "importers": Operation.IMPORTERS,
    "classes": Operation.CLASSES,
    "history": Operation.HISTORY,
    "why": Operation.WHY,
}
"""What can be asked of a name."""

Argument = int | str
"""A number of the menu; or a name, a path, a folder, a glob, ``path:lines`` or a kind such as ``tests``."""


class TypedWishes(NamedTuple):
    """What to show, what to leave out and what to answer, in the caller's order."""

    show: tuple[Argument, ...] = ()
    drop: tuple[Argument, ...] = ()
    ask: tuple[tuple[str, Argument], ...] = ()
    """A question of ``QUESTIONS``, and what it is about."""

    def __bool__(self) -> bool:
        return bool(self.show or self.drop or self.ask)

    @property
    def has_numbers(self) -> bool:
        """Whether any of it is a number of the menu."""
        return any(
            isinstance(each, int) for each in (*self.show, *self.drop, *(about for _, about in self.ask))
        )

    @property
    def summary(self) -> str:
        """All of it on one line, for the record of a step; nothing reads it back."""
        parts = [
            f"{name}: {', '.join(map(str, wanted))}"
            for name, wanted in (("show", self.show), ("drop", self.drop))
            if wanted
        ]
        return "; ".join((*parts, *(f"{question}: {about}" for question, about in self.ask)))


NO_WISHES: Final = TypedWishes()
