"""What a check of an edit finds."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from repo_map.check.tests_to_run import ChosenTest


class FindingKind(StrEnum):
    """What is wrong at a place."""

    GONE = "gone-name"
    """It uses a name that the change removed, renamed or moved."""
    UNDEFINED = "undefined-name"
    """It uses a name, new in the change, that nothing defines."""
    ARGUMENTS = "arguments"
    """It calls a function with values that do not fit what it takes."""
    OVERRIDE = "override"
    """It overrides or implements a method that is another now."""
    UNPARSED = "unparsed"
    """It is no source that its grammar reads, and was one before."""
    TEXT = "text"
    """Its text names what is gone."""
    COPY = "copy"
    """It is the copy of a definition that was edited, and still as that was."""


class Finding(NamedTuple):
    """A place that the change breaks, or forgot."""

    kind: FindingKind
    path: str
    line: int
    """1-based, in the tree after the change."""
    within: str
    """The definition that holds the place, qualified; ``""`` for the file's top."""
    name: str
    """What it is about, qualified."""
    message: str
    """What is wrong, without a full stop."""
    action: str
    """What to do about it, in the same way."""
    is_sure: bool
    """Whether what is written leads there; else a name that nothing else bears does."""
    cause: str = ""
    """Path and line, ``price.py:9``, of what was changed."""


class Checked(NamedTuple):
    """What is to be done after an edit."""

    findings: tuple[Finding, ...]
    """All of them: the surest first, then by path and line."""
    complete: bool
    """Whether nothing is known to have been left out."""
    left_open: tuple[str, ...]
    """Why it is not complete, a sentence each."""
    changed: tuple[str, ...]
    """Paths of the files that were edited."""
    tests: tuple[ChosenTest, ...] = ()
    """What to run, those that say most first."""
    command: str = ""
    """What runs just these, from the root; ``""`` where the set-up does not say how."""
