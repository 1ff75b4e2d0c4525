"""What a goal spells out stands in the outline of the first answer, whatever else says the goal's words."""

from __future__ import annotations

from pathlib import Path

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from navigator.settings import FIRST_ANSWER
from repo_map.text.tokens import count
from tests.mcp_server.conftest import plant
from tests.mcp_server.test_menu import places_of
from tests.support.results import object_of, text_of

pytestmark = pytest.mark.anyio

GOAL = "Move the cart through the checkout"
_LEDGER = '''"""What was sold."""

import argparse

FREEZE_AFTER_DAYS = (
    30,
    60,
)


class Ledger:
    """Sales by day."""

    def close(self, day):
        """End a day."""
        if day.sales != day.paid:
            raise ValueError("sales and payments differ")
        return day.sales


def settle_books(ledger, days):
    """End many days."""
    for day in days:
        ledger.close(day)


def parse(words):
    """Read the words of a command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--freeze-books")
    return parser.parse_args(words)
'''
_TRACE = """

```
Traceback (most recent call last):
  File "shop/ledger.py", line 23, in settle_books
    ledger.close(day)
  File "shop/ledger.py", line 17, in close
    raise ValueError("sales and payments differ")
ValueError: sales and payments differ
```
"""
_SPELT = {
    "a definition in the title": (f"{GOAL} with settle_books", "settle_books"),
    "a member": (f"{GOAL}\n\nLater Ledger.close forgets it.", "Ledger.close"),
    "a trace": (f"{GOAL}{_TRACE}", "Ledger.close"),
    "an error's text": (f'{GOAL}\n\nIt ends with "sales and payments differ".', "Ledger.close"),
    "an option": (f"{GOAL}\n\nAdd `--freeze-books` to it.", "parse"),
    "a setting": (f"{GOAL}\n\nObey `FREEZE_AFTER_DAYS`.", ""),
    "a path": (f"{GOAL}\n\nSee shop/ledger.py for more.", ""),
    "a file in the title": (f"{GOAL} of the ledger", ""),
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository of sixty functions that say all of the goal, and one file that says nothing of it."""
    files = {"shop/ledger.py": _LEDGER, "tests/test_ledger.py": "def test_nothing():\n    assert True\n"}
    for number in range(20):
        files[f"shop/part_{number:02}.py"] = "\n\n".join(
            f"def move_cart_{number}_{at}(cart, checkout):\n"
            f'    """Move the cart through the checkout, part {at}."""\n'
            f"    return checkout.move(cart, {at})\n"
            for at in range(3)
        )
    return plant(tmp_path / "shop", files)


@pytest.mark.parametrize("kind", _SPELT)
async def test_what_a_goal_spells_out_stands_in_a_first_answer(
    settings: Settings, shop: Path, kind: str
) -> None:
    goal, name = _SPELT[kind]
    async with Client(build_server(settings, working_folder=shop)) as client:
        result = await client.call_tool("navigate", {"goal": goal})
    path = "shop/ledger.py"
    answer = object_of(result)
    assert path in {line.partition(" ")[0] for line in answer["turn_report"]["outline"].split("\n")}
    listed = {found for place, found in places_of(answer).values() if place == path}
    # Below another member of its class a member stands without it.
    assert not name or listed & {name, f".{name.rpartition('.')[2]}"}
    assert count(text_of(result)) <= FIRST_ANSWER
