"""The account of tokens: what a task sends, and what a conversation would have sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from navigator.state.usage import RequestTokens, TokenAccount
from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import fly
from tests.support.providers.minds import Say, call


def fly_account(cached: int) -> TokenAccount:
    """Ten calls of 1,000 stable and 500 changing tokens, of which later ones find ``cached`` in a cache."""
    account = TokenAccount()
    for number in range(10):
        said = RequestTokens(stable=1_000, changing=500, repeated=1_000 if number else 0)
        account = account.after_call(said, read=1_500, cached=cached if number else 0, output=200)
    return account


def test_what_is_sent_again_and_found_in_no_cache_is_wasted() -> None:
    account = fly_account(cached=0)
    assert (account.initial, account.fresh, account.repeated) == (1_000, 6_000, 9_000)
    assert account.sent == account.step_scoped == 15_000
    assert account.wasted == 9_000 / 17_000


def test_a_cached_prefix_is_not_wasted() -> None:
    account = fly_account(cached=1_000)
    assert (account.sent, account.cached, account.repeated, account.wasted) == (6_000, 9_000, 0, 0.0)
    assert account.saved == 0.6


@pytest.mark.anyio
async def test_a_turn_report_carries_the_account(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "a-key")

    def mind(request: dict[str, Any], number: int) -> Say:
        update = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + number % 4}]}
        return call("update_flight_plan", {"reasoning": "again", "updates": update}, cached=300)

    account = (await fly(make_navigator, repository, mind, max_steps=6)).reports[-1].account
    assert account.calls == 6
    assert account.cached == 6 * 300
    assert account.step_scoped > account.initial > 0
    assert account.fresh + account.repeated + account.cached == 6 * 1_000
