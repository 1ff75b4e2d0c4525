"""Arguments that several commands share, and what they mean: outputs, and repositories by name or path."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_server.repositories import RepositoryAccess, project_tree
from mcp_server.settings import Settings
from navigator.workspaces.address import file_source_of
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.cli import Parser, nonempty
from repo_navigator.terminal import write_or_print

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.index.store import Store


def _output_file(text: str) -> str | None:
    return None if nonempty(text) == "-" else text


def add_output(parser: Parser) -> None:
    """Add where a command prints, and in which form."""
    parser.add_value("-o", "--output", "FILE", "write to this file instead of stdout", type=_output_file)
    parser.add_switch("-q", "--quiet", "print only errors on stderr")
    parser.add_switch("--json", "print one JSON object instead of text")


def add_line_numbers(parser: Parser) -> None:
    """Add the flag for line numbers in a context."""
    parser.add_switch("--line-numbers", "number every fifth line of source, as in 55│")


def add_further(parser: Parser) -> None:
    """Add the flag for repositories beside the first."""
    parser.add_values(
        "--with",
        "REPO",
        "another repository in the same budget; may be repeated",
        dest="further",
        type=nonempty,
    )


def write(args: Namespace, text: str) -> None:
    """Write a text where ``--output`` says."""
    write_or_print(text, args.output)


def write_json(args: Namespace, data: object) -> None:
    """Write a JSON object there, on one line."""
    write(args, dumps(data, ensure_ascii=False))


def plan_updates(args: Namespace) -> dict[str, Any]:
    """Return what is changed of the plan of a stored navigation; empty for nothing."""
    return {"line_numbers": True} if args.line_numbers else {}


def require_repository(named: str | None, further: Sequence[str], settings: Settings, where: str) -> str:
    """Return the address of the named repositories, else of the git work tree around the working folder.

    Args:
        named: the repository, None where none is named.
        further: those beside it.
        settings: what may be read.
        where: in the command line one would be named, in words.

    Raises:
        RepositoryNotFoundError: one is not a repository, or none is named and the working folder has none.
    """
    if named is None and not further and not settings.allowed and project_tree(Path.cwd()) is None:
        raise RepositoryNotFoundError(
            f"No repository is named, and this folder is not in a git work tree; name one {where}."
        )
    return find_repositories([*([named] if named else []), *further], settings)


def find_repositories(names: Sequence[str], settings: Settings) -> str:
    """Return the address of the repositories that a local user names; none means the working folder.

    Raises:
        RepositoryNotFoundError: one of them is none.
    """
    access = RepositoryAccess(settings.repositories, settings.allowed)
    return access.choose(names, (), Path.cwd())


def open_index(address: str, settings: Settings) -> tuple[Index, Store]:
    """Return the index of the repositories at an address, and the store that caches it."""
    from repo_map.index.build import build_index  # noqa: PLC0415 - loads numpy: wrong arguments come first
    from repo_map.index.store import Store  # noqa: PLC0415 - as above

    store = Store(settings.cache_dir, settings.limits)
    source = file_source_of(address)
    return build_index(source, store=store, unmasked=settings.unmasked, limits=settings.limits), store
