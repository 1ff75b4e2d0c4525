"""Exclusions: the files and parts that a plan puts at level 0, and how its changes keep to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from repo_map import globs
from repo_map.outline.select import files_named
from repo_map.plan.model import FlightPlan, SectionRule, VerbosityRule

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.ranking.score import Relevance, ScoredUnit


def excluded(index: Index, plan: FlightPlan) -> NDArray[np.bool_]:
    """Return which files the last rule that names them puts at level 0, shape (files,)."""
    out = np.zeros(len(index.paths), dtype=bool)
    for rule in plan.verbosity:
        out[files_named(index, rule.pattern)] = rule.level == 0
    return out


def included_paths(index: Index, plan: FlightPlan) -> list[str]:
    """Return the files that a plan does not leave out."""
    return _paths_of(index, ~excluded(index, plan))


def _paths_of(index: Index, files: NDArray[np.bool_]) -> list[str]:
    return [index.paths[file] for file in np.flatnonzero(files).tolist()]


def excluded_by(plan: FlightPlan, path: str) -> str:
    """Return the pattern of the rule that leaves a file out, ``""`` where none does."""
    rule = _deciding(plan, path)
    return rule.pattern if rule is not None and rule.level == 0 else ""


def hides(plan: FlightPlan, path: str, name: str) -> bool:
    """Say whether a plan leaves out a file, or the definition of a qualified name in it."""
    return bool(excluded_by(plan, path)) or _names(parts_excluded(plan, path), name)


def parts_excluded(plan: FlightPlan, path: str) -> tuple[SectionRule, ...]:
    """Return the sections at level 0, by name, of the rule that decides a file."""
    rule = _deciding(plan, path)
    return _zero_sections(rule) if rule is not None else ()


def without_excluded(index: Index, relevance: Relevance, own: FlightPlan) -> Relevance:
    """Return the scores of the files that ``own`` lets in, and of their units."""
    paths = set(_paths_of(index, excluded(index, own)))
    parts = {}
    if any(_zero_sections(rule) for rule in own.verbosity):
        parts = {unit.path: parts_excluded(own, unit.path) for unit in relevance.units}

    def is_in(unit: ScoredUnit) -> bool:
        return unit.path not in paths and not _names(parts.get(unit.path, ()), unit.name)

    if not paths and not parts:
        return relevance
    return relevance._replace(
        files=tuple(file for file in relevance.files if file.path not in paths),
        units=tuple(filter(is_in, relevance.units)),
        spelt=tuple(filter(is_in, relevance.spelt)),
    )


def with_exclusions_of(index: Index, plan: FlightPlan, own: FlightPlan) -> FlightPlan:
    """Return ``plan`` with everything left out that ``own`` leaves out, whatever its other rules say.

    Of several rules the last one holds, so the exclusions that are needed come last. Rules that name nothing
    else are dropped.
    """
    plan = _keep_parts_out(index, plan, own)
    out = excluded(index, own)
    back = out & ~excluded(index, plan)
    if not back.any():
        return plan
    patterns: list[str] = []
    for rule in own.verbosity:
        named = files_named(index, rule.pattern)
        if rule.level == 0 and back[named].any() and out[named].all():
            patterns.append(rule.pattern)
            back[named] = False
    # The rest is what a rule leaves out that other rules of the same plan make exceptions from.
    patterns += globs.globs_covering(_paths_of(index, back), set(_paths_of(index, ~out)))
    kept = [
        rule
        for rule in plan.verbosity
        if rule.pattern not in patterns
        and (rule.level == 0 or not len(named := files_named(index, rule.pattern)) or not out[named].all())
    ]
    last = [VerbosityRule(pattern=pattern, level=0) for pattern in patterns]
    return plan.model_copy(update={"verbosity": (*kept, *last)})


def readmitted_files(index: Index, plan: FlightPlan, own: FlightPlan) -> list[str]:
    """Return the files that ``own`` leaves out and ``plan`` would show, in path order."""
    return _paths_of(index, excluded(index, own) & ~excluded(index, plan))


def _keep_parts_out(index: Index, plan: FlightPlan, own: FlightPlan) -> FlightPlan:
    """Return ``plan`` with the parts hidden that ``own`` hides, in the rules that show their files."""
    if not any(_zero_sections(rule) for rule in own.verbosity):
        return plan
    rules = []
    for rule in plan.verbosity:
        path = globs.plain(rule.pattern)
        hidden = parts_excluded(own, path) if index.file_id(path) is not None else ()
        if hidden and rule.level != 0:
            names = {section.pattern for section in hidden}
            # Of several sections that name a part the last one holds.
            sections = (*(each for each in rule.sections if each.pattern not in names), *hidden)
            rule = rule.model_copy(update={"sections": sections})  # noqa: PLW2901
        rules.append(rule)
    return plan.model_copy(update={"verbosity": tuple(rules)})


def _deciding(plan: FlightPlan, path: str) -> VerbosityRule | None:
    return next((rule for rule in reversed(plan.verbosity) if globs.matches(rule.pattern, path)), None)


def _zero_sections(rule: VerbosityRule) -> tuple[SectionRule, ...]:
    return tuple(section for section in rule.sections if section.level == 0 and section.pattern)


def _names(sections: Sequence[SectionRule], name: str) -> bool:
    """Say whether one of the sections names a definition, by its qualified name or the last part of it."""
    leaf = name.rpartition(".")[2]
    return any(
        (match := globs.compile_name(section.pattern or "").fullmatch)(name) or match(leaf)
        for section in sections
        if name
    )
