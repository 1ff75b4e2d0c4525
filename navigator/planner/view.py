"""What a step shows: a plan drawn, with what its map means for the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from navigator.planner.answer_size import AnswerSize, answer_size, assess_confidence
from navigator.planner.outline import build_candidates, build_outline, find_tests, outline_of_selection
from navigator.planner.outline_text import other_places, outline_text
from navigator.state.reports import GoalReport, OutlineEntry
from navigator.state.run_state import SelectedPlace
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.report import describe_changes
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.replay import stamp
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.index import Index
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance

_MAX_ROUNDS: Final = 3
"""Of fitting an outline into its room."""


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
    size = answer_size(
        request.first_answer,
        plan.budget,
        (*impact, *workspace.notes, *allowed.sufficiency.notes),
        confidence=allowed.sufficiency.confidence,
        is_about_one=allowed.is_about_one,
    )
    also_listed, confidence, sufficiency = "", None, ""
    if request.selection:
        listed = build_outline(index, allowed, drawn, request.own, related=0)
        outline = outline_of_selection(index, drawn, request.selection)
        also_listed, tests = other_places(listed, outline), find_tests(index, allowed, outline)
    else:
        outline, tests = _fit_outline(size, index, allowed, drawn, request.own)
        confidence, sufficiency = assess_confidence(allowed, drawn, outline)
    report = GoalReport(
        candidates=build_candidates(index, allowed, drawn),
        outline=outline,
        also_listed=also_listed,
        tests=tests,
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


def _fit_outline(
    size: AnswerSize, index: Index, allowed: Relevance, drawn: RepoMap, own: FlightPlan
) -> tuple[tuple[OutlineEntry, ...], str]:
    """Return the outline that has room beside the code, and what runs its tests.

    Related definitions and tests are known with the outline alone: the least likely places give back what
    they take of the room.
    """
    limit, room = size.max_outline(drawn.tokens), size.outline
    tests: str | None = None
    for _ in range(_MAX_ROUNDS):
        outline = build_outline(index, allowed, drawn, own, room=room, related=size.related)
        if tests is None:
            tests = find_tests(index, allowed, outline)
        over = 0 if limit is None else tokens.count(outline_text(outline, tests)) - limit
        if over <= 0:
            break
        room -= over
    return outline, tests or ""
