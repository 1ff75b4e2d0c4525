"""Read the changes that a request names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from navigator.errors import InvalidArgumentError
from navigator.planner.request import ChangeQuery
from repo_map.check.changes import find_changes
from repo_map.check.check import check_changes
from repo_map.check.git_diff import ChangesError, read_changes, require_git
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.patch import Patch
from repo_map.check.trees import compare_trees
from repo_map.messages import one_line

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.sources.source import FileSource

_MAX_NAMES: Final = 8
"""Changed definitions, or files, that make a goal if none was given."""
_MAX_NAME_CHARS: Final = 120
_MAX_FINDINGS: Final = 300
"""Findings that a navigation stores: its state is written at every step."""


def require_history(source: FileSource, query: ChangeQuery) -> None:
    """Raise ``InvalidArgumentError`` if a query needs git and no repository of a source is in git."""
    if query.since:
        try:
            require_git(source)
        except ChangesError as error:
            raise _unusable(error) from error


def _unusable(error: ChangesError) -> InvalidArgumentError:
    return InvalidArgumentError("changes", f"can't be used: {error}", code=error.code)


def resolve_changes(index: Index, goal: str, query: ChangeQuery) -> tuple[str, Changes]:
    """Return the goal that a navigation is about, and what was changed."""
    if not query:
        return goal, NO_CHANGES
    patch = query.patch
    if query.since:
        try:
            title, found = read_changes(index, query.since)
        except ChangesError as error:
            raise _unusable(error) from error
        nothing = () if found.files or found.notes else (f"Nothing was changed in {title}.",)
        patch = Patch((*patch.files, *found.files), notes=(*patch.notes, *found.notes, *nothing))
    if index.build.partial_files:
        # Breaks are unknown until the other files are indexed.
        changes = find_changes(compare_trees(index, patch), patch.notes)
    else:
        changes = check_changes(index, patch).changes
        changes = changes._replace(findings=changes.findings[:_MAX_FINDINGS])
    if not changes.parts and not changes.removed and query.goal_with_patch and not query.since:
        # A patch of another repository still says something in its words.
        return query.goal_with_patch, changes
    return goal or _goal_of(changes), changes


def _goal_of(changes: Changes) -> str:
    names = changes.names or tuple(dict.fromkeys(part.path for part in changes.parts))
    if not names:
        why = " ".join(changes.notes) or "It holds nothing that was changed."
        raise InvalidArgumentError(
            "changes", f"leads to no code: {why} Give a goal, or an earlier commit.", code="invalid_changes"
        )
    return "Review " + ", ".join(f"`{one_line(name)[:_MAX_NAME_CHARS]}`" for name in names[:_MAX_NAMES])
