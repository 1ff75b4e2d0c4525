"""The account of tokens: what a task sends, and what a conversation would have sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navigator.account import TokenAccount
from tests.navigator.conftest import MakeNavigator
from tests.navigator.test_models import fly
from tests.support.gemini_server import Reply, call


def test_an_empty_account_has_wasted_nothing() -> None:
    assert (TokenAccount().sent, TokenAccount().repeated, TokenAccount().wasted) == (0, 0, 0.0)


def test_a_conversation_repeats_what_was_said_and_a_state_does_not() -> None:
    account = TokenAccount()
    for _ in range(10):
        account = account.after_call(initial=1_000, changing=500, cached=0)
    assert account.sent == 10 * 1_500
    assert account.conversation == account.sent + 500 * sum(range(10))


def test_a_cached_prefix_is_not_wasted() -> None:
    account = TokenAccount()
    for number in range(10):
        account = account.after_call(initial=1_000, changing=500, cached=1_000 if number else 0)
    assert account.repeated == 0
    assert account.wasted == 0


@pytest.mark.anyio
async def test_a_turn_report_carries_the_account(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")

    def mind(request: dict[str, Any], number: int) -> Reply:
        update = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + number % 4}]}
        return call("update_flight_plan", {"reasoning": "again", "updates": update}, cached=300)

    account = (await fly(make_navigator, repository, mind, max_steps=6)).reports[-1].account
    assert account.calls == 6
    assert account.cached == 6 * 300
    assert account.conversation > account.sent > account.initial > 0
