"""The results of runs: one JSON line each, so that a stopped benchmark resumes; and their report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from benchmarks.rows import RowFile, bootstrap


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


class Journal:
    """The results file of ``agents run``, of which the first row of each key counts."""

    def __init__(self, file: Path) -> None:
        self._kept = RowFile(file, RunRow)

    def rows(self) -> list[RunRow]:
        """Return the runs that are known, the first of each key, in their order."""
        first: dict[Key, RunRow] = {}
        for row in self._kept:
            first.setdefault(row.key, row)
        return list(first.values())

    def append(self, row: RunRow) -> None:
        """Add a run."""
        self._kept.append(row)


Measure = Callable[[RunRow], float]
MEASURES: dict[str, Measure] = {
    "solved": lambda row: float(row.solved),
    "model calls": lambda row: row.total("calls"),
    "fresh tokens": lambda row: row.total("fresh"),
    "cached tokens": lambda row: row.total("cached"),
    "tokens out": lambda row: row.total("out"),
    "US cents": lambda row: row.usd * 100,
    "seconds": lambda row: row.seconds,
}
_PAIRED = ("solved", "model calls", "fresh tokens", "US cents", "seconds")


def report(rows: Sequence[RunRow], against: str) -> str:
    """Return the whole report as Markdown; pairs are made with the variant ``against`` where it ran."""
    parts: list[str] = []
    for model in dict.fromkeys(row.key.model for row in rows):
        of_model = [row for row in rows if row.key.model == model]
        variants = list(dict.fromkeys(row.key.variant for row in of_model))
        parts += [f"## {model}", variant_table(of_model, variants)]
        parts += [
            pair_table(of_model, variant, against)
            for variant in variants
            if variant != against and against in variants
        ]
        parts.append(task_table(of_model, variants))
    return "\n\n".join(parts) + "\n"


def variant_table(rows: Sequence[RunRow], variants: Iterable[str]) -> str:
    """Return one line for each variant: how many runs it solved, and what a run took on average."""
    lines = [("variant", "runs", *MEASURES)]
    for variant in variants:
        runs = [row for row in rows if row.key.variant == variant]
        figures = [_mean(measure(row) for row in runs) for measure in MEASURES.values()]
        solved = f"{sum(row.solved for row in runs)} of {len(runs)}"
        lines.append((variant, str(len(runs)), solved, *map(_short, figures[1:])))
    return markdown(lines)


class Pair(NamedTuple):
    """A measure of one variant minus that of another, on the tasks that both ran."""

    difference: float
    low: float
    high: float


def paired(rows: Sequence[RunRow], variant: str, against: str, measure: Measure) -> Pair:
    """Return the mean difference with its 95 % bootstrap interval over tasks; repeats are averaged first."""
    mine, theirs = _by_task(rows, variant, measure), _by_task(rows, against, measure)
    differences = [mine[task] - theirs[task] for task in sorted(mine) if task in theirs]
    return Pair(_mean(differences), *bootstrap(differences))


def pair_table(rows: Sequence[RunRow], variant: str, against: str) -> str:
    """Return differences with intervals, and which tasks were won and lost."""
    lines = [("measure", f"{variant} − {against}", "95 % interval")]
    for name in _PAIRED:
        difference, low, high = paired(rows, variant, against, MEASURES[name])
        lines.append((name, _signed(difference), f"{_signed(low)} … {_signed(high)}"))
    mine, theirs = (_by_task(rows, each, MEASURES["solved"]) for each in (variant, against))
    both = [task for task in sorted(mine) if task in theirs]
    won = [task for task in both if mine[task] > theirs[task]]
    lost = [task for task in both if mine[task] < theirs[task]]
    return "\n".join(
        [
            f"**{variant}** against **{against}** on {len(both)} tasks\n",
            markdown(lines),
            "",
            f"Won {len(won)}: {', '.join(won) or '–'}. Lost {len(lost)}: {', '.join(lost) or '–'}. "
            f"Equal: {len(both) - len(won) - len(lost)}.",
        ]
    )


def task_table(rows: Sequence[RunRow], variants: Sequence[str]) -> str:
    """Return one line for each task: how many of the runs solved it, by variant."""
    lines = [("task", *variants)]
    for task in dict.fromkeys(row.key.task for row in rows):
        cells = []
        for variant in variants:
            runs = [row for row in rows if (row.key.task, row.key.variant) == (task, variant)]
            broken = any(row.failure for row in runs)
            cells.append(f"{sum(row.solved for row in runs)}/{len(runs)}{' (broke off)' if broken else ''}")
        lines.append((task, *cells))
    return markdown(lines)


def markdown(lines: Sequence[Sequence[str]]) -> str:
    """Return a table, the first line its head."""
    head, *body = lines
    rule = ["---"] * len(head)
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *body))


def _by_task(rows: Iterable[RunRow], variant: str, measure: Measure) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.key.variant == variant:
            values.setdefault(row.key.task, []).append(measure(row))
    return {task: _mean(each) for task, each in values.items()}


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return sum(every) / len(every) if every else 0.0


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 or value == 0 else f"{value:.3f}"


def _signed(value: float) -> str:
    return (
        f"{value:+,.0f}" if abs(value) >= 100 else f"{value:+.2f}" if abs(value) >= 0.1 else f"{value:+.3f}"
    )
