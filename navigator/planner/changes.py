"""Looks at what a request says was changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from navigator.errors import InvalidArgumentError
from navigator.planner.request import AskedChanges
from repo_map.check.changes import find_changes
from repo_map.check.check import check_changes
from repo_map.check.git_diff import ChangesError, read_changes
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.patch import Patch
from repo_map.check.trees import compare_trees
from repo_map.messages import one_line

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_NAMED = 8
"""Changed definitions, or files, that stand for a goal that was not given."""
_LONGEST_NAME = 120
_MOST_FINDINGS = 300
"""Places that a navigation keeps; more than that are no work of a moment."""


def resolve_changes(index: RepoIndex, goal: str, asked: AskedChanges) -> tuple[str, Changes]:
    """Return the goal that a navigation is about, and what was changed.

    Raises:
        InvalidArgumentError: git knows no such change, or nothing was changed and there is no goal.
    """
    if not asked:
        return goal, NO_CHANGES
    patch = asked.patch
    if asked.since:
        try:
            named, found = read_changes(index, asked.since)
        except ChangesError as error:
            raise InvalidArgumentError("changes", f"can't be used: {error}", code=error.code) from error
        nothing = () if found.files or found.notes else (f"Nothing was changed in {named}.",)
        patch = Patch((*patch.files, *found.files), notes=(*patch.notes, *found.notes, *nothing))
    if index.read_first:
        # What nobody has read yet can't be told to break.
        changes = find_changes(compare_trees(index, patch), patch.notes)
    else:
        changes = check_changes(index, patch).changes
        changes = changes._replace(findings=changes.findings[:_MOST_FINDINGS])
    if not changes.parts and not changes.removed and asked.stated and not asked.since:
        # A patch of another repository still says something in its words.
        return asked.stated, changes
    return goal or _goal_of(changes), changes


def _goal_of(changes: Changes) -> str:
    """Return the goal that what was changed stands for."""
    names = changes.names or tuple(dict.fromkeys(part.path for part in changes.parts))
    if not names:
        why = " ".join(changes.notes) or "It holds nothing that was changed."
        raise InvalidArgumentError(
            "changes", f"leads to no code: {why} Give a goal, or an earlier commit.", code="invalid_changes"
        )
    return "Review " + ", ".join(f"`{one_line(name)[:_LONGEST_NAME]}`" for name in names[:_NAMED])
