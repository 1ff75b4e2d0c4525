"""Feedback applied: what the wishes of a feedback change in a plan, and what is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from repo_map.feedback.amounts import EVERY_STEP
from repo_map.feedback.answers import Asked, within_tokens
from repo_map.feedback.interpret import interpret
from repo_map.feedback.names import NamedDefinition
from repo_map.feedback.operations import Operation
from repo_map.feedback.resolve_typed import resolve
from repo_map.feedback.steering import NOTHING_MENTIONED, Steering, Wish
from repo_map.feedback.typed import NO_WISHES, TypedWishes
from repo_map.feedback.wishes import PlanWishes
from repo_map.plan.model import FlightPlan
from repo_map.relevance.score import Relevance

if TYPE_CHECKING:
    from repo_map.history.history import History
    from repo_map.index import RepoIndex


def steer(
    index: RepoIndex,
    plan: FlightPlan,
    relevance: Relevance,
    feedback: str,
    *,
    own: FlightPlan | None = None,
    menu: Mapping[int, NamedDefinition] | None = None,
    history: History | None = None,
    mentioned: Wish = NOTHING_MENTIONED,
    typed: TypedWishes = NO_WISHES,
) -> Steering:
    """Carry out what is wished in fields, then feedback such as "drop the tests; why is utils.py here?".

    What is not understood changes nothing, and is named with what would be. ``own`` is the part of the plan
    that the user asked for, by default all of it: what it leaves out comes back where the words name it.
    ``menu`` has the definitions that were offered by number; ``history`` is what commits are read from;
    ``mentioned`` is what the words before these were about.
    """
    asked = Asked(index, plan, own or plan, relevance, history)
    given = resolve(asked, typed, menu or {}, mentioned)
    said = interpret(asked, feedback, menu or {}, given.mentioned)
    said = said._replace(wishes=(*given.wishes, *said.wishes), missed=(*given.missed, *said.missed))
    done = PlanWishes(asked, menu or {})
    for wish in said.wishes:
        done.carry_out(wish)
    operations = [wish.operation for wish in said.wishes]
    steps = sum(wish.amount for wish in said.wishes if wish.operation is Operation.UNDO)
    return Steering(
        done.changes.updates(),
        within_tokens(done.answers) if done.answers else "",
        "\n".join(done.additions),
        (*done.lines, *(each.message for each in said.missed)),
        said.wishes,
        said.missed,
        min(EVERY_STEP, steps),
        Operation.FINISH in operations,
        said.mentioned,
    )
