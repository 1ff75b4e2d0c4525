"""Scores with what a change touches put first, then what relies on it, then its tests."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.impact.risks import Impact, Risk
from repo_map.impact.values import Changes
from repo_map.messages import one_line
from repo_map.ranking.score import Relevance, ScoredFile, ScoredUnit
from repo_map.relations.model import Confidence, Place

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex


class _Worth(NamedTuple):
    """What evidence of one kind does to the score of a unit."""

    score: float
    """Added to the best score of all where it ``leads``, else to the unit's own or a usual one."""
    chance: float
    """The least chance, 0 to 1, to be part of the work that it gives a unit."""
    leads: bool = False


_CHANGED: Final = _Worth(12.0, 1.0, leads=True)
_LEFTOVER: Final = _Worth(8.0, 0.9, leads=True)
_RESOLVED: Final = _Worth(3.0, 0.3)
_LIKELY: Final = _Worth(1.5, 0.15)
_TEST: Final = _Worth(6.0, 0.4)
"""Tests are worth less than code to begin with."""
_LINES: Final = _Worth(3.0, 0.5)
"""Of changed lines outside of definitions: imports, mostly."""
_MOST_RAISED: Final = 40
"""Of each list: of hundreds of callers the first tell what the others would."""
_MOST_GAPS: Final = 4
_MOST_NAMED: Final = 8
_USUAL_RANK: Final = 60
"""A unit that the goal's words do not reach starts from the score of the one at this rank."""
_LEAST_FILE: Final = 0.3
"""Score of a file that only relies on what is changed."""
_MOST_REASONS: Final = 4


def raise_by_impact(index: RepoIndex, relevance: Relevance, impact: Impact, changes: Changes) -> Relevance:
    """Return the scores of a goal as a change alters them: an ordinary value, for the packer as it is."""
    units = {(unit.path, unit.start, unit.end): unit for unit in relevance.units}
    best = max((unit.score for unit in relevance.units), default=0.0)
    usual = relevance.units[min(_USUAL_RANK, len(relevance.units)) - 1].score if relevance.units else 0.0
    for key, worth, why in (*_of_places(index, impact), *_of_lines(index, changes)):
        at = (key.path, key.start, key.end)
        known = units.get(at) or ScoredUnit(*key, usual, ())
        if why not in known.reasons:
            units[at] = known._replace(
                score=max(known.score, best if worth.leads else usual) + worth.score,
                chance=max(known.chance, worth.chance),
                reasons=(why, *known.reasons)[:_MOST_REASONS],
            )
    return relevance._replace(
        files=_files(relevance.files, index, impact, changes),
        units=tuple(sorted(units.values(), key=lambda unit: -unit.score)),
    )


def goal_with_changes(goal: str, changes: Changes) -> str:
    """Return a goal with the names of what was changed, and its words as code beside it."""
    named = ", ".join(f"`{name}`" for name in changes.names[:_MOST_NAMED])
    words = changes.words.replace("```", "")
    return "\n\n".join(filter(None, (goal, named, f"```\n{words}\n```" if words else "")))


class _Key(NamedTuple):
    """A unit as the scorer would tell it."""

    path: str
    start: int
    end: int
    name: str
    kind: int


def _of_places(index: RepoIndex, impact: Impact) -> Iterator[tuple[_Key, _Worth, str]]:
    """Yield the units of definitions, what raises each and why, the greatest risk first."""
    for place in impact.changed:
        yield from ((key, _CHANGED, "changed") for key in _around(index, place))
    for risks, worth, verb in (
        (impact.leftovers, _LEFTOVER, "still uses"),
        (impact.overriders, _RESOLVED, "overrides or extends"),
        (impact.callers, _RESOLVED, "uses"),
        (impact.overridden, _RESOLVED, "stands above"),
        (impact.tests, _TEST, "tests"),
    ):
        for risk in risks[:_MOST_RAISED]:
            is_weak = risk.confidence is not Confidence.RESOLVED and not worth.leads
            for key in _around(index, risk.place):
                yield key, _LIKELY if is_weak else worth, _why(verb, risk)


def _of_lines(index: RepoIndex, changes: Changes) -> Iterator[tuple[_Key, _Worth, str]]:
    """Yield the units of changed lines that stand in no definition."""
    for part in changes.parts:
        file = index.file_id(part.path)
        if file is not None and not part.name:
            keys = islice(_keys(index, file, part.first, part.last), _MOST_GAPS)
            yield from ((key, _LINES, "holds changed lines") for key in keys)


def _why(verb: str, risk: Risk) -> str:
    likely = "" if risk.confidence is Confidence.RESOLVED else "likely "
    return f"{likely}{verb} changed `{one_line(risk.target)}` (line {risk.line})"


def _around(index: RepoIndex, place: Place) -> Iterator[_Key]:
    """Yield the unit that holds the head of a definition; none for the top of a file."""
    file, row = place
    if row >= 0:
        line = index.definitions(file)[row].sig_start
        yield from islice(_keys(index, file, line, line), 1)


def _keys(index: RepoIndex, file: int, first: int, last: int) -> Iterator[_Key]:
    """Yield the units of a file that hold some of its lines."""
    units = index.units
    for row in range(int(units.file_start[file]), int(units.file_start[file + 1])):
        start, end = int(units.start[row]), int(units.end[row])
        if start <= last and first <= end:
            definition = int(units.definition[row])
            name = index.qualified_name(file, definition) if definition >= 0 else ""
            yield _Key(index.paths[file], start, end, name, int(units.kind[row]))


def _files(
    files: tuple[ScoredFile, ...], index: RepoIndex, impact: Impact, changes: Changes
) -> tuple[ScoredFile, ...]:
    """Return the files, those that are changed first, and those that rely on them among the others."""
    known = {file.path: file for file in files}
    changed: dict[str, list[str]] = {}
    for part in changes.parts:
        if index.file_id(part.path) is not None:
            changed.setdefault(part.path, []).extend([f"`{one_line(part.name)}`"] if part.name else [])
    for risks, least in (
        ((*impact.callers, *impact.overriders), _LEAST_FILE),
        (impact.leftovers, 1.0),
    ):
        for risk in risks[:_MOST_RAISED]:
            path = index.paths[risk.place[0]]
            known[path] = _raised(known.get(path), path, least, _why("uses", risk))
    first = [
        _raised(known.pop(path, None), path, 1.0, f"changed: {', '.join(names[:3])}" if names else "changed")
        for path, names in changed.items()
    ]
    return (*first, *sorted(known.values(), key=lambda file: -file.score))


def _raised(file: ScoredFile | None, path: str, least: float, why: str) -> ScoredFile:
    if file is None:
        return ScoredFile(path, least, (why,))
    return ScoredFile(path, max(least, file.score), (why, *file.reasons)[:_MOST_REASONS])
