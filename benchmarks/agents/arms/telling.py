"""What the attempts say: a table of the arms, and each arm paired with none."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.agents.arms.records import Arm, Attempt
from benchmarks.agents.report import markdown
from benchmarks.figures import bootstrap

_MEASURES: dict[str, Callable[[Attempt], float]] = {
    "solved": lambda row: float(row.solved),
    "model calls": lambda row: row.calls,
    "fresh tokens": lambda row: row.fresh,
    "US cents": lambda row: row.usd * 100,
    "seconds": lambda row: row.seconds,
}


def tell(rows: Sequence[Attempt]) -> str:
    """Return the report as Markdown."""
    head = ("agent", "arm", "attempts", "solved", "called the navigator", "its calls", "model calls")
    lines: list[tuple[str, ...]] = [
        (*head, "fresh tokens", "cached", "out", "US cents", "US cents a solved task")
    ]
    groups = list(dict.fromkeys((row.key.agent, row.key.arm) for row in rows))
    groups.sort(key=lambda group: (group[0], list(Arm).index(group[1])))
    for agent, arm in groups:
        mine = [row for row in rows if (row.key.agent, row.key.arm) == (agent, arm)]
        solved, cents = sum(row.solved for row in mine), 100 * sum(row.usd for row in mine)
        lines.append(
            (
                *(agent, arm.value, str(len(mine)), f"{solved} of {len(mine)}"),
                f"{sum(row.navigator_calls > 0 for row in mine)} of {len(mine)}",
                str(sum(row.navigator_calls for row in mine)),
                *(f"{sum(getattr(row, name) for row in mine) / len(mine):,.1f}" for name in ("calls",)),
                *(
                    f"{sum(getattr(row, name) for row in mine) / len(mine):,.0f}"
                    for name in ("fresh", "cached", "out")
                ),
                f"{cents / len(mine):.3f}",
                f"{cents / solved:.3f}" if solved else "–",
            )
        )
    pairs = [_paired(rows, agent, arm) for agent, arm in groups if arm is not Arm.WITHOUT]
    broken = [f"{row.key.task} {row.key.arm.value}: {row.failure}" for row in rows if row.failure]
    broke = "Broke off: " + "; ".join(broken) if broken else ""
    return "\n\n".join(part for part in (markdown(lines), *pairs, broke) if part) + "\n"


def _paired(rows: Sequence[Attempt], agent: str, arm: Arm) -> str:
    """Return an arm against none on the tasks that both tried; repeats are averaged first."""
    mine, without = (_by_task(rows, agent, each) for each in (arm, Arm.WITHOUT))
    both = [task for task in sorted(mine) if task in without]
    if not both:
        return ""
    lines = [("measure", f"{arm.value} − without", "95 % interval")]
    for name, measure in _MEASURES.items():
        gaps = [
            sum(map(measure, mine[task])) / len(mine[task])
            - sum(map(measure, without[task])) / len(without[task])
            for task in both
        ]
        low, high = bootstrap(gaps)
        lines.append((name, f"{sum(gaps) / len(gaps):+,.3f}", f"{low:+,.3f} … {high:+,.3f}"))
    return f"**{agent}**, {arm.value} against without, {len(both)} tasks\n\n{markdown(lines)}"


def _by_task(rows: Sequence[Attempt], agent: str, arm: Arm) -> dict[str, list[Attempt]]:
    found: dict[str, list[Attempt]] = {}
    for row in rows:
        if (row.key.agent, row.key.arm) == (agent, arm):
            found.setdefault(row.key.task, []).append(row)
    return found
