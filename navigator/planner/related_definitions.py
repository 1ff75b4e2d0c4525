"""Definitions related to shown code by resolved relations, for the outline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.languages.kinds import FUNCTIONS, TYPES
from repo_map.messages import one_line
from repo_map.outline.beside import neighbours_of
from repo_map.outline.exclusions import hides
from repo_map.ranking.score import ScoredUnit
from repo_map.text.units import FUNCTION

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.beside import Neighbour
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import ScoredUnit
    from repo_map.relations.model import Place

_MOST_SEEDS: Final = 12
"""Shown definitions whose neighbours are looked for, the likeliest first."""
_LONGEST_TYPE: Final = 60
"""Lines up to which a class is offered: of a longer one a member is meant."""


class RelatedDefinitions(NamedTuple):
    """A definition that stands beside shown code."""

    unit: ScoredUnit
    why: str
    """``called by Session.send, line 703``."""


def beside_of(
    index: RepoIndex, shown: Sequence[tuple[int, int, int]], own: FlightPlan | None
) -> dict[tuple[str, str], RelatedDefinitions]:
    """Return by path and name what shown code calls, and what calls or overrides it, best first.

    Tests, long classes and what ``own``, the user's part of the plan, leaves out are no part of it.

    Args:
        index: of the repository.
        shown: file, first and last line of each shown unit, the likeliest first.
        own: None where nobody said anything.
    """
    seeds = [place for each in shown if (place := _place(index, *each)) is not None][:_MOST_SEEDS]
    neighbours = [each for each in neighbours_of(index, seeds) if _is_offered(index, each)]
    found: dict[tuple[str, str], RelatedDefinitions] = {}
    for each in sorted(neighbours, key=lambda each: (-each.share, each.seed, each.place)):
        unit = _unit(index, each.place)
        key = (unit.path, unit.name)
        if key not in found and not (own is not None and hides(own, *key)):
            found[key] = RelatedDefinitions(unit, one_line(each.why(index, seeds[each.seed])))
    return found


def _place(index: RepoIndex, file: int, first: int, last: int) -> Place | None:
    """Return the outermost definition that begins within some lines."""
    rows = enumerate(index.definitions(file))
    return next(((file, row) for row, each in rows if first <= each.sig_start <= last), None)


def _is_offered(index: RepoIndex, neighbour: Neighbour) -> bool:
    file, row = neighbour.place
    definition = index.definitions(file)[row]
    is_short = definition.kind in TYPES and definition.end - definition.start < _LONGEST_TYPE
    return (
        not index.files.is_test(file)
        and not neighbour.is_owner
        and (definition.kind in FUNCTIONS or is_short)
    )


def _unit(index: RepoIndex, place: Place) -> ScoredUnit:
    """Return a definition with the comment above it as a unit that nothing else speaks for."""
    file, row = place
    each = index.definitions(file)[row]
    first = each.doc_start if 0 < each.doc_start < each.start else each.start
    return ScoredUnit(index.paths[file], first, each.end, index.qualified_name(file, row), FUNCTION, 0.0, ())
