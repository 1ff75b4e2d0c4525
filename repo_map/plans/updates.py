"""Partial plans: apply one to a plan, and say what changed between two plans."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from repo_map.errors import FlightPlanError
from repo_map.flight_plan import (
    CustomQuery,
    FlightPlan,
    Focus,
    Glob,
    Level,
    Lines,
    PathBoost,
    SectionRule,
    SymbolBoost,
    VerbosityRule,
    Weight,
)
from repo_map.plans.errors import plan_error

_Item = TypeVar("_Item", bound=BaseModel)


class _Update(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)

    def says(self, field: str) -> bool:
        """Tell whether the update mentions a field, be it with null."""
        return field in self.model_fields_set


class PathBoostUpdate(_Update):
    """Adds or replaces the boost of ``pattern``; a weight of null removes it."""

    pattern: Glob
    weight: Weight | None = 1.0


class SymbolBoostUpdate(_Update):
    """Adds or replaces the boost of ``name``; a weight of null removes it."""

    name: str = Field(min_length=1)
    weight: Weight | None = 1.0


class FocusUpdate(_Update):
    """Changes to the focus; a list of null removes all its boosts."""

    paths: tuple[PathBoostUpdate, ...] | None = ()
    symbols: tuple[SymbolBoostUpdate, ...] | None = ()


class SectionUpdate(_Update):
    """Adds or replaces the section with this ``pattern`` or these ``lines``; a level of null removes it."""

    pattern: str | None = Field(default=None, min_length=1)
    lines: Lines | None = None
    level: Level | None

    @model_validator(mode="after")
    def _names_one_part(self) -> Self:
        if (self.pattern is None) == (self.lines is None):
            raise ValueError("a section names either `pattern` or `lines`, not both and not neither")
        return self


class RuleUpdate(_Update):
    """Adds or replaces the rule of ``pattern``, in its place; what it does not mention stays.

    A level of null without ``sections`` removes the rule; sections of null remove its sections.
    """

    pattern: Glob
    level: Level | None = None
    sections: tuple[SectionUpdate, ...] | None = ()


class QueryUpdate(_Update):
    """Adds or replaces the level of a custom query; a query of null removes all queries of ``pattern``."""

    pattern: Glob
    query: str | None = Field(min_length=1)
    level: Level | None = 4
    """Null removes the query."""


class PlanUpdate(_Update):
    """A partial flight plan; what it does not mention stays, null brings back the default."""

    budget: int | None = Field(default=None, gt=0)
    focus: FocusUpdate | None = None
    verbosity: tuple[RuleUpdate, ...] | None = ()
    custom_queries: tuple[QueryUpdate, ...] | None = ()


class PlanChange(NamedTuple):
    """A changed plan, and the change in two forms."""

    plan: FlightPlan
    diff: dict[str, Any]
    """The smallest partial plan that makes the same change; empty when nothing changed."""
    lines: tuple[str, ...]
    """One readable line per change: ``src/auth/** 2 → 4``."""


def apply_update(plan: FlightPlan, updates: Mapping[str, Any]) -> PlanChange:
    """Apply a partial plan: rules are added, or replaced by pattern, and null removes.

    Raises FlightPlanError that names the field's path within the update.
    """
    try:
        update = PlanUpdate.model_validate(dict(updates))
    except ValidationError as error:
        raise plan_error(error, PlanUpdate) from None
    changed: dict[str, Any] = {}
    if update.says("budget"):
        changed["budget"] = update.budget or FlightPlan.model_fields["budget"].default
    if update.says("focus"):
        changed["focus"] = _changed_focus(plan.focus, update.focus)
    if update.says("verbosity"):
        changed["verbosity"] = _changed_rules(plan.verbosity, update.verbosity)
    if update.says("custom_queries"):
        changed["custom_queries"] = _changed_queries(plan.custom_queries, update.custom_queries)
    try:
        new = FlightPlan.model_validate({**plan.__dict__, **changed})
    except ValidationError as error:
        raise plan_error(error, FlightPlan) from None
    return compare_plans(plan, new)


def compare_plans(old: FlightPlan, new: FlightPlan) -> PlanChange:
    """Say what changed from one plan to another."""
    from repo_map.plans.diff import diff_plans  # noqa: PLC0415 - the diff is written in terms of this module

    diff, lines = diff_plans(old, new)
    return PlanChange(new, diff, lines)


def _changed_focus(old: Focus | None, update: FocusUpdate | None) -> Focus | None:
    if update is None:
        return None
    old = old or Focus()
    paths, symbols = list(old.paths), list(old.symbols)
    if update.paths is None:
        paths = []
    if update.symbols is None:
        symbols = []
    for path in update.paths or ():
        boost = PathBoost(pattern=path.pattern, weight=path.weight) if path.weight else None
        _put(paths, boost, lambda item, p=path: item.pattern == p.pattern)  # type: ignore[misc]
    for symbol in update.symbols or ():
        named = SymbolBoost(name=symbol.name, weight=symbol.weight) if symbol.weight else None
        _put(symbols, named, lambda item, s=symbol: item.name == s.name)  # type: ignore[misc]
    return Focus(paths=tuple(paths), symbols=tuple(symbols)) if paths or symbols else None


def _changed_rules(
    old: Sequence[VerbosityRule], updates: Sequence[RuleUpdate] | None
) -> tuple[VerbosityRule, ...]:
    rules = list(old) if updates is not None else []
    for position, update in enumerate(updates or ()):
        before = next((rule for rule in reversed(rules) if rule.pattern == update.pattern), None)
        if before is None and not update.model_fields_set & {"level", "sections"}:
            raise FlightPlanError(f"`verbosity[{position}]` is a new rule; it needs `level` or `sections`.")
        _put(rules, _changed_rule(before, update), lambda rule, u=update: rule.pattern == u.pattern)  # type: ignore[misc]
    return tuple(rules)


def _changed_rule(old: VerbosityRule | None, update: RuleUpdate) -> VerbosityRule | None:
    if update.says("level") and update.level is None and not update.says("sections"):
        return None
    level = update.level if update.says("level") or old is None else old.level
    sections = list(old.sections) if old and update.sections is not None else []
    for change in update.sections or ():
        key = (change.pattern, change.lines)
        section = None
        if change.level is not None:
            section = SectionRule(pattern=change.pattern, lines=change.lines, level=change.level)
        _put(sections, section, lambda item, k=key: (item.pattern, item.lines) == k)  # type: ignore[misc]
    if level is None and not sections:
        return None
    return VerbosityRule(pattern=update.pattern, level=level, sections=tuple(sections))


def _changed_queries(
    old: Sequence[CustomQuery], updates: Sequence[QueryUpdate] | None
) -> tuple[CustomQuery, ...]:
    queries = list(old) if updates is not None else []
    for update in updates or ():
        if update.query is None:
            queries = [query for query in queries if query.pattern != update.pattern]
            continue
        query = None
        if update.level is not None:
            query = CustomQuery(pattern=update.pattern, query=update.query, level=update.level)
        _put(queries, query, lambda q, u=update: (q.pattern, q.query) == (u.pattern, u.query))  # type: ignore[misc]
    return tuple(queries)


def _put(items: list[_Item], new: _Item | None, is_same: Callable[[_Item], bool]) -> None:
    """Replace the last item that is the same in its place, or append; None removes every such item."""
    places = [place for place, item in enumerate(items) if is_same(item)]
    if new is None:
        items[:] = [item for item in items if not is_same(item)]
    elif places:
        items[places[-1]] = new
    else:
        items.append(new)
