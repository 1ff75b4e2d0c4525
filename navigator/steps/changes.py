"""What a request says was changed: by git's names, or as a patch, also one within the goal."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from navigator.errors import InvalidArgumentError
from repo_map.impact.patches import Patch, read_patch
from repo_map.impact.values import NOTHING, Changes
from repo_map.messages import one_line

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_NAMED = 8
"""Changed definitions, or files, that stand for a goal that was not given."""
_LONGEST_NAME = 120
_MOST_FINDINGS = 300
"""Places that a navigation keeps; more than that are no work of a moment."""


class AskedChanges(NamedTuple):
    """What is to be looked at, before the repository is."""

    since: str = ""
    """``worktree``, a commit or a range."""
    patch: Patch = Patch()
    """That was given as text."""
    stated: str = ""
    """The goal with the patch that stood in it, for one that is of another repository."""

    def __bool__(self) -> bool:
        return bool(self.since or self.patch.files or self.patch.notes)


def asked_changes(goal: str, changes: str) -> tuple[str, AskedChanges]:
    """Return the goal's words, and what it and ``changes`` ask to look at; secrets are masked in both.

    Raises:
        InvalidArgumentError: ``changes`` is a text of several lines that holds no patch.
    """
    within = read_patch(goal)
    words = within.rest.strip()
    stated = goal if within.files else ""
    if "\n" not in changes.strip():
        return words, AskedChanges(changes.strip(), within, stated)
    given = read_patch(changes)
    if not given.files and not given.notes:
        raise InvalidArgumentError(
            "changes", "holds no patch; give `worktree`, a commit, a range such as `main..HEAD`, or a patch."
        )
    both = Patch((*within.files, *given.files), notes=(*within.notes, *given.notes))
    return words, AskedChanges("", both, stated)


def look_at_changes(index: RepoIndex, goal: str, asked: AskedChanges) -> tuple[str, Changes]:
    """Return the goal that a navigation is about, and what was changed.

    Raises:
        InvalidArgumentError: git knows no such change, or nothing was changed and there is no goal.
    """
    from repo_map.check.checking import check_changes  # noqa: PLC0415 - most goals come without a change
    from repo_map.impact.changes import find_changes  # noqa: PLC0415 - as above
    from repo_map.impact.git_changes import ChangesError, read_changes  # noqa: PLC0415 - as above
    from repo_map.impact.sides import sides_of  # noqa: PLC0415 - as above

    if not asked:
        return goal, NOTHING
    patch = asked.patch
    if asked.since:
        try:
            named, found = read_changes(index, asked.since)
        except ChangesError as error:
            raise InvalidArgumentError("changes", f"can't be used: {error}") from error
        nothing = () if found.files or found.notes else (f"Nothing was changed in {named}.",)
        patch = Patch((*patch.files, *found.files), notes=(*patch.notes, *found.notes, *nothing))
    if index.read_first:
        # What nobody has read yet can't be told to break.
        changes = find_changes(sides_of(index, patch), patch.notes)
    else:
        changes = check_changes(index, patch).changes
        changes = changes._replace(findings=changes.findings[:_MOST_FINDINGS])
    if not changes.parts and not changes.gone and asked.stated and not asked.since:
        # A patch of another repository still says something in its words.
        return asked.stated, changes
    return goal or _goal_of(changes), changes


def _goal_of(changes: Changes) -> str:
    """Return the goal that what was changed stands for."""
    names = changes.names or tuple(dict.fromkeys(part.path for part in changes.parts))
    if not names:
        why = " ".join(changes.notes) or "It holds nothing that was changed."
        raise InvalidArgumentError("changes", f"leads to no code: {why} Give a goal, or an earlier commit.")
    return "Review " + ", ".join(f"`{one_line(name)[:_LONGEST_NAME]}`" for name in names[:_NAMED])
