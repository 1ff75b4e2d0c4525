"""Amounts of money in cents."""

from collections.abc import Sequence


def percent(cents: int, rate: float) -> int:
    """Return a share of an amount, rounded half up."""
    return int(cents * rate / 100 + 0.5)


def split(cents: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to weights; the parts add up to the amount."""
    total = sum(weights)
    if total <= 0:
        raise ValueError("the weights must add up to more than zero")
    parts = [cents * weight // total for weight in weights]
    rest = cents - sum(parts)
    for position in range(rest):
        parts[position % len(parts)] += 1
    return parts


def show(cents: int, currency: str = "EUR") -> str:
    """Write an amount for people."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d} {currency}"
