"""How a command line names several repositories."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mcp_server.repositories import RepositoryAccess
from mcp_server.repository import work_tree
from mcp_server.settings import Settings
from repo_map.errors import RepositoryNotFoundError
from repo_navigator.options import nonempty, repeated


def further_repositories() -> Any:
    """Declare the flag for repositories beside the first."""
    return repeated("--with", "REPO", "another repository in the same budget; may be repeated", read=nonempty)


def require_repository(named: str | None, further: Sequence[str], settings: Settings, where: str) -> str:
    """Return the address of what a command line names, else of the git work tree we stand in.

    Args:
        named: the repository, None where none is named.
        further: those beside it.
        settings: what may be read.
        where: in the command line one would be named, in words.

    Raises:
        RepositoryNotFoundError: one of them is none, or none is named and we stand in no work tree.
    """
    if named is None and not further and not settings.allowed and work_tree(Path.cwd()) is None:
        raise RepositoryNotFoundError(
            f"No repository is named, and this folder is in no git work tree; name one {where}."
        )
    return named_here([*([named] if named else []), *further], settings)


def named_here(names: Sequence[str], settings: Settings) -> str:
    """Return the address of the repositories that a user of this machine names; none for where we stand.

    Raises:
        RepositoryNotFoundError: one of them is none.
    """
    access = RepositoryAccess(settings.repositories, settings.allowed)
    return access.choose(names, (), Path.cwd())
