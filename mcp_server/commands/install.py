"""``repo-navigator install``: add the server to an assistant's configuration, or take it out again."""

from __future__ import annotations

import argparse
import json
import os
import sys

from mcp_server.hosts import HOSTS, Change, Host, apply, backup_of, installing, server_entry, undoing
from mcp_server.settings import PREFIX, Settings
from navigator.errors import InvalidRequestError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "host", nargs="+", choices=sorted(HOSTS), metavar="HOST", help=", ".join(sorted(HOSTS))
    )
    parser.add_argument("--dry-run", action="store_true", help="show the change as a diff and write nothing")
    parser.add_argument("--undo", action="store_true", help="take the server out again")
    parser.add_argument(
        "--allow",
        metavar="FOLDER",
        action="append",
        default=[],
        help="folder that repositories must lie in",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Change each host's configuration, or show how it would change."""
    del settings
    names = list(dict.fromkeys(options.host))
    # All of them are read before one of them is written.
    changes = [(HOSTS[name], _change(HOSTS[name], options)) for name in names]
    for host, change in changes:
        if change.diff and not options.dry_run:
            apply(change, backup=not options.undo)
        if not options.json:
            print(_told(host, change, options), end="")
    if options.json:
        told = [_as_data(name, *change, options) for name, change in zip(names, changes, strict=True)]
        print(json.dumps({"hosts": told}, ensure_ascii=False))
    return 0


def _change(host: Host, options: argparse.Namespace) -> Change:
    path = host.path(os.environ, sys.platform)
    if options.undo:
        return undoing(host, path)
    entry = server_entry()
    if options.allow:
        for folder in options.allow:
            if not os.path.isdir(folder):  # noqa: PTH112
                raise InvalidRequestError(f"--allow names `{folder}`, which is no folder; name one.")
        folders = [os.path.realpath(folder) for folder in options.allow]
        entry["env"] = {f"{PREFIX}ALLOW": os.pathsep.join(folders)}
    return installing(host, path, entry)


def _as_data(name: str, host: Host, change: Change, options: argparse.Namespace) -> dict[str, object]:
    is_written = bool(change.diff) and not options.dry_run
    keeps = is_written and not options.undo and change.before is not None
    return {
        "host": name,
        "title": host.title,
        "path": str(change.path),
        "changed": is_written,
        "diff": change.diff,
        "backup": str(backup_of(change.path)) if keeps else None,
    }


def _told(host: Host, change: Change, options: argparse.Namespace) -> str:
    if not change.diff:
        return f"{host.title}: nothing to change in {change.path}\n"
    if options.dry_run:
        return change.diff
    if options.undo:
        return f"{host.title}: removed from {change.path}; restart {host.title}.\n"
    kept = f" The file as it was is kept at {backup_of(change.path)}." if change.before is not None else ""
    return f"{host.title}: added to {change.path}; restart {host.title}.{kept}\n"
