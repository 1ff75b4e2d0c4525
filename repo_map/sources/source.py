"""Sources of files: a folder, several roots side by side, an overlay of edits, and the masking of secrets.

A commit is a source too, see ``commits``.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from repo_map import globs
from repo_map.errors import RepositoryNotFoundError
from repo_map.limits import DEFAULT, Limits
from repo_map.sources.decoding import NOTEBOOK, decode
from repo_map.sources.files import (
    Listing,
    ReadFile,
    digest,
    join_listings,
    list_files,
    read_file,
    resolve_root,
)

_OUTPUTS_FACTOR = 10
"""How much larger than other files notebooks may be: their outputs are left out."""


class FileReader(Protocol):
    """Reads the files of one listing."""

    @property
    def root(self) -> Path | None:
        """The folder that holds them under their paths, None if none does."""

    def repository_path(self, path: str) -> str:
        """Return a file's path in its own repository."""

    def read(self, path: str, limit: int) -> ReadFile:
        """Return the bytes of a listed file of at most ``limit`` bytes, secrets included."""


class RepositoryPart(NamedTuple):
    """The share of one repository in a source."""

    prefix: str
    """Prefix of its paths, with a slash at the end; ``""`` if it is the whole source."""
    root: Path
    ref: str
    """The commit's name, ``""`` for the work tree."""

    @property
    def shown(self) -> str:
        """The folder as users see it."""
        return self.root.name if self.ref else str(self.root)


class FileSource(Protocol):
    """Lists and reads the files of a tree."""

    @property
    def name(self) -> bytes:
        """Identifies the source."""

    @property
    def title(self) -> str:
        """The source as users see it."""

    @property
    def parts(self) -> tuple[RepositoryPart, ...]:
        """The repositories in it."""

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        """List the first ``limit`` files; a ``known`` earlier listing saves calls of ``stat``.

        ``on_wait`` is called now and then; an exception from it ends the listing.

        Raises:
            RepositoryNotFoundError: there is nothing to list.
        """

    def at(self, listing: Listing) -> FileReader:
        """Return the reader of a listing's files."""


def repository_names(source: FileSource) -> tuple[str, ...]:
    """Return the names of a source's repositories, each once."""
    return tuple(dict.fromkeys(part.root.name for part in source.parts))


class FolderSource(NamedTuple):
    """The files below a folder, as git lists them."""

    root: Path

    @property
    def name(self) -> bytes:
        return os.fsencode(self.root)

    @property
    def title(self) -> str:
        return str(self.root)

    @property
    def parts(self) -> tuple[RepositoryPart, ...]:
        return (RepositoryPart("", self.root, ""),)

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        return list_files(self.root, known, limit=limit, on_wait=on_wait)

    def at(self, listing: Listing) -> FileReader:
        del listing
        return self

    def repository_path(self, path: str) -> str:
        return path

    def read(self, path: str, limit: int) -> ReadFile:
        return read_file(self.root, path, limit=limit)


def folder_source(root: Path) -> FolderSource:
    """Return the source of a folder; raises ``RepositoryNotFoundError`` if it can't be read."""
    return FolderSource(resolve_root(root))


class OverlaySource:
    """The files of a source, some of them replaced, added or removed; nothing on disk is touched."""

    def __init__(self, source: FileSource, contents: Mapping[str, bytes | None]) -> None:
        """``contents`` holds the bytes of each file that differs, None for a removed one."""
        self._source = source
        self._contents = dict(sorted(contents.items()))

    @property
    def name(self) -> bytes:
        mark = hashlib.blake2b(digest_size=16)
        for path, content in self._contents.items():
            mark.update(repr((path, content)).encode("utf-8", "replace"))
        return b"overlaid\0%s\0%s" % (mark.hexdigest().encode(), self._source.name)

    @property
    def title(self) -> str:
        return self._source.title

    @property
    def parts(self) -> tuple[RepositoryPart, ...]:
        return self._source.parts

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        del known
        return self.listing(self._source.list(None, limit, on_wait))

    def listing(self, listing: Listing) -> Listing:
        """Return a listing of the source below with the files that differ."""
        states = dict(zip(listing.paths, listing.states, strict=True))
        for path, content in self._contents.items():
            if content is None:
                states.pop(path, None)
            else:
                states[path] = np.array([len(content), 0, 0, 0, 0], np.int64)
        paths = tuple(sorted(states, key=lambda path: path.encode("utf-8", "surrogateescape")))
        rows = [states[path] for path in paths]
        return listing._replace(paths=paths, states=np.array(rows, np.int64).reshape(-1, 5))

    def at(self, listing: Listing) -> FileReader:
        return _OverlayReader(self._source.at(listing), self._contents)


class _OverlayReader(NamedTuple):
    below: FileReader
    contents: Mapping[str, bytes | None]

    @property
    def root(self) -> Path | None:
        return None

    def repository_path(self, path: str) -> str:
        return self.below.repository_path(path)

    def read(self, path: str, limit: int) -> ReadFile:
        content = self.contents.get(path)
        if content is None:
            return self.below.read(path, limit)
        return ReadFile(path, len(content), content, digest=digest(content))


class MultiRootSource:
    """Several sources side by side, each below a folder of its own name."""

    def __init__(self, sources: Sequence[tuple[str, FileSource]]) -> None:
        """``sources`` are of one repository each, under distinct names without a slash."""
        self._sources = tuple(sorted(sources, key=lambda named: named[0]))

    @property
    def name(self) -> bytes:
        parts = ((name.encode("utf-8", "surrogateescape"), source.name) for name, source in self._sources)
        return b"united\0" + b"\0".join(b"%d %s%d %s" % (len(a), a, len(b), b) for a, b in parts)

    @property
    def title(self) -> str:
        return ", ".join(source.title for _, source in self._sources)

    @property
    def parts(self) -> tuple[RepositoryPart, ...]:
        return tuple(
            part._replace(prefix=f"{name}/") for name, source in self._sources for part in source.parts
        )

    def list(self, known: Listing | None, limit: int, on_wait: Callable[[], object]) -> Listing:
        before: Sequence[Listing | None] = (known.parts if known else ()) or (None,) * len(self._sources)
        parts = tuple(
            source.list(part, limit, on_wait) for (_, source), part in zip(self._sources, before, strict=True)
        )
        named = [(f"{name}/", part) for (name, _), part in zip(self._sources, parts, strict=True)]
        return join_listings(named, limit)._replace(parts=parts)

    def at(self, listing: Listing) -> FileReader:
        pairs = zip(self._sources, listing.parts, strict=True)
        return _MultiRootReader({name: source.at(part) for (name, source), part in pairs})


class _MultiRootReader(NamedTuple):
    readers: dict[str, FileReader]

    @property
    def root(self) -> None:
        return None

    def repository_path(self, path: str) -> str:
        name, _, inner = path.partition("/")
        return self.readers[name].repository_path(inner)

    def read(self, path: str, limit: int) -> ReadFile:
        name, _, inner = path.partition("/")
        return self.readers[name].read(inner, limit)._replace(path=path)


def combine(sources: Sequence[FileSource], names: Sequence[str]) -> FileSource:
    """Return several sources as one, each below a folder of its name; a single one stays as it is.

    A source that is given twice counts once. Equal names get the commit's name where that differs, and a
    number elsewhere.

    Raises:
        RepositoryNotFoundError: one of them lies within another.
    """
    distinct: dict[bytes, tuple[str, FileSource]] = {}
    for name, source in zip(names, sources, strict=True):
        distinct.setdefault(source.name, (name, source))
    chosen = [source for _, source in distinct.values()]
    if len(chosen) == 1:
        return chosen[0]
    for source in chosen:
        for other in chosen:
            inner, outer = source.parts[0], other.parts[0]
            if source is not other and inner.ref == outer.ref and inner.root.is_relative_to(outer.root):
                raise RepositoryNotFoundError(
                    f"`{source.title}` lies within `{other.title}`, which shows its files too; name one "
                    "of them."
                )
    unique = _unique_names([(name, source.parts[0].ref) for name, source in distinct.values()])
    return MultiRootSource(list(zip(unique, chosen, strict=True)))


def _unique_names(named: Sequence[tuple[str, str]]) -> list[str]:
    """Return a unique folder name for each source, given its repository's name and the commit's."""
    own = [name.replace("/", "-") or "root" for name, _ in named]
    with_ref = [
        f"{name}@{ref.replace('/', '-')}" if ref and own.count(name) > 1 else name
        for name, (_, ref) in zip(own, named, strict=True)
    ]
    names: list[str] = []
    for name in with_ref:
        number, free = 1, name
        while free in names or (number > 1 and free in with_ref):
            number += 1
            free = f"{name}-{number}"
        names.append(free)
    return names


class MaskedSource(NamedTuple):
    """A source, and which of its secrets may be shown."""

    source: FileSource
    unmasked: tuple[str, ...] = ()
    """Globs of the files that the user allows to be shown unmasked, by their paths in their repositories."""
    limits: Limits = DEFAULT

    @property
    def name(self) -> bytes:
        """Identifies the source: the same files with other secrets shown are another one."""
        return b"\0".join((self.source.name, *map(str.encode, self.unmasked)))

    def list(self, known: Listing | None, on_wait: Callable[[], object]) -> Listing:
        """List the files; raises ``RepositoryNotFoundError`` if there is nothing to list."""
        return self.source.list(known, self.limits.files, on_wait)

    def at(self, listing: Listing) -> MaskedReader:
        """Return the reader of a listing's files."""
        return MaskedReader(self.source.at(listing), self.unmasked, self.limits)


class MaskedReader(NamedTuple):
    """Reads the files of one listing, and masks their secrets."""

    reader: FileReader
    unmasked: tuple[str, ...] = ()
    limits: Limits = DEFAULT

    def is_unmasked(self, path: str) -> bool:
        """Return True if a file is shown with its secrets."""
        return bool(self.unmasked) and any(
            globs.matches(pattern, self.reader.repository_path(path)) for pattern in self.unmasked
        )

    def is_withheld(self, path: str) -> bool:
        """Return True if a file is listed by path only because its name says that it holds keys."""
        from repo_map.secrets.names import is_key_file  # noqa: PLC0415 - a warm start reads nothing

        return is_key_file(path) and not self.is_unmasked(path)

    def fetch(self, path: str) -> ReadFile:
        """Read a file with its secrets as UTF-8; a withheld one is not opened."""
        if self.is_withheld(path):
            return ReadFile(path, 0, None, "it holds keys by its name; listed by path only")
        limit = self.limits.file_bytes * (_OUTPUTS_FACTOR if path.endswith(NOTEBOOK) else 1)
        read = self.reader.read(path, limit)
        if read.source is None:
            return read
        source, encoding = decode(read.source, path)
        return read._replace(source=source, encoding=encoding)

    def read(self, path: str) -> ReadFile:
        """Read a file for the index, which never holds a secret, even of an unmasked file."""
        return masked(self.fetch(path))

    def digest(self, path: str) -> bytes:
        """Return the digest of a file's bytes, empty for one that is not read."""
        return self.fetch(path).digest


def masked(read: ReadFile) -> ReadFile:
    """Return a file without its secrets."""
    from repo_map.secrets.masking import mask  # noqa: PLC0415 - a warm start reads nothing

    if read.source is None:
        return read
    found = mask(read.source)
    return read._replace(source=found.source, secrets=found.kinds)


def folder_reader(root: Path, unmasked: tuple[str, ...] = (), limits: Limits = DEFAULT) -> MaskedReader:
    """Return the reader of the files below a folder."""
    return MaskedReader(FolderSource(root), unmasked, limits)
