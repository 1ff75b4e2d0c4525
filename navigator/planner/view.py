"""What a step shows: a plan drawn, with what its map means for the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from navigator.planner.answer_size import assess_confidence, plan_answer
from navigator.planner.outline import build_outline, find_tests
from navigator.planner.outline_text import other_places
from navigator.planner.selection import as_place
from navigator.state.reports import GoalReport
from repo_map.check.report import describe_changes
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.replay import stamp

if TYPE_CHECKING:
    from navigator.state.run_state import Navigation, SelectedPlace
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan


class View(NamedTuple):
    """A map and what it means for the goal."""

    map: RepoMap
    plan: FlightPlan
    reasons: Mapping[str, tuple[str, ...]]
    report: GoalReport
    notes: tuple[str, ...] = ()
    """What of the repository could not be read, one sentence each."""
    is_first_look: bool = False
    """Whether most files were not read yet."""
    languages: tuple[tuple[str, int], ...] = ()
    """The repository's languages of code with their numbers of files, most files first."""


def build_view(
    workspace: Workspace,
    navigation: Navigation,
    plan: FlightPlan,
    wishes: FlightPlan,
    selection: Sequence[SelectedPlace] = (),
) -> View:
    """Return the map of a plan with what it means for the navigation's goal."""
    index, (state, run) = workspace.index, navigation
    relevance = workspace.relevance(state.user_task, run.changes, run.names)
    drawn = workspace.draw(plan, wishes)
    allowed = without_excluded(index, relevance, run.user_plan)
    impact = describe_changes(index, workspace.impact(run.changes), run.changes) if run.changes else ()
    sentences = (*impact, *workspace.notes, *allowed.sufficiency.notes)
    answer = plan_answer(index, allowed, run.first_answer, plan.budget, sentences)
    also_listed, places = "", answer.listed
    if selection:
        places = tuple(map(as_place, selection))
        also_listed = other_places(answer.listed, places)
    outline = build_outline(index, drawn, places)
    confidence, sufficiency = (None, "") if selection else assess_confidence(allowed, outline)
    report = GoalReport(
        outline=outline,
        also_listed=also_listed,
        tests=find_tests(index, allowed, places),
        confidence=confidence,
        sufficiency=sufficiency,
        findings=run.changes.findings,
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
