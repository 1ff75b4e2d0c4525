"""A folder as a tree: what everybody has open."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from repo_map.sources.files import Listing, ReadFile, list_files, read_file, resolve_root
from repo_map.sources.places import PlaceFiles, TreePart


class FolderTree(NamedTuple):
    """The files below a folder, as git sees them: what everybody has open."""

    root: Path

    @property
    def name(self) -> bytes:
        return os.fsencode(self.root)

    @property
    def title(self) -> str:
        return str(self.root)

    @property
    def parts(self) -> tuple[TreePart, ...]:
        return (TreePart("", self.root, ""),)

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        return list_files(self.root, known, limit=limit, on_wait=on_wait)

    def at(self, listing: Listing) -> PlaceFiles:
        del listing
        return self

    def own_path(self, path: str) -> str:
        return path

    def read(self, path: str, limit: int) -> ReadFile:
        return read_file(self.root, path, limit=limit)


def folder_tree(root: Path) -> FolderTree:
    """Return the tree of a folder, or raise ``RepositoryNotFoundError`` that says what is wrong with it."""
    return FolderTree(resolve_root(root))
