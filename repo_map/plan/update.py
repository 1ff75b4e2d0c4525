"""Partial updates and differences of plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from repo_map.errors import FlightPlanError
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
    mask_strings,
)
from repo_map.plan.sizes import MOST_UPDATES, refuse_floods
from repo_map.plan.yaml import plan_error

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
    query: Query | None
    level: Level | None = 4
    """Null removes the query."""


class PlanUpdate(_Update):
    """A partial flight plan; what it does not mention stays, null brings back the default."""

    budget: int | None = Field(default=None, gt=0)
    focus: FocusUpdate | None = None
    verbosity: tuple[RuleUpdate, ...] | None = ()
    custom_queries: tuple[QueryUpdate, ...] | None = ()

    @model_validator(mode="before")
    @classmethod
    def _has_bounds_and_no_secret(cls, data: Any) -> Any:
        return mask_strings(refuse_floods(data, MOST_UPDATES))


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

    diff, lines = diff_plans(old, new)
    return PlanChange(new, diff, lines)


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
            section = SectionRule(pattern=change.pattern, lines=change.lines, level=change.level)
        sections.put((change.pattern, change.lines), section)
    if level is None and not sections.all():
        return None
    return VerbosityRule(pattern=update.pattern, level=level, sections=sections.all())


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


_Listed = TypeVar("_Listed")
_Found = tuple[list[dict[str, Any]], list[str]]
_LONGEST_QUERY = 40


def diff_plans(old: FlightPlan, new: FlightPlan) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the smallest partial plan that turns ``old`` into ``new``, and one readable line per change."""
    diff: dict[str, Any] = {}
    lines: list[str] = []
    if old.budget != new.budget:
        diff["budget"] = new.budget
        lines.append(f"budget {old.budget:,} → {new.budget:,}")
    focus, more = _focus_diff(old.focus or Focus(), new.focus or Focus())
    if focus:
        diff["focus"] = focus
        lines += more
    for field, changes in (
        ("verbosity", _rules_diff(old.verbosity, new.verbosity)),
        ("custom_queries", _queries_diff(old.custom_queries, new.custom_queries)),
    ):
        if changes[0]:
            diff[field] = changes[0]
            lines += changes[1]
    return diff, tuple(lines)


def _pairs(
    old: Iterable[_Listed], new: Iterable[_Listed], key: Callable[[_Listed], Any]
) -> list[tuple[_Listed | None, _Listed | None]]:
    """Return (before, after) of every item that differs: removed ones, changed ones, new ones.

    Those that stay come in their old order, because an update replaces in place and appends what is new.
    """
    before, after = {key(item): item for item in old}, {key(item): item for item in new}
    removed: list[tuple[_Listed | None, _Listed | None]] = [
        (item, None) for k, item in before.items() if k not in after
    ]
    changed = [(item, after[k]) for k, item in before.items() if k in after and after[k] != item]
    return removed + changed + [(None, item) for k, item in after.items() if k not in before]


def _focus_diff(old: Focus, new: Focus) -> tuple[dict[str, Any], list[str]]:
    diff: dict[str, Any] = {}
    lines: list[str] = []
    for field, name in (("paths", "pattern"), ("symbols", "name")):
        changes = []
        for before, after in _pairs(getattr(old, field), getattr(new, field), attrgetter(name)):
            label = getattr(before or after, name)
            changes.append({name: label, "weight": after.weight if after else None})
            lines.append(_line(f"focus {label}", _weight(before), _weight(after)))
        if changes:
            diff[field] = changes
    return diff, lines


def _weight(boost: Any) -> str:
    return f"×{boost.weight:g}" if boost else ""


def _rules_diff(old: Sequence[VerbosityRule], new: Sequence[VerbosityRule]) -> _Found:
    changes: list[dict[str, Any]] = []
    lines: list[str] = []
    for before, after in _pairs(old, new, lambda rule: rule.pattern):
        if after is None:
            assert before is not None
            changes.append({"pattern": before.pattern, "level": None})
            lines.append(_line(before.pattern, "rule", ""))
            continue
        change, more = _rule_diff(before, after)
        changes.append(change)
        lines += more
    return changes, lines


def _rule_diff(before: VerbosityRule | None, after: VerbosityRule) -> tuple[dict[str, Any], list[str]]:
    change: dict[str, Any] = {"pattern": after.pattern}
    lines: list[str] = []
    old_level = before.level if before else None
    if old_level != after.level:
        change["level"] = after.level
        lines.append(_line(after.pattern, _level(old_level), _level(after.level)))
    sections: list[dict[str, Any]] = []
    for was, now in _pairs(before.sections if before else (), after.sections, _section_key):
        section = was or now
        assert section is not None
        named = {"pattern": section.pattern} if section.pattern else {"lines": section.lines}
        sections.append({**named, "level": now.level if now else None})
        label = f"{after.pattern} § {section.pattern or section.lines}"
        lines.append(_line(label, _level(was.level if was else None), _level(now.level if now else None)))
    # Without the key, a level of null would remove the whole rule.
    if sections or ("level" in change and change["level"] is None):
        change["sections"] = sections
    return change, lines


def _section_key(section: SectionRule) -> tuple[str | None, str | None]:
    return section.pattern, section.lines


def _queries_diff(old: Sequence[CustomQuery], new: Sequence[CustomQuery]) -> _Found:
    changes: list[dict[str, Any]] = []
    lines: list[str] = []
    for before, after in _pairs(old, new, lambda query: (query.pattern, query.query)):
        query = before or after
        assert query is not None
        changes.append(
            {"pattern": query.pattern, "query": query.query, "level": after.level if after else None}
        )
        text = " ".join(query.query.split())
        shown = text if len(text) <= _LONGEST_QUERY else f"{text[:_LONGEST_QUERY]}…"
        lines.append(
            _line(
                f"query {query.pattern} {shown}",
                _level(before.level if before else None),
                _level(after.level if after else None),
            )
        )
    return changes, lines


def _level(level: int | None) -> str:
    return "" if level is None else str(level)


def _line(label: str, before: str, after: str) -> str:
    """Return ``label before → after``, ``+ label after`` for what is new, ``- label`` for what is gone."""
    if before and after:
        return f"{label} {before} → {after}"
    return f"+ {label} {after}" if after else f"- {label}"
