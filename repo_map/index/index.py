"""The index of a repository: its tables, queries on them, and memoized values that follow from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, TypeVar, TypeVarTuple, cast

import numpy as np
from numpy.typing import NDArray

from repo_map.cache import LRUCache
from repo_map.index.merge import fingerprint
from repo_map.index.schema import DECODED_FROM, Tables
from repo_map.index.source_reader import SourceReader
from repo_map.index.store import Store
from repo_map.limits import Limits
from repo_map.parsing.values import Definition, FileSymbols, Import
from repo_map.sources.files import Listing, Problem
from repo_map.sources.source import FileSource, MaskedSource

_MAX_CACHED_DEFINITIONS = 25_000
_Value = TypeVar("_Value")
_Key = TypeVarTuple("_Key")


class TreeState(NamedTuple):
    """The tables of a tree, and the listing they were made from."""

    tables: Tables
    listing: Listing
    taken_ns: int
    """Time before the files were listed."""
    unsaved: frozenset[str] = frozenset()
    """Files whose rows are missing in the tree's snapshot in the store."""
    warnings: tuple[Problem, ...] = ()
    """Of the cache and the processes, not of the tree."""
    parsed: int = 0
    """Files that were parsed; the rows of all others were cached."""
    parsed_bytes: int = 0
    partial: NDArray[np.int64] | None = None
    """The only files that were read, ascending, by a first look; None if all were read."""

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems of the tree as a whole and of files that were skipped."""
        return (*self.warnings, *self.listing.problems)


@dataclass(frozen=True)
class Build:
    """How an index was built, which a refresh continues."""

    masked_source: MaskedSource
    state: TreeState
    store: Store
    workers: int | None

    @property
    def source(self) -> FileSource:
        """The files' source."""
        return self.masked_source.source

    @property
    def partial_files(self) -> int:
        """Number of files that a first look read, the others being only listed; 0 if all were read."""
        return 0 if self.state.partial is None else len(self.state.partial)

    @property
    def cache_folder(self) -> Path | None:
        """Folder for values that follow from the index; None if nothing is cached, as of a first look."""
        return None if self.partial_files else self.store.folder

    @cached_property
    def source_bytes(self) -> int:
        """Bytes of all files in a language that is parsed."""
        tables = self.state.tables
        is_source = np.array([bool(name) for name in tables.languages], np.bool_)[tables.files.language]
        return int(tables.files.size[is_source].sum())

    @property
    def memory_mb(self) -> int:
        """Estimated megabytes of memory of the index and its memoized values."""
        return self.masked_source.limits.memory_for(self.source_bytes)


class Index:
    """The tables of a repository at one moment; a refresh makes a new index."""

    def __init__(self, build: Build) -> None:
        state = build.state
        self.build = build
        """Replaced by a refresh that finds nothing changed."""
        self.paths: tuple[str, ...] = state.listing.paths
        """Every file, relative to the root with forward slashes, in order; a file's id is its position."""
        self.limits: Limits = build.masked_source.limits
        self.sources = SourceReader(
            build.masked_source.at(state.listing), state.listing.paths, state.tables.files
        )
        """The files' current content."""
        tables = self._tables = state.tables
        self.files = tables.files
        self.symbols = tables.symbols
        self.references = tables.references
        self.sites = tables.sites
        """Every use of a name that relations are resolved from."""
        self.bindings = tables.bindings
        """Every binding of a name that relations are resolved from."""
        self.units = tables.units
        self.postings = tables.postings
        self.costs = tables.costs
        self.languages = tables.languages
        """The strings of ``files.language``."""
        self.kinds = tables.kinds
        """The strings of ``symbols.kind``."""
        self.strings = tables.strings
        """The names of definitions, references and imports."""
        self.expressions = tables.expressions
        """The receivers of sites and the values of bindings, as the language's reader writes them."""
        self.terms = tables.terms
        """The terms of the postings."""
        self._memo: dict[Hashable, _Once] = {}

    def __len__(self) -> int:
        return len(self._tables)

    @cached_property
    def fingerprint(self) -> str:
        """Identifies the tree: equal for equal paths and bytes, on any machine."""
        return fingerprint(self._tables)

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
        decoded = Counter(each.what for each in found if each.what.startswith(DECODED_FROM))
        if decoded:
            found = [each for each in found if each.what not in decoded]
            named = ", ".join(
                f"{what.removeprefix(DECODED_FROM)} ({n:,})" for what, n in sorted(decoded.items())
            )
            found.insert(0, Problem("", f"Files that are not UTF-8 were decoded from {named}."))
        return (*self.build.state.problems, *found)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {path: file_id for file_id, path in enumerate(self.paths)}

    @cached_property
    def _kind_names(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def file_id(self, path: str) -> int | None:
        """Return the id of the file at ``path``, None if there is no such file."""
        return self._ids.get(path)

    def language(self, file_id: int) -> str:
        """Return the name of a file's language, ``""`` for none."""
        return self.languages[int(self.files.language[file_id])]

    def definitions(self, file_id: int) -> tuple[Definition, ...]:
        """Return a file's definitions in source order."""
        cached = self.memo(_definitions_cache)
        found = cached.get(file_id)
        if found is None:
            table, kinds = self.symbols, self._kind_names
            rows = slice(int(table.file_start[file_id]), int(table.file_start[file_id + 1]))
            names = self.strings.many(table.name[rows])
            lines = (getattr(table, field)[rows].tolist() for field in Definition._fields[2:])
            columns = zip(names, table.kind[rows].tolist(), *lines, strict=True)
            found = tuple(Definition(name, kinds[kind], *numbers) for name, kind, *numbers in columns)
            cached.put(file_id, found)
        return found

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
        table = self._tables.imports
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

    def memo(self, compute: Callable[[Index, *_Key], _Value], *key: *_Key) -> _Value:
        """Return ``compute(self, *key)``, computed once and cached until the index is released.

        Threads that want the same value wait for the one that computes it; a failure is not cached. Use few
        keys: values by what clients ask for belong in an ``LRUCache`` that is itself memoized.
        """
        once = self._memo.setdefault((compute, key), _Once())
        return cast(_Value, once.get(lambda: compute(self, *key)))

    def release(self) -> None:
        """Drop the memoized values, which refer back to the index; they are computed again if needed."""
        self._memo.clear()


def current_symbols(index: Index, file_id: int) -> FileSymbols:
    """Return the symbols of a file's current content, even if it was edited since it was indexed."""
    if index.sources.is_current(file_id):
        language = index.language(file_id)
        return FileSymbols(language, index.definitions(file_id), (), index.imports(file_id), ())
    from repo_map.index.worker_pool import read_source  # noqa: PLC0415 - a warm start parses nothing

    return read_source(index.sources.content(file_id), index.paths[file_id], index.limits)


def _definitions_cache(_index: Index) -> LRUCache[int, tuple[Definition, ...]]:
    return LRUCache(_MAX_CACHED_DEFINITIONS, lambda definitions: 1 + len(definitions))


class _Once:
    """A value that is computed once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._computed: tuple[Any] | None = None

    def get(self, compute: Callable[[], Any]) -> Any:
        if self._computed is None:
            with self._lock:
                if self._computed is None:
                    self._computed = (compute(),)
        return self._computed[0]
