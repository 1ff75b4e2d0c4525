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


def add_command(host: Host, entry: Mapping[str, Any]) -> list[str]:
    """Return the command that adds the server to a client; empty where its ``PATH`` has none."""
    env = [f"{name}={value}" for name, value in entry.get("env", {}).items()]
    words = {
        "{json}": [json.dumps(entry)],
        "{named json}": [json.dumps({"name": ENTRY, **entry})],
        "{env}": [word for each in env for word in ("--env", each)],
        "{program}": [str(entry["command"])],
        "{args}": [str(each) for each in entry["args"]],
    }
    return _found([word for each in host.add_command for word in words.get(each, [each])])


def remove_command(host: Host) -> list[str]:
    """Return the command that removes the server from a client; empty where there is none."""
    return _found(host.remove_command)


def succeeds(command: Sequence[str]) -> bool:
    """Run a command of a client outside any project, and return whether it succeeded."""
    nothing = subprocess.DEVNULL
    try:
        done = subprocess.run(
            command,
            cwd=Path.home(),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _found(words: Sequence[str]) -> list[str]:
    program = find_program(words[0]) if words else None
    return [program, *words[1:]] if program else []
