"""Postal addresses as labels need them."""

import re
from dataclasses import dataclass

_POSTCODES = {"NL": r"\d{4} ?[A-Z]{2}", "DE": r"\d{5}", "BE": r"\d{4}", "DK": r"\d{4}"}


@dataclass(frozen=True)
class Address:
    """Where a parcel goes."""

    name: str
    street: str
    postcode: str
    town: str
    country: str

    def label(self) -> str:
        """Return the lines of the label."""
        return "\n".join((self.name, self.street, f"{self.postcode} {self.town}", self.country))


def valid_postcode(postcode: str, country: str) -> bool:
    """Tell whether a postcode has its country's form; unknown countries take anything."""
    pattern = _POSTCODES.get(country)
    return pattern is None or re.fullmatch(pattern, postcode.strip().upper()) is not None
