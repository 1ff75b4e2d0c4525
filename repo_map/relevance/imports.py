"""Who imports whom among the candidate files, as far as the words of imports tell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np

from repo_map.relevance.corpus import Candidates, Floats

_MOST_NAMES = 12
"""Imported names that are tried as modules of their own; an import of more lists values."""
_MOST_NAMESAKES = 12
_STANDS_FOR_FOLDER = frozenset({"__init__", "index", "mod", "lib"})
_SUFFIX = re.compile(r"\.(?:h|hh|hpp|hxx|[cm]?[jt]sx?|py|vue|svelte)$")
_SEPARATOR = re.compile(r"[/.:\\]+")


def import_features(candidates: Candidates, likely: Mapping[int, float]) -> dict[str, Floats]:
    """Return how likely the files are that import each candidate, and those that it imports.

    ``likely`` are the likeliest files and their shares. Imports are matched by the longest common tail of
    module and path, so that no language needs rules of its own.
    """
    rows = len(candidates.files)
    share = np.zeros(rows)
    for file, value in likely.items():
        share[candidates.row_of_file[file]] = value
    imported, importer = np.zeros(rows), np.zeros(rows)
    for source, target, weight in _edges(candidates):
        imported[target] = max(imported[target], share[source] * weight)
        importer[source] = max(importer[source], share[target] * weight)
    return {"s.imported": imported, "s.importer": importer}


def _edges(candidates: Candidates) -> Iterator[tuple[int, int, float]]:
    """Yield importing row, imported row, and how surely it is that one."""
    index = candidates.corpus.index
    parts = [_parts_of_path(index.paths[file]) for file in candidates.files.tolist()]
    by_stem: dict[str, list[int]] = {}
    for row, path in enumerate(parts):
        by_stem.setdefault(_stem(path), []).append(row)
    for source, file in enumerate(candidates.files.tolist()):
        for imported in index.imports(file):
            module = _parts_of_module(imported.module)
            targets = _longest_tails(module, parts, by_stem)
            if len(imported.names) <= _MOST_NAMES:
                for name in imported.names:
                    targets |= _longest_tails((*module, name.lower()), parts, by_stem)
            for target, weight in targets.items():
                if target != source:
                    yield source, target, weight


def _longest_tails(
    module: Sequence[str], parts: Sequence[Sequence[str]], by_stem: Mapping[str, Sequence[int]]
) -> dict[int, float]:
    """Return the rows whose path ends most like the module, each with its share."""
    rows = by_stem.get(module[-1], ()) if module else ()
    if not rows or len(rows) > _MOST_NAMESAKES:
        return {}
    depth = {row: _common_tail(module, parts[row]) for row in rows}
    deepest = max(depth.values())
    best = [row for row in rows if depth[row] == deepest]
    return dict.fromkeys(best, 1.0 / len(best))


def _common_tail(module: Sequence[str], path: Sequence[str]) -> int:
    if path[-1] in _STANDS_FOR_FOLDER and module[-1] != path[-1]:
        path = path[:-1]
    count = 0
    for a, b in zip(reversed(module), reversed(path), strict=False):
        if a != b:
            break
        count += 1
    return count


def _stem(path: Sequence[str]) -> str:
    return path[-2] if path[-1] in _STANDS_FOR_FOLDER and len(path) > 1 else path[-1]


@lru_cache(maxsize=1 << 14)
def _parts_of_path(path: str) -> tuple[str, ...]:
    folder, _, name = path.lower().rpartition("/")
    stem = name.rpartition(".")[0] or name
    return (*folder.split("/"), stem) if folder else (stem,)


@lru_cache(maxsize=1 << 14)
def _parts_of_module(module: str) -> tuple[str, ...]:
    return tuple(part for part in _SEPARATOR.split(_SUFFIX.sub("", module.lower())) if part)
