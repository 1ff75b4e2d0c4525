"""Reminding customers of what they have not paid."""

from dataclasses import dataclass
from datetime import date, timedelta

from orderdesk.billing.money import percent

GRACE_DAYS = 14
FEE_CENTS = 500


@dataclass(frozen=True)
class Claim:
    """An unpaid invoice."""

    number: str
    cents: int
    due: date
    reminders: int = 0


def days_late(claim: Claim, today: date) -> int:
    """Return by how many days a claim is overdue, zero if it is not."""
    return max(0, (today - claim.due).days)


def next_reminder(claim: Claim) -> date:
    """Return the day of the next reminder: every one gives the customer the grace period again."""
    return claim.due + timedelta(days=GRACE_DAYS * (claim.reminders + 1))


def interest(claim: Claim, today: date, yearly: float = 8.0) -> int:
    """Return the interest on a late claim in cents, by the day."""
    return percent(claim.cents, yearly * days_late(claim, today) / 365)


def owed(claim: Claim, today: date) -> int:
    """Return all that has to be paid: claim, interest and a fee for each reminder sent."""
    return claim.cents + interest(claim, today) + FEE_CENTS * claim.reminders
