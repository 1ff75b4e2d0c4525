"""``repo-navigator repositories``: the repositories that a server knows by name, and their clones."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass

from mcp_server.settings import Settings
from navigator.errors import InvalidRequestError
from navigator.stores.buckets.opening import open_bucket
from navigator.stores.store_address import require_packages
from navigator.workspaces.catalogue import Catalogue, new_entry
from navigator.workspaces.clones import SECONDS, Kept, Synced, kept, sync
from repo_map.messages import one_line
from repo_map.worktree.fetching import MOST_BYTES
from repo_navigator.options import argument, flag, nonempty, number, repeated
from repo_navigator.terminal import print_text

_FAILED = 1
_NOBODY = "nobody but this machine"


@dataclass(frozen=True, kw_only=True)
class AddOptions:
    """A repository that is added to the file."""

    name: str = argument("NAME", "its name on the server", read=nonempty, nargs=None)
    address: str = argument("ADDRESS", "git address: https, ssh or file", read=nonempty, nargs=None)
    branches: tuple[str, ...] = repeated(
        "--branch",
        "B",
        "fetch only this branch; may be repeated: the first is the default, later ones may contain "
        "one * (default: all)",
    )
    readers: tuple[str, ...] = repeated(
        "--reader",
        "G",
        "who may read it: user:NAME, group:NAME, or '*' for every caller; may be repeated",
    )


@dataclass(frozen=True, kw_only=True)
class ListOptions:
    """Nothing is asked."""


@dataclass(frozen=True, kw_only=True)
class SyncOptions:
    """Which repositories are fetched, and within which limits."""

    names: tuple[str, ...] = argument("NAME", "names (default: all)", nargs="*")
    seconds: float = flag(
        "--seconds", "S", "timeout for each repository, in seconds (900)", read=number, default=SECONDS
    )
    older: float = flag(
        "--older",
        "S",
        "only those not fetched for S seconds, or pushed to since (default: all)",
        read=number,
        default=0.0,
    )
    max_gb: float = flag(
        "--max-gb", "GB", "maximum size of each clone, in GB (20)", read=number, default=MOST_BYTES / 1e9
    )


OPTIONS = {
    "add": ("add a repository to the file; `sync` fetches it", AddOptions),
    "list": ("print the list, with what was fetched and when", ListOptions),
    "sync": ("fetch them", SyncOptions),
}


def run(options: AddOptions | ListOptions | SyncOptions, settings: Settings) -> int:
    """Do what is asked; what can't be fetched is told by name, and the others are fetched all the same."""
    catalogue = catalogue_of(settings)
    match options:
        case AddOptions():
            entry = new_entry(options.address, options.branches, options.readers)
            catalogue.add(options.name, entry)
            print_text(
                f"Added `{options.name}`; `repo-navigator repositories sync {options.name}` fetches it.\n"
            )
            return 0
        case ListOptions():
            print_text("".join(f"{line}\n" for each in kept(catalogue) for line in _lines(each)))
            return 0
        case SyncOptions():
            most_bytes = int(options.max_gb * 1e9)
            limits = (options.seconds, most_bytes)
            require_packages(None, settings.bucket)
            bucket = None if settings.bucket is None else open_bucket(settings.bucket)
            is_whole = sync(catalogue, options.names, _tell, *limits, older_s=options.older, bucket=bucket)
            return 0 if is_whole else _FAILED


def catalogue_of(settings: Settings) -> Catalogue:
    """Return the repositories of the file that the settings name.

    Raises:
        InvalidRequestError: they name none.
    """
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
