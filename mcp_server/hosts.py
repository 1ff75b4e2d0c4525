"""Where assistants keep their list of MCP servers, and how an entry is put into it and taken out again."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

from navigator.errors import InvalidRequestError

ENTRY: Final = "repo-navigator"
_BACKUP_SUFFIX: Final = ".before-repo-navigator"


@dataclass(frozen=True)
class Host:
    """An assistant that can call MCP servers."""

    name: str
    title: str
    servers: str
    """Key under which the configuration lists servers."""
    folders: Mapping[str, str]
    """Folder of the configuration by platform, with ``{home}``, ``{appdata}`` and ``{config}``."""
    file: str

    def path(self, environ: Mapping[str, str], platform: str) -> Path:
        """Return the user's configuration file."""
        home = environ.get("HOME") or environ.get("USERPROFILE") or str(Path.home())
        folder = self.folders.get(platform, self.folders["linux"]).format(
            home=home,
            appdata=environ.get("APPDATA") or f"{home}/AppData/Roaming",
            config=environ.get("XDG_CONFIG_HOME") or f"{home}/.config",
        )
        return Path(folder) / self.file


HOSTS: Final = {
    host.name: host
    for host in (
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
        ),
        Host("claude-code", "Claude Code", "mcpServers", {"linux": "{home}"}, ".claude.json"),
        Host("cursor", "Cursor", "mcpServers", {"linux": "{home}/.cursor"}, "mcp.json"),
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
        ),
    )
}


class Change(NamedTuple):
    """What would become of one file; ``after`` is None where the file goes."""

    path: Path
    before: str | None
    after: str | None

    @property
    def diff(self) -> str:
        """The change as a unified diff, empty where nothing changes."""
        old, new = (self.before or "").splitlines(keepends=True), (self.after or "").splitlines(keepends=True)
        return "".join(difflib.unified_diff(old, new, str(self.path), str(self.path)))


def server_entry(python: str = sys.executable) -> dict[str, Any]:
    """Return the entry that starts the server with this very interpreter, so that it needs no PATH."""
    return {"type": "stdio", "command": python, "args": ["-m", "mcp_server"]}


def installing(host: Host, path: Path, entry: Mapping[str, Any]) -> Change:
    """Return the change that adds ``entry``, or renews ours, and leaves everything else as it is."""
    before = _read(path)
    config = _parsed(host, path, before)
    earlier = config.get(host.servers, {}).get(ENTRY)
    # Installing again must not open what an allow-list of the first time keeps closed.
    kept = {"env": earlier["env"]} if isinstance(earlier, dict) and "env" in earlier else {}
    config[host.servers] = {**config.get(host.servers, {}), ENTRY: {**kept, **entry}}
    return Change(path, before, _written(config))


def undoing(host: Host, path: Path) -> Change:
    """Return the change that takes our entry out, or puts back the one that was there before us."""
    before = _read(path)
    config = _parsed(host, path, before)
    servers: dict[str, Any] = dict(config.get(host.servers, {}))
    if servers.pop(ENTRY, None) is None:
        return Change(path, before, before)
    backup = _read(backup_of(path))
    earlier = _parsed(host, backup_of(path), backup).get(host.servers, {}).get(ENTRY) if backup else None
    if earlier is not None:
        servers[ENTRY] = earlier
    if not servers and backup is None and config.keys() == {host.servers}:
        return Change(path, before, None)
    return Change(path, before, _written({**config, host.servers: servers}))


def apply(change: Change, *, backup: bool) -> None:
    """Carry ``change`` out; with ``backup``, keep the file as it was beside it, unless one is kept already.

    Raises:
        OSError: The file can't be written.
    """
    kept = backup_of(change.path)
    if change.after is None:
        change.path.unlink()
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    if backup and change.before is not None and not kept.exists():
        kept.write_text(change.before, encoding="utf-8")
    draft = change.path.with_name(f".{change.path.name}.draft")
    draft.write_text(change.after, encoding="utf-8")
    if change.path.exists():
        draft.chmod(change.path.stat().st_mode)
    # A symlinked configuration stays a symlink: its target is what changes.
    draft.replace(change.path.resolve())
    if not backup:
        kept.unlink(missing_ok=True)


def backup_of(path: Path) -> Path:
    """Return where the file is kept as it was before us."""
    return path.with_name(path.name + _BACKUP_SUFFIX)


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _parsed(host: Host, path: Path, text: str | None) -> dict[str, Any]:
    try:
        config = json.loads(text) if text and text.strip() else {}
    except ValueError as error:
        snippet = json.dumps({host.servers: {ENTRY: server_entry()}})
        raise InvalidRequestError(
            f"`{path}` is no plain JSON ({error}), so it was left alone; mend it, or add this by hand: "
            f"{snippet}"
        ) from error
    if not isinstance(config, dict) or not isinstance(config.get(host.servers, {}), dict):
        raise InvalidRequestError(
            f"`{path}` has no object `{host.servers}` to add to, so it was left alone; mend it."
        )
    return config


def _written(config: Mapping[str, Any]) -> str:
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"
