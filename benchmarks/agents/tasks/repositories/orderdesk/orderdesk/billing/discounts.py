"""Rebates for quantity, for vouchers and for good customers."""

from dataclasses import dataclass
from datetime import date

from orderdesk.billing.money import percent

QUANTITY_STEPS = ((100, 12.0), (50, 8.0), (10, 3.0))


@dataclass(frozen=True)
class Voucher:
    """A code that takes a share off an order until it expires."""

    code: str
    rate: float
    last_day: date
    least_cents: int = 0

    def valid(self, today: date, cents: int) -> bool:
        """Tell whether the voucher can be used; its last day still counts."""
        return today <= self.last_day and cents >= self.least_cents


def quantity_rate(pieces: int) -> float:
    """Return the rebate in percent for buying many of one article."""
    for least, rate in QUANTITY_STEPS:
        if pieces >= least:
            return rate
    return 0.0


def voucher_rebate(voucher: Voucher, cents: int, today: date) -> int:
    """Return what the voucher takes off, in cents."""
    return percent(cents, voucher.rate) if voucher.valid(today, cents) else 0


def best_rebate(rebates: list[int], cents: int) -> int:
    """Return the largest rebate; they don't add up, and none exceeds the amount."""
    return min(cents, max(rebates, default=0))
