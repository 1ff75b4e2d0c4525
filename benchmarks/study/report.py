"""The study's one report: what was tried, each arm against none, by kind of task, and every harmed task."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.agents.report import markdown
from benchmarks.study.analysis import (
    RATIOS,
    SPREADS,
    Interval,
    change,
    difference,
    least_change,
    least_gain,
    pairs,
    spread_of_none,
    whole_blocks,
)
from benchmarks.study.records import Arm, Attempt
from benchmarks.study.registration import Registration

_OTHERS = tuple(arm for arm in Arm if arm is not Arm.NONE)


def study_report(
    rows: Sequence[Attempt], registered: Registration, planned: int, left_out: Sequence[str] = ()
) -> str:
    """Return the report as Markdown.

    Args:
        rows: the attempts that were made.
        registered: what was written before them.
        planned: attempts that the study has.
        left_out: tasks whose tests decide nothing on this machine.
    """
    counted = whole_blocks(rows)
    usd = sum(row.usd for row in rows)
    parts = [
        f"{len(rows):,} of {planned:,} attempts were made, for ${usd:,.2f}; {len(counted):,} of them are of "
        f"repeats in which every arm was tried, and only these count. Registered on {registered.date}: the "
        f"one test is what {registered.primary} changes in cost against none; all else is told with its "
        "interval and tests nothing.",
    ]
    if left_out:
        parts.append(f"Left out, as their tests decide nothing here: {', '.join(left_out)}.")
    for host in dict.fromkeys(row.key.host for row in rows):
        mine = [row for row in counted if row.key.host == host]
        parts.append(f"## Host: {host}")
        if mine:
            parts += [_arms(mine), _against_none(mine), _by_stratum(mine), _harmed(mine, registered.harm)]
            seen = spread_of_none(mine)
            if not math.isnan(seen):
                parts.append(
                    "Between attempts without the navigator at one task, the logarithm of cost has a "
                    f"standard deviation of {seen:.2f}."
                )
    broken = [
        f"{row.key.task} {row.key.host} {row.key.arm.value}: {row.failure}" for row in rows if row.failure
    ]
    return "\n\n".join([*parts, *(["Broke off: " + "; ".join(broken)] if broken else [])]) + "\n"


def power_table(tasks: Sequence[int], repeats: int) -> str:
    """Return the smallest changes that are seen in four studies of five, for numbers of tasks."""
    head = (
        "tasks",
        *(f"fall in cost, spread {spread}" for spread in SPREADS),
        "more solved, at half solved",
    )
    lines: list[Sequence[str]] = [head]
    for number in tasks:
        falls = (f"{least_change(number, repeats, spread):.0%}" for spread in SPREADS)
        lines.append((str(number), *falls, f"{100 * least_gain(number, repeats):.0f} points"))
    return markdown(lines)


def _arms(rows: Sequence[Attempt]) -> str:
    lines: list[Sequence[str]] = [
        (
            *("arm", "attempts", "solved", "US cents", "model calls", "fresh tokens", "cached", "out"),
            *("called the navigator", "a hook spoke"),
        )
    ]
    for arm in Arm:
        mine = [row for row in rows if row.key.arm is arm]
        if not mine:
            continue
        means = (
            sum(values) / len(mine)
            for values in zip(*((100 * r.usd, r.calls, r.fresh, r.cached, r.out) for r in mine), strict=True)
        )
        cents, calls, *tokens = means
        used = (sum(row.navigator_calls > 0 for row in mine), sum(row.told > 0 for row in mine))
        lines.append(
            (
                *(arm.value, str(len(mine)), f"{sum(row.solved for row in mine)} of {len(mine)}"),
                *(f"{cents:.3f}", f"{calls:.1f}", *(f"{each:,.0f}" for each in tokens)),
                *(f"{each} of {len(mine)}" for each in used),
            )
        )
    return markdown(lines)


def _against_none(rows: Sequence[Attempt]) -> str:
    lines: list[Sequence[str]] = [("against none", "tasks", *RATIOS, "solved")]
    for arm in _OTHERS:
        if found := pairs(rows, arm):
            changes = (percent(change(found, measure)) for measure in RATIOS.values())
            lines.append((arm.value, str(len(found)), *changes, points(difference(found))))
    return markdown(lines)


def _by_stratum(rows: Sequence[Attempt]) -> str:
    lines: list[Sequence[str]] = [("tasks", "against none", "number", "cost", "solved")]
    for stratum in sorted({stratum for row in rows for stratum in row.strata}):
        own = [row for row in rows if stratum in row.strata]
        for arm in _OTHERS:
            if found := pairs(own, arm):
                cost = percent(change(found, RATIOS["cost"]))
                lines.append((stratum, arm.value, str(len(found)), cost, points(difference(found))))
    return markdown(lines)


def _harmed(rows: Sequence[Attempt], harm: float) -> str:
    lines = []
    for arm in _OTHERS:
        found = [pair for pair in pairs(rows, arm) if pair.is_harmed(harm)]
        told = (
            f"{pair.task} ({math.expm1(pair.log_ratio(RATIOS['cost'])):+.0%}, "
            f"{100 * pair.solved():+.0f} points)"
            for pair in found
        )
        lines.append(f"Harmed by {arm.value}: {', '.join(told) or 'none'}.")
    return "\n\n".join(lines)


def percent(found: Interval) -> str:
    """Return a change with its interval."""
    return f"{found.value:+.1%} ({found.low:+.1%} … {found.high:+.1%})".replace("%", " %")


def points(found: Interval) -> str:
    """Return a difference of shares with its interval."""
    value, low, high = (100 * each for each in found)
    return f"{value:+.1f} points ({low:+.1f} … {high:+.1f})"
