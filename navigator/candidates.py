"""What a next step could show in more detail: where, why, and what each level would cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from navigator.reports import Candidate
from repo_map.drawing.rendering import printable
from repo_map.tokens import count

if TYPE_CHECKING:
    from repo_map.drawing import RepoMap
    from repo_map.index import RepoIndex
    from repo_map.relevance.scoring import Relevance

MAX_FILES = 8
MAX_UNITS = 8


def candidates(index: RepoIndex, relevance: Relevance, drawn: RepoMap) -> tuple[Candidate, ...]:
    """Return the most relevant files and definitions that the map does not show whole, best first of each."""
    shown = {file.path: int(file.level) for file in drawn.files}
    return (*_files(index, relevance, shown), *_units(index, relevance, drawn))


def _files(index: RepoIndex, relevance: Relevance, shown: Mapping[str, int]) -> list[Candidate]:
    found: list[Candidate] = []
    for file in relevance.files:
        if len(found) == MAX_FILES:
            break
        file_id = index.file_id(file.path)
        level = shown.get(file.path, 0)
        if file_id is None or level == 4:
            continue
        tokens = index.costs.levels[file_id]
        prices = {wanted: int(tokens[wanted]) for wanted in range(max(level + 1, 2), 5)}
        found.append(Candidate(path=file.path, level=level, reasons=tuple(file.reasons), prices=prices))
    return found


def _units(index: RepoIndex, relevance: Relevance, drawn: RepoMap) -> list[Candidate]:
    shown = {file.path: int(file.level) for file in drawn.files}
    found: list[Candidate] = []
    for unit in relevance.units:
        if len(found) == MAX_UNITS:
            break
        file_id = index.file_id(unit.path)
        if file_id is None or not unit.name:
            continue
        source = "\n".join(index.text(file_id).split("\n")[unit.start - 1 : unit.end])
        if source in drawn.text:
            continue
        found.append(
            Candidate(
                path=unit.path,
                symbol=printable(unit.name),
                lines=f"{unit.start}-{unit.end}",
                level=shown.get(unit.path, 0),
                reasons=tuple(unit.reasons),
                prices={4: count(source)},
            )
        )
    return found
