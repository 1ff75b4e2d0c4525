"""What the check says of commits as they were made: all of it that is not so is a false alarm."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

import msgspec

from benchmarks.check.commits import Past, is_code, patch_of
from repo_map.check.checking import check_changes
from repo_map.languages.registry import language_of


class MadeRow(msgspec.Struct, frozen=True):
    """What is told of one commit."""

    repo: str
    commit: str
    language: str
    """That of most of its files of code."""
    alarms: tuple[str, ...]
    """``path:line kind name``."""


def made_rows(past: Past, reach: int, done: Container[str]) -> Iterator[tuple[MadeRow, tuple[str, ...]]]:
    """Yield a row of each commit that edits code, the latest first, those done aside as told."""
    for commit, parent in past.commits(reach):
        edits = past.edits(commit, parent) if commit[:12] not in done else []
        if not edits:
            continue
        languages = Counter(language_of(each.path) for each in edits if is_code(each.path))
        found = check_changes(past.at(commit), patch_of(edits)).findings
        alarms = tuple(f"{each.path}:{each.line} {each.kind} {each.name}" for each in found)
        told = tuple(f"{each.is_sure} {each.kind} {each.path}:{each.line} {each.message}" for each in found)
        yield MadeRow(past.repo, commit[:12], languages.most_common(1)[0][0], alarms), told
