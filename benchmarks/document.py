"""The figures of a measurement as tables for a document."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.figures import NAVIGATOR, Row, grouped, interval, mean

MEASURES = ("Acc@1", "Acc@5", "Acc@10", "body", "struct", "span")
_CLOSEST = "BM25 functions"
"""The search that comes closest; each language is held against it."""
_SURETIES = ("sure", "likely", "unsure", "nothing")


def document(sets: Mapping[str, Sequence[Row]]) -> str:
    """Return three tables in markdown: by budget and system, by language, and by how sure the report was."""
    together = [row for rows in sets.values() for row in rows]
    parts = [_by_budget("all", together), *(_by_budget(name, rows) for name, rows in sets.items())]
    heads = ["tasks", "budget", "system", *MEASURES, "tokens", "over"]
    tables = ["\n".join([_row(heads), _row(["---"] * len(heads)), *parts])]
    return "\n\n".join([*tables, _by_language(together), _by_surety(together)])


def _by_budget(name: str, rows: Sequence[Row]) -> str:
    lines = []
    for budget in sorted({row.budget for row in rows}):
        for system in dict.fromkeys(row.system for row in rows):
            members = _of(rows, system, budget)
            over = sum(row.measures["tokens"] > budget for row in members)
            cells = [f"{name} ({len(members)})", f"{budget:,}", system]
            figures = [_with_interval(members, measure) for measure in MEASURES]
            lines.append(_row([*cells, *figures, f"{mean(members, 'tokens'):,.0f}", str(over)]))
    return "\n".join(lines)


def _by_language(rows: Sequence[Row]) -> str:
    """Return Acc@5 and body of the navigator and of the closest search; ``<`` marks where it is worse."""
    budgets = sorted({row.budget for row in rows})
    heads = [
        "language",
        "tasks",
        *(f"{budget:,}: {name}" for budget in budgets for name in ("Acc@5", "body")),
    ]
    lines = [_row(heads), _row(["---"] * len(heads))]
    for language, members in grouped(rows, "language").items():
        cells = [language, str(len({row.task.id for row in members}))]
        for budget in budgets:
            ours, theirs = _of(members, NAVIGATOR, budget), _of(members, _CLOSEST, budget)
            cells += [_beside(mean(ours, name), mean(theirs, name)) for name in ("Acc@5", "body")]
        lines.append(_row(cells))
    return "\n".join(lines)


def _by_surety(rows: Iterable[Row]) -> str:
    """Return how often the answer was right, by what the report said of it."""
    heads = [
        "budget",
        "the report says",
        "tasks",
        "all files among the first 5",
        "all files shown",
        "all bodies shown",
    ]
    lines = [_row(heads), _row(["---"] * len(heads))]
    ours = [row for row in rows if row.system == NAVIGATOR]
    for budget in sorted({row.budget for row in ours}):
        groups = grouped(_of(ours, NAVIGATOR, budget), "surety")
        for surety in _SURETIES:
            members = groups.get(surety, [])
            figures = [f"{mean(members, name):.2f}" for name in ("Acc@5", "mention_all", "body_all")]
            if members:
                lines.append(_row([f"{budget:,}", surety, str(len(members)), *figures]))
    return "\n".join(lines)


def _of(rows: Iterable[Row], system: str, budget: int) -> list[Row]:
    return [row for row in rows if (row.system, row.budget) == (system, budget)]


def _with_interval(rows: Sequence[Row], measure: str) -> str:
    value = f"{mean(rows, measure):.3f}"
    if measure not in ("Acc@5", "body") or len(rows) < 2:
        return value
    low, high = interval(rows, measure)
    return f"{value} ±{(high - low) / 2:.2f}"


def _beside(ours: float, theirs: float) -> str:
    """Return both values, those of the search in brackets where there are any."""
    if math.isnan(theirs):
        return f"{ours:.2f}"
    return f"{ours:.2f}{' <' if ours < theirs else ''} ({theirs:.2f})"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
