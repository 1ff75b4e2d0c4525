"""RepoIndex: columns, texts, `derived` cache object, open and refresh."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar, TypeVarTuple, cast

import numpy as np

from repo_map import globs
from repo_map.cache import LRUCache
from repo_map.index.build import OnProgress, TreeState, overlaid, update
from repo_map.index.merge import fingerprint
from repo_map.index.schema import (
    Bindings,
    Costs,
    Files,
    Imports,
    Postings,
    References,
    Sites,
    Symbols,
    Units,
)
from repo_map.index.store import Store, user_store
from repo_map.index.strings import StringTable
from repo_map.limits import DEFAULT, Limits
from repo_map.parsing.values import Definition, FileSymbols, Import
from repo_map.sources.file_kinds import FileFlag
from repo_map.sources.files import Problem
from repo_map.sources.source import FileSource, MaskedReader, MaskedSource, OverlaySource, folder_source

_MOST_BYTES = 32_000_000


class ShownSource(NamedTuple):
    """What is shown of one file."""

    content: bytes
    """Secrets masked; ``b""`` for a file listed by path only."""
    is_current: bool = True
    """Whether these are the bytes that were indexed."""
    secrets: tuple[str, ...] = ()
    """The format of each secret that is masked."""


class SourceCache:
    """Reads the files of one index; any number of threads may ask."""

    def __init__(self, tree: MaskedReader, paths: Sequence[str], files: Files) -> None:
        self._tree = tree
        self._paths = paths
        self._files = files
        self._kept = LRUCache[int, ShownSource](_MOST_BYTES, lambda source: len(source.content))

    def read(self, file_id: int) -> ShownSource:
        """Return the file as it is now, or as it was when it was read of late."""
        source = self._kept.get(file_id)
        if source is None:
            source = self._read(file_id)
            self._kept.put(file_id, source)
        return source

    def _read(self, file_id: int) -> ShownSource:
        known = self._files.digest[file_id].tobytes()
        if not any(known):
            return ShownSource(b"")
        path = self._paths[file_id]
        read = self._tree.reader.read(path, self._tree.limits.file_bytes)
        content = read.source or b""
        is_current = read.digest == known
        has_secrets = not is_current or bool(int(self._files.flags[file_id]) & FileFlag.SECRETS)
        if not has_secrets or self._tree.is_unmasked(path):
            return ShownSource(content, is_current)
        from repo_map.secrets.masking import mask  # noqa: PLC0415 - a warm start may show no secret

        masked = mask(content)
        return ShownSource(masked.source, is_current, masked.kinds)


_MOST_DEFINITIONS = 50_000
"""Kept in memory ready to use; the others are in columns."""
_Value = TypeVar("_Value")
_Key = TypeVarTuple("_Key")


def build_index(
    root: Path | FileSource,
    *,
    store: Store | None = None,
    workers: int | None = None,
    on_progress: OnProgress | None = None,
    unmasked: Iterable[str] = (),
    limits: Limits = DEFAULT,
) -> RepoIndex:
    """Index the repository at ``root``, a folder or another place; parse only what the store doesn't know.

    ``store`` is the user's cache if left out, ``Store(None)`` for none. ``workers`` is the most processes to
    parse in, by default one per processor where there is enough to parse. ``on_progress`` hears the name of
    the phase (``listing``, ``fetching``, ``parsing``, ``saving``), the work done and the work in all.
    ``unmasked`` are globs of files that are shown with their secrets; raises FlightPlanError for a bad one,
    and TreeTooLargeError for a tree that ``limits`` leave no memory for.
    """
    place = folder_source(root) if isinstance(root, Path) else root
    tree = MaskedSource(place, tuple(sorted(set(unmasked))), limits)
    for pattern in tree.unmasked:
        globs.compile(pattern)
    store = user_store(limits) if store is None else store.under(limits)
    known = update(tree, None, store, workers, on_progress or ignore_progress)
    return RepoIndex(tree, known, store, workers)


def ignore_progress(_phase: str, _done: int, _total: int) -> None:
    """Hear nothing."""


class RepoIndex:
    """What is known of a repository at one moment; a refresh makes a new value."""

    def __init__(self, tree: MaskedSource, known: TreeState, store: Store, workers: int | None) -> None:
        self.place = tree.source
        """Where its files come from."""
        self._tree = tree
        self._known = known
        self._tables = known.tables
        self._store = store
        self._workers = workers
        self._derived: dict[Hashable, _Derived] = {}
        self._sources = SourceCache(tree.at(known.listing), known.listing.paths, known.tables.files)

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def files(self) -> Files:
        return self._tables.files

    @property
    def symbols(self) -> Symbols:
        return self._tables.symbols

    @property
    def references(self) -> References:
        return self._tables.references

    @property
    def sites(self) -> Sites:
        """Every use of a name that relations are resolved from."""
        return self._tables.sites

    @property
    def bindings(self) -> Bindings:
        """Every binding of a name that relations are resolved from."""
        return self._tables.bindings

    @property
    def units(self) -> Units:
        return self._tables.units

    @property
    def postings(self) -> Postings:
        return self._tables.postings

    @property
    def costs(self) -> Costs:
        return self._tables.costs

    @property
    def languages(self) -> StringTable:
        """The names behind ``files.language``."""
        return self._tables.languages

    @property
    def kinds(self) -> StringTable:
        """The names behind ``symbols.kind``."""
        return self._tables.kinds

    @property
    def strings(self) -> StringTable:
        """The names of definitions, references and imports."""
        return self._tables.strings

    @property
    def expressions(self) -> StringTable:
        """The receivers of sites and the values of bindings, in the form of their language's family."""
        return self._tables.expressions

    @property
    def terms(self) -> StringTable:
        """The terms of the postings."""
        return self._tables.terms

    @property
    def paths(self) -> tuple[str, ...]:
        """Every file, relative to the root with forward slashes, in order; a file's id is its position."""
        return self._known.listing.paths

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {path: file_id for file_id, path in enumerate(self.paths)}

    @property
    def limits(self) -> Limits:
        """What bounds the index, and the queries on it."""
        return self._tree.limits

    @property
    def cache_folder(self) -> Path | None:
        """Where what is derived from the index may be kept; None where nothing is, as of a first look."""
        return None if self.read_first else self._store.folder

    @property
    def read_first(self) -> int:
        """How many files a first look read, the others being only listed; 0 where all were read."""
        return 0 if self._known.read is None else len(self._known.read)

    @property
    def is_saved(self) -> bool:
        """Whether the cache holds the index as it is, rather than as it was a few edits ago."""
        return self.cache_folder is not None and not self._known.unsaved

    @property
    def parsed_files(self) -> int:
        """How many files had to be parsed to make it; the rows of the others were known."""
        return self._known.parsed

    @property
    def parsed_bytes(self) -> int:
        """Bytes of those files."""
        return self._known.parsed_bytes

    @cached_property
    def fingerprint(self) -> str:
        """What identifies the tree: equal for equal paths and bytes, on any machine."""
        return fingerprint(self._tables)

    @property
    def cache_key(self) -> str:
        """What names that which is derived from the index: its tree, and the limits it was made under."""
        return self.fingerprint + self._tree.limits.cache_suffix

    @cached_property
    def source_bytes(self) -> int:
        """Bytes of all files in a language that is parsed."""
        is_source = np.array([bool(name) for name in self.languages], np.bool_)[self.files.language]
        return int(self.files.size[is_source].sum())

    @property
    def memory_mb(self) -> int:
        """Estimated megabytes of memory that the index takes, with what is derived from it."""
        return self._tree.limits.memory_for(self.source_bytes)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What was skipped, cut or not parsed, and why."""
        notes, messages = self._tables.notes, self._tables.messages
        starts = notes.file_start.tolist()
        found = [
            Problem(self.paths[file_id], messages[int(notes.message[row])])
            for file_id in (notes.file_start[1:] > notes.file_start[:-1]).nonzero()[0].tolist()
            for row in range(starts[file_id], starts[file_id + 1])
        ]
        return (*_problems(self._known), *found)

    def file_id(self, path: str) -> int | None:
        """Return the id of the file at ``path``, None where the index has no such file."""
        return self._ids.get(path)

    def language(self, file_id: int) -> str:
        """Return the name of a file's language, ``""`` for none."""
        return self.languages[int(self.files.language[file_id])]

    def definitions(self, file_id: int) -> tuple[Definition, ...]:
        """Return a file's definitions in source order; those of the files asked for last are kept."""
        kept = self.derived(_kept_definitions)
        found = kept.get(file_id)
        if found is None:
            found = self._read_definitions(file_id)
            kept.put(file_id, found)
        return found

    def _read_definitions(self, file_id: int) -> tuple[Definition, ...]:
        table = self.symbols
        rows = slice(int(table.file_start[file_id]), int(table.file_start[file_id + 1]))
        kinds = self._kind_names
        lines = (
            table.parent,
            table.start,
            table.end,
            table.sig_start,
            table.sig_end,
            table.doc_start,
            table.doc_end,
        )
        return tuple(
            Definition(name, kinds[kind], *numbers)
            for name, kind, *numbers in zip(
                self.strings.many(table.name[rows]),
                table.kind[rows].tolist(),
                *(column[rows].tolist() for column in lines),
                strict=True,
            )
        )

    @cached_property
    def _kind_names(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def qualified_name(self, file_id: int, definition: int) -> str:
        """Return a definition's name with those that enclose it: ``Router.dispatch``."""
        table = self.symbols
        first = int(table.file_start[file_id])
        names = []
        while definition >= 0:
            names.append(self.strings[int(table.name[first + definition])])
            definition = int(table.parent[first + definition])
        return ".".join(reversed(names))

    def imports(self, file_id: int) -> tuple[Import, ...]:
        """Return a file's imports in source order."""
        table: Imports = self._tables.imports
        first, last = int(table.file_start[file_id]), int(table.file_start[file_id + 1])
        cuts = table.name_start[first : last + 1].tolist()
        return tuple(
            Import(
                self.strings[int(table.module[row])],
                tuple(self.strings.many(table.name[cuts[row - first] : cuts[row - first + 1]])),
                int(table.line[row]),
            )
            for row in range(first, last)
        )

    def source(self, file_id: int) -> bytes:
        """Return the file's bytes as they are now, secrets masked; ``b""`` for a file listed by path only."""
        return self._sources.read(file_id).content

    def secrets(self, file_id: int) -> tuple[str, ...]:
        """Return the format of each secret that ``source`` masks."""
        return self._sources.read(file_id).secrets

    def is_current(self, file_id: int) -> bool:
        """Say whether the bytes that ``source`` returns are those that were indexed."""
        return self._sources.read(file_id).is_current

    def fresh_symbols(self, file_id: int) -> FileSymbols:
        """Return the symbols of exactly the bytes that ``source`` returns, even if the file was edited."""
        source = self._sources.read(file_id)
        if not source.is_current:
            from repo_map.index.worker_pool import read_source  # noqa: PLC0415 - a warm start parses nothing

            return read_source(source.content, self.paths[file_id], self._tree.limits)
        language = self.language(file_id)
        return FileSymbols(language, self.definitions(file_id), (), self.imports(file_id), ())

    def text(self, file_id: int) -> str:
        r"""Return the file's text: UTF-8 with replacements, no byte order mark, ``\r\n`` as ``\n``.

        Its lines are what ``split("\n")`` gives; ``splitlines`` would cut at form feeds too, which no line
        number counts.
        """
        return self.source(file_id).decode("utf-8-sig", "replace").replace("\r\n", "\n")

    def derived(self, make: Callable[[RepoIndex, *_Key], _Value], *key: *_Key) -> _Value:
        """Return ``make(self, *key)``, made once and kept until the index goes or is released.

        All that follows from an index and is worth keeping is kept here, so that nothing outlives it. Threads
        that want the same wait for the one that makes it. Use few keys: what grows with what clients ask for
        belongs into a bounded ``LRUCache`` that is itself derived.
        """
        return cast(_Value, self._derived.setdefault((make, key), _Derived()).get(lambda: make(self, *key)))

    def release(self) -> None:
        """Let go of what is derived from the index, which refers back to it; who needs it makes it anew."""
        self._derived.clear()

    def refresh(self, on_progress: OnProgress | None = None) -> RepoIndex:
        """Return the index of the tree as it is now, parsing only what changed or was not read yet.

        It is this one where nothing has changed: it then knows a later listing, which nobody has to doubt.
        """
        known = update(self._tree, self._known, self._store, self._workers, on_progress or ignore_progress)
        if known.tables is self._known.tables and _problems(known) == _problems(self._known):
            self._known = known
            return self
        return RepoIndex(self._tree, known, self._store, self._workers)

    def with_files(self, contents: Mapping[str, bytes | None]) -> RepoIndex:
        """Return the index of the tree with some files otherwise; only those are parsed, nothing is written.

        Args:
            contents: the bytes of each file that differs, by its path; None for one that is not there.
        """
        place = OverlaySource(self._tree.source, contents)
        known = overlaid(self._tree._replace(source=place), self._known, place, contents)
        return RepoIndex(self._tree._replace(source=place), known, Store(None), self._workers)


def _problems(known: TreeState) -> tuple[Problem, ...]:
    return (*known.problems, *known.listing.problems)


def _kept_definitions(_index: RepoIndex) -> LRUCache[int, tuple[Definition, ...]]:
    return LRUCache(_MOST_DEFINITIONS, lambda definitions: 1 + len(definitions))


class _Derived:
    """A value that is made once; to have failed is not to have been made."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: tuple[Any] | None = None

    def get(self, make: Callable[[], Any]) -> Any:
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = (make(),)
        return self._made[0]
