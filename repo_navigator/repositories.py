"""``repo-navigator repositories``: the repositories that a server knows by name, and their clones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.workspaces.catalogue import Catalogue, new_entry
from navigator.workspaces.clones import SECONDS, Kept, Synced, kept, sync
from repo_map.messages import one_line
from repo_map.worktree.fetching import MOST_BYTES
from repo_navigator.terminal import FlagParser, nonempty, number, print_text

_FAILED = 1
_NOBODY = "nobody but this machine"


def add_arguments(parser: FlagParser) -> None:
    """Add the commands and their arguments."""
    commands = parser.add_commands("add|list|sync")
    add = commands.add_parser("add", help="add a repository to the file; `sync` fetches it")
    add.add_argument("name", metavar="NAME", type=nonempty, help="how it is called")
    add.add_argument(
        "address", metavar="ADDRESS", type=nonempty, help="where it is fetched from: https, ssh or file"
    )
    add.add_argument(
        "--branch",
        dest="branches",
        metavar="B",
        action="append",
        default=[],
        help="fetch this branch alone; the first of several is read, later ones may hold one * (all)",
    )
    add.add_argument(
        "--reader",
        dest="readers",
        metavar="G",
        action="append",
        default=[],
        help="user:NAME or group:NAME that may read it, '*' for everybody who is admitted; may be repeated",
    )
    commands.add_parser("list", help="print them, with what was fetched and when")
    fetched = commands.add_parser("sync", help="fetch them")
    fetched.add_argument("names", metavar="NAME", nargs="*", help="which; all if left out")
    fetched.add_argument(
        "--seconds", type=number, default=SECONDS, metavar="S", help="longest for each repository (900)"
    )
    fetched.add_argument(
        "--max-gb", type=number, default=MOST_BYTES / 1e9, metavar="GB", help="most of each clone (20)"
    )


def run(options: argparse.Namespace, settings: Settings) -> int:
    """Do what is asked; what can't be fetched is told by name, and the others are fetched all the same."""
    catalogue = _catalogue(settings)
    match options.command:
        case "add":
            entry = new_entry(options.address, options.branches, options.readers)
            catalogue.add(options.name, entry)
            print_text(
                f"Added `{options.name}`; `repo-navigator repositories sync {options.name}` fetches it.\n"
            )
            return 0
        case "list":
            print_text("".join(f"{line}\n" for each in kept(catalogue) for line in _lines(each)))
            return 0
    return 0 if sync(catalogue, options.names, _tell, options.seconds, int(options.max_gb * 1e9)) else _FAILED


def _catalogue(settings: Settings) -> Catalogue:
    if settings.repositories is None or settings.data_dir is None:
        raise InvalidRequestError(
            "No file of repositories is named; set REPO_NAVIGATOR_REPOSITORIES to one, such as "
            "/etc/repo-navigator/repositories.yaml."
        )
    return Catalogue(settings.repositories, settings.data_dir)


def _lines(each: Kept) -> Iterator[str]:
    when = each.fetched_at.strftime("%Y-%m-%d %H:%M UTC") if each.fetched_at and each.head else ""
    yield f"{each.name}  {each.head or 'never fetched'}{'  ' if when else ''}{when}"
    yield f"  from {one_line(each.entry.address)}"
    if each.entry.branches:
        yield f"  branches {', '.join(each.entry.branches)}"
    yield f"  readers {', '.join(map(one_line, each.entry.readers)) or _NOBODY}"


def _tell(done: Synced) -> None:
    if done.failed:
        print(f"{done.name}: not fetched: {one_line(done.failed)}", file=sys.stderr)
    else:
        print_text(f"{done.name}: {done.head}\n")
