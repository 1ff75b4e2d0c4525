"""Partial updates of plans: rules are added, replaced by pattern, or removed; and their JSON schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from repo_map.errors import FlightPlanError
from repo_map.plan.diff import PlanChange, compare_plans
from repo_map.plan.model import (
    MAX_BOOSTS,
    MAX_QUERIES,
    MAX_RULES,
    MAX_SECTIONS,
    CustomQuery,
    FlightPlan,
    Focus,
    Level,
    PathBoost,
    Query,
    SectionRule,
    SymbolBoost,
    VerbosityRule,
    Weight,
    check_sections,
    mask_strings,
    plan_error,
)

_Part = TypeVar("_Part", bound=BaseModel)
_UPDATE_FACTOR: Final = 2
"""Entries of an update for each that a plan may have: it may replace all of them."""


class _Update(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


def _update_model(model: type[BaseModel], base: type[BaseModel] = _Update, **changed: Any) -> type[BaseModel]:
    """Return a model for updates of a part of a plan, with some fields changed: those where null removes."""
    fields = {name: (info.annotation, info) for name, info in model.model_fields.items()}
    return create_model(f"{model.__name__}Update", __base__=base, **(fields | changed))


def _at_most(limit: int, part: Any) -> Any:
    """Return the type of a list of updates, of which there may be more than of parts."""
    return Annotated[tuple[part, ...], Field(max_length=limit * _UPDATE_FACTOR)] | None


_Boost: Final = (Weight | None, 1.0)
_PathUpdate: Any = _update_model(PathBoost, weight=_Boost)
_SymbolUpdate: Any = _update_model(SymbolBoost, weight=_Boost)
_FocusUpdate: Any = _update_model(
    Focus,
    paths=(_at_most(MAX_BOOSTS, _PathUpdate), ()),
    symbols=(_at_most(MAX_BOOSTS, _SymbolUpdate), ()),
)
_SectionUpdate: Any = _update_model(SectionRule, SectionRule, level=(Level | None, ...))
_RuleUpdate: Any = _update_model(
    VerbosityRule, level=(Level | None, None), sections=(tuple[_SectionUpdate, ...] | None, ())
)
_QueryUpdate: Any = _update_model(CustomQuery, query=(Query | None, ...), level=(Level | None, 4))


class PlanUpdate(_Update):
    """A partial flight plan; what it does not mention stays, null brings back the default.

    A boost whose weight is null, a query or section whose level is null, and a rule whose level is null and
    that has no sections, are removed. A list of null removes all of its entries, and so does a query of null
    for its pattern.
    """

    budget: int | None = Field(default=None, gt=0)
    focus: _FocusUpdate | None = None
    verbosity: _at_most(MAX_RULES, _RuleUpdate) = ()  # type: ignore[valid-type]
    custom_queries: _at_most(MAX_QUERIES, _QueryUpdate) = ()  # type: ignore[valid-type]
    line_numbers: bool | None = None
    reasons: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_sections_and_secrets(cls, data: Any) -> Any:
        return mask_strings(check_sections(data, MAX_SECTIONS * _UPDATE_FACTOR))


def apply_update(plan: FlightPlan, updates: Mapping[str, Any]) -> PlanChange:
    """Apply a partial plan.

    Raises:
        FlightPlanError: The update, or the plan that it makes, is invalid; names the field's path.
    """
    try:
        update = PlanUpdate.model_validate(dict(updates)).model_dump(exclude_unset=True)
    except ValidationError as error:
        raise plan_error(error, PlanUpdate) from None
    changed: dict[str, Any] = {
        field: FlightPlan.model_fields[field].default if update[field] is None else update[field]
        for field in ("budget", "line_numbers", "reasons")
        if field in update
    }
    if "focus" in update:
        changed["focus"] = _changed_focus(plan.focus, update["focus"])
    if "verbosity" in update:
        known = {rule.pattern for rule in plan.verbosity}
        for at, each in enumerate(update["verbosity"] or ()):
            if each["pattern"] not in known and not each.keys() & {"level", "sections"}:
                raise FlightPlanError(f"`verbosity[{at}]` is a new rule; it needs `level` or `sections`.")
            known.add(each["pattern"])
        changed["verbosity"] = _merge(plan.verbosity, update["verbosity"], ("pattern",), _changed_rule)
    if "custom_queries" in update:
        changed["custom_queries"] = _changed_queries(plan.custom_queries, update["custom_queries"])
    try:
        new = FlightPlan.model_validate({**plan.__dict__, **changed})
    except ValidationError as error:
        raise plan_error(error, FlightPlan) from None
    return compare_plans(plan, new)


def _changed_focus(old: Focus | None, update: Mapping[str, Any] | None) -> Focus | None:
    if update is None:
        return None
    old = old or Focus()
    paths = _merge(old.paths, update.get("paths", ()), ("pattern",), _part(PathBoost, "weight"))
    symbols = _merge(old.symbols, update.get("symbols", ()), ("name",), _part(SymbolBoost, "weight"))
    return Focus(paths=tuple(paths), symbols=tuple(symbols)) if paths or symbols else None


def _part(model: type[_Part], removes: str) -> Callable[[_Part | None, Mapping[str, Any]], _Part | None]:
    """Return what makes a part anew from its update, None if a field of it is null."""
    return lambda _, each: None if each.get(removes, 0) is None else model(**each)


def _changed_rule(old: VerbosityRule | None, update: Mapping[str, Any]) -> VerbosityRule | None:
    if update.get("level", 0) is None and "sections" not in update:
        return None
    sections = _merge(
        old.sections if old else (),
        update.get("sections", ()),
        ("pattern", "lines"),
        _part(SectionRule, "level"),
    )
    level = update.get("level", old.level if old else None)
    if level is None and not sections:
        return None
    why = update.get("why", old.why if old else None)
    return VerbosityRule(pattern=update["pattern"], level=level, sections=tuple(sections), why=why)


def _changed_queries(
    old: Sequence[CustomQuery], updates: Sequence[Mapping[str, Any]] | None
) -> Sequence[CustomQuery]:
    queries: Sequence[CustomQuery] = old if updates is not None else ()
    for update in updates or ():
        if update["query"] is None:
            queries = [each for each in queries if each.pattern != update["pattern"]]
        else:
            queries = _merge(queries, (update,), ("pattern", "query"), _part(CustomQuery, "level"))
    return queries


def _merge(
    old: Sequence[_Part],
    updates: Sequence[Mapping[str, Any]] | None,
    keys: Sequence[str],
    change: Callable[[_Part | None, Mapping[str, Any]], _Part | None],
) -> list[_Part]:
    """Return items with updates applied by key: the last item with the key is replaced, or one is appended.

    ``change`` returns the new item for the old one and the update; None removes every item with the key.
    Updates of None remove all items.
    """
    items: list[_Part | None] = list(old) if updates is not None else []
    positions: defaultdict[Hashable, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        positions[tuple(getattr(item, name) for name in keys)].append(at)
    for update in updates or ():
        own = positions[tuple(update.get(name) for name in keys)]
        new = change(items[own[-1]] if own else None, update)
        if new is None:
            for at in own:
                items[at] = None
            own.clear()
        elif own:
            items[own[-1]] = new
        else:
            own.append(len(items))
            items.append(new)
    return [item for item in items if item is not None]


_KEYWORDS: Final = ("type", "items", "properties", "required")
"""Keywords of each part; other bounds, defaults and titles are checked, and not in the schema."""
_HIDDEN: Final = frozenset({"why"})
"""A model need not write reasons: they come with what is ranked."""
_MAX_ITEMS: Final = 6
_MAX_TEXT_CHARS: Final = 120
"""A server that enforces the schema cuts a longer text; without it a longer one is accepted."""
_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "minimum": "minimum", "maximum": "maximum"}
"""Of whole numbers, by pydantic's names."""


@cache
def _full_schema() -> dict[str, Any]:
    schema = PlanUpdate.model_json_schema()
    return _shorten(schema, schema.get("$defs", {}))


def update_schema(*fields: str) -> dict[str, Any]:
    """Return the schema of what ``apply_update`` takes, without the nulls that remove something.

    Args:
        fields: Fields of the plan; none for all of them.
    """
    schema = deepcopy(_full_schema())
    schema["properties"] = {name: schema["properties"][name] for name in fields or schema["properties"]}
    return schema


def _shorten(part: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if reference := part.get("$ref"):
        return _shorten(definitions[reference.rpartition("/")[2]], definitions)
    if choices := part.get("anyOf"):
        return next(_shorten(each, definitions) for each in choices if each.get("type") != "null")
    found = {name: part[name] for name in _KEYWORDS if name in part}
    if found.get("type") == "string":
        found["maxLength"] = _MAX_TEXT_CHARS
    if found.get("type") == "array":
        found["maxItems"] = _MAX_ITEMS
    if found.get("type") == "integer":
        found |= {name: part[given] for given, name in _BOUNDS.items() if given in part}
    if "items" in found:
        found["items"] = _shorten(found["items"], definitions)
    if "properties" in found:
        properties = found["properties"].items()
        found["properties"] = {
            name: _shorten(each, definitions) for name, each in properties if name not in _HIDDEN
        }
    return found
