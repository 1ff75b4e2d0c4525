"""What a repository's files of set-up say, read from its index."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from repo_map.languages.kinds import FUNCTIONS

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_LONGEST: Final = 200_000
"""Characters of a file of set-up that are read."""


class TestRequest(NamedTuple):
    """A file of tests that is to be run."""

    path: str
    names: tuple[str, ...]
    """Qualified names of its tests, none for all of them."""


class SetUp:
    """The files of a tree that say how its tests are run."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index

    def has(self, path: str) -> bool:
        """Tell whether the tree has a file."""
        return self._index.file_id(path) is not None

    def text(self, path: str) -> str:
        """Return a file's text, ``""`` where there is none."""
        file = self._index.file_id(path)
        return "" if file is None else self._index.text(file)[:_LONGEST]

    def json(self, path: str) -> Mapping[str, Any]:
        """Return the object that a file holds, empty where it holds none."""
        try:
            found = json.loads(self.text(path) or "{}")
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def nearest(self, path: str, names: Sequence[str]) -> str:
        """Return the nearest folder above a file that has one of some files, ``""`` or ending in a slash."""
        folder = path
        while folder:
            folder = folder.rstrip("/").rpartition("/")[0]
            folder = f"{folder}/" if folder else ""
            if any(self.has(f"{folder}{name}") for name in names):
                return folder
        return ""

    def names_ending(self, ends: tuple[str, ...]) -> Iterator[str]:
        """Yield the paths that end so."""
        return (path for path in self._index.paths if path.endswith(ends))

    def functions(self, path: str) -> tuple[str, ...]:
        """Return the names of a file's functions."""
        file = self._index.file_id(path)
        if file is None:
            return ()
        return tuple(each.name for each in self._index.definitions(file) if each.kind in FUNCTIONS)
