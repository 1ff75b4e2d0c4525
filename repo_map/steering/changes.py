"""Changes to a plan under construction, to come out as one partial plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from repo_map import globs
from repo_map.flight_plan import FlightPlan
from repo_map.steering.targets import Target


class Changes:
    """Collects rules, boosts and the budget; later wishes win over earlier ones."""

    def __init__(self, plan: FlightPlan) -> None:
        self.budget = plan.budget
        self._plan = plan
        self._rules: dict[str, dict[str, Any]] = {}
        self._boosts: dict[str, float] = {}
        known = {rule.pattern for rule in plan.verbosity}
        self._known = known
        self._excluded = {rule.pattern for rule in plan.verbosity if rule.level == 0}
        heaviest = max((boost.weight for boost in plan.focus.paths), default=1.0) if plan.focus else 1.0
        self._weight = heaviest + 1.0

    def set_budget(self, budget: int) -> None:
        self.budget = budget

    def set_level(self, target: Target, level: int) -> None:
        """Put what a target names at a level."""
        for pattern in target.patterns:
            self._rules.pop(pattern, None)
            self._rules[pattern] = {"pattern": pattern, "level": level, "sections": None}
        for place in target.places:
            pattern = globs.escape(place.path)
            rule = self._rules.setdefault(pattern, {"pattern": pattern, "sections": []})
            if pattern not in self._known:
                rule.setdefault("level", 1)
            rule["sections"] = [
                *(
                    section
                    for section in rule["sections"] or ()
                    if section["pattern"] != globs.escape(place.name)
                ),
                {"pattern": globs.escape(place.name), "level": level},
            ]

    def restore(self, target: Target) -> bool:
        """Take back that files were left out; say whether any were."""
        paths = target.patterns or tuple(globs.escape(place.path) for place in target.places)
        found = [pattern for pattern in paths if pattern in self._excluded]
        for pattern in found:
            self._rules[pattern] = {"pattern": pattern, "level": None}
        return bool(found)

    def exclude(self, patterns: Iterable[str]) -> None:
        """Leave files out."""
        for pattern in patterns:
            self._rules[pattern] = {"pattern": pattern, "level": 0, "sections": None}

    def boost(self, target: Target) -> None:
        """Make what a target names weigh more than anything so far."""
        for pattern in target.patterns or tuple(globs.escape(place.path) for place in target.places):
            self._boosts[pattern] = self._weight

    def updates(self) -> dict[str, Any]:
        """Return the partial plan."""
        found: dict[str, Any] = {}
        if self.budget != self._plan.budget:
            found["budget"] = self.budget
        if self._boosts:
            paths = [{"pattern": pattern, "weight": weight} for pattern, weight in self._boosts.items()]
            found["focus"] = {"paths": paths}
        if self._rules:
            found["verbosity"] = list(self._rules.values())
        return found
