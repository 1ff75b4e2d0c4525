"""The clients' own commands that add and remove a server of the user."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from repo_map.working_folder import find_program
from repo_navigator.clients.hosts import ENTRY, Host

_TIMEOUT_S: Final = 60.0


def add_command(host: Host, entry: Mapping[str, Any]) -> list[str] | None:
    """Return the command that adds the server to a client, None where its ``PATH`` has none."""
    env = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
    program, args = str(entry["command"]), [str(each) for each in entry["args"]]
    match host.name:
        case "claude-code":
            words = ["claude", "mcp", "add-json", "--scope", "user", ENTRY, json.dumps(entry)]
        case "codex":
            flags = [word for each in env for word in ("--env", each)]
            words = ["codex", "mcp", "add", ENTRY, *flags, "--", program, *args]
        case "gemini-cli":
            flags = [word for each in env for word in ("--env", each)]
            words = ["gemini", "mcp", "add", "--scope", "user", *flags, ENTRY, program, "--", *args]
        case "vscode":
            words = ["code", "--add-mcp", json.dumps({"name": ENTRY, **entry})]
        case _:
            return None
    return _found(words)


def remove_command(host: Host) -> list[str] | None:
    """Return the command that removes the server from a client, None where there is none."""
    match host.name:
        case "claude-code":
            return _found(["claude", "mcp", "remove", "--scope", "user", ENTRY])
        case "codex":
            return _found(["codex", "mcp", "remove", ENTRY])
        case "gemini-cli":
            return _found(["gemini", "mcp", "remove", "--scope", "user", ENTRY])
    return None


def succeeds(command: Sequence[str]) -> bool:
    """Run a command of a client outside any project, and return whether it succeeded."""
    try:
        done = subprocess.run(
            command,
            cwd=Path.home(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _found(words: Sequence[str]) -> list[str] | None:
    program = find_program(words[0])
    return [program, *words[1:]] if program else None
