"""Add the server to an assistant's configuration; nothing else in it changes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from mcp_server.errors import ErrorDetails, details_of
from mcp_server.repositories import work_tree
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.cli import Parser
from repo_navigator.clients.configuration import ConfigurationChange, ConfigurationFile
from repo_navigator.clients.entries import hook_elements, server_entry
from repo_navigator.clients.hosts import ENTRY, HOOK_HOSTS, HOSTS, Host

EXAMPLES = (
    "claude-code",
    "all --dry-run",
    "cursor --scope project",
    "claude-code --undo",
    "claude-code --hooks",
)
_ALL: Final = "all"
_FAILED: Final = 1
_CLIENT_TIMEOUT_S: Final = 60.0


def add_arguments(parser: Parser) -> None:
    """Add which configurations are changed, and how."""
    names = sorted(HOSTS)
    parser.add_value(
        "host",
        "HOST",
        f"{', '.join(names)}, or {_ALL} that are found",
        nargs="+",
        choices=[*names, _ALL],
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="user: your own configuration, for every folder (default); project: the shared one in this "
        "repository",
    )
    parser.add_switch("--hooks", "add the hooks instead of the server: they check what the assistant edits")
    parser.add_switch("--dry-run", "show the change as a diff and write nothing")
    parser.add_switch("--undo", "remove the entry and leave the rest unchanged")
    parser.add_values("--allow", "FOLDER", "read only repositories in this folder; may be repeated")
    parser.add_switch("--json", "print one JSON object instead of text")


class HostOutcome(NamedTuple):
    """The outcome for one client: a change, or the reason why there is none."""

    host: Host
    path: Path
    change: ConfigurationChange | None = None
    command: Sequence[str] = ()
    """The command of the client that made the change, or would; empty where the file is edited."""
    error: ErrorDetails | None = None


def run(args: Namespace, settings: Settings) -> int:
    """Change each client's configuration, or show how it would change; return 1 where one failed."""
    del settings
    allowed = _allowed(args)
    project = (work_tree(Path.cwd()) or Path.cwd()) if args.scope == "project" else None
    outcomes = [_outcome(host, _file(host, args, project), args, allowed) for host in _hosts(args, project)]
    if args.json:
        data = [_as_data(outcome, args) for outcome in outcomes]
        print(json.dumps({"hosts": data}, ensure_ascii=False))
    for outcome in outcomes:
        if outcome.error:
            print(f"repo-navigator: {outcome.host.title}: {outcome.error.message}", file=sys.stderr)
        elif not args.json:
            print(_message(outcome, args), end="")
    return _FAILED if any(outcome.error for outcome in outcomes) else 0


def _hosts(args: Namespace, project: Path | None) -> list[Host]:
    """Return the clients that are asked for, ``all`` being those that are used here."""
    known = HOOK_HOSTS if args.hooks else HOSTS
    if _ALL in args.host:
        if project is None:
            found = [host for host in known.values() if host.is_used(os.environ, sys.platform)]
        else:
            shared = [host for host in known.values() if host.shared_path(hooks=args.hooks)]
            found = [host for host in shared if host.is_used_in(project)]
        if not found:
            raise InvalidRequestError(
                f"No assistant's settings were found here; name one of {', '.join(sorted(known))}."
            )
        return found
    for name in args.host:
        if name not in known:
            raise InvalidRequestError(f"`{name}` has no hooks; leave --hooks out.", argument="--hooks")
        if project is not None and not known[name].shared_path(hooks=args.hooks):
            raise InvalidRequestError(
                f"{known[name].title} has no configuration that a project shares; leave --scope out.",
                argument="--scope",
            )
    return [known[name] for name in dict.fromkeys(args.host)]


def _allowed(args: Namespace) -> list[str]:
    if args.allow and (args.hooks or args.scope == "project"):
        raise InvalidRequestError(
            "--allow is for your own server on this machine, not for hooks or a project; leave it out.",
            argument="--allow",
        )
    for folder in args.allow:
        if not Path(folder).is_dir():
            raise InvalidRequestError(
                f"--allow names `{folder}`, which is not a folder; name one.", argument="--allow"
            )
    return [os.path.realpath(folder) for folder in args.allow]


def _file(host: Host, args: Namespace, project: Path | None) -> ConfigurationFile:
    if project is None:
        path = host.path(os.environ, sys.platform, hooks=args.hooks)
    else:
        path = project / host.shared_path(hooks=args.hooks)
    return ConfigurationFile(host, path, args.hooks, project)


def _outcome(host: Host, file: ConfigurationFile, args: Namespace, allowed: Sequence[str]) -> HostOutcome:
    """Change one configuration; what is wrong with it keeps no other from being changed."""
    entry = server_entry(host, args.scope, allowed)
    wanted = hook_elements(host, args.scope) if args.hooks else {ENTRY: entry}
    try:
        change, command = file.undoing() if args.undo else file.adding(wanted), list[str]()
        if change.before == change.after:
            return HostOutcome(host, file.path, change)
        if args.scope == "user" and not (args.hooks or args.undo) and file.entry() is None:
            command = host.command_to_add(entry)
        if args.dry_run:
            return HostOutcome(host, file.path, change, command)
        rest = change
        if command and _succeeds(command):
            # A client's command may not know all settings of an entry.
            rest = file.adding(wanted)
        else:
            command = []
        if rest.before != rest.after:
            rest.write()
        return HostOutcome(host, file.path, change._replace(after=rest.after), command)
    except (InvalidRequestError, OSError) as error:
        return HostOutcome(host, file.path, error=details_of(error))


def _succeeds(command: Sequence[str]) -> bool:
    """Run a command of a client outside any project, and return whether it succeeded."""
    nothing = subprocess.DEVNULL
    with suppress(OSError, subprocess.TimeoutExpired):
        status = subprocess.call(
            command,
            cwd=Path.home(),
            stdin=nothing,
            stdout=nothing,
            stderr=nothing,
            timeout=_CLIENT_TIMEOUT_S,
        )
        return status == 0
    return False


def _as_data(outcome: HostOutcome, args: Namespace) -> dict[str, object]:
    change = outcome.change
    return {
        "host": outcome.host.name,
        "title": outcome.host.title,
        "path": str(outcome.path),
        "changed": change is not None and change.before != change.after and not args.dry_run,
        "diff": change.diff if change else "",
        "command": list(outcome.command),
        "error": outcome.error.as_json()["error"] if outcome.error else None,
    }


def _message(outcome: HostOutcome, args: Namespace) -> str:
    host, change = outcome.host, outcome.change
    assert change is not None
    if change.before == change.after:
        return f"{host.title}: nothing to change in {change.path}\n"
    by = f" by `{Path(outcome.command[0]).stem} {' '.join(outcome.command[1:3])}`" if outcome.command else ""
    if args.dry_run:
        return f"{host.title}: changed{by}, which comes to:\n{change.diff}" if by else change.diff
    done = "removed from" if args.undo else "added to"
    note = f" {host.hooks.note}" if args.hooks and not args.undo and host.hooks and host.hooks.note else ""
    return f"{host.title}: {done} {change.path}{by}; restart {host.title}.{note}\n"
