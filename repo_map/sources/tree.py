"""A tree as everybody may see it: without its keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from repo_map import globs
from repo_map.limits import USUAL, Limits
from repo_map.sources.files import Listing, ReadFile
from repo_map.sources.folders import FolderTree
from repo_map.sources.places import Place, PlaceFiles


class Tree(NamedTuple):
    """Where files come from, and which of their secrets may be shown."""

    place: Place
    unmasked: tuple[str, ...] = ()
    """Globs of the files that the user lets be shown as they are, by the paths in their own repositories."""
    limits: Limits = USUAL

    @property
    def name(self) -> bytes:
        """What tells the tree from others: the same place with other secrets shown is another one."""
        return b"\0".join((self.place.name, *map(str.encode, self.unmasked)))

    def list(self, known: Listing | None, on_wait: Callable[[], object]) -> Listing:
        """List the files; raises ``RepositoryNotFoundError`` where there is nothing to list."""
        return self.place.list(known, self.limits.files, on_wait)

    def at(self, listing: Listing) -> TreeFiles:
        """Return what reads the files of a listing."""
        return TreeFiles(self.place.at(listing), self.unmasked, self.limits)


class TreeFiles(NamedTuple):
    """The files of one listing of a tree."""

    files: PlaceFiles
    unmasked: tuple[str, ...] = ()
    limits: Limits = USUAL

    def shows(self, path: str) -> bool:
        """Say whether a file is shown with its secrets."""
        return bool(self.unmasked) and any(
            globs.matches(pattern, self.files.own_path(path)) for pattern in self.unmasked
        )

    def withholds(self, path: str) -> bool:
        """Say whether a file is listed by its path alone because it holds keys by its name."""
        from repo_map.secrets.key_files import is_key_file  # noqa: PLC0415 - a warm start reads nothing

        return is_key_file(path) and not self.shows(path)

    def fetch(self, path: str) -> ReadFile:
        """Read a file as it is, secrets and all; one that holds keys by its name is not opened."""
        if self.withholds(path):
            return ReadFile(path, 0, None, "it holds keys by its name; listed by path only")
        return self.files.read(path, self.limits.file_bytes)

    def read(self, path: str) -> ReadFile:
        """Read a file for the index, which never holds a secret, whatever may be shown."""
        return masked(self.fetch(path))

    def digest(self, path: str) -> bytes:
        """Return what identifies a file's bytes, empty for one that is not to be read."""
        return self.fetch(path).digest


def masked(read: ReadFile) -> ReadFile:
    """Return a file without its secrets."""
    from repo_map.secrets.masking import mask  # noqa: PLC0415 - a warm start reads nothing

    if read.source is None:
        return read
    found = mask(read.source)
    return read._replace(source=found.source, secrets=found.kinds)


def files_below(root: Path, unmasked: tuple[str, ...] = (), limits: Limits = USUAL) -> TreeFiles:
    """Return what reads the files below a folder."""
    return TreeFiles(FolderTree(root), unmasked, limits)
