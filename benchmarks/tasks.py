"""Tasks with known answers: a goal, the commit before its fix, and what the fix edited."""

from __future__ import annotations

import re
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


_EDITED = re.compile(r"^--- a/(.*)$", re.MULTILINE)


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
    """Empty where the runs of it tell."""
    gold_files: list[str] = []
    gold_symbols: list[GoldSymbol] = []
    gold_spans: list[GoldSpan] = []
    source: str = ""
    """Where it comes from: ``… (fix commit ID)`` where one commit is its fix."""


class _Published(msgspec.Struct, frozen=True):
    """A task as SWE-bench and its kin publish it."""

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    patch: str = ""

    def task(self) -> Task:
        """Return it as a task; the files are those that its patch edits."""
        edited = list(dict.fromkeys(_EDITED.findall(self.patch)))
        return Task(self.instance_id, self.repo, self.base_commit, "Python", self.problem_statement, edited)


def read_tasks(path: Path) -> list[Task]:
    """Read a task file, one JSON object a line, of our own form or SWE-bench's.

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
            tasks += [_task(line)] if line.strip() else []
        except msgspec.MsgspecError as error:
            raise TaskFileError(f"Line {number} of `{path}` is no task ({error}); correct it.") from None
    return tasks


def _task(line: str) -> Task:
    if '"instance_id"' in line:
        return msgspec.json.decode(line, type=_Published).task()
    return msgspec.json.decode(line, type=Task)
