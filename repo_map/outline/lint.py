"""What a plan asks for in vain: names that the tree does not have, and parts of files that it leaves out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from repo_map import globs
from repo_map.arrays import distinct
from repo_map.cache import LRUCache
from repo_map.graph.pagerank import files_defining
from repo_map.messages import plural
from repo_map.outline.exclusions import excluded
from repo_map.outline.sections import Parts, captures_nothing, line_range
from repo_map.outline.select import files_named
from repo_map.sources.file_kinds import PATH_ONLY

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan, SectionRule, VerbosityRule

_WILD = re.compile(r"[*?\[{]")
_ALIKE = 0.75
_MOST_TOLD = 12
_MOST_SEARCHED = 200
"""Files of a rule whose parts are looked through; a rule for more is not judged."""
_MOST_REMEMBERED = 4_096
"""Misses whose nearest is remembered."""


class UnmatchedPart(NamedTuple):
    """A part of a plan that has no effect."""

    sentence: str
    nearest: Callable[[], str]
    """Finds what was probably meant, ``""`` for nothing; that takes longer than to see the miss."""


def find_unmatched(index: Index, plan: FlightPlan) -> tuple[str, ...]:
    """Return a sentence for each part of a plan that names nothing in the tree, with what is near."""
    found = list({miss.sentence: miss for miss in _misses(index, plan)}.values())
    message = [
        f"{miss.sentence} Nearest: `{nearest}`." if (nearest := _remembered(index, miss)) else miss.sentence
        for miss in found[:_MOST_TOLD]
    ]
    more = len(found) - len(message)
    rest = f"{plural(more, 'more part')} of the plan {'names' if more == 1 else 'name'} nothing."
    return (*message, *([rest] if more else []))


def _misses(index: Index, plan: FlightPlan) -> Iterator[UnmatchedPart]:
    boosts = plan.focus.paths if plan.focus else ()
    patterns = [*(rule.pattern for rule in plan.verbosity), *(boost.pattern for boost in boosts)]
    for pattern in (*patterns, *(query.pattern for query in plan.custom_queries)):
        if not files_named(index, pattern).size:
            yield UnmatchedPart(
                f"No file matches `{pattern}`.", partial(_nearest_pattern, pattern, index.paths)
            )
    for symbol in plan.focus.symbols if plan.focus else ():
        if not len(files_defining(index, symbol.name)):
            yield UnmatchedPart(
                f"No file defines `{symbol.name}`.", partial(_nearest_symbol, index, symbol.name)
            )
    yield from _left_out(index, plan)
    for rule in plan.verbosity:
        if rule.sections and rule.level != 0:
            yield from _sections_without_parts(index, rule)
    for position, query in enumerate(plan.custom_queries):
        if files_named(index, query.pattern).size and captures_nothing(index, query, position):
            message = f"`custom_queries[{position}]` captures nothing in the files of `{query.pattern}`."
            yield UnmatchedPart(message, str)


def _left_out(index: Index, plan: FlightPlan) -> Iterator[UnmatchedPart]:
    """Yield what has no effect because the plan leaves out the files that it is for."""
    out = excluded(index, plan)
    if len(out) and out.all():
        yield UnmatchedPart(
            "The plan leaves out every file: of the rules that match one, the last one holds.", str
        )
    for rule in plan.verbosity:
        if rule.sections and rule.level == 0:
            yield UnmatchedPart(
                f"Level 0 leaves out `{rule.pattern}` with its sections; level 1 shows them.", str
            )
    for position, query in enumerate(plan.custom_queries):
        named = files_named(index, query.pattern)
        if named.size and out[named].all():
            message = f"`custom_queries[{position}]` draws nothing: the plan leaves out `{query.pattern}`."
            yield UnmatchedPart(message, str)


def _remembered(index: Index, miss: UnmatchedPart) -> str:
    """Return what is nearest, looked for once while the miss is among the latest."""
    known = index.memo(_nearest_known)
    nearest = known.get(miss.sentence)
    if nearest is None:
        nearest = miss.nearest()
        known.put(miss.sentence, nearest)
    return nearest


def _nearest_known(_index: Index) -> LRUCache[str, str]:
    return LRUCache(_MOST_REMEMBERED, lambda _nearest: 1)


def _nearest_pattern(pattern: str, paths: Sequence[str]) -> str:
    fixed = _WILD.split(pattern)[0].rstrip("/")
    found = ""
    for name in fixed.split("/") if fixed else ():
        below = [path[len(found) :].split("/", 1)[0] for path in paths if path.startswith(found)]
        near = name if name in below else _nearest(name, sorted(set(below)))
        if not near:
            # Perhaps the folder is wrong and the file's name right.
            ending = f"/{fixed.rpartition('/')[2]}"
            return next((path for path in paths if path.endswith(ending)), "")
        found += f"{near}/"
    near_pattern = found[:-1] + pattern[len(fixed) :]
    return near_pattern if found and globs.select(near_pattern, paths) else ""


def _nearest_symbol(index: Index, name: str) -> str:
    leaf = name.rpartition(".")[2]
    names = index.strings.many(distinct(index.symbols.name))
    # Among names that begin alike: to compare with all of a large tree would take a second.
    return _nearest(leaf, [each for each in names if each[:1].lower() == leaf[:1].lower()])


def _sections_without_parts(index: Index, rule: VerbosityRule) -> Iterator[UnmatchedPart]:
    files = [
        file_id
        for file_id in files_named(index, rule.pattern)[: _MOST_SEARCHED + 1].tolist()
        if not index.files.flags[file_id] & int(PATH_ONLY)
    ]
    if not files or len(files) > _MOST_SEARCHED:
        return
    unmet = [
        section for section in rule.sections if not any(_is_plainly_met(index, i, section) for i in files)
    ]
    seen: set[str] = set()
    for file_id in files if unmet else ():
        parts = Parts(index.definitions(file_id))
        seen.update(parts.names)
        unmet = [each for each in unmet if not each.pattern or not parts.named(each.pattern)]
    for section in unmet:
        if section.lines:
            yield UnmatchedPart(f"No file of `{rule.pattern}` has lines {section.lines}.", str)
        else:
            message = f"No part of `{rule.pattern}` is called `{section.pattern}`."
            yield UnmatchedPart(message, partial(_nearest, section.pattern or "", sorted(seen)))


def _is_plainly_met(index: Index, file_id: int, section: SectionRule) -> bool:
    """Say whether a file has a range of lines, or a definition of just that qualified name.

    Plans that are packed consist of such sections, so what is looked up is one name, not every definition.
    """
    if section.lines:
        return line_range(section.lines).first <= int(index.files.lines[file_id])
    name = globs.plain(section.pattern or "")
    leaf = index.strings.get(name.rpartition(".")[2])
    if leaf is None:
        return False
    first, end = index.symbols.file_start[file_id : file_id + 2].tolist()
    rows = np.flatnonzero(index.symbols.name[first:end] == leaf).tolist()
    return any(index.qualified_name(file_id, row) == name for row in rows)


def _nearest(name: str, known: Sequence[str]) -> str:
    """Return the name that ``name`` is most likely meant to be, ``""`` for none."""
    same = next((each for each in known if each.lower() == name.lower()), "")
    found = difflib.get_close_matches(name, known, 1, _ALIKE)
    return same or (found[0] if found else "")
