"""Commits of which one use of what they take away, or ask more of, is left as it was."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

from benchmarks.check.commits import Edit, Hunk, Past, hunks_of, is_code, patch_of, without
from repo_map.check.check import check_changes
from repo_map.check.model import Finding
from repo_map.index.worker_pool import read_forms, read_source
from repo_map.languages.kinds import CODE
from repo_map.languages.registry import language_of
from repo_map.limits import DEFAULT
from repo_map.parsing.forms import EITHER, PLACED, REST, Form, ParameterForm
from repo_map.sources.file_kinds import FileFlag, flags_of_path

_COMMENT: Final = re.compile(r"\s*(?:#|//|/?\*|--|;|\"\"\"|<!--)")
_HEAD: Final = re.compile(
    r"\b(?:def|class|func|fn|fun|function|interface|struct|enum|trait|type)\s+(?:\([^()]*\)\s*)?(?:self\.)?(\w+)"
    r"|^[-+]\s*(?:[\w<>\[\],.&*:]+\s+)+[&*]*(?:\w+::)?(\w+)\([^;]*$"
)
"""A line that may begin a definition."""
_MOST_LINES: Final = 3_000
"""Of a patch that is looked at."""
_LEAST: Final = 3
"""Letters of a name that is looked for."""


class Use(NamedTuple):
    """A hunk that edits a use of what the commit takes away or asks more of."""

    kind: str
    """``gone`` or ``arguments``."""
    name: str
    path: str
    hunk: Hunk


class Case(NamedTuple):
    """A commit with such uses."""

    commit: str
    parent: str
    edits: tuple[Edit, ...]
    use: Use
    """The one that is left out: that with the smallest hash, so that nobody chooses it."""


class ForgottenRow(msgspec.Struct, frozen=True):
    """What came of the commit without one use."""

    repo: str
    commit: str
    language: str
    kind: str
    name: str
    path: str
    line: int
    """The first line of the use that was left out, in the tree without its edit."""
    found: bool
    alarms: tuple[str, ...]
    """What is told of the commit as it is: ``path:line kind name``."""
    complete: bool
    seconds: float
    """For the check of the tree with the forgotten use, its own index apart."""


def cases_of(past: Past, reach: int) -> Iterator[Case]:
    """Yield the commits that have uses, the latest first."""
    for commit, parent in past.commits(reach, _may_fit):
        if case := _case(commit, parent, past.edits(commit, parent)):
            yield case


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


def _case(commit: str, parent: str, edits: Sequence[Edit]) -> Case | None:
    code = [each for each in edits if is_code(each.path)]
    before = _Names([(each.old, each.before) for each in code])
    after = _Names([(each.new, each.after) for each in code])
    gone = {name for name in before.defined - after.defined if len(name) >= _LEAST}
    breaking = {
        name
        for name in before.forms.keys() & after.forms.keys()
        if _breaks(before.forms[name], after.forms[name])
    }
    uses: list[Use] = []
    for edit in code:
        heads = frozenset().union(*before.heads.get(edit.old, {}).values())
        for hunk in hunks_of(edit) if edit.old and edit.new else ():
            if any(line in heads for line in range(hunk.first + 1, hunk.first + 1 + len(hunk.removed))):
                continue
            for kind, names in (("gone", gone), ("arguments", breaking)):
                uses += (Use(kind, name, edit.new, hunk) for name in sorted(names) if _uses(hunk, name, kind))
    if not uses:
        return None
    use = min(uses, key=lambda each: sha256(repr((each.path, each.hunk)).encode()).digest())
    return Case(commit, parent, tuple(edits), use)


_FORMS: Final = {"gone": r"(?<![\w$]){}(?![\w$])", "arguments": r"(?<![\w$]){}\s*\("}


def _lines_using(hunk: Hunk, name: str, kind: str) -> list[int]:
    """Return the removed lines that use a name, counted from the hunk's first."""
    pattern = re.compile(_FORMS[kind].format(re.escape(name)))
    return [at for at, line in enumerate(hunk.removed) if pattern.search(line) and not _is_text(line, name)]


def _uses(hunk: Hunk, name: str, kind: str) -> bool:
    pattern = re.compile(_FORMS[kind].format(re.escape(name)))
    removed = _lines_using(hunk, name, kind)
    added = [line for line in hunk.added if pattern.search(line)]
    if kind == "gone":
        return bool(removed) and bool(hunk.added) and not added
    return len(removed) == len(added) == 1 and hunk.removed[removed[0]].strip() != added[0].strip()


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
    least, most = _range(before[0].parameters)
    fewer, more = _range(after[0].parameters)
    return fewer > least or more < most


def _range(parameters: Sequence[ParameterForm]) -> tuple[int, int]:
    placed = [each for each in parameters if each.kind in (EITHER, PLACED)]
    most = 99 if any(each.kind == REST for each in parameters) else len(placed)
    return sum(not each.is_optional for each in placed), most


class _Names:
    """What some sources define."""

    def __init__(self, sources: Sequence[tuple[str, str]]) -> None:
        sources = [(path, text) for path, text in sources if path]
        read = read_forms([(path, text.encode()) for path, text in sources], DEFAULT)
        self.forms: dict[str, list[Form]] = {}
        self.defined: set[str] = set()
        self.heads: dict[str, dict[str, frozenset[int]]] = {}
        """By path and name, the lines of the heads of what is defined."""
        for (path, text), forms in zip(sources, read, strict=True):
            is_test = bool(flags_of_path(path) & FileFlag.TEST)
            heads: dict[str, frozenset[int]] = {}
            for each in read_source(text.encode(), path, DEFAULT).definitions:
                if each.kind in CODE:
                    name = each.name.rpartition(".")[2]
                    lines = range(each.sig_start, each.sig_end + 1)
                    heads[name] = heads.get(name, frozenset()).union(lines)
                    if not is_test:
                        self.defined.add(name)
            self.heads[path] = heads
            for form in forms.functions:
                if not is_test:
                    self.forms.setdefault(form.name, []).append(form)


def without_use(past: Past, case: Case) -> tuple[ForgottenRow, tuple[Finding, ...], tuple[Finding, ...]]:
    """Return what the check says of the tree without the use, and of the commit as it is."""
    use = case.use
    edits = [without(each, use.hunk) if each.new == use.path else each for each in case.edits]
    lines = {use.hunk.start + 1 + at for at in range(len(use.hunk.removed))}
    true = check_changes(past.at(case.commit), patch_of(case.edits))
    index = past.at(case.commit, edits)
    started = time.monotonic()
    checked = check_changes(index, patch_of(edits))
    seconds = time.monotonic() - started
    known = {(each.path, each.line, each.message) for each in true.findings}
    found = [each for each in checked.findings if each.path == use.path and each.line in lines]
    row = ForgottenRow(
        past.repo,
        case.commit[:12],
        language_of(use.path),
        use.kind,
        use.name,
        use.path,
        min(lines),
        any((each.path, each.line, each.message) not in known for each in found),
        tuple(f"{each.path}:{each.line} {each.kind} {each.name}" for each in true.findings),
        checked.complete,
        round(seconds, 2),
    )
    return row, true.findings, checked.findings
