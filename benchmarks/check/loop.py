"""A scripted agent that edits a definition alone, and then goes where the check's text sends it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from benchmarks.check.commits import Edit, Hunk, Past, patch_of, without
from benchmarks.check.forgotten import Case
from repo_map.check.check import check_changes
from repo_map.check.report import format_text
from repo_map.languages.registry import language_of
from repo_map.text import tokens

_MOST_ROUNDS: Final = 8
_AROUND: Final = 5
"""Lines above and below a place that the agent reads."""
_PLACE: Final = re.compile(r"(?:^|[\s(])([^\s:()`]+):(\d+)(?![\d.])(?:[^\n]*?\(also lines? ([\d, ]+))?", re.M)


class LoopRow(msgspec.Struct, frozen=True):
    """What came of a commit all of whose uses of one name were left as they were."""

    repo: str
    commit: str
    language: str
    kind: str
    name: str
    uses: int
    """Hunks that were left out."""
    mended: int
    """Of these, how many the agent came to."""
    rounds: int
    """Checks that it read, the one that told it nothing new included."""
    opened: int
    """Places that it looked at."""
    tokens: int
    """Of the texts of the checks and of the lines that it read at the places."""


def loop_row(past: Past, case: Case) -> LoopRow:
    """Return what the agent does: it knows what the check prints, and stops when that says nothing new."""
    left = {each.hunk: each.path for each in case.uses}
    seen: set[tuple[str, str]] = set()
    uses, rounds, opened, read = len(left), 0, 0, 0
    while rounds < _MOST_ROUNDS:
        edits = [
            _without(each, [hunk for hunk, path in left.items() if path == each.new]) for each in case.edits
        ]
        index = past.at(case.commit, edits)
        text = format_text(check_changes(index, patch_of(edits)))
        rounds, read = rounds + 1, read + tokens.count(text)
        mended: list[Hunk] = []
        is_news = False
        for path, line in _places(text):
            file = index.file_id(path)
            lines = index.sources.text(file).split("\n") if file is not None else []
            if not 0 < line <= len(lines) or (path, f"{line} {lines[line - 1]}") in seen:
                continue
            seen.add((path, f"{line} {lines[line - 1]}"))
            is_news, opened = True, opened + 1
            read += tokens.count("\n".join(lines[max(0, line - 1 - _AROUND) : line + _AROUND]))
            own = sorted((hunk for hunk, of in left.items() if of == path), key=lambda hunk: hunk.start)
            mended += (hunk for hunk in own if line in _lines(hunk, own))
        if not is_news:
            break
        left = {hunk: path for hunk, path in left.items() if hunk not in mended}
    done = uses - len(left)
    language = language_of(case.use.path)
    return LoopRow(
        past.repo, case.commit[:12], language, case.use.kind, case.use.name, uses, done, rounds, opened, read
    )


def _places(text: str) -> Iterator[tuple[str, int]]:
    """Yield the places that a text names: at the heads of its lines, and those that it leaves open."""
    for match in _PLACE.finditer(text.partition("\nTests: ")[0]):
        for line in (match[2], *re.findall(r"\d+", match[3] or "")):
            yield match[1], int(line)


def _without(edit: Edit, hunks: list[Hunk]) -> Edit:
    for hunk in sorted(hunks, key=lambda hunk: -hunk.start):
        edit = without(edit, hunk)
    return edit


def _lines(hunk: Hunk, left_out: list[Hunk]) -> range:
    """Return the lines of a hunk that was left out, in the file that lacks some."""
    grown = sum(len(each.removed) - len(each.added) for each in left_out if each.start < hunk.start)
    return range(hunk.start + grown + 1, hunk.start + grown + 1 + len(hunk.removed))
