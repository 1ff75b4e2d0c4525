"""``repo-navigator install``: add the server to assistants' configurations, or take it out again."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from mcp_server.errors import ErrorDetails, details_of
from mcp_server.repository import work_tree
from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from repo_navigator.clients.configuration import Configuration, ConfigurationChange, HostFile, carry_out
from repo_navigator.clients.entries import Scope, hook_elements, server_entry
from repo_navigator.clients.hook_configuration import HookConfiguration
from repo_navigator.clients.hosts import HOOK_HOSTS, HOSTS, Host
from repo_navigator.options import argument, flag, json_switch, repeated, switch

ALL: Final = "all"
FAILED: Final = 1


_NAMES: Final = [*sorted(HOSTS), ALL]


@dataclass(frozen=True, kw_only=True)
class InstallOptions:
    """Which configurations are changed, and how."""

    host: tuple[str, ...] = argument(
        "HOST", f"{', '.join(_NAMES[:-1])}, or {ALL} of those that are found", nargs="+", choices=_NAMES
    )
    scope: Scope = flag(
        "--scope",
        "",
        "user: your own configuration, for every folder (default); project: the one in this "
        "repository, which its users share",
        choices=("user", "project"),
        default="user",
    )
    hooks: bool = switch(
        "--hooks", "add the hooks instead of the server: they check what the assistant edits"
    )
    dry_run: bool = switch("--dry-run", "show the change as a diff and write nothing")
    undo: bool = switch("--undo", "remove it again, and leave the rest unchanged")
    allow: tuple[str, ...] = repeated(
        "--allow", "FOLDER", "read only repositories in this folder; may be repeated"
    )
    json: bool = json_switch()


OPTIONS = InstallOptions


class HostOutcome(NamedTuple):
    """What came of one host: a change, or why there is none."""

    host: Host
    path: Path
    change: ConfigurationChange | None
    error: ErrorDetails | None = None


def run(options: InstallOptions, settings: Settings) -> int:
    """Change each host's configuration, or show how it would change; the exit code is 1 where one failed."""
    allowed = _allowed(options)
    project = _project() if options.scope == "project" else None
    if options.hooks and allowed:
        raise InvalidRequestError(
            "--allow is for the server, and hooks obey REPO_NAVIGATOR_ALLOW; leave out --allow or --hooks.",
            argument="--allow",
        )
    outcomes = [
        _outcome(host, _configuration(host, options, project, settings), options, allowed)
        for host in _named(options, project)
    ]
    if options.json:
        message = [_as_data(outcome, options) for outcome in outcomes]
        print(json.dumps({"hosts": message}, ensure_ascii=False))
    for outcome in outcomes:
        if outcome.error:
            print(f"repo-navigator: {outcome.host.title}: {outcome.error.message}", file=sys.stderr)
        elif not options.json:
            print(_message(outcome, options), end="")
    return FAILED if any(outcome.error for outcome in outcomes) else 0


def _named(options: InstallOptions, project: Path | None) -> list[Host]:
    """Return the hosts that are asked for, ``all`` being those that are used here."""
    known = HOOK_HOSTS if options.hooks else HOSTS
    if ALL not in options.host:
        for name in options.host:
            if name not in known:
                raise InvalidRequestError(f"`{name}` has no hooks; leave --hooks out.", argument="--hooks")
        hosts = [known[name] for name in dict.fromkeys(options.host)]
        for host in hosts:
            if project is not None and not _project_file(host, options):
                raise InvalidRequestError(
                    f"{host.title} has no configuration that a project shares; leave --scope out.",
                    argument="--scope",
                )
        return hosts
    if project is None:
        found = [host for host in known.values() if host.is_used(os.environ, sys.platform)]
    else:
        shared = [host for host in known.values() if _project_file(host, options)]
        found = [host for host in shared if host.is_used_in(project)]
    if not found:
        raise InvalidRequestError(
            f"No assistant's settings were found here; name one of {', '.join(sorted(known))}."
        )
    return found


def _project_file(host: Host, options: InstallOptions) -> str:
    return host.hooks.project_file if options.hooks and host.hooks else host.project_file


def _allowed(options: InstallOptions) -> list[str]:
    if options.allow and options.scope == "project":
        raise InvalidRequestError(
            "--allow names folders of this machine, and a project's configuration is shared; leave one out.",
            argument="--allow",
        )
    for folder in options.allow:
        if not os.path.isdir(folder):  # noqa: PTH112
            raise InvalidRequestError(
                f"--allow names `{folder}`, which is not a folder; name one.", argument="--allow"
            )
    return [os.path.realpath(folder) for folder in options.allow]


def _project() -> Path:
    return work_tree(Path.cwd()) or Path.cwd()


def _configuration(host: Host, options: InstallOptions, project: Path | None, settings: Settings) -> HostFile:
    kind = HookConfiguration if options.hooks else Configuration
    if project is None:
        path = host.hook_path if options.hooks else host.path
        return kind(host, path(os.environ, sys.platform))
    shared = project / _project_file(host, options)
    # Beside the file it would clutter the project.
    place = hashlib.sha256(str(shared).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    name = f"{place}-{shared.name}{'-hooks' if options.hooks else ''}"
    backup_text = settings.data_dir / "installed" / name if settings.data_dir else None
    return kind(host, shared, backup_text, within=project)


def _outcome(
    host: Host, configuration: HostFile, options: InstallOptions, allowed: Sequence[str]
) -> HostOutcome:
    """Change one configuration; what is wrong with it keeps no other from being changed."""
    try:
        if options.undo:
            change = configuration.undoing()
        elif options.hooks:
            change = configuration.adding(hook_elements(host, options.scope))
        else:
            change = configuration.adding(server_entry(host, options.scope, allowed))
        if change.before != change.after and not options.dry_run:
            carry_out(change, undo=options.undo)
    except (InvalidRequestError, OSError) as error:
        return HostOutcome(host, configuration.path, None, details_of(error))
    return HostOutcome(host, configuration.path, change)


def _as_data(outcome: HostOutcome, options: InstallOptions) -> dict[str, object]:
    change = outcome.change
    is_changed = change is not None and change.before != change.after
    is_written = is_changed and not options.dry_run
    return {
        "host": outcome.host.name,
        "title": outcome.host.title,
        "path": str(outcome.path),
        "changed": is_written,
        "diff": change.diff if change else "",
        "backup": str(change.backup) if change and is_written and change.keeps else None,
        "error": outcome.error.as_json()["error"] if outcome.error else None,
    }


def _message(outcome: HostOutcome, options: InstallOptions) -> str:
    host, change = outcome.host, outcome.change
    assert change is not None
    if change.before == change.after:
        return f"{host.title}: nothing to change in {change.path}\n"
    if options.dry_run:
        return change.diff
    if options.undo:
        return f"{host.title}: removed from {change.path}; restart {host.title}.\n"
    backup_text = f" The original file is kept at {change.backup}." if change.keeps else ""
    note = f" {host.hooks.note}" if options.hooks and host.hooks and host.hooks.note else ""
    return f"{host.title}: added to {change.path}; restart {host.title}.{backup_text}{note}\n"
