"""Add the server to an assistant's configuration; nothing else in it changes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mcp_server.errors import ErrorDetails, details_of
from mcp_server.repository import work_tree
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.cli import Parser
from repo_navigator.clients.configuration import Configuration, ConfigurationChange, HostFile, carry_out
from repo_navigator.clients.entries import hook_elements, server_entry
from repo_navigator.clients.hook_configuration import HookConfiguration
from repo_navigator.clients.hosts import HOOK_HOSTS, HOSTS, Host

ALL: Final = "all"
FAILED: Final = 1


_NAMES: Final = [*sorted(HOSTS), ALL]


EXAMPLES = (
    "claude-code",
    "all --dry-run",
    "cursor --scope project",
    "claude-code --undo",
    "claude-code --hooks",
)


def add_arguments(parser: Parser) -> None:
    """Add which configurations are changed, and how."""
    parser.add_argument(
        "host",
        metavar="HOST",
        nargs="+",
        choices=_NAMES,
        help=f"{', '.join(_NAMES[:-1])}, or {ALL} of those that are found",
    )
    parser.add_argument(
        "--scope",
        choices=("user", "project"),
        default="user",
        help="user: your own configuration, for every folder (default); project: the one in this repository, "
        "which its users share",
    )
    parser.add_switch(
        "--hooks",
        "add the hooks instead of the server: they check what the assistant edits",
    )
    parser.add_switch("--dry-run", "show the change as a diff and write nothing")
    parser.add_switch("--undo", "remove it again, and leave the rest unchanged")
    parser.add_argument(
        "--allow",
        metavar="FOLDER",
        action="append",
        default=[],
        help="read only repositories in this folder; may be repeated",
    )
    parser.add_switch("--json", "print one JSON object instead of text")


class HostOutcome(NamedTuple):
    """What came of one host: a change, or why there is none."""

    host: Host
    path: Path
    change: ConfigurationChange | None
    error: ErrorDetails | None = None


def run(args: Namespace, settings: Settings) -> int:
    """Change each host's configuration, or show how it would change; the exit code is 1 where one failed."""
    allowed = _allowed(args)
    project = _project() if args.scope == "project" else None
    if args.hooks and allowed:
        raise InvalidRequestError(
            "--allow is for the server, and hooks obey REPO_NAVIGATOR_ALLOW; leave out --allow or --hooks.",
            argument="--allow",
        )
    outcomes = [
        _outcome(host, _configuration(host, args, project, settings), args, allowed)
        for host in _named(args, project)
    ]
    if args.json:
        message = [_as_data(outcome, args) for outcome in outcomes]
        print(json.dumps({"hosts": message}, ensure_ascii=False))
    for outcome in outcomes:
        if outcome.error:
            print(f"repo-navigator: {outcome.host.title}: {outcome.error.message}", file=sys.stderr)
        elif not args.json:
            print(_message(outcome, args), end="")
    return FAILED if any(outcome.error for outcome in outcomes) else 0


def _named(args: Namespace, project: Path | None) -> list[Host]:
    """Return the hosts that are asked for, ``all`` being those that are used here."""
    known = HOOK_HOSTS if args.hooks else HOSTS
    if ALL not in args.host:
        for name in args.host:
            if name not in known:
                raise InvalidRequestError(f"`{name}` has no hooks; leave --hooks out.", argument="--hooks")
        hosts = [known[name] for name in dict.fromkeys(args.host)]
        for host in hosts:
            if project is not None and not _project_file(host, args):
                raise InvalidRequestError(
                    f"{host.title} has no configuration that a project shares; leave --scope out.",
                    argument="--scope",
                )
        return hosts
    if project is None:
        found = [host for host in known.values() if host.is_used(os.environ, sys.platform)]
    else:
        shared = [host for host in known.values() if _project_file(host, args)]
        found = [host for host in shared if host.is_used_in(project)]
    if not found:
        raise InvalidRequestError(
            f"No assistant's settings were found here; name one of {', '.join(sorted(known))}."
        )
    return found


def _project_file(host: Host, args: Namespace) -> str:
    return host.hooks.project_file if args.hooks and host.hooks else host.project_file


def _allowed(args: Namespace) -> list[str]:
    if args.allow and args.scope == "project":
        raise InvalidRequestError(
            "--allow names folders of this machine, and a project's configuration is shared; leave one out.",
            argument="--allow",
        )
    for folder in args.allow:
        if not os.path.isdir(folder):  # noqa: PTH112
            raise InvalidRequestError(
                f"--allow names `{folder}`, which is not a folder; name one.", argument="--allow"
            )
    return [os.path.realpath(folder) for folder in args.allow]


def _project() -> Path:
    return work_tree(Path.cwd()) or Path.cwd()


def _configuration(host: Host, args: Namespace, project: Path | None, settings: Settings) -> HostFile:
    kind = HookConfiguration if args.hooks else Configuration
    if project is None:
        path = host.hook_path if args.hooks else host.path
        return kind(host, path(os.environ, sys.platform))
    shared = project / _project_file(host, args)
    # Beside the file it would clutter the project.
    place = hashlib.sha256(str(shared).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    name = f"{place}-{shared.name}{'-hooks' if args.hooks else ''}"
    backup_text = settings.data_dir / "installed" / name if settings.data_dir else None
    return kind(host, shared, backup_text, within=project)


def _outcome(host: Host, configuration: HostFile, args: Namespace, allowed: Sequence[str]) -> HostOutcome:
    """Change one configuration; what is wrong with it keeps no other from being changed."""
    try:
        if args.undo:
            change = configuration.undoing()
        elif args.hooks:
            change = configuration.adding(hook_elements(host, args.scope))
        else:
            change = configuration.adding(server_entry(host, args.scope, allowed))
        if change.before != change.after and not args.dry_run:
            carry_out(change, undo=args.undo)
    except (InvalidRequestError, OSError) as error:
        return HostOutcome(host, configuration.path, None, details_of(error))
    return HostOutcome(host, configuration.path, change)


def _as_data(outcome: HostOutcome, args: Namespace) -> dict[str, object]:
    change = outcome.change
    is_changed = change is not None and change.before != change.after
    is_written = is_changed and not args.dry_run
    return {
        "host": outcome.host.name,
        "title": outcome.host.title,
        "path": str(outcome.path),
        "changed": is_written,
        "diff": change.diff if change else "",
        "backup": str(change.backup) if change and is_written and change.keeps else None,
        "error": outcome.error.as_json()["error"] if outcome.error else None,
    }


def _message(outcome: HostOutcome, args: Namespace) -> str:
    host, change = outcome.host, outcome.change
    assert change is not None
    if change.before == change.after:
        return f"{host.title}: nothing to change in {change.path}\n"
    if args.dry_run:
        return change.diff
    if args.undo:
        return f"{host.title}: removed from {change.path}; restart {host.title}.\n"
    backup_text = f" The original file is kept at {change.backup}." if change.keeps else ""
    note = f" {host.hooks.note}" if args.hooks and host.hooks and host.hooks.note else ""
    return f"{host.title}: added to {change.path}; restart {host.title}.{backup_text}{note}\n"
