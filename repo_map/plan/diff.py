"""What differs between two plans, as a partial plan and in words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

from repo_map.plan.levels import level_word
from repo_map.plan.model import CustomQuery, FlightPlan, Focus, SectionRule, VerbosityRule

_Part = TypeVar("_Part")
_Differences = tuple[list[dict[str, Any]], list[str]]
"""The entries of a partial plan, and a line for each."""
_LONGEST_QUERY = 40
"""Characters of a query that a line shows."""


class PlanChange(NamedTuple):
    """A changed plan, and the change in two forms."""

    plan: FlightPlan
    diff: dict[str, Any]
    """The smallest partial plan that makes the same change; empty when nothing changed."""
    lines: tuple[str, ...]
    """One readable line per change: ``src/auth/** outline → source``."""


def compare_plans(old: FlightPlan, new: FlightPlan) -> PlanChange:
    """Say what changed from one plan to another."""
    diff: dict[str, Any] = {}
    lines: list[str] = []
    if old.budget != new.budget:
        diff["budget"] = new.budget
        lines.append(f"budget {old.budget:,} → {new.budget:,}")
    if old.line_numbers != new.line_numbers:
        diff["line_numbers"] = new.line_numbers
        lines.append(f"line numbers {'on' if new.line_numbers else 'off'}")
    if old.reasons != new.reasons:
        diff["reasons"] = new.reasons
        lines.append("reasons told" if new.reasons else "reasons off")
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
    return PlanChange(new, diff, tuple(lines))


def _pairs(
    old: Iterable[_Part], new: Iterable[_Part], key: Callable[[_Part], Any]
) -> list[tuple[_Part | None, _Part | None]]:
    """Return (before, after) of every item that differs: removed ones, changed ones, new ones.

    Those that stay come in their old order, because an update replaces in place and appends what is new.
    """
    before, after = {key(item): item for item in old}, {key(item): item for item in new}
    removed: list[tuple[_Part | None, _Part | None]] = [
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


def _rules_diff(old: Sequence[VerbosityRule], new: Sequence[VerbosityRule]) -> _Differences:
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
    old_why = before.why if before else None
    if old_why != after.why:
        change["why"] = after.why
        lines += [_line(f"{after.pattern} reason", old_why or "", after.why or "")] if not lines else []
    sections: list[dict[str, Any]] = []
    for was, now in _pairs(before.sections if before else (), after.sections, _section_key):
        section = was or now
        assert section is not None
        named = {"pattern": section.pattern} if section.pattern else {"lines": section.lines}
        why = {"why": now.why} if now and now.why else {}
        sections.append({**named, "level": now.level if now else None, **why})
        if was and now and was.level == now.level:
            lines.append(_line(f"{after.pattern} § {_part_of(now)} reason", was.why or "", now.why or ""))
            continue
        label = f"{after.pattern} § {_part_of(section)}"
        lines.append(_line(label, _level(was.level if was else None), _level(now.level if now else None)))
    # Without the key, a level of null would remove the whole rule.
    if sections or ("level" in change and change["level"] is None):
        change["sections"] = sections
    return change, lines


def _part_of(section: SectionRule) -> str:
    return section.pattern or section.lines or ""


def _section_key(section: SectionRule) -> tuple[str | None, str | None]:
    return section.pattern, section.lines


def _queries_diff(old: Sequence[CustomQuery], new: Sequence[CustomQuery]) -> _Differences:
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
    return "" if level is None else level_word(level)


def _line(label: str, before: str, after: str) -> str:
    """Return ``label before → after``, ``+ label after`` for what is new, ``- label`` for what is gone."""
    if before and after:
        return f"{label} {before} → {after}"
    return f"+ {label} {after}" if after else f"- {label}"
