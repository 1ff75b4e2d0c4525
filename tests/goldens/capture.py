"""Capture snapshots of what the product prints: five files, so that a phrase stands in two at most.

``python -m tests.goldens`` writes them to ``data/``. The schemas of the tools are in
``packaging/model-texts.md``. The tests of each unit assert the structure of all else.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import re
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
    (repo_navigator, []),
    (repo_navigator, ["navigate"]),
    (repo_map, ["generate"]),
)
MAPPED = "taskboard"
LEVELS = (1, 3)


def captures(scratch: Path) -> dict[str, str]:
    """Return each snapshot by its file name; ``scratch`` takes copies of the repositories and the cache."""
    roots = {name: scratch / name for name in (MAPPED, *(goal.repository for goal in GOALS))}
    for name, copy in roots.items():
        shutil.copytree(REPOSITORIES / name, copy)
    environment = {"REPO_NAVIGATOR_CACHE": str(scratch / ".cache"), "COLUMNS": "100"}
    helps, maps = [], []
    with mock.patch.dict(os.environ, environment):
        for main, arguments in HELP:
            helps.append(_printed(main, [*arguments, "--help"]))
        for level in LEVELS:
            drawn = ["generate", str(roots[MAPPED]), "--tokens", "3000", "-v", f"**:{level}"]
            maps.append(f"# level {level}\n{_printed(repo_map, drawn)}")
    found = {"help.txt": "\n".join(helps), "maps.txt": "\n".join(maps)}
    found |= asyncio.run(_served(roots, Settings(data_dir=None, cache_dir=scratch / ".cache")))
    return {name: text.replace(str(scratch), "FOLDER") for name, text in found.items()}


def _printed(main: Callable[[list[str]], int], arguments: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        main(arguments)
    return out.getvalue()


async def _served(roots: dict[str, Path], settings: Settings) -> dict[str, str]:
    """Return the answers to the goals, and for the first goal its plan and report."""
    texts, objects, plan = [], {}, ""
    async with Client(build_server(settings), mode="legacy") as client:
        for goal in GOALS:
            arguments = {
                "goal": goal.text,
                "repo_path": str(roots[goal.repository]),
                "token_budget": goal.token_budget,
            }
            answer = await client.call_tool("navigate", arguments)
            assert answer.structured_content is not None
            known = answer.structured_content["navigation_id"]
            # The code is in the text as well.
            objects[goal.name] = {**answer.structured_content, "context": ""}
            texts.append(f"# {goal.name}\n{_text(answer)}".replace(known, "ID"))
            if goal is GOALS[0]:
                plan = (await client.read_resource(f"navigator://{known}/plan")).contents[0].text  # type: ignore[union-attr]
                report = await client.call_tool("get_turn_report", {"navigation_id": known})
                texts.append(f"# report\n{_text(report)}".replace(known, "ID"))
    return {
        "answers.md": "\n".join(texts),
        "answers.json": re.sub(r"nav-\w{24}", "ID", _json(objects)),
        "plan.yaml": plan,
    }


def _text(answer: Any) -> str:
    return "\n".join(part.text for part in answer.content if part.type == "text") + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
