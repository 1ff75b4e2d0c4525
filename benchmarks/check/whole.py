"""What the check reports of commits as they were made, and which of their tests it chooses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator

import msgspec

from benchmarks.check.commits import Past, is_code, patch_of
from repo_map.check.affected_tests import MAX_TESTS, is_test_file, select_tests
from repo_map.check.changes import find_changes
from repo_map.check.check import changed_places, check_changes
from repo_map.check.trees import compare_trees
from repo_map.languages.registry import language_of
from repo_map.sources.file_kinds import FileFlag, flags_of_path, subject_stem


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


class TestsRow(msgspec.Struct, frozen=True):
    """One commit that edits code and tests."""

    repo: str
    commit: str
    edited: int
    """Files of tests that it edits and that were there before."""
    found: int
    """Of these, how many are among those chosen."""
    named: int
    """Of these, how many are among eight that are named after an edited file."""
    chosen: int
    of_name: int
    """How many are named so, eight at most."""


def test_rows(past: Past, reach: int) -> Iterator[TestsRow]:
    """Yield a row of each commit that fits; the tests stand in the tree as they were before it."""
    for commit, parent in past.commits(reach):
        edits = past.edits(commit, parent)
        tests = [each for each in edits if each.old == each.new and flags_of_path(each.path) & FileFlag.TEST]
        code = [each for each in edits if is_code(each.path) and not flags_of_path(each.path) & FileFlag.TEST]
        if not tests or not code:
            continue
        index = past.at(commit, [each._replace(after=each.before) for each in tests])
        wanted = {
            each.path
            for each in tests
            if (file := index.file_id(each.path)) is not None and is_test_file(index, file)
        }
        if not wanted:
            continue
        sides = compare_trees(index, patch_of(code))
        chosen = {
            each.path
            for each in select_tests(sides.after.index, changed_places(sides, find_changes(sides))).tests
        }
        subjects = {subject_stem(each.path) for each in code} - {""}
        named = [
            path
            for file, path in enumerate(index.paths)
            if subject_stem(path) in subjects and is_test_file(index, file)
        ][:MAX_TESTS]
        yield TestsRow(
            past.repo,
            commit[:12],
            len(wanted),
            len(wanted & chosen),
            len(wanted & set(named)),
            len(chosen),
            len(named),
        )
