"""Training pairs from histories: what a commit says, the functions it changed, and neighbours that it left.

    python -m benchmarks.meaning.pairs GIT_FOLDER… --out FOLDER [--commits 800] [--parts 1]

Each part of a repository becomes one ``.npz`` of flat columns (see ``Pairs``). The functions are read as they
were before the commit, by the parser and the units of the product, so what is learned fits what is indexed.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
import zlib
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.meaning.messages import goal_of
from repo_map.file_flags import flags_of_content, flags_of_path
from repo_map.git import git_command, git_environment
from repo_map.history.commits import Change, Commit, list_commits, read_commits, read_patches
from repo_map.languages import ParseTimeoutError, language_of, parse
from repo_map.parsing.definitions import find_definitions, nest
from repo_map.parsing.scanning import scan
from repo_map.relevance.goal import Source, parse_goal
from repo_map.relevance.terms import terms_of, words
from repo_map.relevance.units import _C_LIKE, _QUOTED_BY_LANGUAGE, GAP, _cut, _fields, _Span
from repo_map.symbols import Definition

LANGUAGES = frozenset({"python", "javascript", "typescript", "tsx", "go", "rust", "java", "c", "cpp"})
SOURCES = tuple(Source)
PATH = 5
"""The field of the words of a unit's path, beside the five of ``read_units``."""
WIDEST_COMMIT = 15
"""Functions; a commit that changes more tells little of any one of them."""
_MOST_FILES = 5
_MOST_NEIGHBOURS = 14
_LARGEST_FILE = 40_000
_BATCH = 200
_SECONDS = 600.0


class Pairs:
    """What one repository teaches, as growing columns; lists of lists are flattened with their starts."""

    def __init__(self) -> None:
        self.terms: dict[str, int] = {}
        self.unit_start, self.unit_term = array("i", [0]), array("i")
        self.unit_field, self.unit_count = array("B"), array("B")
        self.unit_place: list[int] = []
        """Equal for the same function at different commits."""
        self.unit_language: list[str] = []
        self.goal_time: list[int] = []
        self.commits_read = 0
        self.goal_start, self.goal_term = array("i", [0]), array("i")
        self.goal_source, self.goal_count = array("B"), array("B")
        self.changed_start, self.changed = [0], []
        self.neighbour_start, self.neighbour = [0], []

    def add_goal(self, goal: str) -> None:
        """Append the terms of a goal, by where they stand in it."""
        for source, counts in parse_goal(goal).terms.items():
            for term, count in counts.items():
                self.goal_term.append(self.terms.setdefault(term, len(self.terms)))
                self.goal_source.append(SOURCES.index(source))
                self.goal_count.append(min(count, 255))
        self.goal_start.append(len(self.goal_term))

    def add_unit(self, file: Cut, row: int) -> int:
        """Append the terms of a unit and return its row."""
        for term, field, count in read_unit(file, row):
            self.unit_term.append(self.terms.setdefault(term, len(self.terms)))
            self.unit_field.append(field)
            self.unit_count.append(count)
        self.unit_start.append(len(self.unit_term))
        self.unit_language.append(language_of(file.path))
        self.unit_place.append(_place(file, row))
        return len(self.unit_language) - 1

    def save(self, path: Path) -> None:
        """Write every column to one file."""
        columns = {
            name: np.array(values, np.int64 if name == "goal_time" else np.int32)
            for name, values in vars(self).items()
            if name not in ("terms", "unit_language")
        }
        vocabulary = np.frombuffer("\n".join(self.terms).encode(), np.uint8)
        # Written aside first, so that an interrupted run leaves no half a file.
        partial = path.with_suffix(".partial")
        with partial.open("wb") as file:
            np.savez_compressed(file, terms=vocabulary, unit_language=np.array(self.unit_language), **columns)
        partial.rename(path)


Unit = list[tuple[str, int, int]]
"""Term, field and count."""


class Cut(NamedTuple):
    """One file before a commit, cut into units."""

    lines: list[str]
    definitions: Sequence[Definition]
    spans: Sequence[_Span]
    path: str


class ReadFile(NamedTuple):
    """One file before a commit, and the rows of the units that the commit changed."""

    cut: Cut
    changed: list[int]


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
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def cut(source: bytes, path: str) -> Cut:
    """Cut a file into units without reading their words: most are not asked for.

    A shortcut past ``read_symbols`` and ``read_units``, with their own parts, that takes a third of the time.
    """
    language = language_of(path)
    tree = parse(source, language, deadline_s=1.0)
    found = find_definitions(source, scan(source, tree, language), language)
    definitions = nest(found, source, language)
    lines = source.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return Cut(lines, definitions, list(_cut(lines, definitions)), path)


def _place(file: Cut, row: int) -> int:
    span, names = file.spans[row], [file.path]
    at = span.definition
    if at < 0:
        names.append(str(span.start))
    while at >= 0:
        names.append(file.definitions[at].name)
        at = file.definitions[at].parent
    return zlib.crc32("\0".join(names).encode("utf-8", "replace")) >> 1


def read_unit(file: Cut, row: int) -> Unit:
    """Return the terms of one unit, with those of the path's last two names."""
    quoted = _QUOTED_BY_LANGUAGE.get(language_of(file.path), _C_LIKE)
    unit = path_terms(file.path)
    for field, found in enumerate(_fields(file.lines, file.spans[row], file.definitions, quoted)):
        counts = Counter(chain.from_iterable(map(terms_of, found)))
        unit += [(term, field, min(count, 255)) for term, count in counts.items()]
    return unit


def path_terms(path: str) -> Unit:
    """Return the terms of a path's file name and folder."""
    stem = " ".join(path.rsplit("/", 2)[-2:]).rpartition(".")[0] or path
    return [(term, PATH, 1) for term in dict.fromkeys(t for word in words(stem) for t in terms_of(word))]


def touched(spans: Sequence[_Span], hunks: Sequence[int]) -> list[int]:
    """Return the rows of the functions and class headers that hunks (quadruples) change."""
    rows = set()
    for at in range(0, len(hunks), 4):
        first, count = hunks[at], hunks[at + 1]
        # An insertion stands behind its line: it changes a unit that goes on there.
        last = first + count - 1 if count else first
        for row, span in enumerate(spans):
            if span.kind != GAP and span.start <= last and (first <= span.end if count else first < span.end):
                rows.add(row)
    return sorted(rows)


def read_change(blobs: BlobReader, change: Change, hunks: Sequence[int]) -> ReadFile | None:
    """Read one changed file as it was, ``None`` where it teaches nothing."""
    source = blobs.read(change.before)
    if not source or len(source) > _LARGEST_FILE or flags_of_content(source, change.path):
        return None
    try:
        file = cut(source, change.path)
    except ParseTimeoutError:
        return None
    return ReadFile(file, touched(file.spans, hunks))


def wanted_changes(commit: Commit) -> list[Change]:
    """Return the changes to source files that are neither tests nor generated."""
    return [
        change
        for change in commit.changes
        if language_of(change.path) in LANGUAGES
        and not flags_of_path(change.path)
        and change.before.strip("0")
    ]


def teach(pairs: Pairs, blobs: BlobReader, commit: Commit, patches: dict[str, tuple[int, ...]]) -> bool:
    """Append one commit, and say whether it taught anything."""
    changes = [change for change in wanted_changes(commit) if change.path in patches]
    files = [
        file for change in changes if (file := read_change(blobs, change, patches[change.path])) is not None
    ]
    if not 1 <= sum(len(file.changed) for file in files) <= WIDEST_COMMIT:
        return False
    chance = random.Random(commit.id)
    pairs.add_goal(goal_of(commit.message))
    pairs.goal_time.append(commit.time)
    for file in files:
        pairs.changed += [pairs.add_unit(file.cut, row) for row in file.changed]
        others = (
            [row for row in range(len(file.cut.spans)) if row not in file.changed] if file.changed else []
        )
        for row in sorted(chance.sample(others, min(_MOST_NEIGHBOURS, len(others)))):
            pairs.neighbour.append(pairs.add_unit(file.cut, row))
    pairs.changed_start.append(len(pairs.changed))
    pairs.neighbour_start.append(len(pairs.neighbour))
    return True


def batches(rows: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield ``rows`` in runs of ``size``."""
    return (rows[at : at + size] for at in range(0, len(rows), size))


def read_repository(root: Path, most: int, skip: int = 0) -> Pairs:
    """Read a repository's newest commits, ``skip`` left out, until ``most`` of them taught something."""
    pairs, blobs, taught = Pairs(), BlobReader(root), 0
    for ids in batches(list_commits(root, 60_000, time.monotonic() + _SECONDS)[skip:], _BATCH):
        pairs.commits_read += len(ids)
        commits = read_commits(root, ids, time.monotonic() + _SECONDS)
        useful = [
            commit
            for commit in commits.values()
            if 1 <= len(wanted_changes(commit)) <= _MOST_FILES and goal_of(commit.message)
        ]
        patches = read_patches(root, [commit.id for commit in useful], time.monotonic() + _SECONDS)
        taught += sum(teach(pairs, blobs, commit, patches.get(commit.id, {})) for commit in useful)
        if taught >= most:
            break
    blobs.close()
    return pairs


def main(arguments: Iterable[str] | None = None) -> None:
    """Write the pairs of each repository that has none yet."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--commits", type=int, default=800, help="useful commits in each part")
    parser.add_argument("--parts", type=int, default=1, help="run again with more to read older commits too")
    options = parser.parse_args(None if arguments is None else list(arguments))
    for root in options.roots:
        name = root.parent.name if root.name == "repo" else root.name
        earlier = sorted(options.out.glob(f"{name}.*.npz"))
        if len(earlier) >= options.parts:
            continue
        began = time.monotonic()
        skip = sum(int(np.load(part)["commits_read"]) for part in earlier)
        pairs = read_repository(root, options.commits, skip)
        path = options.out / f"{name}.{len(earlier)}.npz"
        pairs.save(path)
        counts = f"{len(pairs.goal_start) - 1} commits, {len(pairs.changed)} pairs"
        sys.stdout.write(f"{name}: {counts}, {time.monotonic() - began:.0f} s\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
