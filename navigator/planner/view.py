"""What a step shows: a plan drawn, with what its map means for the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from navigator.planner.answer_size import assess_confidence, plan_answer
from navigator.planner.outline import build_outline, find_tests
from navigator.planner.outline_text import other_places
from navigator.planner.selection import as_place
from navigator.state.reports import GoalReport
from navigator.state.run_state import SelectedPlace
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.report import describe_changes
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.replay import stamp

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan


class ViewRequest(NamedTuple):
    """What is drawn, and for which goal."""

    goal: str
    plan: FlightPlan
    own: FlightPlan
    """The user's part of the plan."""
    literal: FlightPlan | None = None
    """What of the plan a person or a model wrote, None for all of it."""
    changes: Changes = NO_CHANGES
    """What was changed in the repository."""
    first_answer: int | None = None
    """Tokens of a first answer; None for the whole budget."""
    names: tuple[str, ...] = ()
    """Identifiers that the caller guesses to be in the code."""
    selection: tuple[SelectedPlace, ...] = ()
    """What a model has selected, best first: the outline lists it before all else."""


class View(NamedTuple):
    """A map and what it means for the goal."""

    map: RepoMap
    plan: FlightPlan
    """Its plan, stamped with the tree that it was drawn from."""
    reasons: Mapping[str, tuple[str, ...]]
    """Why a path is relevant to the goal."""
    report: GoalReport
    notes: tuple[str, ...] = ()
    """What of the repository could not be read, one sentence each."""
    is_first_look: bool = False
    """Whether most files were not read yet."""
    languages: tuple[tuple[str, int], ...] = ()
    """The repository's languages of code with their numbers of files, most files first."""


def build_view(workspace: Workspace, request: ViewRequest) -> View:
    """Return the map of a plan with what it means for the goal."""
    index, plan, changes = workspace.index, request.plan, request.changes
    relevance = workspace.relevance(request.goal, changes, request.names)
    drawn = workspace.draw(plan, request.literal)
    allowed = without_excluded(index, relevance, request.own)
    impact = describe_changes(index, workspace.impact(changes), changes) if changes else ()
    answer = plan_answer(
        index,
        allowed,
        request.first_answer,
        plan.budget,
        (*impact, *workspace.notes, *allowed.sufficiency.notes),
    )
    also_listed, places = "", answer.listed
    if request.selection:
        places = tuple(map(as_place, request.selection))
        also_listed = other_places(answer.listed, places)
    outline = build_outline(index, drawn, places)
    confidence, sufficiency = (None, "") if request.selection else assess_confidence(allowed, outline)
    report = GoalReport(
        outline=outline,
        also_listed=also_listed,
        tests=find_tests(index, allowed, places),
        confidence=confidence,
        sufficiency=sufficiency,
        findings=changes.findings,
        impact=impact,
    )
    return View(
        map=drawn,
        plan=stamp(index, plan, drawn),
        reasons={file.path: tuple(file.reasons) for file in relevance.files},
        report=report,
        notes=workspace.notes,
        is_first_look=bool(index.build.partial_files),
        languages=index.memo(_languages),
    )


def _languages(index: Index) -> tuple[tuple[str, int], ...]:
    numbers = Counter(map(index.language, range(len(index))))
    code = (LanguageRole.CODE, LanguageRole.DECLARATIONS)
    found = [each for each in numbers.items() if language_named(each[0]).role in code]
    return tuple(sorted(found, key=lambda each: (-each[1], each[0])))
