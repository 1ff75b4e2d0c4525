"""Our entries in the configurations of assistants: how they are written and recognized."""

from __future__ import annotations

import os
import re
import shlex
import site
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from mcp_server.settings import PREFIX
from repo_map.working_folder import absolute_entries
from repo_navigator.clients.hosts import COMMAND, ENTRY, Host

ALLOW: Final = f"{PREFIX}ALLOW"
Scope = Literal["user", "project"]


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
    """Return True if an entry starts this server, in any of its forms."""
    if not isinstance(entry, Mapping):
        return False
    args = entry.get("args")
    by_argument = isinstance(args, list) and bool({ENTRY, "mcp_server"} & set(map(str, args)))
    return by_argument or Path(str(entry.get("command", ""))).stem == ENTRY


def unsafe(entry: Mapping[str, Any]) -> str:
    """Return the reason why an entry of ours would run code of the opened folder; empty if it would not."""
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
    if path and not _has(flags, "IE") and absolute_entries(str(path)) != tuple(str(path).split(os.pathsep)):
        return "its PYTHONPATH names the folder that is opened"
    return ""


def _has(flags: Sequence[str], letters: str) -> bool:
    """Return True if one of Python's flags has one of these letters."""
    return any(re.fullmatch(rf"-[A-Za-z]*[{letters}][A-Za-z]*", flag) for flag in flags)


def hook_elements(host: Host, scope: Scope) -> dict[str, dict[str, Any]]:
    """Return what is added to the list of each event of a host that starts hooks."""
    hooks = host.hooks
    assert hooks is not None
    elements = {}
    for host_event, event, tools in hooks.events:
        command = _hook_command(event, scope)
        entry = {name: command if value == COMMAND else value for name, value in hooks.entry.items()}
        matcher = {"matcher": tools} if tools else {}
        elements[host_event] = {**matcher, "hooks": [entry]} if hooks.grouped else {**entry, **matcher}
    return elements


def _hook_command(event: str, scope: Scope) -> str:
    if scope == "project":
        return f"{ENTRY} hook {event}"
    start = entry_of_this_python()
    words = [start["command"], *start["args"][:-1], "repo_navigator.main", "hook", event]
    return subprocess.list2cmdline(words) if os.name == "nt" else shlex.join(words)


def is_our_hook(element: object) -> bool:
    """Return True if an element of an event's list starts this program."""
    if isinstance(element, Mapping):
        return any(is_our_hook(value) for key, value in element.items() if key != "name")
    if isinstance(element, list):
        return any(map(is_our_hook, element))
    return (
        isinstance(element, str)
        and "hook" in element.split()
        and (ENTRY in element or "repo_navigator" in element)
    )
