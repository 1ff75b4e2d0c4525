"""Tasks with known answers: a goal, the commit before its fix, and what the fix edited."""

from __future__ import annotations

from pathlib import Path

import msgspec

from repo_map.errors import RepoMapError
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import LANGUAGES, TEXT

NOT_CODE = frozenset(
    each.name
    for each in (TEXT, *LANGUAGES.values())
    if each.role in (LanguageRole.PROSE, LanguageRole.MARKUP, LanguageRole.DATA)
)
"""Languages that hold prose or data, no functions."""


class TaskFileError(RepoMapError):
    """A file that holds no tasks; the message says which and why."""


class GoldSymbol(msgspec.Struct, frozen=True):
    """A function or class that the fix edited; lines are 1-based and inclusive."""

    file: str
    name: str
    kind: str
    """``function`` or ``class``."""
    start: int
    end: int
    sig_line: int
    leaf: str


class GoldSpan(msgspec.Struct, frozen=True):
    """Lines that the fix edited; an insertion stands between ``start`` and the line behind ``end``."""

    file: str
    start: int
    end: int
    insert: bool


class Task(msgspec.Struct, frozen=True):
    """One task of a task file (JSON lines); fields that are not listed here are ignored."""

    id: str
    repo: str
    """Owner and name: ``pallets/click``."""
    base_commit: str
    language: str = ""
    goal: str = ""
    gold_files: list[str] = []
    gold_symbols: list[GoldSymbol] = []
    gold_spans: list[GoldSpan] = []


def read_tasks(path: Path) -> list[Task]:
    """Read a task file, one JSON object a line.

    Raises:
        TaskFileError: it holds something else, or can't be read.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        why = (error.strerror or str(error)) if isinstance(error, OSError) else "it is no text"
        raise TaskFileError(f"The tasks can't be read from `{path}` ({why}); check the path.") from None
    tasks = []
    for number, line in enumerate(lines, 1):
        try:
            tasks += [msgspec.json.decode(line, type=Task)] if line.strip() else []
        except msgspec.MsgspecError as error:
            raise TaskFileError(f"Line {number} of `{path}` is no task ({error}); correct it.") from None
    return tasks
