"""Navigations from the front door, flown by the embedded planner."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from navigator.errors import (
    StorageError,
)
from navigator.navigator import Navigator
from navigator.settings import NavigationRequest
from navigator.state.reports import StopReason
from navigator.storage.index import NavigationKey
from repo_map.plan.yaml import parse_plan
from repo_map.text.tokens import count
from tests.navigator.conftest import MakeNavigator
from tests.navigator.test_state import validate
from tests.support.team_stores import EVERY_STORE, kept_in_stores

pytestmark = pytest.mark.anyio


@pytest.fixture(params=EVERY_STORE)
def kept_in(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    with kept_in_stores(request.param, request) as fields:
        yield fields


of_the_folder = pytest.mark.parametrize("kept_in", ["folder"], indirect=True)
"""What only a data folder can come to."""
GOAL = "A session token never expires: token_expired compares the wrong way"


def ask(repository: Path, **parts: Any) -> NavigationRequest:
    return NavigationRequest(**{"goal": GOAL, "repo_path": repository, **parts})


async def state_of(navigator: Navigator, navigation_id: str) -> dict[str, Any]:
    state = await navigator.store._sessions.state(NavigationKey("local", navigation_id))
    assert state is not None
    return dict(state)


async def test_an_autonomous_flight_ends_by_its_own_word_with_the_code_that_matters(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    output = await navigator.run(await navigator.open(ask(repository)))
    assert output.stop_reason is StopReason.FINISHED
    assert output.files[0].path == "src/auth/tokens.py"
    assert "return age_s > LIFETIME_S" in output.context_string
    assert output.total_cost == 0
    assert output.reasoning_summary
    assert "src/auth/tokens.py" in output.reasoning_summary


async def test_equal_requests_give_equal_bytes(make_navigator: MakeNavigator, repository: Path) -> None:
    texts = set()
    for _ in range(2):
        navigator = make_navigator()
        output = await navigator.run(await navigator.open(ask(repository)))
        texts.add((output.context_string, output.flight_plan_yaml, output.reasoning_summary))
    assert len(texts) == 1


async def test_the_state_is_valid_at_every_step(make_navigator: MakeNavigator, repository: Path) -> None:
    navigator = make_navigator()
    navigation_id = await navigator.open(ask(repository, mode="interactive"))
    validate((await state_of(navigator, navigation_id))["navigator"])
    while (await navigator.step(navigation_id)).stop_reason is None:
        state = await state_of(navigator, navigation_id)
        validate(state["navigator"])
        assert state["navigator"]["interactive_pause"] is True
    state = (await state_of(navigator, navigation_id))["navigator"]
    validate(state)
    assert state["exploration_complete"] is True
    assert state["decision_log"][-1]["action"] == "finalize_context"


async def test_the_context_since_a_step_has_only_what_is_new(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await navigator.open(ask(repository, token_budget=400))
    await navigator.run(navigation_id)
    before = await navigator.report(navigation_id)
    await navigator.step(navigation_id, updates={"verbosity": [{"pattern": "src/billing.py", "level": 4}]})
    news = await navigator.context(navigation_id, since_step=before.step_number)
    assert "sum(line.amount for line in lines)" in news.context_string
    assert "age_s > LIFETIME_S" not in news.context_string
    assert news.token_count == count(news.context_string)
    unchanged = await navigator.report(navigation_id)
    nothing = await navigator.context(navigation_id, since_step=unchanged.step_number)
    assert nothing.context_string == ""


async def test_max_steps_ends_the_flight_with_the_best_plan_so_far(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    output = await navigator.run(await navigator.open(ask(repository, max_steps=1)))
    assert output.stop_reason is StopReason.MAX_STEPS
    assert output.total_iterations == 1
    assert "age_s > LIFETIME_S" in output.context_string
    assert output.reasoning_summary


async def test_a_navigation_survives_a_restart(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    first = make_navigator(data_dir=tmp_path / "data")
    navigation_id = await first.open(ask(repository, mode="interactive"))
    await first.step(navigation_id)
    before = await first.context(navigation_id)
    await first.aclose()
    second = make_navigator(data_dir=tmp_path / "data")
    assert await second.context(navigation_id) == before
    assert (await second.report(navigation_id)).step_number == 1
    assert (await second.step(navigation_id)).step_number == 2


async def test_an_earlier_context_can_be_read_after_the_repository_is_gone(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    first = make_navigator(data_dir=tmp_path / "data")
    navigation_id = await first.open(ask(repository))
    before = await first.run(navigation_id)
    await first.aclose()
    shutil.rmtree(repository)
    second = make_navigator(data_dir=tmp_path / "data")
    assert await second.context(navigation_id) == before


async def test_steps_at_once_on_one_navigation_happen_one_after_the_other(
    make_navigator: MakeNavigator, repository: Path
) -> None:
    navigator = make_navigator()
    navigation_id = await navigator.open(ask(repository, mode="interactive"))
    updates = [{"verbosity": [{"pattern": f"src/{name}.py", "level": 4}]} for name in ("billing", "router")]
    reports = await asyncio.gather(*(navigator.step(navigation_id, updates=update) for update in updates))
    assert sorted(report.step_number for report in reports) == [1, 2]
    plan = parse_plan((await navigator.context(navigation_id)).flight_plan_yaml)
    assert {"src/billing.py", "src/router.py"} <= {rule.pattern for rule in plan.verbosity}


@of_the_folder
async def test_many_steps_do_not_make_the_store_grow_by_their_square(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    navigator = make_navigator(data_dir=tmp_path / "data")
    navigation_id = await navigator.open(ask(repository, mode="interactive"))
    sizes, query = [0], "SELECT SUM(LENGTH(CAST(event_data AS TEXT))) FROM events"
    for step in range(40):
        update = {"verbosity": [{"pattern": "src/billing.py", "level": 1 + step % 4}]}
        await navigator.step(navigation_id, updates=update)
        if step % 10 == 9:
            with closing(sqlite3.connect(tmp_path / "data" / "sessions.db")) as database:
                sizes += database.execute(query).fetchone()
    grown = [later - earlier for earlier, later in pairwise(sizes)]
    assert grown[-1] < 1.2 * grown[1]


async def test_the_budget_can_be_changed_in_words(make_navigator: MakeNavigator, repository: Path) -> None:
    navigator = make_navigator()
    navigation_id = await navigator.open(ask(repository))
    await navigator.run(navigation_id)
    await navigator.step(navigation_id, feedback="budget 120")
    output = await navigator.run(navigation_id)
    assert output.map_token_budget == 120
    assert count(output.context_string) <= 120


@of_the_folder
async def test_a_damaged_database_is_set_aside_with_a_note(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    data, noise = tmp_path / "data", b"no database at all" * 500
    data.mkdir()
    for name in ("sessions.db", "index.db"):
        (data / name).write_bytes(noise)
    navigator = make_navigator(data_dir=data)
    navigation_id = await navigator.open(ask(repository))
    output = await navigator.run(navigation_id)
    assert output.stop_reason is StopReason.FINISHED
    assert any("nothing was deleted" in note for note in output.notes)
    (aside,) = data.glob("before-*")
    assert (aside / "sessions.db").read_bytes() == noise
    assert (await make_navigator(data_dir=data).context(navigation_id)).notes == output.notes


@of_the_folder
async def test_a_step_that_cannot_be_kept_is_told_and_did_not_happen(
    make_navigator: MakeNavigator, repository: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    navigator = make_navigator(data_dir=data)
    navigation_id = await navigator.open(ask(repository))
    artifacts = data / "artifacts"
    block(artifacts)
    with pytest.raises(StorageError, match="REPO_NAVIGATOR_DATA"):
        await navigator.run(navigation_id)
    unblock(artifacts)
    assert (await navigator.report(navigation_id)).step_number == 0
    assert (await navigator.run(navigation_id)).stop_reason is StopReason.FINISHED


def block(folder: Path) -> None:
    """Put a file where a folder was, as a full or broken disk would fail every write below it."""
    folder.rename(folder.with_name("aside"))
    folder.write_text("")


def unblock(folder: Path) -> None:
    folder.unlink()
    folder.with_name("aside").rename(folder)
