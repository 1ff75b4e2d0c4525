"""What a plan already asks for: its wishes hold, and packing adds to them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from repo_map import globs
from repo_map.flight_plan import FlightPlan, SectionRule, VerbosityRule
from repo_map.pricing.estimates import file_level_costs
from repo_map.selection.select import files_named

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_EVERYTHING = frozenset({"**", "**/*", "*"})


class Base:
    """The rules and boosts of the plan that packing starts from."""

    def __init__(self, plan: FlightPlan | None) -> None:
        self.plan = plan or FlightPlan()
        self.rules = tuple(rule for rule in self.plan.verbosity if rule.pattern not in _EVERYTHING)
        """Rules that say something of particular files; those for every file are what packing replaces."""
        self._boosts = self.plan.focus.paths if self.plan.focus else ()
        self._symbols = (
            {boost.name: boost.weight for boost in self.plan.focus.symbols} if self.plan.focus else {}
        )

    def rule_of(self, path: str) -> VerbosityRule | None:
        """Return the rule that decides a file."""
        return next((rule for rule in reversed(self.rules) if globs.matches(rule.pattern, path)), None)

    def excludes(self, path: str) -> bool:
        """Say whether the plan wants a file left out."""
        rule = self.rule_of(path)
        return rule is not None and rule.level == 0 and not rule.sections

    def settles(self, path: str) -> bool:
        """Say whether the plan gives a file, named alone, one level in all: packing adds nothing to it."""
        rule = self.rule_of(path)
        return rule is not None and not rule.sections and globs.plain(rule.pattern) == path

    def weight(self, path: str, name: str = "") -> float:
        """Return the boost of a file, or of a symbol in it: 1 where there is none."""
        weights = [boost.weight for boost in self._boosts if globs.matches(boost.pattern, path)]
        symbol = self._symbols.get(name, self._symbols.get(name.rpartition(".")[2], 1.0)) if name else 1.0
        return max(weights, default=1.0) * symbol

    def files(self, index: RepoIndex) -> list[str]:
        """Return the files that rules name one by one and show, in the order of the rules."""
        ids = {path: index.file_id(path) for path in map(globs.plain, (rule.pattern for rule in self.rules))}
        return [path for path, file_id in ids.items() if file_id is not None and not self.excludes(path)]

    def price(self, index: RepoIndex) -> int:
        """Return the estimated tokens of the files that rules for several files show by their level."""
        levels = np.zeros(len(index.paths), np.int64)
        for rule in self.rules:
            single = index.file_id(globs.plain(rule.pattern)) is not None
            levels[files_named(index, rule.pattern)] = (
                0 if single else 1 if rule.level is None else rule.level
            )
        return int(file_level_costs(index)[np.arange(len(levels)), levels].sum())

    def general_rules(self, packed: Iterable[str]) -> list[VerbosityRule]:
        """Return the rules that packing does not take over into its own, in their order."""
        own = {globs.escape(path) for path in packed} | set(packed)
        return [rule for rule in self.rules if rule.pattern not in own]

    def merged(self, path: str, rule: VerbosityRule) -> VerbosityRule:
        """Return a packed rule with what the plan asks of the same file."""
        wanted = self.rule_of(path)
        if wanted is not None and self.settles(path):
            return wanted
        if wanted is None or rule.level == 4:
            return rule
        if wanted.pattern not in (path, rule.pattern):
            return rule.model_copy(update={"level": max(rule.level or 1, wanted.level or 1)})
        level = max(1 if wanted.level is None else wanted.level, rule.level or 1)
        return rule.model_copy(update={"level": level, "sections": _joined(rule.sections, wanted.sections)})


def _joined(packed: Iterable[SectionRule], wanted: Iterable[SectionRule]) -> tuple[SectionRule, ...]:
    """Return both; of two sections of one name or range the wanted one holds."""
    by_part = {(section.pattern, section.lines): section for section in (*packed, *wanted)}
    return tuple(by_part.values())
