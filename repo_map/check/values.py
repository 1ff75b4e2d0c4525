"""What a check of an edit finds."""

from __future__ import annotations

from typing import NamedTuple

from repo_map.check.tests_to_run import ChosenTest
from repo_map.impact.findings import Finding
from repo_map.impact.values import NOTHING, Changes


class Checked(NamedTuple):
    """What is to be done after an edit."""

    findings: tuple[Finding, ...]
    """All of them: the surest first, then by path and line."""
    left_open: tuple[str, ...]
    """Why something may be missing, a sentence each."""
    unclear: tuple[str, ...]
    """Names that are gone and stand where nothing written says whether they are meant, a sentence each."""
    changed: tuple[str, ...]
    """Paths of the files that were edited."""
    tests: tuple[ChosenTest, ...] = ()
    """What to run, those that say most first."""
    command: str = ""
    """What runs just these, from the root; ``""`` where the set-up does not say how."""
    changes: Changes = NOTHING
    """What was changed, with all of this."""

    @property
    def complete(self) -> bool:
        """Whether nothing is known to have been left out."""
        return not self.left_open and not self.unclear
