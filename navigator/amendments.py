"""Changes to a flight plan, by a model or by the user, checked before they count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from navigator.turns import Navigation
from repo_map.errors import FlightPlanError

if TYPE_CHECKING:
    from repo_map.flight_plan import FlightPlan
    from repo_map.plans.updates import PlanChange


MAX_RULES = 500
"""Every event stores the plan: one that grows without end would make the store grow by its square."""


def amend_by_model(navigation: Navigation, reasoning: str, updates: Mapping[str, Any]) -> PlanChange:
    """Return the plan as a model changes it.

    Raises:
        FlightPlanError: the change is not well-formed, not explained, or takes more tokens than given.
    """
    if not reasoning.strip():
        raise FlightPlanError("`reasoning` is empty; say in a sentence which evidence leads to this change.")
    change = amend(navigation.state.flight_plan, updates)
    if change.plan.budget > navigation.run.token_budget:
        raise FlightPlanError(
            f"`budget` is {change.plan.budget}, more than the user's {navigation.run.token_budget} tokens; "
            "leave it out or make it smaller."
        )
    return change


def amend(plan: FlightPlan, updates: Mapping[str, Any]) -> PlanChange:
    """Return ``plan`` with ``updates`` merged in, and what that changes.

    Raises:
        FlightPlanError: the updates are not well-formed.
    """
    from repo_map.plans.updates import apply_update  # noqa: PLC0415

    change = apply_update(plan, updates)
    if len(change.plan.verbosity) > MAX_RULES:
        raise FlightPlanError(
            f"The plan would have {len(change.plan.verbosity)} verbosity rules, more than {MAX_RULES}; "
            "use globs, or remove rules with a level of null."
        )
    return change


def follow(before: Navigation, after: Navigation) -> Navigation:
    """Return ``after`` with the plan doing what the user's own part of it has come to ask since ``before``.

    The embedded planner packs the user's part into every plan anew; another model finds it done already.
    """
    from repo_map.plans.updates import compare_plans  # noqa: PLC0415

    asked = compare_plans(before.run.own, after.run.own).diff
    if not asked:
        return after
    plan = amend(after.state.flight_plan, asked).plan
    return Navigation(after.state.model_copy(update={"flight_plan": plan}), after.run)
