"""What the goal names outright, found in the repository: paths, places in traces, definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from repo_map.relevance.aims import are_aimed_at
from repo_map.relevance.corpus import Corpus
from repo_map.relevance.file_names import find_called
from repo_map.relevance.goal import ParsedGoal, Source
from repo_map.relevance.places import MOST_FILES_OF_A_NAME, files_at, is_whole, unit_named_by, units_of_frame
from repo_map.relevance.priors import are_main

_MOST_NAMESAKES = 40
"""A name with more definitions than this says nothing about any of them."""
_IDENTIFIER_WEIGHT = {
    Source.TITLE: 1.0,
    Source.INLINE: 1.0,
    Source.PROSE: 0.8,
    Source.ERROR: 0.5,
    Source.CODE: 0.35,
}
_FRAME_DECAY = 0.3


class Crash(NamedTuple):
    """Where a stack trace says that it broke."""

    file: int
    unit: int


@dataclass
class Named:
    """Strength, between 0 and 1, with which the goal names files and units, and what it calls them."""

    aimed: NDArray[np.bool_]
    """Whether each file is of a kind that the goal asks for, such as a test."""
    paths: dict[int, float] = field(default_factory=dict)
    """File → strength of a path or file name in the goal."""
    folders: dict[int, float] = field(default_factory=dict)
    """File → strength of a folder or module path."""
    frames: dict[int, float] = field(default_factory=dict)
    frame_units: dict[int, float] = field(default_factory=dict)
    crash: Crash | None = None
    dotted: dict[int, float] = field(default_factory=dict)
    dotted_units: dict[int, float] = field(default_factory=dict)
    definitions: dict[int, float] = field(default_factory=dict)
    """Unit → strength of the identifiers that it defines."""
    evidence: dict[tuple[str, int], str] = field(default_factory=dict)
    """(Signal, file or unit) → what the goal wrote."""
    found: set[str] = field(default_factory=set)
    """Identifiers, paths and names of the goal that the repository has."""
    ambiguous: dict[str, int] = field(default_factory=dict)
    """Identifier → number of definitions, for those with several."""


def find_named(corpus: Corpus, goal: ParsedGoal) -> Named:
    """Look up everything that the goal names."""
    named = Named(are_aimed_at(corpus, goal.aims))
    _find_frames(corpus, goal, named)
    named.crash = _find_crash(corpus, goal, named.aimed)
    frame_names = {frame.path for frame in goal.frames if not frame.linked}
    _find_paths(corpus, [path for path in goal.paths if path not in frame_names], named)
    for file, strength, name in find_called(corpus, goal.title):
        if _strengthen(named.paths, file, strength):
            named.evidence["path", file] = name
    _find_dotted(corpus, goal.dotted, named)
    _find_definitions(corpus, goal, named)
    return named


def _strengthen(scores: dict[int, float], key: int, strength: float) -> bool:
    if strength > scores.get(key, 0.0):
        scores[key] = strength
        return True
    return False


def _find_frames(corpus: Corpus, goal: ParsedGoal, named: Named) -> None:
    resolved = [
        (frame, file, surety) for frame in goal.frames for file, surety in files_at(corpus, frame.path)
    ]
    innermost_last = any(frame.path.endswith((".py", ".pyx")) and frame.function for frame in goal.frames)
    if innermost_last:
        resolved.reverse()
    for depth, (frame, file, surety) in enumerate(resolved):
        strength = surety / (1.0 + _FRAME_DECAY * depth)
        named.found.add(frame.path)
        if _strengthen(named.frames, file, strength):
            named.evidence["frame", file] = f"{frame.path}:{frame.line}" if frame.line else frame.path
        for unit, share in units_of_frame(corpus, frame, file):
            if _strengthen(named.frame_units, unit, strength * share):
                named.evidence["frame unit", unit] = frame.function or f"line {frame.line}"


def _find_crash(corpus: Corpus, goal: ParsedGoal, aimed: NDArray[np.bool_]) -> Crash | None:
    """Return the innermost place of the trace that is the repository's own and no test or copy."""
    for frame in goal.crash:
        files = files_at(corpus, frame.path)
        if not is_whole(files):
            continue
        mains = are_main(corpus, np.array([file for file, _ in files]), aimed)
        for (file, _), is_main in zip(files, mains.tolist(), strict=True):
            unit = unit_named_by(corpus, frame, file) if is_main else -1
            if unit >= 0:
                return Crash(file, unit)
    return None


def _find_paths(corpus: Corpus, paths: Iterable[str], named: Named) -> None:
    for path in paths:
        matches = files_at(corpus, path)
        for file, surety in matches:
            named.found.add(path)
            if _strengthen(named.paths, file, surety):
                named.evidence["path", file] = path
        if not matches and "/" in path:
            _find_folder(corpus, path, named)


def _find_folder(corpus: Corpus, path: str, named: Named) -> None:
    """Find a path without suffix: a module as imports write it (``dayjs/plugin/utc``), or a folder."""
    parts = [part for part in path.split("/") if part]
    stem = re.sub(r"\.\w+$", "", parts[-1]) if parts else ""
    if len(parts) < 2 or not stem:
        return
    tail = f"/{parts[-2]}/{stem}".lower()
    found = [
        (file, f"{tail}.")
        for file, known in enumerate(_lowered(corpus))
        if f"{tail}." in known or f"{tail}/" in known
    ]
    if 0 < len(found) <= 2 * MOST_FILES_OF_A_NAME:
        named.found.add(path)
        for file, as_file in found:
            strength = (1.0 if as_file in _lowered(corpus)[file] else 0.7) / len(found) ** 0.5
            if _strengthen(named.folders, file, strength):
                named.evidence["folder", file] = path


@lru_cache(maxsize=2)
def _lowered(corpus: Corpus) -> list[str]:
    return [f"/{path.lower()}" for path in corpus.index.paths]


def _find_dotted(corpus: Corpus, names: Iterable[str], named: Named) -> None:
    for name in names:
        parts = name.split(".")
        for at in range(len(parts) - 1, 0, -1):
            if _find_qualified(corpus, name, parts[at], parts[at - 1], named):
                named.found.add(name)
                break
        _find_module(corpus, name, parts, named)


def _find_qualified(corpus: Corpus, name: str, leaf: str, holder: str, named: Named) -> bool:
    """Find definitions of ``leaf`` inside a class, file or folder called ``holder``."""
    symbols = corpus.index.symbols
    wanted = corpus.index.strings.get(leaf)
    if wanted is None or not 0 < corpus.definition_counts[wanted] <= 400:
        return False
    hits: list[int] = []
    for symbol in np.flatnonzero(symbols.name == wanted).tolist():
        file = int(corpus.file_of_symbol[symbol])
        parent = int(symbols.parent[symbol])
        inside = (
            corpus.index.strings[int(symbols.name[symbols.file_start[file] + parent])] if parent >= 0 else ""
        )
        inside = inside.split("<")[0].split(" for ")[-1]
        folders = corpus.index.paths[file].rsplit(".", 1)[0].split("/")
        if holder == inside.rpartition(".")[2] or (parent < 0 and holder in folders[-2:]):
            hits.append(symbol)
    if not 0 < len(hits) <= MOST_FILES_OF_A_NAME:
        return False
    for symbol in hits:
        file, unit = int(corpus.file_of_symbol[symbol]), int(corpus.unit_of_symbol[symbol])
        strength = 1.0 / len(hits) ** 0.5
        if _strengthen(named.dotted, file, strength):
            named.evidence["dotted", file] = name
        if unit >= 0 and _strengthen(named.dotted_units, unit, strength):
            named.evidence["dotted unit", unit] = name
    return True


def _find_module(corpus: Corpus, name: str, parts: list[str], named: Named) -> None:
    """Find a file by its import path: ``astropy.modeling.separable`` is ``astropy/modeling/separable.py``."""
    for length in range(len(parts), 1, -1):
        tail = "/" + "/".join(parts[:length]).lower()
        found = [
            file for stem in (".", "/__init__.", "/mod.", "/index.") for file in _ending(corpus, tail + stem)
        ]
        if 0 < len(found) <= MOST_FILES_OF_A_NAME:
            named.found.add(name)
            for file in found:
                if _strengthen(named.folders, file, 0.8 / len(found) ** 0.5):
                    named.evidence["folder", file] = name
            return


@lru_cache(maxsize=2)
def _tails(corpus: Corpus) -> dict[str, list[int]]:
    """Last two components without suffix → files."""
    found: dict[str, list[int]] = {}
    for file, path in enumerate(_lowered(corpus)):
        parts = path.split("/")
        found.setdefault("/" + "/".join(parts[-2:]).rpartition(".")[0] + ".", []).append(file)
    return found


def _ending(corpus: Corpus, tail: str) -> list[int]:
    last_two = "/" + "/".join(tail.split("/")[-2:])
    return [file for file in _tails(corpus).get(last_two, []) if tail in _lowered(corpus)[file]]


def _find_definitions(corpus: Corpus, goal: ParsedGoal, named: Named) -> None:
    """Look identifiers up where they are defined; the rarer the name, the stronger the evidence."""
    symbols, strings = corpus.index.symbols, corpus.index.strings
    wanted: dict[int, tuple[str, float]] = {}
    for name, source in goal.identifiers.items():
        found = strings.get(name)
        if found is None:
            continue
        count = int(corpus.definition_counts[found])
        if count:
            named.found.add(name)
            if count > 1:
                named.ambiguous[name] = count
        if 0 < count <= _MOST_NAMESAKES:
            wanted[found] = (name, _IDENTIFIER_WEIGHT[source] / (1.0 + np.log2(count)))
    if not wanted:
        return
    mask = np.zeros(len(strings), np.bool_)
    mask[list(wanted)] = True
    for symbol in np.flatnonzero(mask[symbols.name]).tolist():
        unit = int(corpus.unit_of_symbol[symbol])
        name, strength = wanted[int(symbols.name[symbol])]
        if unit >= 0 and _strengthen(named.definitions, unit, strength):
            named.evidence["definition", unit] = name
