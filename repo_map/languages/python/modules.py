"""Python's modules: from the name in an import to a file of the repository."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final, NamedTuple

_ROOTS: Final = ("", "src", "lib")
"""Folders that are searched for modules wherever the import stands."""


class Module(NamedTuple):
    """What a module's name leads to."""

    file: int
    """File id, -1 for a folder without ``__init__.py``."""
    folder: str
    """The folder of a package, ``""`` for a module that is none."""
    is_package: bool


class PythonModules:
    """The modules of one index."""

    def __init__(self, paths: Sequence[str], files: Sequence[int]) -> None:
        """``files`` are the ids of the Python files, ``paths`` those of all."""
        self._paths = paths
        self._ids: dict[str, int] = {}
        for file in files:
            path = paths[file]
            stem = path.removesuffix(".py") if path.endswith(".py") else path.removesuffix(".pyi")
            if stem not in self._ids or path.endswith(".py"):
                self._ids[stem] = file
        self._packages = {_folder(stem) for stem in self._ids if stem.rpartition("/")[2] == "__init__"}
        self._folders: set[str] = set()
        for stem in self._ids:
            folder = _folder(stem)
            while folder not in self._folders:
                self._folders.add(folder)
                if not folder:
                    break
                folder = _folder(folder)
        self._root_of: dict[str, str] = {}
        tops: dict[str, None] = {}
        """Folders that hold packages, the nearest to the repository's root first."""
        for package in sorted(self._packages, key=lambda each: (each.count("/"), each)):
            tops.setdefault(self.root(package), None)
        self._tops = tuple(tops)
        self._known: dict[tuple[str, str], Module | None] = {}

    def root(self, folder: str) -> str:
        """Return the folder that the top package around ``folder`` lies in; itself where it is no package."""
        if folder not in self._root_of:
            is_package = folder in self._packages and folder != ""
            self._root_of[folder] = self.root(_folder(folder)) if is_package else folder
        return self._root_of[folder]

    def find(self, importer: int, name: str) -> Module | None:
        """Return what ``name``, dots before it for relative, leads to; None where it is not here."""
        folder = _folder(self._paths[importer])
        key = (folder, name)
        if key not in self._known:
            self._known[key] = self._find(folder, name)
        return self._known[key]

    def _find(self, folder: str, name: str) -> Module | None:
        bare = name.lstrip(".")
        if dots := len(name) - len(bare):
            for _ in range(dots - 1):
                if not folder:
                    return None
                folder = _folder(folder)
            return self.at(_joined(folder, bare.replace(".", "/")) if bare else folder)
        below = name.replace(".", "/")
        own = self.root(folder)
        is_standard = name.partition(".")[0] in sys.stdlib_module_names
        if found := self.at(_joined(own, below)):
            return found
        if is_standard:
            return None
        # A script finds what lies beside it; a test what lies in the folders above it.
        places = [folder, *(root for root in _ROOTS if root in self._folders or not root), *self._tops]
        near = sorted(
            dict.fromkeys(places),
            key=lambda place: (place != folder, -_shared(place, folder)),
        )
        for place in near:
            if found := self.at(_joined(place, below)):
                return found
        return None

    def at(self, stem: str) -> Module | None:
        """Return the module or package at a path without its suffix."""
        if stem in self._packages:
            return Module(self._ids[_joined(stem, "__init__")], stem, True)
        if stem in self._ids:
            return Module(self._ids[stem], "", False)
        if stem in self._folders and stem:
            return Module(-1, stem, True)
        return None

    def child(self, module: Module, name: str) -> Module | None:
        """Return a module of a package by its name."""
        return self.at(_joined(module.folder, name)) if module.is_package else None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _shared(first: str, second: str) -> int:
    """Return how many folders two paths begin with alike."""
    count = 0
    for one, other in zip(first.split("/"), second.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count
