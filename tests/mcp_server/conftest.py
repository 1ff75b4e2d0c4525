"""A small repository, settings of the test's own, and both eras of the protocol."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import anyio.lowlevel
import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from tests.support.providers.minds import Thought, call
from tests.support.providers.openai import OpenAiServer
from tests.support.trees import git, write

FILES = {
    "shop/cart.py": '''"""The shopping cart."""

from shop.prices import price_of


class Cart:
    """Items that a customer wants to buy."""

    def __init__(self) -> None:
        self.items: dict[str, int] = {}

    def add(self, item: str, count: int = 1) -> None:
        """Put an item into the cart."""
        self.items[item] = self.items.get(item, 0) + count

    def total(self) -> int:
        """Return the sum of all prices in cents."""
        return sum(price_of(item) * count for item, count in self.items.items())
''',
    "shop/prices.py": '''"""What things cost."""

PRICES = {"apple": 30, "pear": 40}


def price_of(item: str) -> int:
    """Return the price of one item in cents; a discount is never negative."""
    return max(PRICES[item] - discount(item), 0)


def discount(item: str) -> int:
    """Return the discount on an item in cents."""
    return 5 if item == "apple" else 0
''',
    "shop/mail.py": '''"""Mail to customers – receipts and reminders."""


def send_receipt(address: str, total: int) -> str:
    """Return the text of a receipt."""
    return f"To {address}: you paid {total / 100:.2f} €"


def send_reminder(address: str) -> str:
    """Return the text of a reminder."""
    return f"To {address}: your cart is waiting"
''',
    "README.md": "# Shop\n\nA tiny shop.\n\n## Prices\n\nPrices are in cents.\n",
}


def plant(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Make ``folder`` a work tree that holds ``files`` and return it."""
    write(folder, FILES if files is None else files)
    git(folder, "init", "--quiet", "--template=")
    return folder


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository of four files."""
    return plant(tmp_path / "shop-repository")


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """A repository whose whole source takes far more tokens than any test's budget."""
    files = dict(FILES)
    for number in range(60):
        body = "\n".join(
            f'    steps.append("cart step {line} of module {number}: \\"ü\\"")' for line in range(20)
        )
        files[f"shop/flow/part_{number:02}.py"] = (
            f'"""Checkout flow, part {number}."""\n\n\ndef checkout_{number}(cart, steps):\n'
            f'    """Move the cart through part {number} of the checkout."""\n{body}\n    return steps\n'
        )
    return plant(tmp_path / "large-repository", files)


@pytest.fixture
def kept_in() -> dict[str, Any]:
    """Settings that say where navigations are kept; suites that run on each of the stores have their own."""
    return {}


@pytest.fixture
def settings(tmp_path: Path, kept_in: dict[str, Any]) -> Settings:
    return Settings(data_dir=tmp_path / "data", cache_dir=tmp_path / "cache", **kept_in)


@pytest.fixture
def era() -> str:
    """The modern era, which has no sessions; ``both_eras`` adds the one before."""
    return "auto"


both_eras = pytest.mark.parametrize("era", ["auto", "legacy"])
"""For what goes over the wire in its own way in each era."""


@pytest.fixture
def client(settings: Settings, shop: Path, era: str) -> Client:
    """A client of a server that was started in ``shop``."""
    return Client(build_server(settings, working_folder=shop), mode=era)


@pytest.fixture(autouse=True)
def _no_leftovers(tmp_path: Path) -> Iterator[None]:
    yield
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
async def _closed_connections(anyio_backend: str) -> AsyncIterator[None]:
    """Let the loop end what the client closed last; a transport that outlives its loop warns."""
    yield
    for _ in range(3):
        await anyio.lowlevel.checkpoint()


class SlowModel:
    """A model that lets itself be waited for, until it is told to answer."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def __call__(self, request: dict[str, Any], number: int) -> Thought:
        self.asked.set()
        self.may_answer.wait(60)
        return call("finalize_context", {"summary": "The discount is in shop/prices.py."})


@pytest.fixture
def slow_model() -> Iterator[SlowModel]:
    """Serve a slow model that servers which start later know."""
    mind = SlowModel()
    with OpenAiServer(mind) as server:
        os.environ["REPO_NAVIGATOR_OPENAI_URL"] = server.base_url
        yield mind
        mind.may_answer.set()
        del os.environ["REPO_NAVIGATOR_OPENAI_URL"]
