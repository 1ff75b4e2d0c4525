"""Writes the file of names that hooks read, out of an index, with the callers of what is used most."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from repo_map.atomic_files import prune, replace_file
from repo_map.index import RepoIndex
from repo_map.languages.kinds import FUNCTIONS, TEXT, TYPES
from repo_map.relations.model import Relation
from repo_map.relations.resolve import Relations, relations_of
from repo_map.worktree import disk
from repo_map.worktree.file_kinds import COPIED as COPIED_FLAGS
from repo_map.worktree.file_kinds import FileFlag
from repo_navigator.hooks.names import CALLERS_UNKNOWN, COPIED, KINDS, MAGIC, NONE, TEST, folded, names_file

LEAST_USES: Final = 10
"""Uses of a name from which on its callers are looked for: below, a search shows them itself."""
_MOST_NAMED: Final = 1_500
"""Places that bear a name, beyond which its callers are not looked for."""
_SHOWN_CALLERS: Final = 4
_MOST_BYTES: Final = 300_000_000
"""Of all files of names together."""


def write_names(
    index: RepoIndex, cache: Path, root: Path, about: Mapping[str, Any], *, seconds: float
) -> Path:
    """Write the names of an index, and return the file.

    Args:
        about: what is kept beside the names, as JSON.
        seconds: of CPU time that callers are looked for in, those of the most used names first.

    Raises:
        OSError: it can't be written.
    """
    columns = _columns(index, root, seconds)
    sections: dict[str, tuple[int, int]] = {}
    head = b""
    for _ in range(3):  # The places of the sections depend on the length of their list.
        at = 16 + len(head)
        for name, data in columns.items():
            at += -at % 8
            sections[name] = (at, len(data))
            at += len(data)
        head = json.dumps({"root": str(root), "end": at, "sections": sections, "about": about}).encode()
        head += b" " * (-len(head) % 64 + 64)
    path = names_file(cache, root)

    def write(file: Any) -> None:
        file.write(MAGIC + len(head).to_bytes(8, sys.byteorder) + head)
        for name, data in columns.items():
            file.write(bytes(sections[name][0] - file.tell()))
            file.write(data)

    replace_file(path, write)
    prune(path.parent, _MOST_BYTES, keep=path.name)
    return path


def _columns(index: RepoIndex, root: Path, seconds: float) -> dict[str, bytes]:
    table = index.symbols
    kinds = [kind not in TEXT for kind in index.kinds]
    rows = np.flatnonzero(np.array(kinds, np.bool_)[table.kind]) if kinds else np.zeros(0, np.int64)
    rows = rows[np.argsort(table.name[rows], kind="stable")]
    numbers, firsts = np.unique(table.name[rows], return_index=True)
    names = index.strings.many(numbers)
    number_of = np.full(len(index.strings), NONE, np.uint32)
    number_of[numbers] = np.arange(len(numbers), dtype=np.uint32)
    files = np.searchsorted(table.file_start, rows, side="right") - 1
    parents = table.parent[rows]
    owners = np.full(len(rows), NONE, np.uint32)
    held = parents >= 0
    owners[held] = number_of[table.name[table.file_start[files[held]] + parents[held]]]
    uses = np.bincount(index.references.name, index.references.count, len(index.strings))[numbers]
    flags = index.files.flags[files].astype(np.int64)
    aside = np.where(flags & int(FileFlag.TEST), TEST, 0) | np.where(flags & int(COPIED_FLAGS), COPIED, 0)
    callers = _Callers(index, number_of)
    callers.find(rows, files, uses[np.searchsorted(numbers, table.name[rows])], seconds)
    named = {kind: KINDS.index(kind) if kind in KINDS else 0 for kind in index.kinds}
    kind_numbers = np.array([named[kind] for kind in index.kinds] or [0], np.uint8)
    found = np.frombuffer(disk.states(root, index.paths), np.int64)
    states = found.reshape(-1, 5)[:, :2]  # Sizes and times.
    name_blob, name_starts = _joined(names)
    folded_blob, folded_starts = _joined([folded(name) for name in names])
    path_blob, path_starts = _joined(index.paths)
    return {
        "paths": path_blob,
        "path_starts": path_starts,
        "states": states.tobytes(),
        "names": name_blob,
        "name_starts": name_starts,
        "folded": folded_blob,
        "folded_starts": folded_starts,
        "first_definition": np.append(firsts, len(rows)).astype(np.uint32).tobytes(),
        "uses": np.minimum(uses, NONE).astype(np.uint32).tobytes(),
        "files": files.astype(np.uint32).tobytes(),
        "lines": table.sig_start[rows].astype(np.uint32).tobytes(),
        "owners": owners.tobytes(),
        "kinds": kind_numbers[table.kind[rows]].tobytes(),
        "flags": aside.astype(np.uint8).tobytes(),
        **callers.columns(),
    }


class _Callers:
    """The callers of definitions, as many of them as there is time for."""

    def __init__(self, index: RepoIndex, number_of: Any) -> None:
        self._index = index
        self._number_of = number_of
        self._counts = np.zeros(0, np.int32)
        self._shown: dict[int, list[tuple[int, int, int]]] = {}

    def find(self, rows: Any, files: Any, uses: Any, seconds: float) -> None:
        index, table = self._index, self._index.symbols
        self._counts = np.full(len(rows), CALLERS_UNKNOWN, np.int32)
        asked = np.array([kind in FUNCTIONS | TYPES for kind in index.kinds] or [False], np.bool_)[
            table.kind[rows]
        ]
        copied = (index.files.flags[files].astype(np.int64) & int(COPIED_FLAGS | FileFlag.TEST)) > 0
        order = np.flatnonzero(asked & ~copied & (uses >= LEAST_USES))
        order = order[np.argsort(-uses[order], kind="stable")]
        relations = relations_of(index)
        ends = time.process_time() + seconds
        for each in order.tolist():
            if time.process_time() > ends:
                break
            file = int(files[each])
            place = (file, int(rows[each]) - int(table.file_start[file]))
            if not relations.knows(file) or relations.named_at(place) > _MOST_NAMED:
                continue
            found = _distinct(index, relations, place)
            self._counts[each] = len(found)
            self._shown[each] = [self._shown_as(call) for call in _a_file_each(found)[:_SHOWN_CALLERS]]

    def _shown_as(self, call: Relation) -> tuple[int, int, int]:
        file, definition = call.source
        table = self._index.symbols
        within = NONE
        if definition >= 0:
            within = int(self._number_of[table.name[int(table.file_start[file]) + definition]])
        return file, call.line, within

    def columns(self) -> dict[str, bytes]:
        lengths = [len(self._shown.get(row, ())) for row in range(len(self._counts))]
        shown = [each for row in sorted(self._shown) for each in self._shown[row]]
        by_column = list(zip(*shown, strict=True)) or [(), (), ()]
        return {
            "callers": self._counts.tobytes(),
            "first_caller": np.concatenate(([0], np.cumsum(lengths))).astype(np.uint32).tobytes(),
            **{
                name: np.array(column, np.uint32).tobytes()
                for name, column in zip(
                    ("caller_files", "caller_lines", "caller_names"), by_column, strict=True
                )
            },
        }


def _distinct(index: RepoIndex, relations: Relations, place: tuple[int, int]) -> list[Relation]:
    """Return the calls of a definition, those of its own code before those of tests."""
    flags = index.files.flags
    calls = {(each.source[0], each.line): each for each in relations.callers_of(place)}
    return sorted(
        calls.values(), key=lambda each: (bool(int(flags[each.source[0]]) & FileFlag.TEST), *each.source)
    )


def _a_file_each(calls: list[Relation]) -> list[Relation]:
    """Return the first call of each file, those of the files that call most first."""
    times = Counter(each.source[0] for each in calls)
    firsts = {each.source[0]: each for each in reversed(calls)}
    order = {each.source[0]: place for place, each in reversed(list(enumerate(calls)))}
    return sorted(firsts.values(), key=lambda each: (-times[each.source[0]], order[each.source[0]]))


def _joined(texts: Any) -> tuple[bytes, bytes]:
    """Return texts as one, a line break before the first and behind each, and where each begins."""
    encoded = [text.replace("\n", " ").encode("utf-8", "replace") + b"\n" for text in texts]
    starts = np.concatenate(([0], np.cumsum([len(each) for each in encoded], dtype=np.int64))) + 1
    return b"\n" + b"".join(encoded), starts.astype(np.uint32).tobytes()
