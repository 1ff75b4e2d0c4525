"""What a step shows: a plan drawn, with what its map means for the goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from navigator.planner.answer_size import AnswerSize, answer_size
from navigator.planner.candidates import candidates
from navigator.planner.evidence import Confidence, confidence_of
from navigator.planner.outline import build_outline
from navigator.planner.outline_tests import tests_line
from navigator.planner.outline_text import outline_text
from navigator.state.reports import Candidate, OutlineEntry
from repo_map.check.model import NO_CHANGES, Changes, Finding
from repo_map.check.report import describe_changes
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.replay import stamp
from repo_map.text import tokens

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap
    from repo_map.plan.model import FlightPlan
    from repo_map.ranking.score import Relevance


class ViewRequest(NamedTuple):
    """What is drawn, and for which goal."""

    goal: str
    """What the user wants, with what was said since."""
    plan: FlightPlan
    own: FlightPlan
    """The user's part of the plan."""
    wishes: FlightPlan | None = None
    """What of the plan somebody wrote, None for all of it."""
    changes: Changes = NO_CHANGES
    """What was changed in the repository."""
    first_answer: int | None = None
    """Most tokens of an answer that nobody asked for more of; None for the whole budget."""


class View(NamedTuple):
    """A map and what it means for the goal."""

    map: RepoMap
    plan: FlightPlan
    """Its plan, stamped with the tree that it was drawn from."""
    reasons: Mapping[str, tuple[str, ...]]
    """Why a path is relevant to the goal."""
    candidates: tuple[Candidate, ...]
    confidence: Confidence
    outline: tuple[OutlineEntry, ...] = ()
    tests: str = ""
    """The command that runs the file of tests to extend; else its path."""
    notes: tuple[str, ...] = ()
    """What of the repository could not be read, one sentence each."""
    findings: tuple[Finding, ...] = ()
    """What a change was seen to break or forget."""
    impact: tuple[str, ...] = ()
    """What a change touches and puts at risk, one sentence each, the greatest risk first."""
    is_first_look: bool = False
    """Whether most files were not read yet."""


def build_view(workspace: Workspace, wanted: ViewRequest) -> View:
    """Return the map of a plan with what it means for the goal."""
    index, (goal, plan, own, wishes, changes, first_answer) = workspace.index, wanted
    relevance, drawn = workspace.relevance(goal, changes), workspace.draw(plan, wishes)
    allowed = without_excluded(index, relevance, own)
    impact = describe_changes(index, workspace.impact(changes), changes) if changes else ()
    sentences = (*impact, *workspace.notes, *allowed.sufficiency.notes)
    size = answer_size(
        first_answer,
        plan.budget,
        sentences,
        confidence=allowed.sufficiency.confidence,
        is_about_one=allowed.is_about_one,
    )
    outline, tests = _outline_within(size, index, allowed, drawn, own)
    return View(
        map=drawn,
        plan=stamp(index, plan, drawn),
        reasons={file.path: tuple(file.reasons) for file in relevance.files},
        candidates=candidates(index, allowed, drawn),
        outline=outline,
        tests=tests,
        confidence=confidence_of(allowed, drawn, outline),
        notes=workspace.notes,
        is_first_look=bool(index.read_first),
        findings=changes.findings,
        impact=impact,
    )


_MOST_ROUNDS: Final = 3


def _outline_within(
    size: AnswerSize, index: RepoIndex, allowed: Relevance, drawn: RepoMap, own: FlightPlan
) -> tuple[tuple[OutlineEntry, ...], str]:
    """Return the outline that has room beside the code, and what runs its tests.

    What stands beside shown code and its tests are known with the outline alone: what they take of the room,
    the least likely places give back.
    """
    most = size.whole(drawn.tokens)
    room = size.outline
    tests: str | None = None
    for _ in range(_MOST_ROUNDS):
        outline = build_outline(index, allowed, drawn, own, room=room, related=size.related)
        if tests is None:
            tests = tests_line(index, allowed, outline)
        over = 0 if most is None else tokens.count(outline_text(outline, tests)) - most
        if over <= 0:
            break
        room -= over
    return outline, tests or ""
