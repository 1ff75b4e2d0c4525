"""A request, checked: what a navigation may be opened with, and which of its terms may change later."""

from __future__ import annotations

from collections.abc import Container, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from navigator.errors import InvalidArgumentError, InvalidRequestError
from navigator.models.model_names import require_key, require_models
from navigator.planner.arguments import (
    dollars_limit,
    require_goal,
    require_storable,
    require_token_budget,
    whole_number,
)
from navigator.settings import DEFAULT_TOKEN_BUDGET, NavigationRequest, NavigatorSettings
from navigator.state.labels import dollars
from navigator.state.reports import Seconds
from navigator.state.run_state import Navigation, RunState
from navigator.state.state import BudgetConfig, ExecutionMode, ModelPricingRates, NavigatorState
from repo_map.check.model import NO_CHANGES, Changes
from repo_map.check.patch import Patch, read_patch
from repo_map.errors import FlightPlanError
from repo_map.plan.model import FlightPlan
from repo_map.secrets.masking import mask_text

MAX_GOAL = 100_000
"""Characters: a goal is an issue or a message, not a repository."""
MAX_STEPS = 1_000
MASKED_GOAL = "The goal held secrets; they were masked before anything was kept or sent."


class AskedChanges(NamedTuple):
    """What is to be looked at, before the repository is."""

    since: str = ""
    """``worktree``, a commit or a range."""
    patch: Patch = Patch()
    """That was given as text."""
    stated: str = ""
    """The goal with the patch that stood in it, for one that is of another repository."""

    def __bool__(self) -> bool:
        return bool(self.since or self.patch.files or self.patch.notes)


class ValidRequest(NamedTuple):
    """What to do, where, and within which limits; every part but the place is valid."""

    repo_path: str | Path
    """Where, as it is named; whether it is there is seen when it is opened."""
    goal: str
    """In words; ``""`` where only what was changed says what it is about, until that is looked at."""
    mode: ExecutionMode
    model: str
    plan: FlightPlan
    """Its budget is the map's."""
    max_cost_usd: Decimal
    max_steps: int
    fill: bool
    notes: tuple[str, ...] = ()
    """What was changed of the request, or is to be known from the start, one sentence each."""
    first_answer: int | None = None
    """Most tokens of the first answer; None for the whole budget."""
    may_look_first: bool = False
    """Whether a first look can answer: nothing but the goal says what is shown."""
    asked: AskedChanges = AskedChanges()
    changes: Changes = NO_CHANGES
    """What was changed in the repository, once that has been looked at."""

    def noting(self, note: str) -> ValidRequest:
        """Return the task with one more note, unless it is empty."""
        return self._replace(notes=(*self.notes, note)) if note else self


TERMS = ("max_cost_usd", "max_steps", "model")
"""What updates may change beside the flight plan, by the names under which a navigation is opened."""


class LimitChanges(NamedTuple):
    """New terms for a navigation under way; None where one stays."""

    max_cost_usd: Decimal | None = None
    max_steps: int | None = None
    model: str | None = None

    def __bool__(self) -> bool:
        return any(term is not None for term in self)


def parse_limits(
    updates: Mapping[str, Any], settings: NavigatorSettings, handed_in: Container[str] = ()
) -> tuple[LimitChanges, dict[str, Any]]:
    """Return the terms that updates change, and the rest of them: a partial flight plan.

    Raises:
        InvalidRequestError: a limit can't be used.
        UnknownModelError: no model is called so.
        UnpricedModelError: the model costs money, and how much is unknown.
    """
    cost, steps, model = (updates.get(name) for name in TERMS)
    if model is not None:
        if not isinstance(model, str):
            raise InvalidArgumentError("model", f"is {model!r}; give a model's name, such as `embedded`.")
        require_models(model, settings, handed_in)
    terms = LimitChanges(
        max_cost_usd=None if cost is None else dollars_limit(cost),
        max_steps=None
        if steps is None
        else whole_number("max_steps", steps, MAX_STEPS, "how many steps it may take"),
        model=model,
    )
    return terms, {name: part for name, part in updates.items() if name not in TERMS}


def apply_limits(
    before: Navigation, terms: LimitChanges, rates: ModelPricingRates
) -> tuple[Navigation, tuple[str, ...]]:
    """Return the navigation on new terms, and a sentence on each that differs from before.

    Args:
        rates: what calls of the model cost that decides from now on.
    """
    (state, run), message = before, list[str]()
    budget = state.budget_config
    if terms.max_cost_usd is not None and terms.max_cost_usd != budget.max_spend_usd:
        budget = budget.model_copy(update={"max_spend_usd": terms.max_cost_usd})
        message.append(f"The cost limit is {dollars(terms.max_cost_usd)} now.")
    if terms.max_steps is not None and terms.max_steps != run.max_steps:
        run = run.model_copy(update={"max_steps": terms.max_steps})
        message.append(f"The step limit is {terms.max_steps} now.")
    if terms.model is not None and terms.model != run.model:
        run = run.model_copy(update={"model": terms.model})
        budget = budget.model_copy(update={"model_pricing_rates": rates})
        message.append(f"`{terms.model}` decides from now on.")
    return Navigation(state.model_copy(update={"budget_config": budget}), run), tuple(message)


def _asked_changes(goal: str, changes: str) -> tuple[str, AskedChanges]:
    """Return the goal's words, and what it and ``changes`` ask to look at; secrets are masked in both.

    Raises:
        InvalidArgumentError: ``changes`` is a text of several lines that holds no patch.
    """
    within = read_patch(goal)
    words = within.rest.strip()
    stated = goal if within.files else ""
    if "\n" not in changes.strip():
        return words, AskedChanges(changes.strip(), within, stated)
    given = read_patch(changes)
    if not given.files and not given.notes:
        raise InvalidArgumentError(
            "changes",
            "holds no patch; give `worktree`, a commit, a range such as `main..HEAD`, or a patch.",
            code="invalid_changes",
        )
    both = Patch((*within.files, *given.files), notes=(*within.notes, *given.notes))
    return words, AskedChanges("", both, stated)


def checked(
    request: NavigationRequest,
    settings: NavigatorSettings,
    handed_in: Container[str] = (),
    *,
    environ: Mapping[str, str] | None = None,
) -> ValidRequest:
    """Return the task that ``request`` describes.

    Args:
        request: as it came in.
        settings: what holds where it says nothing.
        handed_in: models beside those of the catalogue.
        environ: where the key of the model that it names must be, if anywhere.

    Raises:
        InvalidRequestError: a part of it can't be used, or a model that would follow its own.
        FlightPlanError: its flight plan is not well-formed.
    """
    for argument in ("goal", "changes", "flight_plan"):
        require_storable(argument, getattr(request, argument))
    stated = request.goal.strip()
    goal, asked = _asked_changes(mask_text(stated), mask_text(request.changes or ""))
    if not asked:
        require_goal(goal)
    if len(goal) > MAX_GOAL:
        raise InvalidRequestError(
            f"The goal has {len(goal)} characters, more than {MAX_GOAL}; keep what describes the task.",
            code=InvalidArgumentError.code,
            argument="goal",
        )
    if request.mode not in get_args(ExecutionMode):
        raise InvalidRequestError(
            f"The mode is `{request.mode}`; choose `autonomous` or `interactive`.",
            code=InvalidArgumentError.code,
            argument="mode",
        )
    plan = _plan(request.flight_plan)
    budget = _token_budget(request, plan)
    is_planned = bool(plan.verbosity or plan.focus or plan.custom_queries)
    model = request.model or settings.model
    require_models(model, settings, handed_in)
    if request.model is not None and environ is not None and request.model not in handed_in:
        require_key(request.model, settings, environ)
    return ValidRequest(
        repo_path=request.repo_path,
        goal=goal,
        mode=request.mode,
        model=model,
        plan=plan.model_copy(
            update={"budget": budget, "line_numbers": _line_numbers(request, plan, settings)}
        ),
        max_cost_usd=dollars_limit(request.max_cost_usd),
        max_steps=whole_number("max_steps", request.max_steps, MAX_STEPS, "how many steps it may take"),
        fill=request.fill,
        first_answer=request.first_answer,
        notes=(
            *([request.note] if request.note else []),
            *([] if mask_text(stated) == stated else [MASKED_GOAL]),
        ),
        may_look_first=request.may_look_first and not asked and not is_planned,
        asked=asked,
    )


def initial_state(
    task: ValidRequest, navigation_id: str, root: str, rates: ModelPricingRates, index_seconds: float
) -> Navigation:
    """Return a navigation at its start, whole: no part of it is missing and added later."""
    state = NavigatorState(
        user_task=task.goal,
        repo_path=root,
        execution_mode=task.mode,
        budget_config=BudgetConfig(max_spend_usd=task.max_cost_usd, model_pricing_rates=rates),
        flight_plan=task.plan,
    )
    run = RunState(
        navigation_id=navigation_id,
        model=task.model,
        max_steps=task.max_steps,
        own=task.plan,
        fill=task.fill,
        first_answer=task.first_answer,
        changes=task.changes,
        notes=task.notes,
        seconds=Seconds(index=round(index_seconds, 4), total=round(index_seconds, 4)),
    )
    return Navigation(state, run)


def _plan(given: FlightPlan | Mapping[str, object] | str | None) -> FlightPlan:
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
        place = ".".join(str(part) for part in first["loc"]) or "the plan"
        raise FlightPlanError(f"The flight plan has a fault at `{place}`: {first['msg']}.") from error


def _line_numbers(request: NavigationRequest, plan: FlightPlan, settings: NavigatorSettings) -> bool | None:
    """Return whether lines tell their numbers, as the request says, else its plan, else the settings."""
    said = plan.line_numbers if request.line_numbers is None else request.line_numbers
    return (settings.line_numbers or None) if said is None else said


def _token_budget(request: NavigationRequest, plan: FlightPlan) -> int:
    if request.token_budget is not None:
        budget = request.token_budget
    elif "budget" in plan.model_fields_set:
        budget = plan.budget
    else:
        budget = DEFAULT_TOKEN_BUDGET
    return require_token_budget(budget)
