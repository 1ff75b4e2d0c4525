"""What stands beside chosen code: what it uses and what uses it, of the kinds that the goal wants."""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.planner import neighbours
from repo_map.index import build_index
from repo_map.indexing.store import Store
from repo_map.plan.model import FlightPlan

FILES = {
    "shop/prices.py": "def price_of(item):\n    return len(item)\n",
    "shop/cart.py": (
        "from shop.prices import price_of\n\n\ndef total(items):\n    return sum(map(price_of, items))\n"
    ),
    "tests/test_prices.py": (
        "from shop.prices import price_of\n\n\ndef test_a_price():\n    assert price_of('apple') == 5\n"
    ),
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        (tmp_path / "shop" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "shop" / name).write_text(text)
    return tmp_path / "shop"


@pytest.mark.parametrize(
    ("tests", "files"),
    [(False, ["shop/cart.py"]), (True, ["shop/cart.py", "tests/test_prices.py"])],
)
def test_tests_are_neighbours_only_of_a_goal_that_wants_them(
    shop: Path, *, tests: bool, files: list[str]
) -> None:
    index = build_index(shop, store=Store(None), workers=1)
    chosen = [(index.paths.index("shop/prices.py"), 0)]
    assert (
        sorted(each.path for each in neighbours(index, chosen, "", 1_000, own=FlightPlan(), tests=tests))
        == files
    )
