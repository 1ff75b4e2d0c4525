"""What a navigation waits for, and what stays behind when it is over."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from google.adk.tools.function_tool import _build_declaration_cached

from navigator.planner.context import CachedNavigation
from navigator.settings import NavigationRequest
from navigator.state.reports import StopReason
from tests.navigator.conftest import MakeNavigator

pytestmark = pytest.mark.anyio

REQUEST = {"goal": "the login token", "token_budget": 1_000}


async def test_the_embedded_planner_takes_the_time_that_it_needs(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator(call_timeout_s=1e-6, retries=0)
    opened = await navigator.open(NavigationRequest(repo_path=repository, **REQUEST))  # type: ignore[arg-type]
    output = await navigator.run(opened)
    assert output.stop_reason is StopReason.FINISHED


async def test_no_more_flights_stay_in_memory_than_are_kept_ready(
    make_navigator: MakeNavigator, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("navigator.planner.context.MAX_CACHED", 2)
    earlier, declared = _flights(), _build_declaration_cached.cache_info().currsize
    navigator = make_navigator()
    for _ in range(4):
        opened = await navigator.open(NavigationRequest(repo_path=repository, **REQUEST))  # type: ignore[arg-type]
        await navigator.run(opened)
    assert len([flight for flight in _flights() if flight not in earlier]) == 2
    # ADK keeps the declaration of each function that was ever a tool, up to a thousand of them.
    assert _build_declaration_cached.cache_info().currsize <= declared + 2


def _flights() -> list[CachedNavigation]:
    gc.collect()
    return [thing for thing in gc.get_objects() if isinstance(thing, CachedNavigation)]
