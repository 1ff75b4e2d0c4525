"""What differs between two plans, as a partial plan and in lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from repo_map.plan.levels import level_label
from repo_map.plan.model import FlightPlan, Focus, VerbosityRule

_MAX_QUERY_CHARS: Final = 40
"""Of a query that a line shows."""
_Pair = tuple[Any, Any]
"""An item before and after; None where there is none."""


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
        ("reasons", "reasons told" if new.reasons else "reasons off"),
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
