"""Write what clients install from (plugins, marketplace, example configuration, pre-commit hook) and the
settings of the server's page.

``make manifests`` writes the files that are committed. The registry's entry and the bundle's manifest are
made when a release or a bundle is built. A client starts each of these entries in the folder that it opened,
so they find the program on the ``PATH`` and import nothing of that folder.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import yaml

from mcp_server.settings import KNOWN, describe_setting
from mcp_server.tools import tools
from repo_navigator.clients.configuration import HOOKS
from repo_navigator.clients.entries import entry_by_path, hook_elements, server_entry
from repo_navigator.clients.hosts import ENTRY, HOSTS

ROOT: Final = Path(__file__).parents[1]
PROJECT: Final[dict[str, Any]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSION: Final = str(PROJECT["version"])
PLUGIN: Final = "packaging/plugins/repo-navigator"
HOOK_PLUGIN: Final = "packaging/plugins/repo-navigator-hooks"
_SERVER_PAGE: Final = "docs/server.md"
_SETTING: Final = re.compile(r"^- `(REPO_NAVIGATOR_\w+)`: .*$", re.MULTILINE)
TITLE: Final = "Repo Navigator"
AUTHOR: Final = {"name": "The Repo Navigator maintainers"}
SHORT: Final = "The code that matters for a task, in one call, within a token budget."
DESCRIPTION: Final = (
    "Find the code for a task: a bug, issue, stack trace, feature or refactoring. One call returns the "
    "functions that matter, within a token budget. Runs on your machine, needs no key."
)
HOOK_DESCRIPTION: Final = "Checks each edit in the background and reports what it breaks."
TAGLINE: Final = "The code that matters for a task, within a token budget and a cost limit."
LONG_DESCRIPTION: Final = (
    "Give it a task and a repository; get back the functions to look at in full, signatures around them and "
    "paths beyond, best first, within your token budget. It runs on your machine and needs no API key. "
    "Python and the packages it builds on are fetched by uv when the bundle first starts; afterwards it "
    "works offline."
)
KEYWORDS: Final = ["code search", "context", "mcp", "repository map"]
CATEGORY: Final = "development"
PRE_COMMIT_HOOK: Final = {
    "id": "repo-navigator-check",
    "name": "what the edit breaks",
    "description": (
        "Uses of removed names, calls that no longer fit, files that do not parse, and the tests to run."
    ),
    "entry": "repo-navigator check",
    "language": "python",
    "pass_filenames": False,
    "always_run": True,
}
PROMPTS: Final = [
    "Find the code for this issue: …",
    "Which functions decide how a session expires?",
    "Where does this stack trace come from?",
]


def manifests() -> dict[str, str]:
    """Return the text of every committed file by its path."""
    about = {
        "name": ENTRY,
        "version": VERSION,
        "description": DESCRIPTION,
        "author": AUTHOR,
        "license": "MIT",
    }
    by_path = {ENTRY: entry_by_path()}
    found: dict[str, Any] = {
        "claude_desktop_config.example.json": {"mcpServers": by_path},
        f"{PLUGIN}/.claude-plugin/plugin.json": {**about, "keywords": KEYWORDS},
        # Claude Code reads it beside its plugin's manifest.
        f"{PLUGIN}/.mcp.json": {"mcpServers": {ENTRY: server_entry(HOSTS["claude-code"], "project")}},
        f"{PLUGIN}/.cursor-plugin/plugin.json": {
            **about,
            "displayName": TITLE,
            "keywords": KEYWORDS,
            "category": CATEGORY,
            "skills": "./skills/",
            "mcpServers": by_path,
        },
        f"{PLUGIN}/.codex-plugin/plugin.json": {
            **about,
            "keywords": KEYWORDS,
            "skills": "./skills/",
            "mcpServers": by_path,
            "interface": {
                "displayName": TITLE,
                "shortDescription": SHORT,
                "longDescription": DESCRIPTION,
                "developerName": AUTHOR["name"],
                "category": "Engineering",
                "capabilities": ["Read"],
                "defaultPrompt": PROMPTS,
            },
        },
        f"{PLUGIN}/gemini-extension.json": {
            "name": ENTRY,
            "version": VERSION,
            "description": DESCRIPTION,
            "mcpServers": by_path,
        },
        f"{HOOK_PLUGIN}/.claude-plugin/plugin.json": {
            **about,
            "name": f"{ENTRY}-hooks",
            "description": HOOK_DESCRIPTION,
            "keywords": KEYWORDS,
        },
        f"{HOOK_PLUGIN}/hooks/hooks.json": {
            HOOKS: {
                event: [element] for event, element in hook_elements(HOSTS["claude-code"], "project").items()
            }
        },
        ".claude-plugin/marketplace.json": {
            "name": ENTRY,
            "owner": AUTHOR,
            "metadata": {"description": SHORT},
            "plugins": [
                {"name": ENTRY, "source": f"./{PLUGIN}", "description": DESCRIPTION, "category": CATEGORY},
                {
                    "name": f"{ENTRY}-hooks",
                    "source": f"./{HOOK_PLUGIN}",
                    "description": HOOK_DESCRIPTION,
                    "category": CATEGORY,
                },
            ],
        },
    }
    texts = {path: as_json(value) for path, value in found.items()}
    texts[".pre-commit-hooks.yaml"] = yaml.safe_dump([PRE_COMMIT_HOOK], sort_keys=False, width=110)
    return {**texts, _SERVER_PAGE: _server_page()}


def _server_page() -> str:
    """Return the page with the settings of the model; their order and their headings are the page's.

    Raises:
        SystemExit: A setting has no line, or a line has no setting.
    """
    page = (ROOT / _SERVER_PAGE).read_text(encoding="utf-8")
    if wrong := set(_SETTING.findall(page)) ^ KNOWN:
        raise SystemExit(f"{_SERVER_PAGE}: add or remove a line for {', '.join(sorted(wrong))}.")
    return _SETTING.sub(lambda line: f"- `{line[1]}`: {describe_setting(line[1])}", page)


def registry_entry() -> dict[str, Any]:
    """Return ``server.json``, by which the MCP registry lists the server."""
    variables = [
        ("ALLOW", "Folders that repositories must lie in, separated as in PATH; any folder if left out"),
        ("MODEL", "Model that decides; the embedded planner, which needs no key, if left out"),
    ]
    key = {"name": "GOOGLE_API_KEY", "description": "Key for Gemini models; only they need it"}
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": "io.github.repo-navigator/repo-navigator",
        "title": TITLE,
        "description": f"{TAGLINE} Works offline, no key.",
        "version": VERSION,
        "packages": [
            {
                "registryType": "pypi",
                "identifier": PROJECT["name"],
                "version": VERSION,
                "runtimeHint": "uvx",
                "transport": {"type": "stdio"},
                "packageArguments": [
                    {"type": "positional", "value": value} for value in entry_by_path()["args"]
                ],
                "environmentVariables": [
                    *(
                        {"name": f"REPO_NAVIGATOR_{name}", "description": description, "isRequired": False}
                        for name, description in variables
                    ),
                    {**key, "isRequired": False, "isSecret": True},
                ],
            }
        ],
    }


def bundle_manifest() -> dict[str, Any]:
    """Return ``manifest.json`` of the MCPB bundle."""
    run = ["run", "--quiet", "--no-dev", "--directory", "${__dirname}"]
    return {
        "manifest_version": "0.4",
        "name": ENTRY,
        "display_name": TITLE,
        "version": VERSION,
        "description": TAGLINE,
        "long_description": LONG_DESCRIPTION,
        "author": AUTHOR,
        "license": "MIT",
        "keywords": KEYWORDS,
        "server": {
            "type": "uv",
            "entry_point": "mcp_server/__main__.py",
            "mcp_config": {"command": "uv", "args": [*run, "python", "-I", "-m", "mcp_server"]},
        },
        "tools": [{"name": tool.name, "description": tool.title} for tool in tools()],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
    }


def as_json(value: Any) -> str:
    """Return a manifest as the text of its file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Write every file."""
    for path, text in manifests().items():
        target = ROOT / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path}\n")


if __name__ == "__main__":
    main()
