"""Changes of a plan, collected into one partial plan."""

from __future__ import annotations

from typing import Any

from repo_map import globs
from repo_map.plan.model import FlightPlan
from repo_map.steering.targets import Target


class PlanChanges:
    """Collects rules and boosts; later wishes win over earlier ones."""

    def __init__(self, plan: FlightPlan, own: FlightPlan) -> None:
        """Start from the whole plan, of which the user asked for ``own``."""
        self._rules: dict[str, dict[str, Any]] = {}
        self._boosts: dict[str, float] = {}
        self._known = {rule.pattern for rule in plan.verbosity}
        self._excluded = {rule.pattern for rule in own.verbosity if rule.level == 0}
        heaviest = max((boost.weight for boost in plan.focus.paths), default=1.0) if plan.focus else 1.0
        self._weight = heaviest + 1.0

    def set_level(self, target: Target, level: int) -> None:
        """Put what a target names at a level."""
        for pattern in target.patterns:
            self._rules.pop(pattern, None)
            self._rules[pattern] = {"pattern": pattern, "level": level, "sections": None}
        for place in target.places:
            self._set_part(place.path, {"pattern": globs.escape(place.name), "level": level})
        for span in target.spans:
            self._set_part(span.path, {"lines": f"{span.first}-{span.last}", "level": level})

    def _set_part(self, path: str, section: dict[str, Any]) -> None:
        pattern = globs.escape(path)
        rule = self._rules.setdefault(pattern, {"pattern": pattern, "sections": []})
        if pattern not in self._known or pattern in self._excluded:
            rule.setdefault("level", 1)
        part = {name: value for name, value in section.items() if name != "level"}
        others = [each for each in rule["sections"] or () if not part.items() <= each.items()]
        rule["sections"] = [*others, section]

    def restore(self, target: Target) -> bool:
        """Take back that files were left out; say whether any were."""
        found = [pattern for pattern in _patterns(target) if pattern in self._excluded]
        for pattern in found:
            self._rules[pattern] = {"pattern": pattern, "level": None}
        return bool(found)

    def boost(self, target: Target) -> None:
        """Make what a target names weigh more than anything so far."""
        for pattern in _patterns(target):
            self._boosts[pattern] = self._weight

    def updates(self) -> dict[str, Any]:
        """Return the partial plan."""
        found: dict[str, Any] = {}
        if self._boosts:
            paths = [{"pattern": pattern, "weight": weight} for pattern, weight in self._boosts.items()]
            found["focus"] = {"paths": paths}
        if self._rules:
            found["verbosity"] = list(self._rules.values())
        return found


def _patterns(target: Target) -> tuple[str, ...]:
    return target.patterns or tuple(map(globs.escape, target.paths))
