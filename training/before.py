"""Source files as they were before a commit: their units, and which of them the commit changed."""

from __future__ import annotations

import subprocess
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from benchmarks.git import git_command
from repo_map.history.git_log import FileChange
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import Definition
from repo_map.text.terms import TermPostings, count_terms, terms_of, words
from repo_map.text.units import GAP, FileUnits, read_units
from repo_map.worktree.file_kinds import flags_of_content
from repo_map.worktree.git import git_environment

PATH = 5
"""The field of the words of a unit's path, beside the five of ``read_units``."""
_LARGEST_FILE = 40_000
"""Bytes; small files cost less to parse for each function that was changed."""

Unit = list[tuple[str, int, int]]
"""Term, field and count."""


@dataclass(frozen=True, eq=False)
class Before:
    """One file before a commit."""

    path: str
    source: bytes
    definitions: Sequence[Definition]
    units: FileUnits
    changed: list[int]
    """The rows of the units that the commit changed."""

    @cached_property
    def postings(self) -> TermPostings:
        """The terms of every unit; counted when they are asked for, since a text needs none."""
        return count_terms(self.units.texts)

    def unit(self, row: int) -> Unit:
        """Return the terms of one unit, with those of the path's last two names."""
        counted = self.postings
        first, last = np.searchsorted(counted.units, (row, row + 1)).tolist()
        columns = (counted.term_ids, counted.fields, counted.counts)
        rows = zip(*(column[first:last].tolist() for column in columns), strict=True)
        return _path_terms(self.path) + [(counted.terms[term], field, count) for term, field, count in rows]

    def place(self, row: int) -> int:
        """Return a number that is equal for the same function at different commits."""
        names = self._names(row) or [str(self.units.start[row])]
        return zlib.crc32("\0".join([self.path, *names]).encode("utf-8", "replace")) >> 1

    def name(self, row: int) -> str:
        """Return the qualified name of a unit, empty for one between definitions."""
        return ".".join(reversed(self._names(row)))

    def _names(self, row: int) -> list[str]:
        """Return the names of a unit's definition and of those around it, the innermost first."""
        names, at = [], self.units.definition[row]
        while at >= 0:
            names.append(self.definitions[at].name)
            at = self.definitions[at].parent
        return names


class BlobReader:
    """Reads blobs of a repository through one git process."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            git_command(root, "cat-file", "--batch"),
            env=git_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def read(self, identity: str) -> bytes:
        """Return a blob, empty where the mirror lacks it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{identity}\n".encode())
        self._process.stdin.flush()
        head = self._process.stdout.readline().split()
        if len(head) != 3:
            return b""
        content = self._process.stdout.read(int(head[2]) + 1)[:-1]
        return content if head[1] == b"blob" else b""

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def read_before(blobs: BlobReader, change: FileChange, hunks: Sequence[int]) -> Before | None:
    """Read one changed file as it was, ``None`` where it teaches nothing."""
    source = blobs.read(change.before)
    if not source or len(source) > _LARGEST_FILE or flags_of_content(source, change.path):
        return None
    symbols = read_symbols(source, change.path)
    units = read_units(source, symbols, change.path)
    return Before(change.path, source, symbols.definitions, units, _touched(units, hunks))


def _path_terms(path: str) -> Unit:
    stem = " ".join(path.rsplit("/", 2)[-2:]).rpartition(".")[0] or path
    return [(term, PATH, 1) for term in dict.fromkeys(t for word in words(stem) for t in terms_of(word))]


def _touched(units: FileUnits, hunks: Sequence[int]) -> list[int]:
    """Return the rows of the functions and class headers that hunks (quadruples) change."""
    rows = set()
    for at in range(0, len(hunks), 4):
        first, count = hunks[at], hunks[at + 1]
        # An insertion stands behind its line: it changes a unit that goes on there.
        last = first + count - 1 if count else first
        for row, (start, end, kind) in enumerate(zip(units.start, units.end, units.kind, strict=True)):
            if kind != GAP and start <= last and (first <= end if count else first < end):
                rows.add(row)
    return sorted(rows)
