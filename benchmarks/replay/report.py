"""The tables of the replay, in Markdown."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence

from benchmarks.agents.report import markdown
from benchmarks.figures import NAVIGATOR, SENT, bootstrap
from benchmarks.replay.pricing import Prices
from benchmarks.replay.replaying import IDEAL, NOTHING, Facts, Row

CAVEAT = (
    "A replay can't see whether a task would have been solved, nor whether the agent would have done the "
    "rest as it did: it prices the same run with a packet in its first prompt and some look-ups less."
)
Measure = Callable[[Row], float]


def strict(row: Row) -> float:
    """Return the change in cost by the strict rule."""
    return row.change()


def generous(row: Row) -> float:
    """Return the change in cost by the generous rule."""
    return row.change(generous=True)


def report(rows: Sequence[Row], prices: Prices) -> str:
    """Return the whole report."""
    if not rows:
        return "There is nothing to replay: no task has both a run and an answer."
    return "\n\n".join(
        [
            CAVEAT,
            f"US dollars for a million tokens: {prices.write:g} written, {prices.read:g} read from the "
            f"cache, {prices.out:g} answered.",
            _runs([row.facts for row in rows if row.facts]),
            _held(rows),
            _costs(rows),
            _pairs(rows),
            *_harmed(rows),
        ]
    )


def arms(rows: Iterable[Row]) -> list[tuple[str, int]]:
    """Return what was measured, system by system, small budgets first."""
    order = (IDEAL, SENT, NAVIGATOR)
    found = {(row.system, row.budget) for row in rows if row.system != NOTHING}
    return sorted(found, key=lambda arm: (order.index(arm[0]) if arm[0] in order else len(order), *arm))


def of(rows: Iterable[Row], arm: tuple[str, int]) -> list[Row]:
    """Return the rows of one system at one budget."""
    return [row for row in rows if (row.system, row.budget) == arm]


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    every = list(values)
    return sum(every) / len(every) if every else 0.0


def _runs(facts: Sequence[Facts]) -> str:
    """Return what the runs are like without any packet."""
    lines: list[tuple[str, str]] = [("the runs as they were", f"{len(facts)} tasks")]
    for name, value in (
        ("calls", lambda fact: fact.calls),
        ("calls before the first edit", lambda fact: fact.before_first_edit),
        ("look-ups", lambda fact: fact.look_ups),
        ("files read before the first edit", lambda fact: fact.files_before_first_edit),
        ("tokens that look-ups brought before the first edit", lambda fact: fact.tokens_before_first_edit),
    ):
        lines.append((f"{name}, median", f"{statistics.median(map(value, facts)):,.0f}"))
    placed, unplaced = sum(fact.placed for fact in facts), sum(fact.unplaced for fact in facts)
    lines += [
        ("share of the cost before the first edit, median", _percent(_middle(facts))),
        ("commands that could be taken apart", _percent(_ratio(facts, "read", "commands"))),
        ("shown lines of named files found in the tree", _percent(placed / max(1, placed + unplaced))),
        (
            "runs of which every edited file was seen being edited",
            _percent(mean(f.edits_seen for f in facts)),
        ),
        ("cost a run as billed", f"${mean(fact.usd_billed for fact in facts):.3f}"),
        ("cost by the model, recorded cache", f"${mean(fact.usd_recorded for fact in facts):.3f}"),
        ("cost by the model, perfect cache", f"${mean(fact.usd for fact in facts):.3f}"),
    ]
    return markdown(lines)


def _held(rows: Sequence[Row]) -> str:
    """Return what the packets hold, as means of the tasks' shares."""
    head = ("system", "budget", "tasks", "tokens", "read before first edit", "read before last edit")
    lines = [(*head, "edited files", "edited lines")]
    for arm in arms(rows):
        mine = of(rows, arm)
        lines.append(
            (
                *(arm[0], _budget(arm), str(len(mine)), f"{mean(row.tokens for row in mine):,.0f}"),
                _share(mine, lambda row: (row.first_held, row.first_lines)),
                _share(mine, lambda row: (row.all_held, row.all_lines)),
                _share(mine, lambda row: (row.edited_files_held, row.edited_files)),
                _share(mine, lambda row: (row.edited_lines_held, row.edited_lines)),
            )
        )
    return "What the packet holds (means of the tasks' shares):\n\n" + markdown(lines)


def _costs(rows: Sequence[Row]) -> str:
    """Return what the packets would have changed."""
    head = ("system", "budget", "look-ups replaced, strict", "generous", "cost, strict", "cost, generous")
    lines = [(*head, "cost, strict, recorded cache", "dearer, strict", "dearer, generous")]
    for arm in arms(rows):
        mine = of(rows, arm)
        look_ups = sum(row.look_ups for row in mine)
        lines.append(
            (
                *(arm[0], _budget(arm)),
                _percent(sum(row.strict_dropped for row in mine) / max(1, look_ups)),
                _percent(sum(row.generous_dropped for row in mine) / max(1, look_ups)),
                _interval([row.change() for row in mine]),
                _interval([row.change(generous=True) for row in mine]),
                _interval([row.recorded_change() for row in mine]),
                f"{sum(row.change() > 0 for row in mine)} of {len(mine)}",
                f"{sum(row.change(generous=True) > 0 for row in mine)} of {len(mine)}",
            )
        )
    return (
        "What the run would have cost against what it did (mean of the tasks' changes, 95 % bootstrap "
        "interval over tasks):\n\n" + markdown(lines)
    )


def _pairs(rows: Sequence[Row]) -> str:
    """Return the navigator against every other system at the same budget, task by task."""
    head = ("navigator −", "budget", "tasks", "cost, strict", "cost, generous", "edited lines held")
    lines: list[tuple[str, ...]] = [head]
    for arm in arms(rows):
        # Whichever was replayed in more runs, so that a part of them takes no whole's place.
        ours = max((of(rows, (system, arm[1])) for system in (NAVIGATOR, SENT)), key=len)
        mine = {row.id: row for row in ours}
        both = [(mine[row.id], row) for row in of(rows, arm) if row.id in mine]
        if arm[0] in (NAVIGATOR, SENT, IDEAL) or not both:
            continue
        cells = [
            _interval([measure(one) - measure(other) for one, other in both], "points")
            for measure in (strict, generous, _edited_share)
        ]
        lines.append((arm[0], f"{arm[1]:,}", str(len(both)), *cells))
    return "The navigator against the others, paired:\n\n" + markdown(lines)


def _harmed(rows: Sequence[Row]) -> list[str]:
    """Return the runs that would have cost more, by the strict rule."""
    found = []
    for arm in arms(rows):
        if arm[0] in (NAVIGATOR, SENT):
            harmed = sorted((row for row in of(rows, arm) if row.change() > 0), key=lambda row: -row.change())
            named = ", ".join(f"`{row.id} {row.change():+.0%}`" for row in harmed)
            found.append(f"Dearer with {arm[0]} at {arm[1]:,} (strict): {named or 'none'}.")
    return found


def _edited_share(row: Row) -> float:
    return row.edited_lines_held / row.edited_lines if row.edited_lines else 0.0


def _middle(facts: Sequence[Facts]) -> float:
    return statistics.median(fact.cost_before_first_edit for fact in facts)


def _ratio(facts: Sequence[Facts], part: str, whole: str) -> float:
    parts, wholes = (sum(int(getattr(fact, name)) for fact in facts) for name in (part, whole))
    return parts / max(1, wholes)


def _share(rows: Sequence[Row], pair: Callable[[Row], tuple[int, int]]) -> str:
    shares = [held / every for held, every in map(pair, rows) if every]
    return f"{mean(shares):.2f}" if shares else "–"


def _budget(arm: tuple[str, int]) -> str:
    return f"{arm[1]:,}" if arm[1] else "–"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def _interval(values: Sequence[float], unit: str = "%") -> str:
    middle, low, high = (f"{100 * value:+.1f}" for value in (mean(values), *bootstrap(values)))
    return f"{middle} {unit} ({low} … {high})"
