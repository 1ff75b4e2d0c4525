"""Records of changes and checks. Importing them loads no part of the engine: stored ones are read fast."""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, NamedTuple

WORKTREE: Final = "worktree"
"""Names the changes that are not committed yet."""
MAX_WORDS_CHARS: Final = 2_000


class FindingKind(StrEnum):
    """What is wrong at a place."""

    UNPARSED = "unparsed"
    """The file parsed before the change and no longer parses."""
    REMOVED_NAME = "gone-name"
    """It uses a name that the change removed, renamed or moved."""
    UNDEFINED_NAME = "undefined-name"
    """It uses a name, new in the change, that nothing defines."""
    ARGUMENTS = "arguments"
    """It calls a function with arguments that do not match its parameters."""
    OVERRIDE = "override"
    """It overrides, implements or declares a function whose signature changed."""
    TEXT = "text"
    """A string contains the path of a removed file."""


BREAKING: Final = frozenset(FindingKind) - {FindingKind.TEXT}
"""Kinds of code that does not work as it is; the others are to be reviewed."""


class Finding(NamedTuple):
    """A place that the change breaks."""

    kind: FindingKind
    path: str
    line: int
    """1-based, in the tree after the change."""
    within: str
    """The qualified name of the definition around the place; ``""`` at the top of the file."""
    name: str
    """The qualified name of the symbol that it is about."""
    message: str
    """What is wrong, without a full stop."""
    action: str
    """What to do about it, without a full stop."""
    is_sure: bool = True
    """Whether the place is resolved to the changed symbol."""
    cause: str = ""
    """Path and line, ``price.py:9``, of what was changed."""


def finding_data(finding: Finding) -> dict[str, str | int | bool]:
    return {**finding._asdict(), "kind": str(finding.kind)}


class ChangedPart(NamedTuple):
    """A definition, or lines outside of any, that a change edits."""

    path: str
    name: str
    """Qualified; ``""`` for lines outside of definitions."""
    first: int
    """First line when the change was read, 1-based."""
    last: int


class RemovedName(NamedTuple):
    """A name that a change removes."""

    path: str
    """The file that defined it."""
    name: str
    """Its last part."""
    replacement: str = ""
    """What replaces it, for display: a name in backticks, or ``in `path```."""
    owner: str = ""
    """The qualified name of its class; ``""`` for a name at the top of a file."""


class Changes(NamedTuple):
    """A change by names, hashable, so that it can be stored and applied to any later index."""

    parts: tuple[ChangedPart, ...] = ()
    removed: tuple[RemovedName, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be followed, and what was only plural, a sentence each."""
    findings: tuple[Finding, ...] = ()
    """What the check found when the change was read."""
    tests: str = ""
    """The command that runs the selected tests."""
    words: str = ""
    """The first ``MAX_WORDS_CHARS`` characters of the changed lines, as further words of the goal."""
    limitations: tuple[str, ...] = ()
    """Why ``findings`` may be incomplete, a sentence each."""

    def __bool__(self) -> bool:
        return bool(self.parts or self.removed or self.notes)

    @property
    def names(self) -> tuple[str, ...]:
        """The removed and changed definitions, each once."""
        changed = (part.name for part in self.parts if part.name)
        return tuple(dict.fromkeys((*(each.name for each in self.removed), *changed)))


NO_CHANGES: Final = Changes()


class Tier(IntEnum):
    """Why a test is selected, the strongest reason first."""

    CHANGED = 0
    CALLS = 1
    """Resolved calls lead from it to a changed definition."""
    SAME_NAME = 2
    IMPORTS = 3
    """It imports the changed file."""


class SelectedTest(NamedTuple):
    """A test file to run after a change."""

    path: str
    names: tuple[str, ...]
    """Qualified names of the tests that reach the change; none for the whole file."""
    line: int
    """Of the first of them, 1-based."""
    tier: Tier
    reason: str
    """A few words."""


class Occurrence(NamedTuple):
    """A place where a changed name occurs and nothing resolves it."""

    name: str
    path: str
    line: int
    """1-based, in the tree after the change."""
    reason: str
    """Why it is not resolved, in a few words."""


class Unresolved(NamedTuple):
    """The occurrences of changed names that nothing resolves."""

    likeliest: tuple[Occurrence, ...] = ()
    """The likeliest uses first."""
    total: int = 0
    notes: tuple[str, ...] = ()
    """What could not be searched, a sentence each."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """What is unresolved, as sentences."""
        if not self.total:
            return self.notes
        shown = [f"`{each.name}` at {each.path}:{each.line} ({each.reason})" for each in self.likeliest]
        rest = f" and {self.total - len(shown):,} more" if self.total > len(shown) else ""
        verb = "occurrence of changed names is" if self.total == 1 else "occurrences of changed names are"
        return (f"{self.total:,} {verb} not resolved: {', '.join(shown)}{rest}.", *self.notes)


class CheckReport(NamedTuple):
    """The result of a check."""

    findings: tuple[Finding, ...]
    """All of them, by kind, path and line."""
    limitations: tuple[str, ...]
    """Why findings may be missing, a sentence each."""
    unresolved: Unresolved
    """Occurrences of removed and changed names that nothing resolves."""
    changed: tuple[str, ...]
    """Paths of the changed files."""
    tests: tuple[SelectedTest, ...] = ()
    """Tests to run, the strongest reason first."""
    command: str = ""
    """Runs just these from the root; ``""`` if the repository's configuration doesn't tell how."""
    changes: Changes = NO_CHANGES

    @property
    def complete(self) -> bool:
        return not self.limitations and not any(self.unresolved)
