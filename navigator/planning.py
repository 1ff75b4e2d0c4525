"""The embedded planner's policy: from state, index and relevance to the next decision; a pure function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from navigator.turns import Navigation
from navigator.workspace import Workspace

if TYPE_CHECKING:
    from repo_map.flight_plan import FlightPlan
    from repo_map.relevance.scoring import Relevance

NAMED_FILES = 3
"""Files whose evidence a decision's reasoning spells out."""


class Update(NamedTuple):
    """Change the plan."""

    reasoning: str
    updates: Mapping[str, Any]


class Finalize(NamedTuple):
    """The map is as good as this planner makes it."""

    summary: str


def decide(navigation: Navigation, workspace: Workspace) -> Update | Finalize:
    """Return the next decision: zoom in, fill what is missing, or finish when nothing would change."""
    from repo_map.packing import pack  # noqa: PLC0415

    relevance = workspace.relevance(navigation.state.user_task)
    plan = navigation.state.flight_plan
    if navigation.run.planned == 0:
        packed = pack(workspace.index, relevance, plan.budget, base=plan)
        if packed != plan:
            return Update(_zoom_words(relevance), changes(plan, packed))
    return Finalize(_summary(navigation, relevance))


def changes(plan: FlightPlan, wanted: FlightPlan) -> dict[str, Any]:
    """Return the updates that turn ``plan`` into ``wanted``."""
    before, after = (each.model_dump(mode="json", exclude_none=True) for each in (plan, wanted))
    return {key: value for key, value in after.items() if before.get(key) != value}


def _zoom_words(relevance: Relevance) -> str:
    return "Zoomed in on " + _evidence(relevance) + "."


def _summary(navigation: Navigation, relevance: Relevance) -> str:
    return "Done. " + _evidence(relevance)


def _evidence(relevance: Relevance) -> str:
    return "; ".join(f"`{file.path}` ({', '.join(file.reasons)})" for file in relevance.files[:NAMED_FILES])
