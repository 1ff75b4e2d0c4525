"""Addresses of repositories → where their files come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from navigator.workspaces.repository_address import Source, read_address, write_address
from repo_map.sources.commits import CommitTree
from repo_map.sources.files import resolve_root
from repo_map.sources.folders import folder_tree
from repo_map.sources.united import unite

if TYPE_CHECKING:
    from repo_map.sources.places import Place


def place_of(address: str) -> Place:
    """Return where the files of an address come from.

    Raises:
        RepositoryNotFoundError: A folder can't be read, or a commit is unknown.
    """
    sources = read_address(address)
    return unite([_place(each) for each in sources], [each.own_name for each in sources])


def resolved(address: str) -> str:
    """Return an address with the folders that it means from here, links followed.

    Raises:
        RepositoryNotFoundError: One of them can't be read.
    """
    return write_address(
        [each._replace(folder=str(resolve_root(Path(each.folder)))) for each in read_address(address)]
    )


def _place(source: Source) -> Place:
    folder = folder_tree(Path(source.folder))
    return CommitTree(folder.root, source.ref, source.title) if source.ref else folder
