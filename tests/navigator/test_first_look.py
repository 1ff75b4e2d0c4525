"""Navigations of a large repository that nobody has read: a first look answers, then the whole index."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types

from navigator.navigator import Navigator
from navigator.settings import NavigationRequest, NavigatorSettings
from tests.support.large_trees import GOAL, large_tree

pytestmark = pytest.mark.anyio
BUDGET = 1_000


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return large_tree(tmp_path_factory.mktemp("large"))


def ask(root: Path, **parts: Any) -> NavigationRequest:
    return NavigationRequest(GOAL, root, token_budget=BUDGET, **{"may_look_first": True, **parts})


@pytest.fixture
async def navigator(tmp_path: Path) -> AsyncIterator[Navigator]:
    opened = Navigator(NavigatorSettings(data_dir=None, cache_dir=tmp_path))
    yield opened
    await opened.aclose()


async def test_the_next_step_has_the_whole_index_and_tells_what_it_changed(
    tree: Path, navigator: Navigator
) -> None:
    navigation_id = await navigator.open(ask(tree))
    output = await navigator.run(navigation_id)
    assert "def parcel_postage(" in output.context_string
    assert output.notes[0].startswith("This is a first look: ")
    assert "first_look: " in output.flight_plan_yaml
    report = await navigator.step(navigation_id)
    assert report.reasoning.startswith("Planned again with the full index")
    assert not any("first look" in note for note in report.notes)
    output = await navigator.context(navigation_id)
    assert "first_look" not in output.flight_plan_yaml
    assert not navigator.background_indexing()
    whole = await navigator.run(await navigator.open(ask(tree)))
    assert not any("first look" in note for note in whole.notes)
    alone = Navigator(NavigatorSettings(data_dir=None, use_cache=False))
    try:
        expected = await alone.run(await alone.open(ask(tree, may_look_first=False)))
    finally:
        await alone.aclose()
    assert output.context_string == whole.context_string == expected.context_string
    assert whole.flight_plan_yaml == expected.flight_plan_yaml


async def test_who_gives_a_plan_or_asks_of_changes_gets_the_whole_index(
    tree: Path, navigator: Navigator
) -> None:
    plan = "verbosity:\n- {pattern: 'fill/part7/*', level: 3}\n"
    output = await navigator.run(await navigator.open(ask(tree, flight_plan=plan)))
    assert not any("first look" in note for note in output.notes)


class Command:
    """The command line with a cache and data of its own."""

    def __init__(self, tree: Path, home: Path) -> None:
        self.tree = tree
        self.cache, self.data = home / "cache", home / "data"
        self.environ = os.environ | {
            "REPO_NAVIGATOR_CACHE": str(self.cache),
            "REPO_NAVIGATOR_DATA": str(self.data),
        }

    def navigate(self, *flags: str) -> dict[str, Any]:
        """Return the answer to the goal."""
        command = ["repo_navigator.main", "navigate", str(self.tree), GOAL, "--json", *flags]
        done = subprocess.run(
            [sys.executable, "-m", *command], capture_output=True, check=True, env=self.environ
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def begin_to_read(self) -> subprocess.Popen[bytes]:
        """Return the process that reads the tree behind a first look, once it has begun to."""
        process = subprocess.Popen(
            [sys.executable, "-m", "repo_navigator.background", "index", str(self.tree)], env=self.environ
        )
        while process.poll() is None and not any((self.data / "indexing").glob("*.lock")):
            os.sched_yield()
        return process

    def snapshots(self) -> list[Path]:
        """Return the indexes in the cache."""
        return sorted(self.cache.glob("snapshots/*.index"))


def test_the_command_line_answers_first_and_reads_the_rest_behind(tree: Path, tmp_path: Path) -> None:
    command = Command(tree, tmp_path)
    first, second = command.navigate(), command.navigate("--wait")
    assert any("first look" in note for note in first["notes"])
    assert not any("first look" in note for note in second["notes"])
    assert "def parcel_postage(" in first["context"]
    assert not any("first look" in note for note in command.navigate()["notes"])


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="a killed process holds its files a while")
def test_whoever_kills_what_reads_the_rest_is_answered_all_the_same(tree: Path, tmp_path: Path) -> None:
    killed, alone = Command(tree, tmp_path / "killed"), Command(tree, tmp_path / "alone")
    reading = killed.begin_to_read()
    reading.kill()
    assert reading.wait() == -signal.SIGKILL
    assert not killed.snapshots()
    assert any("first look" in note for note in killed.navigate()["notes"])
    after, expected = killed.navigate("--wait"), alone.navigate("--wait")
    assert after["context"] == expected["context"]
    assert after["notes"] == expected["notes"]
    assert [each.read_bytes() for each in killed.snapshots()] == [
        each.read_bytes() for each in alone.snapshots()
    ]


async def test_a_model_explores_the_whole_index(tree: Path, tmp_path: Path) -> None:
    selected = {"summary": "Found.", "select": [{"target": "parcel_postage", "reason": "the goal names it"}]}

    class Selecting(BaseLlm):
        async def generate_content_async(
            self, llm_request: LlmRequest, stream: bool = False
        ) -> AsyncGenerator[LlmResponse, None]:
            part = types.Part.from_function_call(name="finalize_context", args=selected)
            yield LlmResponse(content=types.Content(role="model", parts=[part]))

    settings = NavigatorSettings(data_dir=None, cache_dir=tmp_path)
    navigator = Navigator(settings, models={"host": Selecting(model="host")})
    try:
        output = await navigator.run(await navigator.open(ask(tree, model="host")))
    finally:
        await navigator.aclose()
    assert output.model == "host"
    assert not any("first look" in note for note in output.notes)
    assert "first_look" not in output.flight_plan_yaml
