"""A small repository, and navigators over it that close themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from navigator.navigator import Navigator
from navigator.settings import NavigatorSettings
from tests.support.trees import write

FILES = {
    "src/auth/login.py": '''
"""Log users in."""

from src.auth.tokens import issue_token


class LoginError(Exception):
    """The password is wrong."""


def login(user: str, password: str) -> str:
    """Check the password and return a session token."""
    if not check_password(user, password):
        raise LoginError(user)
    return issue_token(user)


def check_password(user: str, password: str) -> bool:
    """Compare the password with the stored hash."""
    return hash(password) == stored_hash(user)


def stored_hash(user: str) -> int:
    return len(user)
''',
    "src/auth/tokens.py": '''
"""Session tokens."""

LIFETIME_S = 3600


def issue_token(user: str) -> str:
    """Return a new token that expires after LIFETIME_S."""
    return f"{user}:{LIFETIME_S}"


def token_expired(token: str, age_s: int) -> bool:
    """Tell whether a session token is too old."""
    return age_s > LIFETIME_S
''',
    "src/router.py": '''
"""Dispatch requests."""

from src.auth.login import login


class Router:
    """Maps paths to handlers."""

    def __init__(self) -> None:
        self.routes = {"/login": login}

    def dispatch(self, path: str):
        """Call the handler of the path."""
        return self.routes[path]
''',
    "src/billing.py": '''
"""Invoices."""


def total(lines):
    """Sum an invoice."""
    return sum(line.amount for line in lines)
''',
    "tests/test_login.py": """
from src.auth.login import login


def test_login_returns_a_token():
    assert login("ann", "ann")
""",
    "README.md": "# Shop\n\nA small shop.\n\n## Login\n\nUsers log in with a password.\n",
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return write(tmp_path / "shop", {path: text.lstrip("\n") for path, text in FILES.items()})


MakeNavigator = Callable[..., Navigator]


@pytest.fixture
def kept_in() -> dict[str, Any]:
    """Settings that say where navigations are kept; suites that run on each of the stores have their own."""
    return {}


@pytest.fixture
async def make_navigator(tmp_path: Path, kept_in: dict[str, Any]) -> AsyncIterator[MakeNavigator]:
    """Build navigators with the given settings; all of them are closed after the test."""
    made: list[Navigator] = []

    def make(**settings: object) -> Navigator:
        defaults: dict[str, object] = {"cache_dir": tmp_path / "cache", "workers": 1, **kept_in}
        made.append(Navigator(NavigatorSettings(**{**defaults, **settings})))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for navigator in made:
        await navigator.aclose()


@pytest.fixture
def gemini_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key, without which no model of Gemini's is asked."""
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")
