"""Results as JSON lines: one run a line, so that a benchmark that was stopped goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from benchmarks.kept_rows import KeptRows


class StageRow(msgspec.Struct, frozen=True):
    """What one stage of a run took."""

    stage: str
    seconds: float
    calls: int
    fresh: int
    """Input tokens that were not read from a provider's cache."""
    cached: int
    out: int
    """Output tokens, thinking included."""


class Key(msgspec.Struct, frozen=True, order=True):
    """What makes a run this run and no other."""

    task: str
    variant: str
    model: str
    repeat: int
    knowledge_tokens: int
    max_rounds: int


class RunRow(msgspec.Struct, frozen=True):
    """One run: a task, solved or not, by one variant with one model."""

    key: Key
    kind: str
    language: str
    solved: bool
    """By the task's own tests, on a repository laid out anew."""
    rounds: int
    seconds: float
    usd: float
    failure: str
    """Why the workflow broke off; empty when it did not."""
    log: str
    """The end of the deciding tests' output."""
    stages: tuple[StageRow, ...]

    def total(self, measure: str) -> float:
        """Return the sum of a stage measure over the run."""
        return float(sum(getattr(stage, measure) for stage in self.stages))


class Keyed(Protocol):
    """A row that tells which run it is of."""

    @property
    def key(self) -> Any:
        """What makes a run this run and no other."""


Kind = TypeVar("Kind", bound=Keyed)


class RowJournal(Generic[Kind]):
    """A results file with rows of one kind, of which the first of each key counts."""

    def __init__(self, file: Path, kind: type[Kind]) -> None:
        self._kept = KeptRows(file, kind)

    def rows(self) -> list[Kind]:
        """Return the runs that are known, the first of each key, in their order."""
        first: dict[Any, Kind] = {}
        for row in self._kept:
            first.setdefault(row.key, row)
        return list(first.values())

    def append(self, row: Kind) -> None:
        """Add a run."""
        self._kept.append(row)


class Journal(RowJournal[RunRow]):
    """The results file of ``agents run``."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, RunRow)
