"""What stands beside chosen code: what it uses and what uses it, of the kinds that the goal wants.

What the map shows is no neighbour; what it shows is asked of its blocks, never searched for in its text.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from navigator.planner.policy import find_related
from repo_map.index.build import build_index
from repo_map.index.store import Store
from repo_map.outline.draw import draw_map
from repo_map.plan.model import FlightPlan
from tests.support.trees import write

FILES = {
    "shop/prices.py": "def price_of(item):\n    return len(item)\n",
    "shop/cart.py": (
        "from shop.prices import price_of\n\n\n"
        "def total(items):\n    return sum(price_of(each) for each in items)\n"
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
    nothing = draw_map(index, levels({"**": 0}))
    found = find_related(index, chosen, nothing, 1_000, own=FlightPlan(), tests=tests)
    assert sorted(each.path for each in found) == files


def levels(by_pattern: dict[str, int]) -> FlightPlan:
    rules = [{"pattern": pattern, "level": level} for pattern, level in by_pattern.items()]
    return FlightPlan.model_validate({"budget": 4_000, "verbosity": rules})


def test_a_user_of_the_chosen_code_is_not_taken_for_its_namesake_in_the_map(tmp_path: Path) -> None:
    """``def main():`` stands in the map, of another file: the one that uses the chosen code does not."""
    files = {
        "prices.py": "def price_of(item):\n    return len(item)\n",
        "cart.py": "from prices import price_of\n\n\ndef main():\n    return price_of('apple')\n",
        "other.py": "def main():\n    return 2\n",
    }
    index = build_index(write(tmp_path, files), store=Store(None), workers=1)
    chosen = [(index.paths.index("prices.py"), 0)]
    drawn = draw_map(index, levels({"cart.py": 1, "other.py": 4}))
    assert "def main():" in drawn.text
    (found,) = find_related(index, chosen, drawn, 1_000, own=FlightPlan())
    assert (found.path, found.name) == ("cart.py", "main")
    shown = draw_map(index, levels({"cart.py": 2, "other.py": 1}))
    assert find_related(index, chosen, shown, 1_000, own=FlightPlan()) == ()
