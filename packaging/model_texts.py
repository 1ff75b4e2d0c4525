"""Write down what a model is sent whatever the repository: ``python packaging/model_texts.py``.

A release publishes the file's hash. Whoever has approved one version sees in its difference to the next each
word that is new: of the instructions, the tools, the prompts and the skill.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, Final

import anyio
from mcp import Client

from manifests import PLUGIN, ROOT
from mcp_server.app import build_server
from mcp_server.settings import Settings

FILE: Final = "packaging/model-texts.md"
_PROMPTED: Final = {"find_code": {"task": "TASK"}, "continue_navigation": {"feedback": "WISH"}}
"""Prompts whose text depends on their arguments alone; the others begin with the report of a navigation."""
_ABOUT: Final = """\
# What a model is sent

Made by `make manifests`, held by a test. These are the words that a host passes to its model, whatever the
repository: instructions, tools, prompts, resources and the skill.
A release publishes this file's SHA-256.
"""


def model_texts() -> str:
    """Return the file's text; the same sources give the same bytes."""
    skill = (ROOT / PLUGIN / "skills/find-code/SKILL.md").read_text(encoding="utf-8")
    # The navigator is loaded ahead of its use, in a thread that may outlive the connection.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        sections = [*anyio.run(_served, Path(folder)), ("Skill", skill)]
    return _ABOUT + "".join(f"\n## {title}\n\n{_fenced(text)}\n" for title, text in sections)


async def _served(folder: Path) -> list[tuple[str, str]]:
    """Return what a server lists, over the protocol itself, to hosts with views and to those without."""
    settings = Settings(data_dir=folder / "data", cache_dir=folder / "cache")
    async with Client(build_server(settings)) as client:
        found = [("Instructions", client.instructions or "")]
        found += [(f"Tool {each.name}", _json(each)) for each in (await client.list_tools()).tools]
        found += [(f"Prompt {each.name}", _json(each)) for each in (await client.list_prompts()).prompts]
        for name, arguments in _PROMPTED.items():
            (message,) = (await client.get_prompt(name, arguments)).messages
            found.append((f"What prompt {name} sends", message.content.text))  # type: ignore[union-attr]
        templates = (await client.list_resource_templates()).resource_templates
        return found + [(f"Resource {each.name}", _json(each)) for each in templates]


def _json(value: Any) -> str:
    kept = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return json.dumps(kept, indent=1, ensure_ascii=False, sort_keys=True)


def _fenced(text: str) -> str:
    return f"~~~~text\n{text.rstrip()}\n~~~~"


if __name__ == "__main__":
    (ROOT / FILE).write_text(model_texts(), encoding="utf-8")
