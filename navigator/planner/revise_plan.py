"""Wishes on a plan that is made: they change what they name, and what was shown stays while there is room."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from navigator.planner.answer_size import answer_size
from navigator.planner.turn import apply_user_plan, named, with_notes, with_rules_of
from navigator.state.labels import EMBEDDED, USER
from navigator.state.run_state import Navigation
from repo_map.messages import plural
from repo_map.outline.exclusions import without_excluded
from repo_map.outline.keep import keep_within, with_more
from repo_map.outline.listing import list_places, tokens_of
from repo_map.outline.pack import pack
from repo_map.plan.diff import PlanChange, compare_plans
from repo_map.steering.apply import IN_FULL

if TYPE_CHECKING:
    from navigator.workspaces.workspace import Workspace
    from repo_map.steering.apply import Steering

_IN_PART = "In part: "
_LARGER = (
    "{} takes more than the {} available for code: the most relevant part is shown. Ask for the "
    "rest by name, or by lines."
)
_TOO_MUCH = (
    "Not everything that you asked for fits in full: some of it has less detail. A larger budget shows it."
)


class RevisedNavigation(NamedTuple):
    """A navigation whose plan does what was said, before the step is taken."""

    navigation: Navigation
    change: PlanChange
    """Of the plan as it was."""
    by: str
    """Who chose what is shown: the user, or the planner."""


def is_planned(navigation: Navigation) -> bool:
    """Say whether there is a plan to keep to: before the first decision it shows all files alike.

    One that a first look made is made anew.
    """
    return bool(navigation.state.decision_log) and not navigation.run.first_look


def revise(
    before: Navigation, steered: Navigation, steering: Steering, workspace: Workspace
) -> RevisedNavigation:
    """Return the navigation with a plan that does what was said and shows what it showed, as far as it fits.

    Args:
        before: the navigation as it was.
        steered: the same, with what the words change of the user's part of the plan.
        steering: what the words came to.
        workspace: the repository.
    """
    index, own = workspace.index, steered.run.own
    relevance = without_excluded(
        index, workspace.relevance(steered.state.user_task, steered.run.changes), own
    )
    plan = with_rules_of(index, apply_user_plan(index, before, steered), steering.updates).state.flight_plan
    asks_for_more = steering.asks_for_more or own.budget > before.run.own.budget
    if asks_for_more or steered.run.fill:
        size = answer_size(steered.run.first_answer, own.budget, confidence=relevance.sufficiency.confidence)
        outline, spelt = (tokens_of(list_places(index, relevance, room)) for room in (size.outline, 0))
        most, alone = size.code(outline), size.alone(outline, spelt)
        packed = pack(
            index, relevance, own.budget, base=own, fill=steered.run.fill, most=most, most_alone=alone
        )
        plan = with_more(index, plan, packed, own)
    latest = {
        rule["pattern"]: tuple(
            (each.get("pattern"), each.get("lines")) for each in rule.get("sections") or ()
        )
        for rule in steering.updates.get("verbosity") or ()
    }
    kept = keep_within(index, relevance, plan, own, latest)
    notes = []
    if kept.gave_way:
        room = f"To make room in the {plural(own.budget, 'token')} available for code"
        notes.append(f"{room}, no longer shown: {named(kept.gave_way)}.")
    if kept.in_part:
        notes.append(_LARGER.format(named(kept.in_part), plural(own.budget, "token")))
    if not kept.fits:
        notes.append(_TOO_MUCH)
    # What was summed up is another map; a further step goes on from this one.
    state = steered.state.model_copy(update={"reasoning_summary": ""})
    answer = steered.run.answer
    if kept.in_part:
        answer = _told_in_part(answer, kept.in_part)
    run = steered.run.model_copy(update={"planned": 0 if asks_for_more else 1, "answer": answer})
    return RevisedNavigation(
        with_notes(Navigation(state, run), notes),
        compare_plans(before.state.flight_plan, kept.plan),
        EMBEDDED if asks_for_more else USER,
    )


_QUOTED: Final = re.compile(r"`([^`]+)`")


def _told_in_part(answer: str, in_part: Sequence[str]) -> str:
    """Return an answer with what is shown in part told as that; where words hide which, all of it."""

    def is_part(name: str) -> bool:
        return any(part == name or part.startswith(f"{name} (") for part in in_part)

    lines = answer.split("\n")
    known = any(map(is_part, _QUOTED.findall("\n".join(line for line in lines if line.startswith(IN_FULL)))))
    for at, line in enumerate(lines):
        if not line.startswith(IN_FULL):
            continue
        names = _QUOTED.findall(line)
        parts = [name for name in names if is_part(name) or not known]
        whole = [name for name in names if name not in parts]
        told = ((IN_FULL, whole), (_IN_PART, parts))
        lines[at] = " ".join(f"{lead}{', '.join(f'`{each}`' for each in own)}." for lead, own in told if own)
    return "\n".join(lines)
