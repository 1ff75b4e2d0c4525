"""The lines of source that a picture has room for: what the context shows, then what is listed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from navigator.picture.text import as_json
from repo_map.messages import printable
from repo_map.parsing.values import LineRange

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_MOST_LINES = 80
"""Of one stretch; the rest of it is counted by its lines."""
_LONGEST_LINE = 240
"""Characters."""


def source_chunks(
    index: RepoIndex, wanted: Iterable[tuple[str, LineRange]], most_bytes: int
) -> list[dict[str, Any]]:
    """Return stretches of files with their text, secrets masked, at most ``most_bytes`` of JSON.

    Args:
        index: the tree, which has to be the one that the lines were counted in.
        wanted: paths and lines, what matters most first; lines that were taken already are not taken again.
        most_bytes: of all of them.
    """
    chunks: list[dict[str, Any]] = []
    taken: dict[str, set[int]] = {}
    texts: dict[str, list[str]] = {}
    for path, lines in wanted:
        file = index.file_id(path)
        if file is None:
            continue
        if path not in texts:
            texts[path] = index.text(file).split("\n")
        known = taken.setdefault(path, set())
        last = min(lines.last, lines.first + _MOST_LINES - 1, len(texts[path]))
        for first, end in _runs(number for number in range(lines.first, last + 1) if number not in known):
            told = "\n".join(_told(line) for line in texts[path][first - 1 : end])
            chunk = {"path": path, "first": first, "text": told}
            most_bytes -= len(as_json(chunk).encode())
            if most_bytes < 0:
                return chunks
            known.update(range(first, end + 1))
            chunks.append(chunk)
    return chunks


def _told(line: str) -> str:
    """Return a line without what nobody sees; its tabs stay."""
    kept = "\t".join(printable(part) for part in line.split("\t"))
    return kept if len(kept) <= _LONGEST_LINE else f"{kept[: _LONGEST_LINE - 1]}…"


def _runs(numbers: Iterable[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs
