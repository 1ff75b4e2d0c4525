"""The clients that call MCP servers or start hooks, and where they list them: ``clients.toml`` has each."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Final

import msgspec

from repo_map.working_folder import find_program

ENTRY: Final = "repo-navigator"
COMMAND: Final = "{command}"
"""Stands for the command in a hook's entry."""


@dataclass(frozen=True)
class HookFile:
    """Where an assistant lists its hooks, and what an entry says there."""

    file: str
    project_file: str
    events: tuple[tuple[str, str, str], ...]
    """What the assistant calls an event, ours for it, and the tools that it is about (a pattern)."""
    entry: Mapping[str, Any]
    """A hook. Its timeout is for a machine that hangs: a hook ends far sooner."""
    folder: str = ""
    """Of the user's file, where it is not that of the servers."""
    grouped: bool = True
    """Whether commands stand in groups with a matcher, not each by itself."""
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
    kind: Mapping[str, str] = field(default_factory=dict)
    """How it wants to be told that the server speaks over stdio."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What else an entry says, such as that the tools are to be shown to the model from the start."""
    add_command: tuple[str, ...] = ()
    """The client's own command that adds a server of the user, with fields for its entry."""
    hooks: HookFile | None = None

    def path(self, environ: Mapping[str, str], platform: str, *, hooks: bool = False) -> Path:
        """Return the user's configuration file, or that of the hooks."""
        own = self.hooks if hooks and self.hooks else None
        folder = (own and own.folder) or self.folders.get(platform, self.folders["linux"])
        home = _home(environ)
        folder = folder.format(
            home=home,
            appdata=environ.get("APPDATA") or f"{home}/AppData/Roaming",
            config=environ.get("XDG_CONFIG_HOME") or f"{home}/.config",
        )
        return Path(environ.get(self.moved_by) or folder) / (own or self).file

    def shared_path(self, *, hooks: bool = False) -> str:
        """Return the path of the file that a project shares; empty where there is none."""
        return self.hooks.project_file if hooks and self.hooks else self.project_file

    def command_to_add(self, entry: Mapping[str, Any]) -> list[str]:
        """Return the client's own command that adds the server; empty where its ``PATH`` has none."""
        env = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
        words = {
            "{json}": [json.dumps(entry)],
            "{named json}": [json.dumps({"name": ENTRY, **entry})],
            "{env}": [word for each in env for word in ("--env", each)],
            "{program}": [str(entry["command"])],
            "{args}": [str(each) for each in entry["args"]],
        }
        program = find_program(self.add_command[0]) if self.add_command else None
        filled = [word for each in self.add_command[1:] for word in words.get(each, [each])]
        return [program, *filled] if program else []

    def is_used(self, environ: Mapping[str, str], platform: str) -> bool:
        """Return True if it seems to be installed for this user."""
        path = self.path(environ, platform)
        signs = [Path(_home(environ)) / sign for sign in self.signs] or [path.parent]
        return path.exists() or any(sign.is_dir() for sign in signs)

    def is_used_in(self, project: Path) -> bool:
        """Return True if a project has settings for it."""
        file = Path(self.project_file)
        return (project / file).exists() or (file.parent != Path() and (project / file.parent).is_dir())


def _home(environ: Mapping[str, str]) -> str:
    return environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())


def _read() -> dict[str, Host]:
    text = resources.files(__package__).joinpath("clients.toml").read_text(encoding="utf-8")
    return {name: msgspec.convert({"name": name, **host}, Host) for name, host in tomllib.loads(text).items()}


HOSTS: Final = _read()
HOOK_HOSTS: Final = {name: host for name, host in HOSTS.items() if host.hooks}
"""Those that start hooks."""
