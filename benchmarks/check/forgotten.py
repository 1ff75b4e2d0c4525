"""Commits of which one use of what they take away, or ask more of, is left as it was."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from benchmarks.check.commits import Edit, Hunk, Past, hunks_of, is_code, patch_of, without
from repo_map.check.checking import check_changes
from repo_map.impact.findings import Finding
from repo_map.indexing.workers import read_forms, read_source
from repo_map.languages.kinds import CODE
from repo_map.languages.registry import language_of
from repo_map.limits import USUAL
from repo_map.parsing.forms import EITHER, PLACED, REST, Form
from repo_map.worktree.file_kinds import FileFlag, flags_of_path

_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*|--|;|\"\"\"|<!--)")
_HEAD: Final = re.compile(
    r"\b(?:def|class|func|fn|fun|function|interface|struct|enum|trait)\s+(?:\([^()]*\)\s*)?(?:self\.)?(\w+)"
    r"|^[-+]\s*(?:[\w<>\[\],.&*:]+\s+)+[&*]*(?:\w+::)?(\w+)\([^;]*$"
)
"""A line that may begin a definition."""
_MOST_LINES: Final = 3_000
"""Of a patch that is looked at."""
_LEAST: Final = 3
"""Letters of a name that is looked for."""


class Case(NamedTuple):
    """One use that is left out."""

    commit: str
    parent: str
    kind: str
    """``gone`` or ``arguments``."""
    name: str
    path: str
    hunk: Hunk
    edits: tuple[Edit, ...]


class Row(NamedTuple):
    """What came of it."""

    repo: str
    commit: str
    language: str
    kind: str
    path: str
    found: bool
    alarms: int
    """Places that are told of the commit as it is."""
    complete: bool
    seconds: float
    """For the check of the tree with the forgotten use, its own index apart."""


def cases_of(past: Past, reach: int) -> Iterator[Case]:
    """Yield a case of each commit that has one: the use with the smallest hash, so that none is chosen."""
    for commit, parent in past.commits(reach, _may_fit):
        edits = past.edits(commit, parent)
        found = list(_cases(commit, parent, edits))
        if found:
            yield min(found, key=lambda each: sha256(repr((each.path, each.hunk)).encode()).digest())


def _may_fit(patch: str) -> bool:
    """Tell whether a patch rewrites the head of a definition, and some other line that names it."""
    lines = patch.split("\n")
    if len(lines) > _MOST_LINES:
        return False
    removed = [line for line in lines if line.startswith("-")]
    heads = {line: found[1] or found[2] for line in removed if (found := _HEAD.search(line))}
    for head, name in heads.items():
        if len(name) >= _LEAST and f"+{head[1:]}" not in lines:
            pattern = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
            if any(line != head and line not in heads and pattern.search(line) for line in removed):
                return True
    return False


def _cases(commit: str, parent: str, edits: Sequence[Edit]) -> Iterator[Case]:
    code = [each for each in edits if is_code(each.path)]
    before, after = (
        _Names([(each.old, each.before) for each in code]),
        _Names([(each.new, each.after) for each in code]),
    )
    gone = {name for name in before.defined - after.defined if len(name) >= _LEAST}
    breaking = {
        name
        for name in before.forms.keys() & after.forms.keys()
        if _breaks(before.forms[name], after.forms[name])
    }
    for edit in code:
        if not edit.old or not edit.new:
            continue
        heads = before.heads.get(edit.old, frozenset())
        for hunk in hunks_of(edit):
            if any(line in heads for line in range(hunk.first + 1, hunk.first + 1 + len(hunk.removed))):
                continue
            for kind, names, form in (
                ("gone", gone, r"(?<![\w$]){}(?![\w$])"),
                ("arguments", breaking, r"(?<![\w$]){}\s*\("),
            ):
                for name in sorted(names):
                    if _uses(hunk, name, form, is_gone=kind == "gone"):
                        yield Case(commit, parent, kind, name, edit.new, hunk, tuple(edits))


def _uses(hunk: Hunk, name: str, form: str, *, is_gone: bool) -> bool:
    pattern = re.compile(form.format(re.escape(name)))
    removed = [line for line in hunk.removed if pattern.search(line) and not _is_text(line, name)]
    added = [line for line in hunk.added if pattern.search(line)]
    if is_gone:
        return bool(removed) and bool(hunk.added) and not added
    return len(removed) == 1 and len(added) == 1 and removed[0].strip() != added[0].strip()


def _is_text(line: str, name: str) -> bool:
    """Tell whether a name stands in a comment or a string of a line."""
    if _COMMENT.match(line):
        return True
    at = line.find(name)
    before = line[:at]
    return any(before.count(mark) % 2 for mark in "\"'`") or "//" in before or " # " in before


def _breaks(before: Sequence[Form], after: Sequence[Form]) -> bool:
    if len(before) != 1 or len(after) != 1:
        return False
    one, other = before[0].parameters, after[0].parameters
    least, most = _range(one)
    fewer, more = _range(other)
    return fewer > least or more < most


def _range(parameters: Sequence[object]) -> tuple[int, int]:
    placed = [each for each in parameters if each.kind in (EITHER, PLACED)]  # type: ignore[attr-defined]
    most = 99 if any(each.kind == REST for each in parameters) else len(placed)  # type: ignore[attr-defined]
    return sum(not each.is_optional for each in placed), most  # type: ignore[attr-defined]


class _Names:
    """What some sources define."""

    def __init__(self, sources: Sequence[tuple[str, str]]) -> None:
        sources = [(path, text) for path, text in sources if path]
        read = read_forms([(path, text.encode()) for path, text in sources], USUAL)
        self.forms: dict[str, list[Form]] = {}
        self.defined: set[str] = set()
        self.heads: dict[str, frozenset[int]] = {}
        for (path, text), forms in zip(sources, read, strict=True):
            is_test = bool(flags_of_path(path) & FileFlag.TEST)
            symbols = read_source(text.encode(), path, USUAL)
            heads: set[int] = set()
            for each in symbols.definitions:
                if each.kind in CODE:
                    heads.update(range(each.sig_start, each.sig_end + 1))
                    if not is_test:
                        self.defined.add(each.name.rpartition(".")[2])
            self.heads[path] = frozenset(heads)
            for form in forms.functions:
                if not is_test:
                    self.forms.setdefault(form.name, []).append(form)


def run_case(past: Past, case: Case) -> tuple[Row, tuple[Finding, ...], tuple[Finding, ...]]:
    """Return what the check says of the tree without the use, and of the commit as it is."""
    edits = [without(each, case.hunk) if each.new == case.path else each for each in case.edits]
    lines = {case.hunk.start + 1 + at for at in range(len(case.hunk.removed))}
    true = check_changes(past.at(case.commit), patch_of(case.edits))
    index = past.at(case.commit, edits)
    started = time.monotonic()
    checked = check_changes(index, patch_of(edits))
    seconds = time.monotonic() - started
    known = {(each.path, each.line, each.message) for each in true.findings}
    found = [each for each in checked.findings if each.path == case.path and each.line in lines]
    is_found = any((each.path, each.line, each.message) not in known for each in found)
    row = Row(
        past.repo,
        case.commit[:12],
        language_of(case.path),
        case.kind,
        case.path,
        is_found,
        len(true.findings),
        checked.complete,
        round(seconds, 2),
    )
    return row, true.findings, checked.findings
