"""What a plan asks for in vain: names that the tree does not have, and parts of files that it leaves out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from repo_map import globs
from repo_map.arrays import distinct
from repo_map.graph.pagerank import files_defining
from repo_map.messages import plural
from repo_map.outline.exclusions import excluded
from repo_map.outline.sections import Parts, captures_nothing, line_range
from repo_map.outline.select import files_named
from repo_map.sources.file_kinds import PATH_ONLY

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.plan.model import FlightPlan, VerbosityRule

_WILD = re.compile(r"[*?\[{]")
_ALIKE = 0.75
_MOST_TOLD = 12
_MOST_SEARCHED = 200
"""Files of a rule whose parts are looked through; a rule for more is not judged."""

_Miss = tuple[str, Callable[[], str]]
"""A sentence on a part of a plan that has no effect, and what finds the name that was probably meant."""


def find_unmatched(index: Index, plan: FlightPlan) -> tuple[str, ...]:
    """Return a sentence for each part of a plan that names nothing in the tree, with what is near."""
    found = list(dict(_misses(index, plan)).items())
    message = [
        f"{sentence} Nearest: `{name}`." if (name := nearest()) else sentence
        for sentence, nearest in found[:_MOST_TOLD]
    ]
    more = len(found) - len(message)
    rest = f"{plural(more, 'more part')} of the plan {'names' if more == 1 else 'name'} nothing."
    return (*message, *([rest] if more else []))


def _misses(index: Index, plan: FlightPlan) -> Iterator[_Miss]:
    boosts = plan.focus.paths if plan.focus else ()
    for pattern in (each.pattern for part in (plan.verbosity, boosts, plan.custom_queries) for each in part):
        if not files_named(index, pattern).size:
            yield f"No file matches `{pattern}`.", partial(_nearest_pattern, pattern, index.paths)
    for symbol in plan.focus.symbols if plan.focus else ():
        if not len(files_defining(index, symbol.name)):
            yield f"No file defines `{symbol.name}`.", partial(_nearest_symbol, index, symbol.name)
    yield from _without_effect(index, plan)


def _without_effect(index: Index, plan: FlightPlan) -> Iterator[_Miss]:
    """Yield what names files and shows nothing of them."""
    out = excluded(index, plan)
    if len(out) and out.all():
        yield "The plan leaves out every file: of the rules that match one, the last one holds.", str
    for rule in plan.verbosity:
        if rule.level == 0 and rule.sections:
            yield f"Level 0 leaves out `{rule.pattern}` with its sections; level 1 shows them.", str
        elif rule.sections:
            yield from _sections_without_parts(index, rule)
    for position, query in enumerate(plan.custom_queries):
        named = files_named(index, query.pattern)
        if named.size and out[named].all():
            yield f"`custom_queries[{position}]` draws nothing: the plan leaves out `{query.pattern}`.", str
        elif named.size and captures_nothing(index, query, position):
            yield f"`custom_queries[{position}]` captures nothing in the files of `{query.pattern}`.", str


def _sections_without_parts(index: Index, rule: VerbosityRule) -> Iterator[_Miss]:
    files = [
        i for i in files_named(index, rule.pattern).tolist() if not index.files.flags[i] & int(PATH_ONLY)
    ]
    if not 0 < len(files) <= _MOST_SEARCHED:
        return
    parts = [Parts(index.definitions(file_id)) for file_id in files]
    longest = int(index.files.lines[files].max())
    for section in rule.sections:
        if section.lines:
            if line_range(section.lines).first > longest:
                yield f"No file of `{rule.pattern}` has lines {section.lines}.", str
        elif not any(each.named(section.pattern or "") for each in parts):
            names = sorted({name for each in parts for name in each.names})
            message = f"No part of `{rule.pattern}` is called `{section.pattern}`."
            yield message, partial(_nearest, section.pattern or "", names)


def _nearest_pattern(pattern: str, paths: Sequence[str]) -> str:
    fixed = _WILD.split(pattern)[0].rstrip("/")
    # Every folder and every file.
    known = {name for path in paths for name in accumulate(path.split("/"), "{}/{}".format)}
    near = _nearest(fixed, sorted(known))
    near_pattern = f"{near}{pattern[len(fixed) :]}"
    return near_pattern if near and globs.select(near_pattern, paths) else ""


def _nearest_symbol(index: Index, name: str) -> str:
    leaf = name.rpartition(".")[2]
    names = index.strings.many(distinct(index.symbols.name))
    # Among names that begin alike: to compare with all of a large tree would take a second.
    return _nearest(leaf, [each for each in names if each[:1].lower() == leaf[:1].lower()])


def _nearest(name: str, known: Sequence[str]) -> str:
    """Return the name that ``name`` is most likely meant to be, ``""`` for none."""
    same = next((each for each in known if each.lower() == name.lower()), "")
    found = difflib.get_close_matches(name, known, 1, _ALIKE)
    return same or (found[0] if found else "")
