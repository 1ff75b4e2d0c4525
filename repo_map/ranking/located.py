"""Which files and units the places of a text mean, though another machine wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import numpy as np

from repo_map.ranking.corpus import Corpus
from repo_map.ranking.goal_places import TraceFrame

MOST_FILES_OF_A_NAME = 12
_NAME_ALONE = 0.6


def files_at(corpus: Corpus, path: str) -> list[tuple[int, float]]:
    """Return the files that a path as written may mean, each with how surely.

    The longest common tail of components wins, so that paths of another machine are found:
    ``/usr/lib/python3/site-packages/app/core.py`` means ``src/app/core.py``.
    """
    wanted = [part for part in path.replace("\\", "/").split("/") if part not in ("", ".", "..", "~")]
    if not wanted:
        return []
    name = wanted[-1].lower()
    files = corpus.files_of_name.get(name) or corpus.files_of_name.get(f".{name}", [])
    if not files:
        return []
    least = _least_tail(path)
    depth = {file: _common_tail(wanted, corpus.index.paths[file].split("/")) for file in files}
    if least:
        # Installed packages keep their folders: a file that lacks them is a namesake in another project.
        depth = {
            file: tail
            for file, tail in depth.items()
            if tail >= least or tail == corpus.index.paths[file].count("/") + 1
        }
        if not depth:
            return []
    deepest = max(depth.values())
    best = [file for file in files if depth.get(file) == deepest]
    if len(best) > MOST_FILES_OF_A_NAME:
        return []
    whole = deepest == len(wanted) or deepest == corpus.index.paths[best[0]].count("/") + 1
    surety = 1.0 if deepest > 1 or len(wanted) == 1 or whole else _NAME_ALONE
    return [(file, surety / len(best) ** 0.5) for file in best]


_INSTALLED: Final = re.compile(
    r"(?:^|[/\\])(?:(?:site|dist)-packages|python\d(?:\.\d+)?(?![/\\](?:site|dist)-packages))[/\\](.+)$"
)
"""A path of an installed Python package or of its library."""


def _least_tail(path: str) -> int:
    found = _INSTALLED.search(path)
    return len(re.split(r"[/\\]", found[1])) if found else 0


def is_whole(files: list[tuple[int, float]]) -> bool:
    """Say whether ``files_at`` found more of a path than the name that any file may have."""
    return bool(files) and files[0][1] * len(files) ** 0.5 > _NAME_ALONE


def _common_tail(wanted: list[str], parts: list[str]) -> int:
    count = 0
    for a, b in zip(reversed(wanted), reversed(parts), strict=False):
        if a.lower() != b.lower():
            break
        count += 1
    return count


def units_of_frame(corpus: Corpus, frame: TraceFrame, file: int) -> Iterator[tuple[int, float]]:
    """Yield the units that a frame points to: by function name, else by line."""
    symbols = corpus.index.symbols
    first, last = int(symbols.file_start[file]), int(symbols.file_start[file + 1])
    at_line = corpus.unit_at(file, frame.line) if frame.line else -1
    name = frame.function.rpartition(".")[2]
    wanted = corpus.index.strings.get(name) if name and name != "<module>" else None
    bearing = [] if wanted is None else (np.flatnonzero(symbols.name[first:last] == wanted) + first).tolist()
    by_name = {int(corpus.unit_of_symbol[symbol]) for symbol in bearing} - {-1}
    if at_line in by_name:
        by_name = {at_line}
    if by_name:
        yield from ((unit, 1.0 / len(by_name) ** 0.5) for unit in sorted(by_name))
    elif at_line >= 0:
        yield at_line, 0.7


def unit_named_by(corpus: Corpus, frame: TraceFrame, file: int) -> int:
    """Return the unit that a frame is in, -1 where the file lacks its function: it is a namesake then."""
    name = frame.function.rpartition(".")[2]
    at_line = corpus.unit_at(file, frame.line) if frame.line else -1
    if not name.isidentifier():
        # What has no name of its own, such as ``<listcomp>`` or ``lambda$0``, is found by its line.
        return at_line
    symbols, strings = corpus.index.symbols, corpus.index.strings
    first, last = int(symbols.file_start[file]), int(symbols.file_start[file + 1])
    # Go's methods bear their type's name as well: ``Table.RateFor``.
    bearing = [
        int(corpus.unit_of_symbol[symbol])
        for symbol, known in enumerate(strings.many(symbols.name[first:last]), first)
        if re.split(r"\.|::", known)[-1] == name
    ]
    found = {unit for unit in bearing if unit >= 0}
    if at_line in found:
        return at_line
    starts = corpus.index.units.start
    return min(sorted(found), key=lambda unit: abs(int(starts[unit]) - frame.line), default=-1)
