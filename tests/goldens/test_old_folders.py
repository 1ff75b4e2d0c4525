"""What the first version stored is read, gone on with, and nowhere in the way."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import read_settings
from repo_map.messages import quoted
from repo_navigator.main import main
from repo_navigator.map_main import main as repo_map

OLD = Path(__file__).with_name("old")
BY_COMMAND = "nav-ab6e9daf11e91f7a37eb8861"
BY_SERVER = "nav-8dce96e9fcfc8529094a501b"


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The folders of the first version, with ``tmp_path`` in place of the one that they were made in."""
    shutil.copytree(OLD / "shop", tmp_path / "shop")
    shutil.copytree(OLD / "cache", tmp_path / "cache")
    shutil.copytree(OLD / "data", tmp_path / "data")
    for file in (path for path in (tmp_path / "data").rglob("*.json") if path.is_file()):
        file.write_text(file.read_text("utf-8").replace("FOLDER", str(tmp_path)), "utf-8")
    with closing(sqlite3.connect(tmp_path / "data" / "sessions.db")) as database:
        database.executescript((OLD / "sessions.sql").read_text("utf-8").replace("FOLDER", str(tmp_path)))
    variables = {
        "REPO_NAVIGATOR_DATA": str(tmp_path / "data"),
        "REPO_NAVIGATOR_CACHE": str(tmp_path / "cache"),
        # They were used last on a day that only moves away.
        "REPO_NAVIGATOR_KEEP_DAYS": "36500",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


def printed(capfd: pytest.CaptureFixture[str], *arguments: object) -> str:
    capfd.readouterr()
    assert main([str(argument) for argument in arguments]) == 0
    return capfd.readouterr().out


def test_an_old_navigation_is_printed_as_it_was(
    environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert printed(capfd, "context", BY_COMMAND) == (OLD / "context.txt").read_text("utf-8")
    assert printed(capfd, "context", BY_COMMAND, "--plan") == (OLD / "plan.yaml").read_text("utf-8")


def test_an_old_navigation_takes_further_steps(
    environment: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    before = json.loads(printed(capfd, "context", BY_COMMAND, "--json"))
    after = json.loads(printed(capfd, "context", BY_COMMAND, "--json", "--feedback", "drop prices.py"))
    assert [file["path"] for file in before["files"]] == ["cart.py", "prices.py"]
    assert [file["path"] for file in after["files"]] == ["cart.py"]
    assert before["evidence"] is None, "earlier versions stored no grade"
    assert after["sufficiency"].startswith(f"Evidence: {after['evidence']}.")
    assert after["total_iterations"] == before["total_iterations"] + 1


@pytest.mark.anyio
async def test_an_old_navigation_of_the_server_is_known_with_what_was_delivered(
    environment: dict[str, str],
) -> None:
    async with Client(build_server(read_settings(environment)), mode="legacy") as client:
        again = await client.call_tool("get_context", {"navigation_id": BY_SERVER})
        assert again.structured_content is not None
        assert again.structured_content["context_string"] == (OLD / "context.txt").read_text("utf-8")
        stepped = await client.call_tool("step", {"navigation_id": BY_SERVER, "feedback": "drop prices.py"})
        message: dict[str, Any] = stepped.structured_content or {}
        assert message["turn_report"]["step_number"] == 3
        # The answer's budget is the one that it was opened with.
        assert message["turn_report"]["token_budget"] == 1200
        plan = await client.read_resource(f"navigator://{BY_COMMAND}/plan")
        stored = quoted((OLD / "plan.yaml").read_text("utf-8").rstrip("\n"), before_lines="# ")
        assert plan.contents[0].text == stored  # type: ignore[union-attr]


@pytest.mark.parametrize("place", ["under their old names", "under the names of today"])
def test_an_old_cache_is_replaced_without_a_word(
    environment: dict[str, str], tmp_path: Path, capfd: pytest.CaptureFixture[str], place: str
) -> None:
    command = ["generate", str(tmp_path / "shop"), "--json"]
    assert repo_map([*command, "--no-cache"]) == 0
    expected = capfd.readouterr()
    if place == "under the names of today":
        assert repo_map(command) == 0
        old = sorted(OLD.glob("cache/*/*"))
        for file in sorted(path for path in (tmp_path / "cache").glob("*/*")):
            kind, beginning = file.parent.name, file.name.partition("-")[0]
            like = [each for each in old if each.parent.name == kind]
            same = [each for each in like if each.name.startswith(beginning)]
            file.write_bytes((same or like)[0].read_bytes())
        capfd.readouterr()
    assert repo_map(command) == 0
    assert capfd.readouterr() == expected
    assert repo_map(command) == 0
    assert capfd.readouterr() == expected
