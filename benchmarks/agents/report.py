"""What the runs say: a table of all variants, pairs on the same tasks, every task that was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from benchmarks.agents.journal import RunRow
from benchmarks.figures import bootstrap

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
        parts += [task_table(of_model, variants), stage_table(of_model, variants)]
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


def stage_table(rows: Sequence[RunRow], variants: Sequence[str]) -> str:
    """Return tokens and seconds of each stage, as means of a run, by variant."""
    lines = [("stage", *(f"{variant}: calls / tokens / s" for variant in variants))]
    for stage in stages_of(rows):
        cells = [
            f"{stage_mean(rows, variant, stage, 'calls'):.1f} / "
            f"{_short(sum(stage_mean(rows, variant, stage, kind) for kind in ('fresh', 'cached', 'out')))} / "
            f"{stage_mean(rows, variant, stage, 'seconds'):.2f}"
            for variant in variants
        ]
        lines.append((stage, *cells))
    return markdown(lines)


def stages_of(rows: Iterable[RunRow]) -> list[str]:
    """Return the stages in the order of the longest run."""
    named = [[stage.stage for stage in row.stages] for row in rows]
    order = sorted(named, key=len, reverse=True)
    return list(dict.fromkeys(stage for stages in order for stage in stages))


def stage_mean(rows: Iterable[RunRow], variant: str, stage: str, measure: str) -> float:
    """Return the mean of a stage's measure over the runs of a variant."""
    runs = [row for row in rows if row.key.variant == variant]
    total = sum(getattr(each, measure) for row in runs for each in row.stages if each.stage == stage)
    return float(total / len(runs)) if runs else 0.0


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
