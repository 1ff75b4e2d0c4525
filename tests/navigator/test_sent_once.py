"""What a provider has been told is not sent again: caches, interactions, and changes in place of maps."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.navigator.conftest import MakeNavigator
from tests.navigator.flights import DONE, WIRES, fly, wander
from tests.support.providers.gemini import text_of
from tests.support.providers.minds import Say, call

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("gemini_key")]
MAP = "map " * 2_000
GOAL = "token_expired is wrong. " + "The clock of the session runs behind that of the shop. " * 160
BIG = {"token_budget": 2_000, "goal": GOAL, "max_steps": 6}


async def test_a_changed_map_is_told_by_its_changes_where_that_is_shorter(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, wander, **BIG, wire=WIRES["gemini"])
    message = [told_in(request) for request in flown.server.requests]
    assert len({map_ for map_, *_ in message}) == 1
    for earlier, later in pairwise(message):
        assert later[: len(earlier)] == earlier
        assert len(later) == len(earlier) + 1
        assert "src/billing.py" in later[-1]
        assert "src/router.py" not in later[-1]


def told_in(request: dict[str, Any]) -> list[str]:
    """Return the map and the changes that a request tells."""
    texts = [content["parts"][0]["text"] for content in request["contents"]]
    return [text for text in texts if text.startswith(("The repository's name", "Step ")) and "map" in text]


async def test_a_file_that_leaves_the_map_is_told_by_its_path(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    flown = await fly(make_navigator, repository, empties, **BIG, wire=WIRES["gemini"])
    *_, changes = told_in(flown.server.requests[1])
    assert re.search(
        r"These are no longer in the map:\n<<<repository text \w{8}\nsrc/auth/login\.py\n", changes
    )
    assert "src/auth/login.py" not in {file.path for file in flown.output.files}


def empties(request: dict[str, Any], number: int) -> Say:
    """Take a file out, then finish."""
    if number:
        return call("finalize_context", DONE)
    updates = {"verbosity": [{"pattern": "src/auth/login.py", "level": 0}]}
    return call("update_flight_plan", {"reasoning": "Logging in plays no part.", "updates": updates})


async def test_a_map_that_is_all_new_is_told_whole(make_navigator: MakeNavigator, repository: Path) -> None:
    def mind(request: dict[str, Any], number: int) -> Say:
        if number:
            return call("finalize_context", DONE)
        updates = {
            "verbosity": [{"pattern": "**/*.*", "level": 0}, {"pattern": "src/billing.py", "level": 4}]
        }
        return call("update_flight_plan", {"reasoning": "only this", "updates": updates})

    flown = await fly(make_navigator, repository, mind, wire=WIRES["gemini"])
    (base,) = told_in(flown.server.requests[1])
    assert "sum(line.amount" in base


async def test_a_provider_without_a_cache_is_told_no_more_than_a_new_session_for_every_step(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    wire = WIRES["gemini"]._replace(model="gemini-2.0-flash-thinking")
    flown = await fly(make_navigator, repository, wander, **BIG, wire=wire)
    account = flown.reports[-1].account
    assert account.sent == sum(each.read for each in flown.server.counted)
    assert account.sent <= account.step_scoped
    assert -0.01 < account.saved < 0.01
    assert all(text_of(request).count("changed the map.") == 0 for request in flown.server.requests)
