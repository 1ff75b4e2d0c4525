"""What a repository is known by among others: which words stand in its files, its paths and its README."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from repo_map.atomic_files import read_stored, replace_file
from repo_map.languages.registry import language_of
from repo_map.text.terms import terms_of, words
from repo_map.worktree.file_kinds import COPIED, flags_of_path, is_auxiliary
from repo_map.worktree.files import Listing
from repo_map.worktree.tree import Tree, TreeFiles

MOST_BYTES: Final = 20_000_000
"""Of source that is read, code before tests and what stands aside."""
_LARGEST: Final = 200_000
"""Bytes of a file that is read; a larger one is data more often than code."""
_MOST_TERMS: Final = 50_000
STEPS: Final = 8
"""Of a count, for each time that it doubles."""
_VERSION: Final = 1
_ROW: Final = np.dtype([("term", "<u4"), ("texts", "u1"), ("paths", "u1"), ("readme", "u1")])


class Summary(NamedTuple):
    """The words of one repository; who knows a word can ask for it, and none can be read out of it."""

    tree: str
    """What tells the state that it was made of."""
    branches: tuple[str, ...]
    """Patterns of the branches that were in reach then."""
    files: int
    rows: NDArray[Any]
    """Of ``_ROW``, ascending by term: its CRC-32, in how many files and paths it stands (eighths of
    log2(1 + n)), and whether the README has it."""


def summarize(tree: Tree, name: str, known: Summary | None) -> Summary | None:
    """Return the summary of a tree whose repository is called ``name``; None where ``known`` is that.

    Secrets are masked before a word is read.

    Raises:
        RepositoryNotFoundError: there is nothing to list.
    """
    listing, branches = tree.list(None, int), tree.place.parts[0].reach.branches
    state = listing.digest.hex()
    if known is not None and (known.tree, known.branches) == (state, branches):
        return None
    reading = tree.at(listing)
    texts, paths, readme = Counter[str](), Counter[str](), set[str]()
    for path in listing.paths:
        paths.update(set(words(path)))
    paths.update(words(name))
    for path in _chosen(listing):
        found = set(words(_text(reading, path)))
        texts.update(found)
        if _is_readme(path):
            readme |= found
    return Summary(state, branches, len(listing.paths), _rows(texts, paths, readme))


def digest_of(term: str) -> int:
    """Return the number by which a summary knows a term."""
    return crc32(term.encode("utf-8", "replace"))


def write_summary(path: Path, summary: Summary) -> None:
    """Write a summary whole or not at all; raises ``OSError`` where that fails."""
    told = {"version": _VERSION, "tree": summary.tree, "branches": summary.branches, "files": summary.files}
    head = json.dumps(told).encode()
    replace_file(path, lambda file: file.write(head + b"\n" + summary.rows.tobytes()))


def read_summary(path: Path) -> Summary | None:
    """Return a summary that was written; None where there is none that this version can read."""
    try:
        head, _, content = read_stored(path).partition(b"\n")
        told = json.loads(head)
        if told["version"] != _VERSION:
            return None
        rows = np.frombuffer(content, _ROW)
        return Summary(str(told["tree"]), tuple(told["branches"]), int(told["files"]), rows)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _chosen(listing: Listing) -> Iterable[str]:
    """Yield the files whose words count, code first, as long as there is room."""
    sizes = dict(zip(listing.paths, listing.states[:, 0].tolist(), strict=True))
    readable = [
        path
        for path, size in sizes.items()
        if size <= _LARGEST and language_of(path) and not flags_of_path(path) & COPIED
    ]
    left = MOST_BYTES
    for path in sorted(readable, key=lambda path: (not _is_readme(path), is_auxiliary(path))):
        left -= sizes[path]
        if left < 0:
            return
        yield path


def _is_readme(path: str) -> bool:
    return path.lower().startswith("readme")


def _text(reading: TreeFiles, path: str) -> str:
    source = reading.read(path).source
    return "" if source is None else source.decode("utf-8", "replace")


def _rows(texts: Counter[str], paths: Counter[str], readme: set[str]) -> NDArray[Any]:
    columns = [_by_term(texts), _by_term(paths), _by_term(Counter(readme))]
    terms = np.unique(np.array([term for column in columns for term in column], np.uint32))
    rows = np.zeros(len(terms), _ROW)
    rows["term"] = terms
    for name, column in zip(("texts", "paths", "readme"), columns, strict=True):
        at = np.searchsorted(terms, np.fromiter(column, np.uint32, len(column)))
        counts = np.fromiter(column.values(), np.float64, len(column))
        rows[name][at] = np.minimum(255, np.round(STEPS * np.log2(1 + counts)))
    if len(rows) > _MOST_TERMS:
        # What a name or the README says counts most, then what is said most often.
        order = np.lexsort((rows["term"], rows["texts"], rows["paths"], rows["readme"]))
        rows = np.sort(rows[order[-_MOST_TERMS:]], order="term")
    return rows


def _by_term(counts: Counter[str]) -> Counter[int]:
    found = Counter[int]()
    for word, number in counts.items():
        for term in terms_of(word):
            found[digest_of(term)] += number
    return found
