"""What was sold, by month and by product."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Sale:
    """One product in one order."""

    product: str
    pieces: int
    cents: int
    day: date


def by_month(sales: Iterable[Sale]) -> dict[str, int]:
    """Return the turnover of each month, in order of time."""
    months: Counter[str] = Counter()
    for sale in sales:
        months[f"{sale.day:%Y-%m}"] += sale.cents
    return dict(sorted(months.items()))


def best_sellers(sales: Iterable[Sale], limit: int = 5) -> list[tuple[str, int]]:
    """Return the products sold most often with their pieces; equal ones by name."""
    pieces: Counter[str] = Counter()
    for sale in sales:
        pieces[sale.product] += sale.pieces
    return sorted(pieces.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]


def growth(before: int, now: int) -> float | None:
    """Return by how many percent turnover grew; None when there was none before."""
    return None if before == 0 else round((now - before) / before * 100, 1)


def running_average(values: list[int], window: int) -> list[float]:
    """Return the mean of each run of ``window`` values."""
    return [sum(values[end - window : end]) / window for end in range(window, len(values) + 1)]
