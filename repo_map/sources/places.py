"""Where the files of a tree come from, as everybody asks it: what there is, and what is in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from repo_map.sources.files import Listing, ReadFile


class PlaceFiles(Protocol):
    """Reads the files of one listing."""

    @property
    def root(self) -> Path | None:
        """The folder that holds them under their paths, None where none does."""

    def own_path(self, path: str) -> str:
        """Return a file's path as its own repository knows it."""

    def read(self, path: str, limit: int) -> ReadFile:
        """Return the bytes of a listed file of at most ``limit`` bytes, secrets and all."""


class TreePart(NamedTuple):
    """One repository's share of a place."""

    prefix: str
    """What its paths begin with, with a slash at the end; ``""`` where it is the whole."""
    root: Path
    ref: str
    """The commit's name, ``""`` for the work tree."""

    @property
    def shown(self) -> str:
        """How the folder is told."""
        return self.root.name if self.ref else str(self.root)


class Place(Protocol):
    """Where the files of a tree come from."""

    @property
    def name(self) -> bytes:
        """What tells it from other places."""

    @property
    def title(self) -> str:
        """What people are told that it is."""

    @property
    def parts(self) -> tuple[TreePart, ...]:
        """The repositories that it shows."""

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        """List the first ``limit`` files; a ``known`` earlier listing saves looks.

        ``on_wait`` is called now and then; what it raises ends the listing.

        Raises:
            RepositoryNotFoundError: there is nothing to list.
        """

    def at(self, listing: Listing) -> PlaceFiles:
        """Return what reads the files of a listing of it."""


def names_of(place: Place) -> tuple[str, ...]:
    """Return the names of a place's repositories, each once."""
    return tuple(dict.fromkeys(part.root.name for part in place.parts))
