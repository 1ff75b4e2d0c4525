"""Partial updates of plans, their JSON schema, and what differs between two plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Annotated, Any, Final, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, model_validator

from repo_map.errors import FlightPlanError
from repo_map.plan.levels import level_label
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
    plan_error,
    prepare_plan,
)

_MAX_QUERY_CHARS: Final = 40
"""Of a query that a line shows."""
_Pair = tuple[Any, Any]
"""An item before and after; None where there is none."""
_Part = TypeVar("_Part", bound=BaseModel)
_UPDATE_FACTOR: Final = 2
"""Entries of an update for each that a plan may have: it may replace all of them."""
_Boost: Final = (Weight | None, 1.0)
_KEYWORDS: Final = ("type", "items", "properties", "required")
"""Keywords of each part; other bounds, defaults and titles are checked, and not in the schema."""
_HIDDEN: Final = frozenset({"why"})
"""A model need not write reasons: they come with what is ranked."""
_MAX_ITEMS: Final = 6
_MAX_TEXT_CHARS: Final = 120
"""A server that enforces the schema cuts a longer text; without it a longer one is accepted."""
_BOUNDS: Final = {"ge": "minimum", "le": "maximum", "minimum": "minimum", "maximum": "maximum"}
"""Of whole numbers, by pydantic's names."""


class PlanChange(NamedTuple):
    """A changed plan, and the change in two forms."""

    plan: FlightPlan
    diff: dict[str, Any]
    """The smallest partial plan that makes the same change; empty if nothing changed."""
    lines: tuple[str, ...]
    """One line per change: ``src/auth/** outline → source``."""


def compare_plans(old: FlightPlan, new: FlightPlan) -> PlanChange:
    """Return what changed from one plan to another."""
    diff: dict[str, Any] = {}
    lines: list[str] = []
    for field, line in (
        ("budget", f"budget {old.budget:,} → {new.budget:,}"),
        ("line_numbers", f"line numbers {'on' if new.line_numbers else 'off'}"),
    ):
        if getattr(old, field) != getattr(new, field):
            diff[field] = getattr(new, field)
            lines.append(line)
    focus: dict[str, Any] = {}
    for field, key in (("paths", "pattern"), ("symbols", "name")):
        one, other = (getattr(plan.focus or Focus(), field) for plan in (old, new))
        for before, after in _pairs(one, other, (key,)):
            name = getattr(before or after, key)
            focus.setdefault(field, []).append({key: name, "weight": _of(after, "weight")})
            weights = (f"×{each.weight:g}" if each else "" for each in (before, after))
            lines.append(_line(f"focus {name}", *weights))
    if focus:
        diff["focus"] = focus
    for before, after in _pairs(old.verbosity, new.verbosity, ("pattern",)):
        update, rule_lines = _compare_rules(before, after)
        diff.setdefault("verbosity", []).append(update)
        lines += rule_lines
    for before, after in _pairs(old.custom_queries, new.custom_queries, ("pattern", "query")):
        query = before or after
        update = {"pattern": query.pattern, "query": query.query, "level": _of(after, "level")}
        diff.setdefault("custom_queries", []).append(update)
        text = " ".join(query.query.split())
        shown = text if len(text) <= _MAX_QUERY_CHARS else f"{text[:_MAX_QUERY_CHARS]}…"
        lines.append(_line(f"query {query.pattern} {shown}", _label(before), _label(after)))
    return PlanChange(new, diff, tuple(lines))


def _pairs(old: Sequence[BaseModel], new: Sequence[BaseModel], keys: Sequence[str]) -> list[_Pair]:
    """Return the items that differ: removed ones, changed ones in their old order, new ones."""
    before, after = (
        {tuple(getattr(each, key) for key in keys): each for each in items} for items in (old, new)
    )
    removed: list[_Pair] = [(each, None) for key, each in before.items() if key not in after]
    changed = [(each, after[key]) for key, each in before.items() if key in after and after[key] != each]
    return [*removed, *changed, *((None, each) for key, each in after.items() if key not in before)]


def _compare_rules(
    before: VerbosityRule | None, after: VerbosityRule | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the update that turns a rule into another, and its lines."""
    if after is None:
        pattern = before.pattern if before else ""
        return {"pattern": pattern, "level": None}, [_line(pattern, "rule", "")]
    changed = {name: now for name in ("level", "why") if (now := getattr(after, name)) != _of(before, name)}
    lines = []
    if "level" in changed:
        lines.append(_line(after.pattern, _label(before), _label(after)))
    elif "why" in changed:
        lines.append(_line(f"{after.pattern} reason", _of(before, "why") or "", after.why or ""))
    sections = []
    for was, now in _pairs(before.sections if before else (), after.sections, ("pattern", "lines")):
        named = (was or now).model_dump(exclude_none=True, include={"pattern", "lines"})
        why = {"why": now.why} if now and now.why else {}
        sections.append({**named, "level": _of(now, "level"), **why})
        label = f"{after.pattern} § {named.get('pattern') or named['lines']}"
        if was and now and was.level == now.level:
            lines.append(_line(f"{label} reason", was.why or "", now.why or ""))
        else:
            lines.append(_line(label, _label(was), _label(now)))
    update = {"pattern": after.pattern, **changed}
    # Without the key, a level of null would remove the whole rule.
    if sections or update.get("level", 0) is None:
        update["sections"] = sections
    return update, lines


def _of(part: BaseModel | None, field: str) -> Any:
    """Return a field of a part, None without the part."""
    return None if part is None else getattr(part, field)


def _label(part: Any) -> str:
    """Return the name of the level of a rule, section or query, ``""`` without one."""
    level = _of(part, "level")
    return "" if level is None else level_label(level)


def _line(label: str, before: str, after: str) -> str:
    """Return ``label before → after``, ``+ label after`` for a new part, ``- label`` for a removed one."""
    if before and after:
        return f"{label} {before} → {after}"
    return f"+ {label} {after}" if after else f"- {label}"


class _Update(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


def _update_model(model: type[BaseModel], base: type[BaseModel] = _Update, **changed: Any) -> type[BaseModel]:
    """Return a model for updates of a part of a plan, with some fields changed: those where null removes."""
    fields = {name: (info.annotation, info) for name, info in model.model_fields.items()}
    return create_model(f"{model.__name__}Update", __base__=base, **(fields | changed))


def _at_most(limit: int, part: Any) -> Any:
    """Return the type of a list of updates, of which there may be more than of parts."""
    return Annotated[tuple[part, ...], Field(max_length=limit * _UPDATE_FACTOR)] | None


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

    @model_validator(mode="before")
    @classmethod
    def _prepare(cls, data: Any) -> Any:
        return prepare_plan(data, MAX_SECTIONS * _UPDATE_FACTOR)


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
        for field in ("budget", "line_numbers")
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
    # A level for the whole file takes the place of its parts.
    is_whole = update.get("level") is not None and "sections" not in update
    sections = _merge(
        old.sections if old and not is_whole else (),
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
