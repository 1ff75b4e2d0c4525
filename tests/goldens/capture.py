"""Capture the twelve snapshots of what the product prints.

``python -m tests.goldens`` writes them to ``data/``. The tests of each unit assert the structure of all else.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from mcp import Client

from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_navigator.main import main as repo_navigator
from repo_navigator.map_main import main as repo_map

DATA = Path(__file__).with_name("data")
REPOSITORIES = Path(__file__).parents[2] / "tests/fixtures/repositories"


class Goal(NamedTuple):
    """A goal, on the sample repository that it is about."""

    name: str
    repository: str
    text: str
    token_budget: int


GOALS = (
    Goal("discounts", "orderdesk", "A discount of 100 % makes the invoice total negative", 2000),
    Goal(
        "wrap", "textkit", "tk_wrap cuts a word of more than 80 characters in two and loses one of them", 1500
    ),
)
HELP = (
    ("repo-navigator", repo_navigator, []),
    ("repo-navigator-navigate", repo_navigator, ["navigate"]),
    ("repo-map-generate", repo_map, ["generate"]),
)
MAPPED = "taskboard"
LEVELS = (1, 3)


def captures(scratch: Path) -> dict[str, str]:
    """Return each snapshot by its file name; ``scratch`` takes copies of the repositories and the cache."""
    roots = {name: scratch / name for name in (MAPPED, *(goal.repository for goal in GOALS))}
    for name, copy in roots.items():
        shutil.copytree(REPOSITORIES / name, copy)
    environment = {"REPO_NAVIGATOR_CACHE": str(scratch / ".cache"), "COLUMNS": "100"}
    found: dict[str, str] = {}
    with mock.patch.dict(os.environ, environment):
        for name, main, arguments in HELP:
            found[f"help-{name}.txt"] = _printed(main, [*arguments, "--help"])
        for level in LEVELS:
            drawn = ["generate", str(roots[MAPPED]), "--tokens", "3000", "-v", f"**:{level}"]
            found[f"map-level-{level}.txt"] = _printed(repo_map, drawn)
    found |= asyncio.run(_served(roots, Settings(data_dir=None, cache_dir=scratch / ".cache")))
    return {name: text.replace(str(scratch), "FOLDER") for name, text in found.items()}


def _printed(main: Callable[[list[str]], int], arguments: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(arguments)
    return out.getvalue()


async def _served(roots: dict[str, Path], settings: Settings) -> dict[str, str]:
    """Return the schemas of the tools, and for each goal the answer; for the first, plan and report too."""
    found: dict[str, str] = {}
    async with Client(build_server(settings), mode="legacy") as client:
        tools = await client.list_tools()
        found["tools.json"] = _json(tools.model_dump(mode="json", exclude_none=True, by_alias=True))
        for goal in GOALS:
            arguments = {
                "goal": goal.text,
                "repo_path": str(roots[goal.repository]),
                "token_budget": goal.token_budget,
            }
            answer = await client.call_tool("navigate", arguments)
            assert answer.structured_content is not None
            known = answer.structured_content["navigation_id"]
            found[f"answer-{goal.name}.json"] = _json(answer.structured_content).replace(known, "ID")
            found[f"answer-{goal.name}.md"] = _text(answer).replace(known, "ID")
            if goal is GOALS[0]:
                plan = await client.read_resource(f"navigator://{known}/plan")
                found["plan.yaml"] = plan.contents[0].text  # type: ignore[union-attr]
                report = await client.call_tool("get_turn_report", {"navigation_id": known})
                found["report.md"] = _text(report).replace(known, "ID")
    return found


def _text(answer: Any) -> str:
    return "\n".join(part.text for part in answer.content if part.type == "text") + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
