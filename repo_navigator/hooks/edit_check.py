"""The check of what a session edited: one at a time, and of several edits in a row the last one counts."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Final

from mcp_server.repository import require_allowed, work_tree
from mcp_server.settings import Settings
from repo_map.check.checking import check_changes
from repo_map.check.values import Checked
from repo_map.impact.findings import Finding, FindingKind, describe_fault, grouped
from repo_map.impact.git_changes import read_changes
from repo_map.impact.patches import Patch
from repo_map.impact.values import WORKTREE
from repo_map.index import RepoIndex, build_index
from repo_map.messages import one_line, without_markers
from repo_map.text import tokens
from repo_map.worktree import disk
from repo_navigator.hooks.findings import FoundByEdit, Line, keep_findings
from repo_navigator.hooks.sessions import Session, checking, session_at

_MOST_TRIES: Final = 3
"""Checks of one edit while files change that no hook is told of."""


def may_work(root: Path, settings: Settings) -> bool:
    """Tell whether a folder is the root of a work tree; raises ``RepoMapError`` where it may not be read."""
    if work_tree(root) != root:
        return False
    require_allowed(root, settings.allowed)
    return True


def check_edits(root: Path, session: Path, settings: Settings) -> None:
    """Keep what a session's edits break beside the session, until no edit comes any more.

    Raises:
        RepoMapError: the repository may not be read, or is none.
        OSError: something can't be written.
    """
    if not may_work(root, settings):
        return
    checked = 0
    # An edit that comes while this process lets go of its turn starts no other, so it looks once more.
    while session_at(session).edits != checked:
        try:
            with checking(session):
                checked = _check_last(root, session, settings)
        except BlockingIOError:
            return


def _check_last(root: Path, session: Path, settings: Settings) -> int:
    """Check until the last edit is, and return its number."""
    index = build_index(root, unmasked=settings.unmasked, limits=settings.limits)
    tries, last = 0, -1
    while True:
        now = session_at(session)
        tries, last = (tries + 1 if now.edits == last else 1), now.edits
        found = find_breaks(index, root, now)
        after = index.refresh()
        is_same = after.fingerprint == index.fingerprint
        index = after
        if session_at(session).edits != last:
            continue
        if is_same:
            keep_findings(session, found)
        if is_same or tries >= _MOST_TRIES:
            return last


def find_breaks(index: RepoIndex, root: Path, session: Session) -> FoundByEdit:
    """Return what the files that a session edited break, as they are now."""
    patch = _of_session(read_changes(index, WORKTREE)[1], session.edited)
    checked = check_changes(index, patch)
    certain = _certain(checked)
    lines = tuple(
        Line(text, tokens.count(f"{without_markers(text)}\n"), f"{each.path}\0{each.message}")
        for each, at in grouped(certain)
        for text in (one_line(describe_fault(each, at)),)
    )
    paths = tuple(sorted({*checked.changed, *(each.path for each in certain)}))
    return FoundByEdit(session.edits, lines, paths, tuple(disk.states(root, paths)))


def _of_session(patch: Patch, edited: Collection[str]) -> Patch:
    """Return what a session changed: what was changed before it is no news to it."""
    if "" in edited:
        return patch
    return patch._replace(
        files=tuple(each for each in patch.files if each.old in edited or each.new in edited)
    )


def _certain(checked: Checked) -> list[Finding]:
    """Return what holds: what seems gone may stand in a file that was not read, or that broke."""
    broken = [each for each in checked.findings if each.kind is FindingKind.UNPARSED]
    if broken or checked.left_open:
        return [each for each in broken if each.is_sure]
    return [each for each in checked.findings if each.is_sure]
