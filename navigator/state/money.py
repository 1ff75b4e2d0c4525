"""Amounts of money as they are told."""

from __future__ import annotations

from decimal import Decimal


def dollars(amount: Decimal | float) -> str:
    """Return an amount of US dollars as it is told everywhere: with cents, and with as much more as matters.

    Up to six decimals are exact; of what is smaller still, two digits are told.
    """
    exact = Decimal(str(amount))
    decimals = max(6, 1 - exact.adjusted()) if exact else 2
    whole, _, rest = f"{exact:.{decimals}f}".partition(".")
    return f"${whole}.{rest.rstrip('0').ljust(2, '0')}"
