"""Writes down what a model is sent whatever the repository: ``python -m bundle.model_texts``.

A release publishes the file's hash. Whoever has approved one version sees in its difference to the next each
word that is new: of the instructions, the tools, the prompts, the skill, and what hooks say.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client

from bundle.manifests import ROOT, SKILL
from mcp_server.app import build_server
from mcp_server.settings import Settings
from repo_map.index import build_index
from repo_navigator.hooks.facts import facts_of
from repo_navigator.hooks.likely_places import LikelyPlace
from repo_navigator.hooks.names_writer import write_names
from repo_navigator.hooks.program import heard
from repo_navigator.hooks.wording import findings_text, places_text

FILE: Final = "bundle/model-texts.md"
_SHOP: Final[Mapping[str, str]] = {
    "shop/pricing.py": "def discounted_total(cart):\n    return sum(cart) - 1\n",
    "shop/orders.py": "from shop.pricing import discounted_total\n\n\n"
    + "\n\n".join(f"def order_{n}(cart):\n    return discounted_total(cart) + {n}\n" for n in range(12)),
    "tests/test_pricing.py": "def test_total():\n    assert True\n",
    "pyproject.toml": "[project]\nname = 'shop'\n[tool.pytest.ini_options]\n",
}
"""The repository that hooks are asked about."""
_PROMPTED: Final = {"find_code": {"task": "TASK"}, "continue_navigation": {"feedback": "WISH"}}
"""Prompts whose text hangs on their arguments alone; the others begin with the report of a navigation."""
_ABOUT: Final = """\
# What a model is sent

Made by `make manifests`, held by a test. These are the words that a host passes to its model, whatever the
repository: instructions, tools, prompts, resources, the skill, and what hooks say of a small repository.
A release publishes this file's SHA-256.
"""


def model_texts() -> str:
    """Return the file's text; the same sources give the same bytes."""
    with tempfile.TemporaryDirectory() as folder:
        sections = [*anyio.run(_served, Path(folder)), ("Skill", SKILL), *_hooks(Path(folder).resolve())]
    return _ABOUT + "".join(f"\n## {title}\n\n{_fenced(text)}\n" for title, text in sections)


async def _served(folder: Path) -> list[tuple[str, str]]:
    """Return what a server lists, over the protocol itself, to hosts with views and to those without."""
    settings = Settings(data_dir=folder / "data", cache_dir=folder / "cache")
    async with Client(build_server(settings)) as client:
        found = [("Instructions", client.instructions or "")]
        found += [(f"Tool {each.name}", _json(each)) for each in (await client.list_tools()).tools]
        found += [(f"Prompt {each.name}", _json(each)) for each in (await client.list_prompts()).prompts]
        for name, arguments in (
            ("find_code", {"task": "TASK"}),
            ("continue_navigation", {"feedback": "WISH"}),
        ):
            (message,) = (await client.get_prompt(name, arguments)).messages
            found.append((f"What prompt {name} sends", message.content.text))  # type: ignore[union-attr]
        templates = (await client.list_resource_templates()).resource_templates
        return found + [(f"Resource {each.name}", _json(each)) for each in templates]


def _hooks(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield what hooks say in the sample repository, each in the words that Claude Code passes on."""
    root, cache = folder / "shop", folder / "cache"
    for path, text in _SHOP.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "--quiet", root], check=True, capture_output=True)
    index = build_index(root)
    write_names(index, cache, root, {"facts": facts_of(index), "tree": index.fingerprint}, seconds=60)
    places = {"REPO_NAVIGATOR_CACHE": str(cache), "REPO_NAVIGATOR_DATA": str(folder / "data")}
    environment = {**os.environ, **places}
    hits = "\n".join(f"shop/orders.py:{line}: discounted_total(cart)" for line in range(5, 45))
    yield "Hook, a session starts", _said(root, environment, "start", {"hook_event_name": "SessionStart"})
    for title, line, output in (
        ("a search finds nothing", "grep -rn discount_total .", ""),
        ("a search finds much", "grep -rn discounted_total .", hits),
    ):
        ran = {"tool_input": {"command": line}, "tool_response": {"stdout": output, "stderr": ""}}
        # A session of its own: a place is said once in each.
        told = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "session_id": title, **ran}
        yield f"Hook, {title}: `{line}`", _said(root, environment, "tool", told)
    yield "Hook, the assistant crawls", places_text([LikelyPlace("PATH", "NAME", 1, 2)])
    yield "Hook, after an edit", findings_text(["FINDING"], 1)


def _said(root: Path, environment: Mapping[str, str], event: str, told: Mapping[str, Any]) -> str:
    message = {"session_id": "s", "cwd": str(root), **told}
    printed = heard(event, json.dumps(message).encode(), environment)
    if not printed:
        raise SystemExit(f"The hook says nothing of the event {event!r} in the sample repository.")
    return str(json.loads(printed)["hookSpecificOutput"]["additionalContext"])


def _json(value: Any) -> str:
    kept = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True)


def _fenced(text: str) -> str:
    return f"~~~~text\n{text.rstrip()}\n~~~~"


if __name__ == "__main__":
    (ROOT / FILE).write_text(model_texts(), encoding="utf-8")
