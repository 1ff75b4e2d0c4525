"""Finding products by words."""

import re
from collections.abc import Iterable

from orderdesk.catalog.products import Product

_WORD = re.compile(r"[a-z0-9]+")


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case."""
    return _WORD.findall(text.lower())


def score(product: Product, query: str) -> int:
    """Count how many words of the query the product's name and tags contain."""
    known = set(words_of(product.name)) | {tag.lower() for tag in product.tags}
    return sum(word in known for word in words_of(query))


def search(products: Iterable[Product], query: str, limit: int = 10) -> list[Product]:
    """Return the products that fit the query best, best first."""
    scored = [(score(product, query), product) for product in products]
    hits = [(points, product) for points, product in scored if points > 0]
    hits.sort(key=lambda hit: (-hit[0], hit[1].name))
    return [product for _, product in hits[:limit]]


def suggest(products: Iterable[Product], prefix: str) -> list[str]:
    """Return names that begin with what was typed."""
    start = prefix.strip().lower()
    return sorted(product.name for product in products if product.name.lower().startswith(start))
