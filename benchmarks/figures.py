"""Means with their intervals, in a table."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from benchmarks.tasks import Task

SHOWN = (
    *("Acc@1", "Acc@5", "Acc@10", "body", "struct", "span", "full", "prec"),
    *("tokens", "seconds"),
)

_RESAMPLES = 1000


NAVIGATOR = "navigator"
"""Asked to fill its budget, so that it compares with others that do."""
SENT = "answer as sent"
"""The first answer as a host is sent it: its outline and all that stands around its code are counted."""


class Row(NamedTuple):
    """What one answer scored."""

    task: Task
    system: str
    budget: int
    measures: dict[str, float]
    surety: str = ""
    """How sure the navigator said that it is."""


def table(rows: Sequence[Row], by: str | None) -> str:
    """Return one line per system and budget, and per group if asked; ``±`` is half a 95 % interval."""
    lines = [_line(["system", "budget", "group", "n", *SHOWN, "over"])]
    for system, budget in dict.fromkeys((row.system, row.budget) for row in rows):
        answers = [row for row in rows if (row.system, row.budget) == (system, budget)]
        for group, members in [("all", answers), *(grouped(answers, by).items() if by else ())]:
            over = sum(row.measures["tokens"] > budget for row in members)
            figures = [_figure(members, name) for name in SHOWN]
            lines.append(_line([system, str(budget), group, str(len(members)), *figures, str(over)]))
    return "\n".join(lines)


def as_data(rows: Sequence[Row], by: str | None) -> list[dict[str, object]]:
    """Return what ``table`` shows, as one object per line; a measure is its mean and its interval."""
    lines: list[dict[str, object]] = []
    for system, budget in dict.fromkeys((row.system, row.budget) for row in rows):
        answers = [row for row in rows if (row.system, row.budget) == (system, budget)]
        for group, members in [("all", answers), *(grouped(answers, by).items() if by else ())]:
            measures = {
                name: {"mean": mean(members, name), "interval": interval(members, name)}
                for name in SHOWN
                if any(name in row.measures for row in members)
            }
            over = sum(row.measures["tokens"] > budget for row in members)
            message = {"system": system, "budget": budget, "group": group, "n": len(members), "over": over}
            lines.append({**message, "measures": measures})
    return lines


def grouped(rows: Iterable[Row], by: str) -> dict[str, list[Row]]:
    """Return the rows by language, by repository, or by how sure the navigator was; groups in order."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        group = row.surety if by == "surety" else str(getattr(row.task, by))
        if group:
            groups.setdefault(group, []).append(row)
    return dict(sorted(groups.items()))


def mean(rows: Iterable[Row], measure: str) -> float:
    """Return the mean of a measure over the tasks that have it."""
    values = [row.measures[measure] for row in rows if measure in row.measures]
    return sum(values) / len(values) if values else float("nan")


def interval(rows: Iterable[Row], measure: str) -> tuple[float, float]:
    """Return the 95 % interval of a measure's mean over the tasks that have it."""
    return bootstrap([row.measures[measure] for row in rows if measure in row.measures])


def bootstrap(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean (1,000 resamples, always the same ones)."""
    chance = random.Random(0)
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]


def _figure(rows: Sequence[Row], measure: str) -> str:
    value = mean(rows, measure)
    if measure == "tokens":
        return f"{value:.0f}"
    if measure == "seconds":
        return f"{value:.2f}"
    if measure in ("Acc@5", "body") and len(rows) > 1:
        low, high = interval(rows, measure)
        return f"{value:.3f} ±{(high - low) / 2:.2f}"
    return f"{value:.3f}"


def _line(cells: Sequence[str]) -> str:
    widths = (17, 7, 12, 5)
    return "  ".join(
        cell.ljust(widths[at]) if at < len(widths) else cell.rjust(11) for at, cell in enumerate(cells)
    )
