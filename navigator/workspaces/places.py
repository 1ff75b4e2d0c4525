"""Addresses of repositories → where their files come from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from navigator.settings import NavigatorSettings
from navigator.workspaces.catalogue import Catalogue, RepositoryEntry
from navigator.workspaces.repository_address import Source, read_address, write_address
from repo_map.errors import RepositoryNotFoundError
from repo_map.worktree.commit_names import CommitReach
from repo_map.worktree.commits import CommitTree
from repo_map.worktree.files import resolve_root
from repo_map.worktree.folders import folder_tree
from repo_map.worktree.git import HEAD
from repo_map.worktree.united import unite

if TYPE_CHECKING:
    from repo_map.worktree.places import Place


class Places:
    """Finds the trees that addresses mean; where there is no catalogue no name means anything."""

    def __init__(self, settings: NavigatorSettings) -> None:
        self._catalogue: Catalogue | None = None
        if settings.repositories is not None and settings.data_dir is not None:
            self._catalogue = Catalogue(settings.repositories, settings.data_dir)

    def of(self, address: str) -> Place:
        """Return where the files of an address come from.

        Raises:
            RepositoryNotFoundError: a folder can't be read, a name is unknown, or nothing was fetched of it.
        """
        sources = read_address(address)
        return unite([self._place(each) for each in sources], [each.own_name for each in sources])

    def _place(self, source: Source) -> Place:

        if source.name:
            return clone_tree(*self._clone_of(source.name), source)
        folder = folder_tree(Path(source.folder))
        return CommitTree(folder.root, source.ref) if source.ref else folder

    def _clone_of(self, name: str) -> tuple[Path, RepositoryEntry]:
        if self._catalogue is None:
            raise RepositoryNotFoundError(
                f"No repository is called `{name}` here; set REPO_NAVIGATOR_REPOSITORIES, or pass a folder."
            )
        return self._catalogue.clone_of(name)


def clone_tree(clone: Path, entry: RepositoryEntry, source: Source) -> CommitTree:
    """Return the commit of a clone that ``source`` means, by the catalogue's name of the repository."""
    reach = CommitReach(is_own=False, branches=entry.branches)
    return CommitTree(clone, source.ref or HEAD, source.title, known_as=source.name, reach=reach)


def resolved(address: str) -> str:
    """Return an address with the folders that it means from here, links followed.

    Raises:
        RepositoryNotFoundError: one of them can't be read.
    """
    return write_address(
        [
            each._replace(folder=str(resolve_root(Path(each.folder)))) if each.folder else each
            for each in read_address(address)
        ]
    )
