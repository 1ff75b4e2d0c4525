"""The assistants that call MCP servers: where they list them, and how an entry of ours reads."""

from __future__ import annotations

import os
import re
import site
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from mcp_server.settings import PREFIX
from repo_map.working_folder import absolute_entries

ENTRY: Final = "repo-navigator"
ALLOW: Final = f"{PREFIX}ALLOW"
Scope = Literal["user", "project"]
_STDIO: Final = {"type": "stdio"}


@dataclass(frozen=True)
class Host:
    """An assistant that can call MCP servers."""

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

    def path(self, environ: Mapping[str, str], platform: str) -> Path:
        """Return the user's configuration file."""
        home = _home(environ)
        folder = self.folders.get(platform, self.folders["linux"]).format(
            home=home,
            appdata=environ.get("APPDATA") or f"{home}/AppData/Roaming",
            config=environ.get("XDG_CONFIG_HOME") or f"{home}/.config",
        )
        return Path(environ.get(self.moved_by) or folder) / self.file

    def is_used(self, environ: Mapping[str, str], platform: str) -> bool:
        """Tell whether it seems to be installed for this user."""
        path = self.path(environ, platform)
        signs = [Path(_home(environ)) / sign for sign in self.signs] or [path.parent]
        return path.exists() or any(sign.is_dir() for sign in signs)

    def is_used_in(self, project: Path) -> bool:
        """Tell whether a project has settings for it."""
        file = Path(self.project_file)
        return (project / file).exists() or (file.parent != Path() and (project / file.parent).is_dir())


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


def server_entry(host: Host, scope: Scope, allowed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the entry that starts the server, from whichever folder the host starts it.

    A user's entry names this interpreter by its path, so that it needs no ``PATH``. One that a project
    shares must work on other machines as well, so there the program is found on each user's ``PATH``.
    """
    start = entry_by_path() if scope == "project" else entry_of_this_python()
    env = start.pop("env", {}) | ({ALLOW: os.pathsep.join(allowed)} if allowed else {})
    return {**host.kind, **start, **({"env": env} if env else {}), **host.settings}


def entry_by_path() -> dict[str, Any]:
    """Return the entry for a machine that has ``repo-navigator`` on its ``PATH``."""
    # Many shells leave an empty part in PYTHONPATH: Python would import from the folder that is opened.
    return {"command": "repo-navigator", "args": ["serve"], "env": {"PYTHONPATH": ""}}


def entry_of_this_python() -> dict[str, Any]:
    """Return the entry that names this interpreter, for a machine's own user."""
    package = Path(__file__).resolve().parents[1]
    in_user_site = package == Path(site.getusersitepackages()).resolve()
    # Isolated, Python imports neither from the working folder nor from what PYTHONPATH names; what a user has
    # installed for himself alone it then leaves aside as well, unless told by the parts of `-I`.
    isolated = ["-E", "-P"] if in_user_site else ["-I"]
    return {"command": sys.executable, "args": [*isolated, "-m", "mcp_server"]}


def is_ours(entry: object) -> bool:
    """Tell whether an entry starts this server, in whichever way."""
    if not isinstance(entry, Mapping):
        return False
    args = entry.get("args")
    by_argument = isinstance(args, list) and bool({ENTRY, "mcp_server"} & set(map(str, args)))
    return by_argument or Path(str(entry.get("command", ""))).stem == ENTRY


def unsafe(entry: Mapping[str, Any]) -> str:
    """Return why an entry of ours runs what lies in the folder that is opened; empty where it does not."""
    command = str(entry.get("command", ""))
    listed, env = entry.get("args"), entry.get("env")
    args = [str(each) for each in listed] if isinstance(listed, list) else []
    if Path(command).stem == "uv" and not {"--directory", "--project", "--no-project"} & set(args):
        return "uv takes its settings from the folder that is opened"
    if re.search(r"[/\\]", command) and not Path(command).is_absolute():
        return f"`{command}` is looked for in the folder that is opened"
    flags = args[: args.index("-m")] if "-m" in args else []
    if "-m" in args and not ("--directory" in flags or _has(flags, "IP")):
        return "`python -m` imports from the folder that is opened"
    path = env.get("PYTHONPATH") if isinstance(env, Mapping) else None
    if path and not _has(flags, "IE") and absolute_entries(str(path)) != str(path).split(os.pathsep):
        return "its PYTHONPATH names the folder that is opened"
    return ""


def _has(flags: Sequence[str], letters: str) -> bool:
    """Tell whether one of Python's flags is one of these letters."""
    return any(re.fullmatch(rf"-[A-Za-z]*[{letters}][A-Za-z]*", flag) for flag in flags)


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())
