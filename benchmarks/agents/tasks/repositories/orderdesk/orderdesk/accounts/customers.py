"""Customers and how well they are known."""

from dataclasses import dataclass, field
from datetime import date


@dataclass
class Customer:
    """Somebody who buys."""

    name: str
    email: str
    since: date
    orders: list[int] = field(default_factory=list)

    def spent(self) -> int:
        """Return the cents of all orders."""
        return sum(self.orders)

    def level(self, today: date) -> str:
        """Return ``gold``, ``silver`` or ``basic``, by loyalty and turnover."""
        years = (today - self.since).days // 365
        if years >= 3 and self.spent() >= 500_000:
            return "gold"
        if years >= 1 and self.spent() >= 100_000:
            return "silver"
        return "basic"


class Register:
    """All customers, by e-mail."""

    def __init__(self) -> None:
        self._by_email: dict[str, Customer] = {}

    def add(self, customer: Customer) -> None:
        """Add a customer who is not known yet."""
        key = normalise_email(customer.email)
        if key in self._by_email:
            raise ValueError(f"{key} is already registered")
        self._by_email[key] = customer

    def find(self, email: str) -> Customer | None:
        """Return the customer with that address, however it is spelled."""
        return self._by_email.get(normalise_email(email))


def normalise_email(email: str) -> str:
    """Return an address in the one form that we compare."""
    return email.strip().lower()
