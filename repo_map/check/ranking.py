"""Boost the scores of what a change edits, then of what depends on it, then of its tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.check.impact import Dependent, Impact
from repo_map.check.model import Changes
from repo_map.messages import one_line
from repo_map.ranking.score import Relevance, ScoredFile, ScoredUnit
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Confidence, Place

if TYPE_CHECKING:
    from repo_map.index.index import Index


class _Boost(NamedTuple):
    """What evidence of one kind does to the score of a unit."""

    score: float
    """Added to the best score if it ``leads``, else to the unit's own or a usual one."""
    chance: float
    """The minimum probability of the unit to be part of the work, 0 to 1."""
    leads: bool = False


_CHANGED: Final = _Boost(12.0, 1.0, leads=True)
_BROKEN: Final = _Boost(8.0, 0.9, leads=True)
_RESOLVED: Final = _Boost(3.0, 0.3)
_LIKELY: Final = _Boost(1.5, 0.15)
_TEST: Final = _Boost(6.0, 0.4)
"""Tests have lower scores than code to begin with."""
_LINES: Final = _Boost(3.0, 0.5)
"""Of changed lines outside of definitions: imports, mostly."""
_MAX_BOOSTED: Final = 40
"""Of each list."""
_MAX_LINE_UNITS: Final = 4
_MAX_NAMES: Final = 8
_USUAL_RANK: Final = 60
"""A unit that the goal's words do not reach starts from the score at this rank."""
_MIN_FILE_SCORE: Final = 0.3
"""Of a file that depends on the change."""
_MAX_REASONS: Final = 4


def boost_changed(index: Index, relevance: Relevance, impact: Impact, changes: Changes) -> Relevance:
    """Return the scores of a goal as a change alters them."""
    units = {(unit.path, unit.start, unit.end): unit for unit in relevance.units}
    best = max((unit.score for unit in relevance.units), default=0.0)
    usual = relevance.units[min(_USUAL_RANK, len(relevance.units)) - 1].score if relevance.units else 0.0
    for key, boost, reason in _boosts(index, impact, changes):
        known = units.get(key[:3]) or ScoredUnit(*key, usual, ())
        if reason not in known.reasons:
            units[key[:3]] = known._replace(
                score=max(known.score, best if boost.leads else usual) + boost.score,
                chance=max(known.chance, boost.chance),
                reasons=(reason, *known.reasons)[:_MAX_REASONS],
            )
    return relevance._replace(
        files=_boost_files(relevance.files, index, impact, changes),
        units=tuple(sorted(units.values(), key=lambda unit: -unit.score)),
    )


def goal_with_changes(goal: str, changes: Changes) -> str:
    """Return a goal with the names and words of a change."""
    names = ", ".join(f"`{name}`" for name in changes.names[:_MAX_NAMES])
    words = changes.words.replace("```", "")
    return "\n\n".join(filter(None, (goal, names, f"```\n{words}\n```" if words else "")))


_Key = tuple[str, int, int, str, int]
"""Path, first line, last line, name and kind of a unit."""


def _boosts(index: Index, impact: Impact, changes: Changes) -> Iterator[tuple[_Key, _Boost, str]]:
    """Yield units with their boost and reason, the greatest risk first, then those of other changed lines."""

    def unit_of(place: Place) -> Iterator[_Key]:
        """Yield the unit with the head of a definition; none for the top of a file."""
        if place[1] >= 0:
            line = index.definitions(place[0])[place[1]].sig_start
            yield from islice(_units_with(index, place[0], line, line), 1)

    for place in impact.changed:
        yield from ((key, _CHANGED, "changed") for key in unit_of(place))
    lists: tuple[tuple[Sequence[Dependent], _Boost, str], ...] = (
        (impact.broken, _BROKEN, "still uses"),
        (impact.overrides, _RESOLVED, "overrides or extends"),
        (impact.callers, _RESOLVED, "uses"),
        (impact.base_methods, _RESOLVED, "is overridden by"),
        (impact.tests, _TEST, "tests"),
    )
    for dependents, boost, verb in lists:
        for each in dependents[:_MAX_BOOSTED]:
            is_weak = each.confidence is not Confidence.RESOLVED and not boost.leads
            for key in unit_of(each.place):
                yield key, _LIKELY if is_weak else boost, _reason(verb, each)
    for part in changes.parts:
        file = index.file_id(part.path)
        if file is not None and not part.name:
            for key in islice(_units_with(index, file, part.first, part.last), _MAX_LINE_UNITS):
                yield key, _LINES, "has changed lines"


def _reason(verb: str, dependent: Dependent) -> str:
    likely = "" if dependent.confidence is Confidence.RESOLVED else "likely "
    return f"{likely}{verb} changed `{one_line(dependent.target)}` (line {dependent.line})"


def _units_with(index: Index, file: int, first: int, last: int) -> Iterator[_Key]:
    """Yield the units of a file with some of its lines."""
    units = index.units
    for row in range(int(units.file_start[file]), int(units.file_start[file + 1])):
        start, end = int(units.start[row]), int(units.end[row])
        if start <= last and first <= end:
            definition = int(units.definition[row])
            name = index.qualified_name(file, definition) if definition >= 0 else ""
            yield index.paths[file], start, end, name, int(units.kind[row])


def _boost_files(
    files: tuple[ScoredFile, ...], index: Index, impact: Impact, changes: Changes
) -> tuple[ScoredFile, ...]:
    """Return the changed files first, then the others with those that depend on the change boosted."""
    known = {file.path: file for file in files}

    def boosted(path: str, minimum: float, reason: str) -> ScoredFile:
        file = known.get(path) or ScoredFile(path, minimum, ())
        reasons = (reason, *file.reasons)[:_MAX_REASONS]
        return file._replace(score=max(minimum, file.score), reasons=reasons)

    dependents = (
        *((each, _MIN_FILE_SCORE) for each in (*impact.callers, *impact.overrides)[:_MAX_BOOSTED]),
        *((each, 1.0) for each in impact.broken[:_MAX_BOOSTED]),
    )
    for each, minimum in dependents:
        path = index.paths[each.place[0]]
        known[path] = boosted(path, minimum, _reason("uses", each))
    here = (part for part in changes.parts if index.file_id(part.path) is not None)
    changed = grouped((part.path, part.name and f"`{one_line(part.name)}`") for part in here)
    first = []
    for path, parts in changed.items():
        names = ", ".join(list(filter(None, parts))[:3])
        first.append(boosted(path, 1.0, f"changed: {names}" if names else "changed"))
    others = (file for path, file in known.items() if path not in changed)
    return (*first, *sorted(others, key=lambda file: -file.score))
