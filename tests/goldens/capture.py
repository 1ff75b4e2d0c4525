"""What the product prints today, in full: maps, packets, schemas and help texts.

``python -m tests.goldens`` writes it to ``data/``; the test holds later versions to it. A rebuild that means
to change nothing finds here what it changed; what is changed on purpose shows as a difference to be read.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from mcp import Client, StdioServerParameters

from repo_navigator.main import main as repo_navigator
from repo_navigator.map_main import main as repo_map

DATA = Path(__file__).with_name("data")
REPOSITORIES = Path(__file__).parents[2] / "benchmarks/agents/tasks/repositories"
LEVELS = range(5)
MAP_TOKENS = 3000


class Goal(NamedTuple):
    """A goal on one of the repositories that stand in this project."""

    name: str
    repository: str
    text: str
    token_budget: int


GOALS = (
    Goal("discounts", "orderdesk", "A discount of 100 % makes the invoice total negative", 2000),
    Goal(
        "stock",
        "orderdesk",
        "Stock.reserve lets two orders take the last item of orderdesk/catalog/stock.py",
        900,
    ),
    Goal(
        "quick-entry",
        "taskboard",
        "quick entry reads `next friday` as this friday when today is a friday",
        2500,
    ),
    Goal(
        "wrap", "textkit", "tk_wrap cuts a word of more than 80 characters in two and loses one of them", 1500
    ),
    Goal("release", "siteops", "how does the release script decide which hosts to restart?", 1200),
    Goal("tests", "taskboard", "add tests for repeating tasks", 1800),
)
HELP = (
    *(
        ("repo-navigator", command)
        for command in (
            "",
            "serve",
            "navigate",
            "context",
            "replay",
            "view",
            "check",
            "team",
            "install",
            "doctor",
        )
    ),
    *(("repo-map", command) for command in ("", "generate", "costs", "watch")),
)


def captures(scratch: Path) -> dict[str, str]:
    """Return every golden text by its name; ``scratch`` takes copies of the repositories, cache and data."""
    repositories = {each.name: scratch / each.name for each in sorted(REPOSITORIES.iterdir())}
    for name, copy in repositories.items():
        shutil.copytree(REPOSITORIES / name, copy)
    folders = {"REPO_NAVIGATOR_CACHE": str(scratch / ".cache"), "REPO_NAVIGATOR_DATA": str(scratch / ".data")}
    with mock.patch.dict(os.environ, {**folders, "COLUMNS": "100"}):
        found = dict(_helps())
        found |= dict(_maps(repositories))
        found |= asyncio.run(_served(repositories))
    return {name: text.replace(str(scratch), "FOLDER") for name, text in found.items()}


def _helps() -> Iterator[tuple[str, str]]:
    for program, command in HELP:
        main = repo_map if program == "repo-map" else repo_navigator
        arguments = [command, "--help"] if command else ["--help"]
        yield f"help/{program}{f'-{command}' if command else ''}.txt", _printed(main, arguments)


def _maps(repositories: dict[str, Path]) -> Iterator[tuple[str, str]]:
    for name, root in repositories.items():
        for level in LEVELS:
            arguments = ["generate", str(root), "--tokens", str(MAP_TOKENS), "-v", f"**:{level}"]
            yield f"maps/{name}-level-{level}.txt", _printed(repo_map, arguments)
        yield f"maps/{name}.txt", _printed(repo_map, ["generate", str(root), "--tokens", str(MAP_TOKENS)])
        yield f"costs/{name}.json", _printed(repo_map, ["costs", str(root), "--json"])


def _printed(main: Callable[[list[str]], int], arguments: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code: object = main(arguments)
        except SystemExit as ended:
            code = ended.code
    message = f"\n--- stderr\n{err.getvalue()}" if err.getvalue() else ""
    return f"{out.getvalue()}{message}" if not code else f"{out.getvalue()}{message}\n--- exit {code}\n"


async def _served(repositories: dict[str, Path]) -> dict[str, str]:
    """Return what a server on real pipes lists, and the packets it makes."""
    program = Path(sys.executable).with_name("repo-navigator")
    server = StdioServerParameters(command=str(program), args=["serve"], env=dict(os.environ))
    found: dict[str, str] = {}
    async with Client(server, mode="legacy") as client:
        for name, listed in (
            ("tools", await client.list_tools()),
            ("prompts", await client.list_prompts()),
            ("resource-templates", await client.list_resource_templates()),
        ):
            found[f"schemas/{name}.json"] = _json(
                listed.model_dump(mode="json", exclude_none=True, by_alias=True)
            )
        for goal in GOALS:
            arguments = {
                "goal": goal.text,
                "repo_path": str(repositories[goal.repository]),
                "token_budget": goal.token_budget,
            }
            answer = await client.call_tool("navigate", arguments)
            assert answer.structured_content is not None
            known = answer.structured_content["navigation_id"]
            found[f"packets/{goal.name}.json"] = _json(answer.structured_content).replace(known, "ID")
            message = "\n".join(part.text for part in answer.content if part.type == "text")
            found[f"packets/{goal.name}.md"] = message.replace(known, "ID") + "\n"
            plan = await client.read_resource(f"navigator://{known}/plan")
            found[f"plans/{goal.name}.yaml"] = plan.contents[0].text  # type: ignore[union-attr]
    return found


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
