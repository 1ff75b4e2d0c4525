"""Commands: what a caller asks of a step, in fields or by one of a few fixed phrases.

Programs fill in fields. A person may write the phrases of ``_PHRASES`` instead, numbers of the outline, or
names; every phrase stands for a field. Anything else is not understood here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from repo_map.lookup.requests import OPERATIONS, Read, References, Request, parse_request, subjects

FORMS: Final = (
    "Say `3, 7` (numbers of the outline), a name or a path, `show X`, `drop X`, `search X`, `read X`, "
    "`callers of X`, `uses of X`, `tests of X`, `definition of X`, `history of X`, "
    "`budget 4000`, `undo` or `finish`; separate several by `;`. As fields: show, drop, ask."
)
"""The forms that are understood, as a message lists them."""
OF_FILES: Final = ("history", "imports", "importers")
"""Questions about files."""
QUESTIONS: Final = (*OPERATIONS, *OF_FILES)
"""What can be asked."""
UNDO_ALL: Final = 1_000
"""More changes than any navigation has."""
_MIN_BUDGET: Final = 100
_X: Final = "(?:the )?(?P<x>.+?)"
_PHRASES: Final = tuple(
    (command, re.compile(pattern, re.IGNORECASE))
    for command, pattern in (
        ("undo", r"undo(?: (?P<count>\d{1,3}|all))?"),
        ("finish", r"(?:finish|done)"),
        ("budget", r"budget (?P<size>\d[\d,_]*)(?P<thousand>k)?"),
        ("callers", rf"(?:callers of|who calls|who uses) {_X}"),
        ("uses", rf"where is {_X} used"),
        ("tests", rf"(?:tests (?:of|for)|which tests cover) {_X}"),
        ("uses", rf"(?:uses of|what breaks if (?:i|we) change) {_X}"),
        ("callees", rf"callees of {_X}"),
        ("callees", rf"what does {_X} (?:use|call)"),
        ("definition", rf"(?:definition of|where is) {_X}(?: defined)?"),
        ("importers", rf"(?:importers of|who imports) {_X}"),
        ("imports", rf"imports of {_X}"),
        ("implementations", rf"(?:implementations of|subclasses of|who implements) {_X}"),
        ("history", rf"history of {_X}"),
        ("search", rf"search(?: for)? {_X}"),
        ("read", rf"read {_X}"),
        ("outline", rf"outline(?: of)? {_X}"),
        ("show", rf"(?:show|add|bring back) {_X}"),
        ("drop", rf"(?:drop|leave out) {_X}"),
    )
)
_NUMBER: Final = r"#?\d{1,4}(?:\s*[-–]\s*\d{1,4})?"
_AND: Final = r"(?:\s*,\s*(?:and\s+)?|\s+and\s+)"
_NUMBERS: Final = re.compile(rf"{_NUMBER}(?:(?:{_AND}|\s+){_NUMBER})*")
_RANGE: Final = re.compile(r"(\d+)(?:\s*[-–]\s*(\d+))?")
_MAX_RANGE: Final = 500
_PARTS: Final = re.compile(r"[;\n]")

Argument = int | str
"""A number of the outline, or a name: a path, a folder, a glob, ``path:lines``, a kind such as ``tests``."""


class TypedWishes(NamedTuple):
    """What to show, what to leave out and what to answer, in the caller's order."""

    show: tuple[Argument, ...] = ()
    drop: tuple[Argument, ...] = ()
    ask: tuple[tuple[str, Argument | Request], ...] = ()
    """A question, and a request; of a question about files, what it is about."""

    def __bool__(self) -> bool:
        return bool(self.show or self.drop or self.ask)

    @property
    def has_numbers(self) -> bool:
        """Whether any of it is a number of the outline."""
        asked = (about for _, about in self.ask)
        return any(map(_means_number, (*self.show, *self.drop, *asked)))

    @property
    def summary(self) -> str:
        """All of it on one line, for the record of a step; nothing reads it back."""
        parts = [
            f"{name}: {', '.join(map(str, wanted))}"
            for name, wanted in (("show", self.show), ("drop", self.drop))
            if wanted
        ]
        return "; ".join((*parts, *(f"{question}: {subject_of(about)}" for question, about in self.ask)))


NO_WISHES: Final = TypedWishes()


def subject_of(about: Argument | Request) -> str:
    """Return what a question is about in few words."""
    return str(about) if isinstance(about, int | str) else ", ".join(subjects(about)) or "/"


def _means_number(about: Argument | Request) -> bool:
    """Return True for an entry of the outline by its number."""
    if isinstance(about, Read | References):
        return any(subject.isdecimal() for subject in subjects(about))
    return isinstance(about, int)


class Commands(NamedTuple):
    """What a text asks for."""

    typed: TypedWishes = NO_WISHES
    undo: int = 0
    """Changes to take back; ``UNDO_ALL`` for all."""
    finish: bool = False
    budget: int | None = None
    unread: tuple[str, ...] = ()
    """Parts that have none of the ``FORMS``."""


def read_commands(text: str, is_name: Callable[[str], bool]) -> Commands:
    """Return what a text asks for, part by part; parts are separated by ``;`` and line ends.

    Args:
        text: The caller's words.
        is_name: Tells whether a text names a file, a folder or a definition.
    """
    show, drop, ask = list[Argument](), list[Argument](), list[tuple[str, Argument | Request]]()
    found, unread = Commands(), list[str]()
    for part in filter(None, (each.strip(" \t.!?") for each in _PARTS.split(text))):
        command, groups = _phrase_of(part)
        about = groups.get("x") or ""
        if command == "undo":
            count = groups["count"] or "1"
            found = found._replace(undo=UNDO_ALL if count == "all" else found.undo + int(count))
        elif command == "finish":
            found = found._replace(finish=True)
        elif command == "budget" and (budget := _budget_of(groups)) >= _MIN_BUDGET:
            found = found._replace(budget=budget)
        elif command == "show":
            show += _arguments(about, is_name)
        elif command == "drop":
            drop += _arguments(about, is_name)
        elif about:
            ask.append((command, about if command in OF_FILES else parse_request(command, about)))
        elif all(isinstance(each, int) or is_name(each) for each in _arguments(part, is_name)):
            show += _arguments(part, is_name)
        else:
            unread.append(part)
    return found._replace(typed=TypedWishes(tuple(show), tuple(drop), tuple(ask)), unread=tuple(unread))


def has_numbers(text: str) -> bool:
    """Return True if any part of a text asks for numbers of the outline."""
    parts = (each.strip(" \t.!?") for each in _PARTS.split(text))
    return any(_NUMBERS.fullmatch(_phrase_of(part)[1].get("x") or part) for part in parts)


def read_numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a list such as ``1-3, 7 and 9``, each once in their order; none of other text."""
    if not _NUMBERS.fullmatch(text.strip()):
        return ()
    found: dict[int, None] = {}
    for first, last in _RANGE.findall(text):
        end = min(int(last or first), int(first) + _MAX_RANGE)
        found.update(dict.fromkeys(range(int(first), end + 1)))
    return tuple(found)


def _phrase_of(part: str) -> tuple[str, dict[str, str | None]]:
    """Return the command that a part is, and the groups of its pattern; ``""`` for none."""
    for command, pattern in _PHRASES:
        if match := pattern.fullmatch(part):
            return command, match.groupdict()
    return "", {}


def _budget_of(groups: dict[str, str | None]) -> int:
    return int(re.sub("[,_]", "", groups["size"] or "0")) * (1_000 if groups["thousand"] else 1)


def _arguments(text: str, is_name: Callable[[str], bool]) -> tuple[Argument, ...]:
    """Return the numbers or names of a list; a name may hold blanks and commas itself."""
    if (numbers := read_numbers(text)) or is_name(text):
        return numbers or (text,)
    return tuple(one for each in re.split(_AND, text) if each for one in (read_numbers(each) or (each,)))
