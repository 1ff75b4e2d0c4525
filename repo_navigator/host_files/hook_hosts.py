"""The assistants that start hooks: where they list them, and how an entry of ours reads."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from repo_navigator.hooks.program import PROMPT, START, TOOL
from repo_navigator.host_files.hosts import ENTRY, HOSTS, Host, Scope, entry_of_this_python

_TIMEOUT_S: Final = 5
"""A hook ends far sooner; a host's own limit is for a machine that hangs."""
TABLE: Final = "hooks"


@dataclass(frozen=True)
class HookHost:
    """Where an assistant lists its hooks."""

    name: str
    title: str
    folders: Mapping[str, str]
    """Folder of the user's file by platform, as in ``hosts.Host``."""
    file: str
    events: tuple[tuple[str, str, str], ...]
    """What the assistant calls an event, ours for it, and the tools that it is about (a pattern)."""
    project_file: str = ""
    moved_by: str = ""
    grouped: bool = True
    """Whether commands stand in groups with a matcher, not each by itself."""
    timeout: Mapping[str, int] = field(default_factory=lambda: {"timeout": _TIMEOUT_S})
    named: bool = False
    """Whether an entry bears a name."""
    shells: tuple[str, ...] = ("command",)
    """The keys of a command, one for each shell that may run it."""
    heads: Mapping[str, Any] = field(default_factory=dict)
    """What a new file says beside the hooks."""
    note: str = ""
    """What the user has to do, or to know, besides."""

    def path(self, environ: Mapping[str, str], platform: str) -> Path:
        """Return the user's file."""
        place = Host(self.name, self.title, "", self.folders, self.file, moved_by=self.moved_by)
        return place.path(environ, platform)

    def elements(self, scope: Scope) -> dict[str, dict[str, Any]]:
        """Return what is added to each event's list."""
        return {
            host_event: self._element(_command(event, scope), tools)
            for host_event, event, tools in self.events
        }

    def _element(self, command: str, tools: str) -> dict[str, Any]:
        own = {"name": ENTRY} if self.named else {}
        typed = {} if self.name == "cursor" else {"type": "command"}
        entry = {**own, **typed, **dict.fromkeys(self.shells, command), **self.timeout}
        matcher = {"matcher": tools} if tools else {}
        return {**matcher, "hooks": [entry]} if self.grouped else {**entry, **matcher}


def is_our_hook(element: object) -> bool:
    """Tell whether an element of an event's list starts this program."""
    if isinstance(element, Mapping):
        return any(is_our_hook(value) for key, value in element.items() if key != "name")
    if isinstance(element, list):
        return any(map(is_our_hook, element))
    return (
        isinstance(element, str)
        and "hook" in element.split()
        and (ENTRY in element or "repo_navigator" in element)
    )


def _command(event: str, scope: Scope) -> str:
    if scope == "project":
        return f"{ENTRY} hook {event}"
    start = entry_of_this_python()
    words = [start["command"], *start["args"][:-1], "repo_navigator.main", "hook", event]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


_STARTED: Final = "startup|clear"
_COPILOT: Final = (
    ("SessionStart", START, ""),
    ("UserPromptSubmit", PROMPT, ""),
    ("PostToolUse", TOOL, ""),
)
"""VS Code heeds no matcher, so the hook itself tells a look-up from all else."""
_COPILOT_FILE: Final = "hooks/repo-navigator.json"

HOOK_HOSTS: Final = {
    host.name: host
    for host in (
        HookHost(
            "claude-code",
            "Claude Code",
            {"linux": "{home}/.claude"},
            "settings.json",
            (
                ("SessionStart", START, _STARTED),
                ("UserPromptSubmit", PROMPT, ""),
                ("PostToolUse", TOOL, "Bash|Grep|Glob|Read|Edit|MultiEdit|Write|NotebookEdit"),
                # A search that finds nothing ends with 1.
                ("PostToolUseFailure", TOOL, "Bash|Grep|Glob"),
            ),
            project_file=".claude/settings.json",
            moved_by="CLAUDE_CONFIG_DIR",
        ),
        HookHost(
            "codex",
            "Codex",
            {"linux": "{home}/.codex"},
            "hooks.json",
            (
                ("SessionStart", START, _STARTED),
                ("UserPromptSubmit", PROMPT, ""),
                ("PostToolUse", TOOL, "Bash|apply_patch"),
            ),
            project_file=".codex/hooks.json",
            moved_by="CODEX_HOME",
            note="Codex runs them once you trust them: type /hooks there.",
        ),
        HookHost(
            "copilot-cli",
            "Copilot CLI",
            {"linux": "{home}/.copilot"},
            _COPILOT_FILE,
            _COPILOT,
            project_file=".github/hooks/repo-navigator.json",
            moved_by="COPILOT_HOME",
            grouped=False,
            timeout={"timeoutSec": _TIMEOUT_S, "timeout": _TIMEOUT_S},
            shells=("command", "bash", "powershell"),
            heads={"version": 1},
            note="VS Code reads the same file.",
        ),
        HookHost(
            "vscode",
            "VS Code",
            {"linux": "{home}/.copilot"},
            _COPILOT_FILE,
            _COPILOT,
            project_file=".github/hooks/repo-navigator.json",
            grouped=False,
            timeout={"timeoutSec": _TIMEOUT_S, "timeout": _TIMEOUT_S},
            shells=("command", "bash", "powershell"),
            heads={"version": 1},
            note="Copilot CLI reads the same file.",
        ),
        HookHost(
            "cursor",
            "Cursor",
            {"linux": "{home}/.cursor"},
            "hooks.json",
            (
                ("sessionStart", START, ""),
                ("beforeSubmitPrompt", PROMPT, ""),
                ("postToolUse", TOOL, "Shell|Grep|Read|Write"),
            ),
            project_file=".cursor/hooks.json",
            grouped=False,
            heads={"version": 1},
            note="Not every version of Cursor shows its model what hooks add.",
        ),
        HookHost(
            "devin",
            "Devin CLI",
            {"linux": "{config}/devin", "darwin": "{config}/devin", "win32": "{appdata}/devin"},
            "config.json",
            (
                ("SessionStart", START, ""),
                ("UserPromptSubmit", PROMPT, ""),
                ("PostToolUse", TOOL, "exec|grep|glob|read|edit|write"),
            ),
        ),
        HookHost(
            "gemini-cli",
            "Gemini CLI",
            {"linux": "{home}/.gemini"},
            "settings.json",
            (
                ("SessionStart", START, ""),
                ("BeforeAgent", PROMPT, ""),
                (
                    "AfterTool",
                    TOOL,
                    "run_shell_command|search_file_content|grep_search|glob|read_file|replace|write_file",
                ),
            ),
            project_file=".gemini/settings.json",
            timeout={"timeout": _TIMEOUT_S * 1_000},
            named=True,
        ),
    )
}


def is_used(host: HookHost, environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Tell whether an assistant seems to be installed for this user."""
    known = HOSTS.get(host.name)
    return known.is_used(environ, platform) if known else host.path(environ, platform).parent.is_dir()
