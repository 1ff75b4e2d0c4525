"""Answers to questions about a context: why a file is there, and where a name is defined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from repo_map import globs
from repo_map.flight_plan import FlightPlan
from repo_map.relevance.scoring import Relevance
from repo_map.steering.targets import Place, Target, find_places, nearest

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_MOST_FILES = 3
_MOST_UNITS = 3
_MOST_PLACES = 8


def tell_why(plan: FlightPlan, relevance: Relevance, target: Target) -> str:
    """Say which evidence put the target's files where they are."""
    if not target:
        return f"Nothing in the repository is called `{target.words}`."
    wanted = {place.path for place in target.places}
    ranked = [
        (rank, file)
        for rank, file in enumerate(relevance.files, 1)
        if file.path in wanted or any(globs.matches(pattern, file.path) for pattern in target.patterns)
    ]
    if not ranked:
        return f"`{target.words}` is not among the {len(relevance.files)} files that the goal points at."
    told = []
    shown = set(shown_paths(plan, relevance))
    for rank, file in ranked[:_MOST_FILES]:
        reasons = ", ".join(file.reasons) or "weak evidence only"
        where = "" if file.path in shown else ", and not shown for want of budget"
        told.append(f"`{file.path}` ranks {rank} of {len(relevance.files)}{where}: {reasons}.")
        units = [unit for unit in relevance.units if unit.path == file.path and unit.name and unit.reasons]
        told += [f"  `{unit.name}`: {', '.join(unit.reasons)}." for unit in units[:_MOST_UNITS]]
    return "\n".join(told)


def tell_where(index: RepoIndex, relevance: Relevance, target: Target) -> str:
    """Say where a name is defined, or which files a pattern names."""
    places = target.places or tuple(find_places(index, target.words))
    if places:
        rank = {file.path: at for at, file in enumerate(relevance.files)}
        best = sorted(places, key=lambda place: (rank.get(place.path, len(rank)), place.path, place.line))
        return list_places(best)
    if target.patterns:
        return f"`{target.words}` is {', '.join(f'`{pattern}`' for pattern in target.patterns)}."
    close = nearest(index, target.words)
    hint = f" Nearest: {', '.join(f'`{name}`' for name in close)}." if close else ""
    return f"Nothing in the repository is called `{target.words}`.{hint}"


def tell_left_out(plan: FlightPlan, relevance: Relevance) -> str:
    """Name the best files that the plan does not show."""
    shown = set(shown_paths(plan, relevance))
    missing = [file for file in relevance.files if file.path not in shown]
    if not missing:
        return "Every file that the goal points at is shown."
    named = [
        f"`{file.path}`{f' ({file.reasons[0]})' if file.reasons else ''}" for file in missing[:_MOST_PLACES]
    ]
    return f"Not shown, the most relevant first: {', '.join(named)}."


def list_places(places: Sequence[Place]) -> str:
    """Return where definitions stand, the first few by line and the others counted."""
    shown = ", ".join(f"`{place.name}` in {place.path}:{place.line}" for place in places[:_MOST_PLACES])
    return shown + ("." if len(places) <= _MOST_PLACES else f" and {len(places) - _MOST_PLACES} more.")


def shown_paths(plan: FlightPlan, relevance: Relevance) -> tuple[str, ...]:
    """Return the files of the relevance that the last matching rule of a plan shows, best first."""
    rules = plan.verbosity[::-1]

    def is_shown(path: str) -> bool:
        rule = next((rule for rule in rules if globs.matches(rule.pattern, path)), None)
        return rule is None or rule.level != 0 or bool(rule.sections)

    return tuple(file.path for file in relevance.files if is_shown(file.path))
