"""Reading a supplier's price list."""

import csv
import io

from orderdesk.catalog.products import Product, Variant


class PriceListError(ValueError):
    """A line of a price list can't be used."""


def read_price_list(text: str) -> list[Product]:
    """Read lines of ``name;sku;label;grams;price``; lines of one name make one product."""
    products: dict[str, Product] = {}
    rows = csv.DictReader(io.StringIO(text), delimiter=";")
    for number, row in enumerate(rows, start=2):
        try:
            variant = Variant(row["sku"].strip(), row["label"].strip(), int(row["grams"]))
            cents = parse_cents(row["price"])
        except (KeyError, ValueError, AttributeError) as error:
            raise PriceListError(f"line {number}: {error}") from error
        product = products.setdefault(row["name"].strip(), Product(row["name"].strip(), cents))
        product.variants.append(variant)
    return list(products.values())


def parse_cents(text: str) -> int:
    """Read a price such as ``12``, ``12.5`` or ``1,299.90`` as cents."""
    whole, _, fraction = text.strip().replace(",", "").partition(".")
    return int(whole) * 100 + int((fraction + "00")[:2])
