"""Addresses of repositories → where their files come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from navigator.workspaces.repository_address import Source, read_address, write_address
from repo_map.sources.commits import CommitSource
from repo_map.sources.files import resolve_root
from repo_map.sources.source import combine, folder_source

if TYPE_CHECKING:
    from repo_map.sources.source import FileSource


def place_of(address: str) -> FileSource:
    """Return where the files of an address come from.

    Raises:
        RepositoryNotFoundError: A folder can't be read, or a commit is unknown.
    """
    sources = read_address(address)
    return combine([_place(each) for each in sources], [each.own_name for each in sources])


def resolved(address: str) -> str:
    """Return an address with the folders that it means from here, links followed.

    Raises:
        RepositoryNotFoundError: One of them can't be read.
    """
    return write_address(
        [each._replace(folder=str(resolve_root(Path(each.folder)))) for each in read_address(address)]
    )


def _place(source: Source) -> FileSource:
    folder = folder_source(Path(source.folder))
    return CommitSource(folder.root, source.ref, source.title) if source.ref else folder
