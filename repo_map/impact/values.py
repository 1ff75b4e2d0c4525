"""What was changed, as navigations keep it; light, so that a stored one is read without the engine."""

from __future__ import annotations

from typing import Final, NamedTuple

from repo_map.impact.findings import Finding

WORKTREE: Final = "worktree"
"""Names what is not committed yet."""
MOST_WORDS: Final = 2_000


class ChangedPart(NamedTuple):
    """A definition, or lines outside of any, that a change touches."""

    path: str
    name: str
    """Qualified; ``""`` for lines outside of definitions."""
    first: int
    """First line when it was read, 1-based."""
    last: int
    is_sure: bool = True
    """Whether its changed lines were found; else a hunk's header names it."""


class GoneName(NamedTuple):
    """A definition that a change takes away."""

    path: str
    """Of the file that had it."""
    name: str
    """Its last part."""
    successor: str = ""
    """What the change puts in its place, in words: a name, or the file that it went to."""
    owner: str = ""
    """What it was a member of, qualified; ``""`` where it was none, or that is not known."""


class Changes(NamedTuple):
    """What was changed; hashable, and read again against any later index."""

    parts: tuple[ChangedPart, ...] = ()
    gone: tuple[GoneName, ...] = ()
    notes: tuple[str, ...] = ()
    """What could not be placed, and what was only counted, a sentence each."""
    findings: tuple[Finding, ...] = ()
    """What the change was seen to break or forget when it was read."""
    tests: str = ""
    """The command that runs the tests that say most about it."""
    words: str = ""
    """Of the changed lines, the first ``MOST_WORDS`` characters: they tell what else the work is about."""
    left_open: tuple[str, ...] = ()
    """Why ``findings`` may lack something, a sentence each."""

    def __bool__(self) -> bool:
        return bool(self.parts or self.gone or self.notes)

    @property
    def names(self) -> tuple[str, ...]:
        """The changed definitions, each once."""
        named = (part.name for part in self.parts if part.name)
        return tuple(dict.fromkeys((*(gone.name for gone in self.gone), *named)))


NOTHING: Final = Changes()
