"""A tree that is too large to wait for: small files, but more than a first look reads."""

from __future__ import annotations

from pathlib import Path

from repo_map.ranking.first_look import LARGE_FILES
from tests.support.trees import write

GOAL = "The postage of a parcel is wrong: parcel_postage forgets the customs_surcharge"
POSTAGE = '''"""Postage."""

from shop.customs import customs_surcharge


def parcel_postage(weight: int) -> int:
    """Return the postage of a parcel."""
    return 3 * weight
'''
CUSTOMS = '''def customs_surcharge(country: str) -> int:
    """Return what customs take for a parcel."""
    return 0 if country == "here" else 12
'''
BILL = """from shop.postage import parcel_postage


def bill_total(weight):
    return parcel_postage(weight) + 1
"""


def large_tree(root: Path, **others: str) -> Path:
    """Write a shop of a few files among many that have nothing to do with it; ``others`` by module."""
    fill = {
        f"fill/part{number // 100}/thing{number}.py": f"def thing_{number}():\n    return {number}\n"
        for number in range(LARGE_FILES)
    }
    shop = {"shop/postage.py": POSTAGE, "shop/customs.py": CUSTOMS, "shop/bill.py": BILL}
    return write(root, {**fill, **shop, **{f"{name}.py": text for name, text in others.items()}})
