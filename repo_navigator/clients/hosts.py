"""The clients that call MCP servers or start hooks, and where they list them: a record for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from repo_navigator.hook import PROMPT, TOOL

ENTRY: Final = "repo-navigator"
_STDIO: Final = {"type": "stdio"}


_HOOK_TIMEOUT_S: Final = 5
"""A hook ends far sooner; a host's own limit is for a machine that hangs."""


@dataclass(frozen=True)
class HookFile:
    """Where an assistant lists its hooks, and what an entry says there."""

    file: str
    events: tuple[tuple[str, str, str], ...]
    """What the assistant calls an event, ours for it, and the tools that it is about (a pattern)."""
    folder: str = ""
    """Of the user's file, where it is not that of the servers."""
    project_file: str = ""
    grouped: bool = True
    """Whether commands stand in groups with a matcher, not each by itself."""
    before: Mapping[str, Any] = field(default_factory=lambda: {"type": "command"})
    """What an entry says before its command."""
    shells: tuple[str, ...] = ("command",)
    """The keys of a command, one for each shell that may run it."""
    after: Mapping[str, Any] = field(default_factory=lambda: {"timeout": _HOOK_TIMEOUT_S})
    """What an entry says after its command."""
    heads: Mapping[str, Any] = field(default_factory=dict)
    """What a new file says beside the hooks."""
    note: str = ""
    """What the user has to do, or to know, besides."""


@dataclass(frozen=True)
class Host:
    """A client that calls MCP servers, and may start hooks."""

    name: str
    title: str
    servers: str
    """Key under which the configuration lists servers."""
    folders: Mapping[str, str]
    """Folder of the user's configuration by platform, with ``{home}``, ``{appdata}`` and ``{config}``."""
    file: str
    project_file: str = ""
    """Path of the configuration that a project shares; empty where there is none."""
    moved_by: str = ""
    """Variable that names another folder of the user's configuration."""
    signs: tuple[str, ...] = ()
    """Folders in the user's home that tell that it is used; else that of the configuration."""
    kind: Mapping[str, str] = field(default_factory=lambda: _STDIO)
    """How it wants to be told that the server speaks over stdio."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else an entry says, such as that the tools are to be shown to the model from the start."""
    hooks: HookFile | None = None

    def path(self, environ: Mapping[str, str], platform: str) -> Path:
        """Return the user's configuration file."""
        return self._folder(environ, platform) / self.file

    def hook_path(self, environ: Mapping[str, str], platform: str) -> Path:
        """Return the user's file of hooks."""
        assert self.hooks is not None
        return self._folder(environ, platform, self.hooks.folder) / self.hooks.file

    def _folder(self, environ: Mapping[str, str], platform: str, folder: str = "") -> Path:
        home = _home(environ)
        folder = (folder or self.folders.get(platform, self.folders["linux"])).format(
            home=home,
            appdata=environ.get("APPDATA") or f"{home}/AppData/Roaming",
            config=environ.get("XDG_CONFIG_HOME") or f"{home}/.config",
        )
        return Path(environ.get(self.moved_by) or folder)

    def is_used(self, environ: Mapping[str, str], platform: str) -> bool:
        """Tell whether it seems to be installed for this user."""
        path = self.path(environ, platform)
        signs = [Path(_home(environ)) / sign for sign in self.signs] or [path.parent]
        return path.exists() or any(sign.is_dir() for sign in signs)

    def is_used_in(self, project: Path) -> bool:
        """Tell whether a project has settings for it."""
        file = Path(self.project_file)
        return (project / file).exists() or (file.parent != Path() and (project / file.parent).is_dir())


_COPILOT: Final = HookFile(
    "hooks/repo-navigator.json",
    (("UserPromptSubmit", PROMPT, ""), ("PostToolUse", TOOL, "")),
    project_file=".github/hooks/repo-navigator.json",
    grouped=False,
    shells=("command", "bash", "powershell"),
    after={"timeoutSec": _HOOK_TIMEOUT_S, "timeout": _HOOK_TIMEOUT_S},
    heads={"version": 1},
)
HOSTS: Final = {
    host.name: host
    for host in (
        Host(
            "claude-code",
            "Claude Code",
            "mcpServers",
            {"linux": "{home}"},
            ".claude.json",
            project_file=".mcp.json",
            moved_by="CLAUDE_CONFIG_DIR",
            signs=(".claude",),
            # Otherwise its tools are found by a search alone, and models seldom search.
            settings={"alwaysLoad": True},
            hooks=HookFile(
                "settings.json",
                (
                    ("UserPromptSubmit", PROMPT, ""),
                    ("PostToolUse", TOOL, "Bash|Grep|Glob|Read|Edit|MultiEdit|Write|NotebookEdit"),
                ),
                folder="{home}/.claude",
                project_file=".claude/settings.json",
            ),
        ),
        Host(
            "claude-desktop",
            "Claude Desktop",
            "mcpServers",
            {
                "darwin": "{home}/Library/Application Support/Claude",
                "win32": "{appdata}/Claude",
                "linux": "{config}/Claude",
            },
            "claude_desktop_config.json",
            kind={},
        ),
        Host(
            "codex",
            "Codex",
            "mcp_servers",
            {"linux": "{home}/.codex"},
            "config.toml",
            project_file=".codex/config.toml",
            moved_by="CODEX_HOME",
            kind={},
            # A first start may have to read 300 MB of packages from a slow disk.
            settings={"startup_timeout_sec": 30},
            hooks=HookFile(
                "hooks.json",
                (
                    ("UserPromptSubmit", PROMPT, ""),
                    ("PostToolUse", TOOL, "Bash|apply_patch"),
                ),
                project_file=".codex/hooks.json",
                note="Codex runs them once you trust them: type /hooks there.",
            ),
        ),
        Host(
            "copilot-cli",
            "Copilot CLI",
            "mcpServers",
            {"linux": "{home}/.copilot"},
            "mcp-config.json",
            project_file=".github/mcp.json",
            moved_by="COPILOT_HOME",
            settings={"tools": ["*"], "deferTools": "never"},
            hooks=replace(_COPILOT, note="VS Code reads the same file."),
        ),
        Host(
            "cursor",
            "Cursor",
            "mcpServers",
            {"linux": "{home}/.cursor"},
            "mcp.json",
            project_file=".cursor/mcp.json",
        ),
        Host(
            "gemini-cli",
            "Gemini CLI",
            "mcpServers",
            {"linux": "{home}/.gemini"},
            "settings.json",
            project_file=".gemini/settings.json",
            kind={},
            hooks=HookFile(
                "settings.json",
                (
                    ("BeforeAgent", PROMPT, ""),
                    (
                        "AfterTool",
                        TOOL,
                        "run_shell_command|search_file_content|grep_search|glob|read_file|replace|write_file",
                    ),
                ),
                project_file=".gemini/settings.json",
                before={"name": ENTRY, "type": "command"},
                after={"timeout": _HOOK_TIMEOUT_S * 1_000},
            ),
        ),
        Host(
            "vscode",
            "VS Code",
            "servers",
            {
                "darwin": "{home}/Library/Application Support/Code/User",
                "win32": "{appdata}/Code/User",
                "linux": "{config}/Code/User",
            },
            "mcp.json",
            project_file=".vscode/mcp.json",
            hooks=replace(_COPILOT, folder="{home}/.copilot", note="Copilot CLI reads the same file."),
        ),
        Host(
            "windsurf",
            "Windsurf",
            "mcpServers",
            {"linux": "{home}/.codeium/windsurf"},
            "mcp_config.json",
            kind={},
        ),
        Host(
            "zed",
            "Zed",
            "context_servers",
            {"win32": "{appdata}/Zed", "darwin": "{home}/.config/zed", "linux": "{config}/zed"},
            "settings.json",
            project_file=".zed/settings.json",
            kind={},
        ),
    )
}
HOOK_HOSTS: Final = {name: host for name, host in HOSTS.items() if host.hooks}
"""Those that start hooks."""


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())
