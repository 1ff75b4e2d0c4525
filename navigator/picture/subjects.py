"""The two things that there are pictures of: a stored navigation, and a flight plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from navigator.picture.data import Shown, Subject, picture_data
from navigator.picture.text import PictureData
from navigator.planner.turn import cuts_of
from navigator.state.bookkeeping import Navigation
from navigator.state.reports import FileReport
from navigator.workspaces.repository_address import address_name
from repo_map.impact.values import NOTHING
from repo_map.outline.replay import Drift, find_drift
from repo_map.sources.source import repository_names

if TYPE_CHECKING:
    from navigator.state.reports import NavigatorOutput, TurnReport
    from navigator.workspaces.workspace import Workspace
    from repo_map.index.repo_index import RepoIndex
    from repo_map.outline.draw import RepoMap

CHANGED = "The repository has changed since this step: sizes are those of today, and parts are left out."
_OPEN = "open"


def picture_of_navigation(
    workspace: Workspace,
    navigation: Navigation,
    output: NavigatorOutput,
    reports: Sequence[TurnReport],
    within: str = "",
) -> PictureData:
    """Return the picture's data of a navigation's latest step.

    Args:
        workspace: its repository.
        navigation: both halves of its memory.
        output: the context of its latest step.
        reports: of all steps, oldest first.
        within: the folder that most of the tree is for; ``""`` for the whole tree.
    """
    state, run = navigation
    drawn = workspace.draw(output.flight_plan, run.own)
    is_same = _is_same(find_drift(workspace.index, output.flight_plan, drawn))
    relevance = workspace.relevance(navigation.state.user_task, run.changes) if is_same else None
    subject = Subject(
        repository=address_name(state.repo_path),
        navigation_id=run.navigation_id,
        goal=state.user_task,
        status=_OPEN if output.stop_reason is None else output.stop_reason.value,
        ended=output.ended,
        spent_usd=float(run.spent),
        limit_usd=float(state.budget_config.max_spend_usd),
        notes=output.notes if is_same else (CHANGED, *output.notes),
    )
    shown = Shown(
        files=output.files,
        tokens=output.token_count,
        token_budget=output.map_token_budget,
        drawn=drawn if is_same else None,
        relevance=relevance,
        menu=output.menu,
        candidates=output.candidates,
        cuts=output.cuts,
        sureness=output.sufficiency,
        impact=output.impact,
        tests=output.tests,
        changes=run.changes if is_same else NOTHING,
        findings=output.findings if is_same else (),
        left_out=output.left_out,
    )
    return picture_data(workspace.index, subject, shown, reports, within)


def _is_same(drift: Drift) -> bool:
    """Tell whether an answer's lines are where they were: what a first look reads later moves none."""
    is_edited = any(each.change in ("changed", "removed") for each in drift.files)
    return drift.same_tree or (drift.by_first_look and not is_edited)


def picture_of_plan(index: RepoIndex, drawn: RepoMap, drift: Drift) -> PictureData:
    """Return the picture's data of a plan: its map as it is drawn now, without goal and menu."""
    files = [FileReport(path=block.path, level=block.level, tokens=block.tokens) for block in drawn.blocks]
    notes = (*(() if drift.same_tree else (drift.describe(),)), *drawn.notes)
    shown = Shown(
        files=files,
        tokens=drawn.tokens,
        token_budget=drawn.budget,
        drawn=drawn,
        cuts=cuts_of(drawn),
        left_out=drawn.left_out,
    )
    return picture_data(
        index, Subject(repository=", ".join(repository_names(index.place)), notes=notes), shown
    )
