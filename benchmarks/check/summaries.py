"""What the rows of the measurements of the check come to, as tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from benchmarks.check.forgotten import ForgottenRow
from benchmarks.check.whole import MadeRow, TestsRow
from benchmarks.rows import RowFile

_READ: Final = Path(__file__).with_name("read.jsonl")
"""What was found by reading commits."""
_Row = TypeVar("_Row", ForgottenRow, MadeRow)


class ReadPlace(msgspec.Struct, frozen=True):
    """A place of a row that somebody read."""

    repo: str
    commit: str
    place: str
    """``path:line``."""
    is_true: bool
    """Of an alarm, whether what it says is so; of a miss, whether it is a use of what is gone."""
    why: str


class _Read:
    """The places that were read."""

    def __init__(self) -> None:
        self._known = {(row.repo, row.commit, row.place): row.is_true for row in RowFile(_READ, ReadPlace)}

    def is_use(self, row: ForgottenRow, place: str) -> bool:
        return self._known.get((row.repo, row.commit, place), True)

    def is_false(self, row: ForgottenRow | MadeRow, alarm: str) -> bool:
        return not self._known.get((row.repo, row.commit, alarm.partition(" ")[0]), False)


def forgotten_summary(rows: Sequence[ForgottenRow]) -> str:
    """Return a table by language: what was read as no use is no miss, and what was read as true no alarm."""
    read = _Read()

    def line(own: Sequence[ForgottenRow]) -> tuple[int | str, ...]:
        uses = [row for row in own if row.found or read.is_use(row, f"{row.path}:{row.line}")]
        told = [(row, alarm) for row in own for alarm in row.alarms]
        false = sum(read.is_false(row, alarm) for row, alarm in told)
        found, count = sum(row.found for row in uses), len(own)
        return count, len(uses), found, _share(found, len(uses)), len(told), false, _share(false, count)

    return _table("commits uses found share told false a-commit", rows, line)


def made_summary(rows: Sequence[MadeRow]) -> str:
    """Return a table by language of what is told of commits as they were made."""
    read = _Read()

    def line(own: Sequence[MadeRow]) -> tuple[int | str, ...]:
        told = [(row, alarm) for row in own for alarm in row.alarms]
        false = sum(read.is_false(row, alarm) for row, alarm in told)
        return len(own), sum(bool(row.alarms) for row in own), len(told), false, _share(false, len(own))

    return _table("commits told-of places false a-commit", rows, line)


def tests_summary(rows: Sequence[TestsRow]) -> str:
    """Return how many of the tests that commits edit are chosen, against those of the same name alone."""
    edited = sum(row.edited for row in rows)
    lines = [f"{len(rows)} commits, which edit {edited} files of tests"]
    for what, found, chosen in (
        ("chosen", [row.found for row in rows], sum(row.chosen for row in rows)),
        ("of the same name", [row.named for row in rows], sum(row.of_name for row in rows)),
    ):
        hit = sum(map(bool, found))
        lines.append(
            f"{what}: {sum(found)} of them ({_share(sum(found), edited)}), precision "
            f"{_share(sum(found), chosen)}, at least one in {hit} commits ({_share(hit, len(rows))})"
        )
    return "\n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part / max(whole, 1):.2f}"


def _table(heads: str, rows: Sequence[_Row], line: Callable[[Sequence[_Row]], tuple[int | str, ...]]) -> str:
    names = [each.replace("-", " ") for each in ("language", *heads.split())]
    return "\n".join(_lines(names, rows, line))


def _lines(
    names: Sequence[str], rows: Sequence[_Row], line: Callable[[Sequence[_Row]], tuple[int | str, ...]]
) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield "|---" * len(names) + "|"
    for language in (*sorted({row.language for row in rows}), ""):
        own = [row for row in rows if not language or row.language == language]
        yield f"| {language or 'all'} | {' | '.join(map(str, line(own)))} |"
