"""Partial updates of plans: rules added, replaced by pattern, or removed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from repo_map.errors import FlightPlanError
from repo_map.plan.diff import PlanChange, compare_plans
from repo_map.plan.errors import plan_error
from repo_map.plan.model import (
    CustomQuery,
    FlightPlan,
    Focus,
    Glob,
    Level,
    Lines,
    Name,
    PathBoost,
    Query,
    SectionRule,
    SymbolBoost,
    VerbosityRule,
    Weight,
    Why,
    mask_strings,
    require_one_part,
)
from repo_map.plan.sizes import MOST_UPDATES, refuse_floods

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

    name: Name
    weight: Weight | None = 1.0


class FocusUpdate(_Update):
    """Changes to the focus; a list of null removes all its boosts."""

    paths: tuple[PathBoostUpdate, ...] | None = ()
    symbols: tuple[SymbolBoostUpdate, ...] | None = ()


class SectionUpdate(_Update):
    """Adds or replaces the section with this ``pattern`` or these ``lines``; a level of null removes it."""

    pattern: Name | None = None
    lines: Lines | None = None
    level: Level | None
    why: Why | None = None

    @model_validator(mode="after")
    def _names_one_part(self) -> Self:
        require_one_part(self.pattern, self.lines)
        return self


class RuleUpdate(_Update):
    """Adds or replaces the rule of ``pattern``, in its place; what it does not mention stays.

    A level of null without ``sections`` removes the rule; sections of null remove its sections.
    """

    pattern: Glob
    level: Level | None = None
    sections: tuple[SectionUpdate, ...] | None = ()
    why: Why | None = None


class QueryUpdate(_Update):
    """Adds or replaces the level of a custom query; a query of null removes all queries of ``pattern``."""

    pattern: Glob
    query: Query | None
    level: Level | None = 4
    """Null removes the query."""


class PlanUpdate(_Update):
    """A partial flight plan; what it does not mention stays, null brings back the default."""

    budget: int | None = Field(default=None, gt=0)
    focus: FocusUpdate | None = None
    verbosity: tuple[RuleUpdate, ...] | None = ()
    custom_queries: tuple[QueryUpdate, ...] | None = ()
    line_numbers: bool | None = None
    reasons: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_bounds_and_no_secret(cls, data: Any) -> Any:
        return mask_strings(refuse_floods(data, MOST_UPDATES))


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
    if update.says("line_numbers"):
        changed["line_numbers"] = update.line_numbers
    if update.says("reasons"):
        changed["reasons"] = update.reasons is not False
    try:
        new = FlightPlan.model_validate({**plan.__dict__, **changed})
    except ValidationError as error:
        raise plan_error(error, FlightPlan) from None
    return compare_plans(plan, new)


def _changed_focus(old: Focus | None, update: FocusUpdate | None) -> Focus | None:
    if update is None:
        return None
    old = old or Focus()
    paths = _Items(() if update.paths is None else old.paths, attrgetter("pattern"))
    symbols = _Items(() if update.symbols is None else old.symbols, attrgetter("name"))
    for path in update.paths or ():
        boost = PathBoost(pattern=path.pattern, weight=path.weight) if path.weight else None
        paths.put(path.pattern, boost)
    for symbol in update.symbols or ():
        named = SymbolBoost(name=symbol.name, weight=symbol.weight) if symbol.weight else None
        symbols.put(symbol.name, named)
    focus = Focus(paths=paths.all(), symbols=symbols.all())
    return focus if focus.paths or focus.symbols else None


def _changed_rules(
    old: Sequence[VerbosityRule], updates: Sequence[RuleUpdate] | None
) -> tuple[VerbosityRule, ...]:
    rules = _Items(() if updates is None else old, attrgetter("pattern"))
    for position, update in enumerate(updates or ()):
        before = rules.last(update.pattern)
        if before is None and not update.model_fields_set & {"level", "sections"}:
            raise FlightPlanError(f"`verbosity[{position}]` is a new rule; it needs `level` or `sections`.")
        rules.put(update.pattern, _changed_rule(before, update))
    return rules.all()


def _changed_rule(old: VerbosityRule | None, update: RuleUpdate) -> VerbosityRule | None:
    if update.says("level") and update.level is None and not update.says("sections"):
        return None
    level = update.level if update.says("level") or old is None else old.level
    kept = old.sections if old and update.sections is not None else ()
    sections = _Items(kept, attrgetter("pattern", "lines"))
    for change in update.sections or ():
        section = None
        if change.level is not None:
            section = SectionRule(**change.model_dump())
        sections.put((change.pattern, change.lines), section)
    if level is None and not sections.all():
        return None
    why = update.why if update.says("why") or old is None else old.why
    return VerbosityRule(pattern=update.pattern, level=level, sections=sections.all(), why=why)


def _changed_queries(
    old: Sequence[CustomQuery], updates: Sequence[QueryUpdate] | None
) -> tuple[CustomQuery, ...]:
    queries = _Items(() if updates is None else old, attrgetter("pattern", "query"))
    for update in updates or ():
        if update.query is None:
            for each in queries.all():
                if each.pattern == update.pattern:
                    queries.put((each.pattern, each.query), None)
            continue
        query = None
        if update.level is not None:
            query = CustomQuery(pattern=update.pattern, query=update.query, level=update.level)
        queries.put((update.pattern, update.query), query)
    return queries.all()


class _Items(Generic[_Item]):
    """A list of which any item is found by its key, however long it is; several may have the same key."""

    def __init__(self, items: Iterable[_Item], key: Callable[[_Item], Hashable]) -> None:
        self._items: list[_Item | None] = list(items)
        self._places: defaultdict[Hashable, list[int]] = defaultdict(list)
        for place, item in enumerate(items):
            self._places[key(item)].append(place)

    def last(self, key: Hashable) -> _Item | None:
        """Return the last item with a key, None where there is none."""
        places = self._places.get(key)
        return self._items[places[-1]] if places else None

    def put(self, key: Hashable, new: _Item | None) -> None:
        """Replace the last item with the key in its place, or append; None removes every such item."""
        if new is None:
            for place in self._places.pop(key, ()):
                self._items[place] = None
        elif places := self._places.get(key):
            self._items[places[-1]] = new
        else:
            self._places[key].append(len(self._items))
            self._items.append(new)

    def all(self) -> tuple[_Item, ...]:
        """Return the items in order."""
        return tuple(item for item in self._items if item is not None)
