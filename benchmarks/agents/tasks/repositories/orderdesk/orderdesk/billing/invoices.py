"""Invoices: lines, tax, totals and numbers."""

from dataclasses import dataclass, field

from orderdesk.billing.discounts import quantity_rate
from orderdesk.billing.money import percent, show

TAX_RATES = {"standard": 21.0, "reduced": 9.0, "none": 0.0}


@dataclass(frozen=True)
class Line:
    """Some pieces of one article at one price."""

    title: str
    pieces: int
    cents: int
    tax: str = "standard"

    def net(self) -> int:
        """Return the line's amount before tax, quantity rebate taken off."""
        gross = self.pieces * self.cents
        return gross - percent(gross, quantity_rate(self.pieces))


@dataclass
class Invoice:
    """What a customer owes for one order."""

    number: str
    lines: list[Line] = field(default_factory=list)

    def net(self) -> int:
        """Return the amount before tax."""
        return sum(line.net() for line in self.lines)

    def tax(self) -> int:
        """Return the tax, rounded once for each rate."""
        by_rate: dict[str, int] = {}
        for line in self.lines:
            by_rate[line.tax] = by_rate.get(line.tax, 0) + line.net()
        return sum(percent(amount, TAX_RATES[name]) for name, amount in by_rate.items())

    def total(self) -> int:
        """Return what has to be paid."""
        return self.net() + self.tax()

    def summary(self) -> str:
        """Return one line for people."""
        return f"{self.number}: {show(self.total())}"


def next_number(last: str) -> str:
    """Return the number after ``last``: ``2024-0099`` is followed by ``2024-0100``."""
    year, _, count = last.partition("-")
    return f"{year}-{int(count) + 1:0{len(count)}d}"
