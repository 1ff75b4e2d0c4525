"""A navigation's request, validated, and its limits, which may change later."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from navigator.errors import InvalidArgumentError
from navigator.models.catalogue import price_of, require_models
from navigator.planner.arguments import (
    dollars_limit,
    guessed_names,
    require_choice,
    require_goal,
    require_length,
    require_storable,
    require_token_budget,
    whole_number,
)
from navigator.settings import DEFAULT_TOKEN_BUDGET, NavigationRequest, NavigatorSettings
from navigator.state.labels import EMBEDDED, dollars
from navigator.state.reports import Seconds
from navigator.state.run_state import Navigation, RunState
from navigator.state.state import BudgetConfig, ExecutionMode, ModelPricingRates, NavigatorState
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.patch import Patch, read_patch
from repo_map.errors import FlightPlanError
from repo_map.plan.model import FlightPlan
from repo_map.secrets.masking import mask_text

_MAX_GOAL_CHARS: Final = 100_000
"""A goal is an issue or a message, not a repository."""
_MAX_STEPS: Final = 1_000
_STEPS: Final = "how many steps it may take"
_MASKED_GOAL: Final = "The goal held secrets; they were masked before anything was kept or sent."
LIMITS: Final = ("max_cost_usd", "max_steps", "model", "names")
"""What updates may change beside the flight plan, by the names under which a navigation is opened."""


class ChangeQuery(NamedTuple):
    """Which changes a navigation is about, before the repository is read."""

    since: str = ""
    """``worktree``, a commit or a range."""
    patch: Patch = Patch()
    """That was given as text."""
    goal_with_patch: str = ""
    """The goal with the patch in it, for a patch of another repository."""

    def __bool__(self) -> bool:
        return bool(self.since or self.patch.files or self.patch.notes)


class ValidRequest(NamedTuple):
    """A task of which every part but the repository is validated."""

    task: NavigationRequest
    """With its defaults; the goal is in words, ``""`` if only the changes say what it is about."""
    plan: FlightPlan
    """Its budget is the map's."""
    query: ChangeQuery
    notes: tuple[str, ...] = ()
    """What was changed of the request, or is to be known from the start, one sentence each."""


def validate(
    request: NavigationRequest,
    settings: NavigatorSettings,
    further_models: Container[str] = (),
    *,
    environ: Mapping[str, str] | None = None,
) -> ValidRequest:
    """Return the request, validated; ``environ`` must have the key of a model that it names, if given.

    Raises:
        InvalidRequestError: a part of it can't be used, or a fallback model can't.
        FlightPlanError: its flight plan is not well-formed.
    """
    for argument in ("goal", "changes", "flight_plan"):
        require_storable(argument, getattr(request, argument))
    stated = request.goal.strip()
    masked = mask_text(stated)
    goal, query = _parse_changes(masked, mask_text(request.changes or ""))
    if not query:
        require_goal(goal)
    require_length("goal", goal, _MAX_GOAL_CHARS, "keep what describes the task")
    require_choice("mode", request.mode, ExecutionMode)
    plan = _parse_plan(request.flight_plan)
    budget = request.token_budget
    if budget is None:
        budget = plan.budget if "budget" in plan.model_fields_set else DEFAULT_TOKEN_BUDGET
    numbered = plan.line_numbers if request.line_numbers is None else request.line_numbers
    if numbered is None:
        numbered = settings.line_numbers or None
    model = request.model or settings.model
    require_models(model, settings, further_models, environ if request.model is not None else None)
    is_planned = bool(plan.verbosity or plan.focus or plan.custom_queries)
    task = replace(
        request,
        goal=goal,
        model=model,
        max_cost_usd=dollars_limit(request.max_cost_usd),
        max_steps=whole_number("max_steps", request.max_steps, _MAX_STEPS, _STEPS),
        # A model that explores has to find what most files hold.
        may_look_first=request.may_look_first and not query and not is_planned and model == EMBEDDED,
        names=guessed_names(request.names),
    )
    plan = plan.model_copy(update={"budget": require_token_budget(budget), "line_numbers": numbered})
    return ValidRequest(task, plan, query, () if masked == stated else (_MASKED_GOAL,))


def _parse_changes(goal: str, changes: str) -> tuple[str, ChangeQuery]:
    """Return the goal's words, and which changes it and ``changes`` name."""
    within = read_patch(goal)
    words, goal_with_patch = within.rest.strip(), goal if within.files else ""
    if "\n" not in changes.strip():
        return words, ChangeQuery(changes.strip(), within, goal_with_patch)
    given = read_patch(changes)
    if not given.files and not given.notes:
        raise InvalidArgumentError(
            "changes",
            "holds no patch; give `worktree`, a commit, a range such as `main..HEAD`, or a patch.",
            code="invalid_changes",
        )
    both = Patch((*within.files, *given.files), notes=(*within.notes, *given.notes))
    return words, ChangeQuery("", both, goal_with_patch)


def _parse_plan(given: FlightPlan | Mapping[str, object] | str | None) -> FlightPlan:
    if given is None:
        return FlightPlan()
    if isinstance(given, FlightPlan):
        return given
    if isinstance(given, str):
        from repo_map.plan.yaml import parse_plan  # noqa: PLC0415 - YAML loads only for plans that are text

        return parse_plan(given)
    try:
        return FlightPlan.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "the plan"
        raise FlightPlanError(f"The flight plan has a fault at `{field}`: {first['msg']}.") from error


def initial_state(
    request: ValidRequest,
    navigation_id: str,
    root: str,
    rates: ModelPricingRates,
    index_seconds: float,
    *,
    changes: Changes = NO_CHANGES,
) -> Navigation:
    """Return a navigation at its start, whole: no part of it is missing and added later."""
    task, seconds = request.task, round(index_seconds, 4)
    state = NavigatorState(
        user_task=task.goal,
        repo_path=root,
        execution_mode=task.mode,
        budget_config=BudgetConfig(max_spend_usd=dollars_limit(task.max_cost_usd), model_pricing_rates=rates),
        flight_plan=request.plan,
    )
    run = RunState(
        navigation_id=navigation_id,
        model=rates.model_name,
        max_steps=task.max_steps,
        user_plan=request.plan,
        fill=task.fill,
        first_answer=task.first_answer,
        changes=changes,
        names=tuple(task.names),
        notes=request.notes,
        seconds=Seconds(index=seconds, total=seconds),
    )
    return Navigation(state, run)


def change_limits(
    before: Navigation,
    updates: Mapping[str, Any],
    settings: NavigatorSettings,
    further_models: Container[str],
    environ: Mapping[str, str],
) -> tuple[Navigation, tuple[str, ...]]:
    """Return the navigation with the limits among updates, and a sentence on each that differs."""
    (state, run), notes = before, list[str]()
    budget = state.budget_config
    cost, steps, model, names = (updates.get(name) for name in LIMITS)
    if model is not None:
        if not isinstance(model, str):
            raise InvalidArgumentError("model", f"is {model!r}; give a model's name, such as `embedded`.")
        require_models(model, settings, further_models, environ)
    if cost is not None and (limit := dollars_limit(cost)) != budget.max_spend_usd:
        budget = budget.model_copy(update={"max_spend_usd": limit})
        notes.append(f"The cost limit is {dollars(limit)} now.")
    if steps is not None and whole_number("max_steps", steps, _MAX_STEPS, _STEPS) != run.max_steps:
        run = run.model_copy(update={"max_steps": steps})
        notes.append(f"The step limit is {steps} now.")
    if model not in (None, run.model):
        rates = price_of(model, settings, further_models).rates(model)
        run = run.model_copy(update={"model": model})
        budget = budget.model_copy(update={"model_pricing_rates": rates})
        notes.append(f"`{model}` decides from now on.")
    if names is not None and (guessed := guessed_names(names)) != run.names:
        run = run.model_copy(update={"names": guessed, "decision_count": 0})
        notes.append("The names count from now on.")
    return Navigation(state.model_copy(update={"budget_config": budget}), run), tuple(notes)
