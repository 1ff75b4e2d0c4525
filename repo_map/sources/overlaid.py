"""A place as it would be with some files otherwise: as they were before an edit, or will be after a patch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from repo_map.sources.files import Listing, ReadFile, digest
from repo_map.sources.places import Place, PlaceFiles, TreePart


class OverlaidTree:
    """The files of a place, some of them replaced, added or taken away; nothing on disk is touched."""

    def __init__(self, place: Place, contents: Mapping[str, bytes | None]) -> None:
        """``contents`` holds the bytes of each file that differs, None for one that is not there."""
        self._place = place
        self._contents = dict(sorted(contents.items()))

    @property
    def name(self) -> bytes:
        """What tells it from other places."""
        mark = hashlib.blake2b(digest_size=16)
        for path, content in self._contents.items():
            mark.update(repr((path, content)).encode("utf-8", "replace"))
        return b"overlaid\0%s\0%s" % (mark.hexdigest().encode(), self._place.name)

    @property
    def title(self) -> str:
        """What people are told that it is."""
        return self._place.title

    @property
    def parts(self) -> tuple[TreePart, ...]:
        """The repositories that it shows."""
        return self._place.parts

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        """List the files of the place with those that differ."""
        del known
        return self.listing(self._place.list(None, limit, on_wait))

    def listing(self, listing: Listing) -> Listing:
        """Return a listing of the place with the files that differ."""
        states = dict(zip(listing.paths, listing.states, strict=True))
        for path, content in self._contents.items():
            if content is None:
                states.pop(path, None)
            else:
                states[path] = np.array([len(content), 0, 0, 0, 0], np.int64)
        paths = tuple(sorted(states, key=lambda path: path.encode("utf-8", "surrogateescape")))
        rows = [states[path] for path in paths]
        return listing._replace(paths=paths, states=np.array(rows, np.int64).reshape(-1, 5))

    def at(self, listing: Listing) -> PlaceFiles:
        """Return what reads the files of a listing of it."""
        return _OverlaidFiles(self._place.at(listing), self._contents)


class _OverlaidFiles(NamedTuple):
    """The files of one listing of an overlaid tree."""

    below: PlaceFiles
    contents: Mapping[str, bytes | None]

    @property
    def root(self) -> Path | None:
        return None

    def own_path(self, path: str) -> str:
        return self.below.own_path(path)

    def read(self, path: str, limit: int) -> ReadFile:
        content = self.contents.get(path)
        if content is None:
            return self.below.read(path, limit)
        return ReadFile(path, len(content), content, digest=digest(content))
