"""Uses of functions that became async, generators, properties, or return another number of values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from repo_map.check.model import Finding, FindingKind
from repo_map.check.trees import TreeComparison
from repo_map.languages.kinds import CODE, MEMBERS
from repo_map.messages import one_line, plural
from repo_map.parsing.facts_model import Site
from repo_map.relations.model import Confidence, Place, RelationKind

_AWAITED: Final = re.compile(r"\bawait\b[^;=]*\Z")
_STATEMENT: Final = re.compile(r"\s*(?:[\w.]+\s*=\s*)?[\w.]*\Z")
"""Precedes a call whose value is assigned, or not used at all."""
_TARGETS: Final = re.compile(r"\s*(?:(?:const|let|var)\s*)?[\[(]?([\w.]+(?:\s*,\s*[\w.]+)+)[\])]?\s*:?=[^=]")
_CHAINED: Final = re.compile(r"\([^()]*\)\s*\.(?:then|catch|finally)\b")
_CALLS: Final = frozenset({RelationKind.CALL, RelationKind.DECORATOR})


class TraitChange(NamedTuple):
    """A function whose traits changed, before and after."""

    before: Place
    after: Place
    gained: frozenset[str]
    lost: frozenset[str]


def changed_traits(trees: TreeComparison) -> list[TraitChange]:
    """Return the functions whose traits changed, those that became fields or were some included."""
    before, after = trees.before, trees.after
    found = [
        TraitChange(old, new, other.traits - one.traits, one.traits - other.traits)
        for old, new, one, other in trees.changed_forms()
        if one.traits != other.traits
    ]
    added: dict[tuple[int | None, str], Place] = {
        (each[0], after.qualified_name(each)): each for each in trees.added
    }
    for old in trees.removed:
        new = added.get((trees.file_after(old[0]), before.qualified_name(old)))
        if new is None or before.definition(old).kind not in CODE | MEMBERS or before.is_local(old):
            continue
        was, now = before.is_function(old), after.is_function(new)
        forms = (*before.forms_of(old), *after.forms_of(new))
        if was != now and not any("property" in each.traits for each in forms):
            names = frozenset({"property"}), frozenset[str]()
            found.append(TraitChange(old, new, *(names if was else reversed(names))))
    return found


def misused_traits(trees: TreeComparison, changes: Sequence[TraitChange]) -> Iterator[Finding]:
    """Yield the unchanged uses that do not fit changed traits, and leave those open that may not."""
    after = trees.after
    for change in changes:
        where, name = after.location(change.after), after.qualified_name(change.after)
        for file, line, site, is_call in _uses(trees, change):
            error, is_sure = _error(trees, change, file, line, site, is_call=is_call)
            if error and is_sure:
                message = f"the use of `{one_line(name)}` does not fit: {error}"
                texts = message, f"use it as it is at {where}"
                yield after.finding(FindingKind.ARGUMENTS, file, line, name, texts, cause=where)
            elif error:
                trees.leave_open(change.after, file, line, error)


def _uses(trees: TreeComparison, change: TraitChange) -> Iterator[tuple[int, int, Site, bool]]:
    """Yield the uses on unchanged lines: file and line after the change, site, and whether it calls."""
    # What reads a field is resolved only once it is a method.
    is_function = trees.before.is_function(change.before)
    tree, target = (trees.before, change.before) if is_function else (trees.after, change.after)
    for use in tree.relations.uses_of(target, Confidence.RESOLVED):
        file, line = use.source[0], use.line
        at = trees.unchanged(file, line) if is_function else (file, line)
        if at is not None and trees.line_before(*at):
            for site in tree.sites(file, line, tree.name(target)):
                yield *at, site, use.kind in _CALLS


def _error(
    trees: TreeComparison, change: TraitChange, file: int, line: int, site: Site, *, is_call: bool
) -> tuple[str, bool]:
    """Return why a use does not fit, ``""`` if it does, and whether that is sure."""
    tree, gained, lost = trees.after, change.gained, change.lost
    text, language = tree.lines(file)[line - 1], tree.language(file)
    parts = re.split(rf"(?<![\w$]){re.escape(site.name)}(?![\w$])", text, maxsplit=1)
    before, behind = parts if len(parts) == 2 else ("", "")
    is_awaited, is_python = _AWAITED.search(before) is not None, language == "python"
    if "property" in gained and is_call:
        return "it is a property now", behind.startswith("(")
    if "property" in lost and not is_call:
        return "it is a method now", not behind.lstrip().startswith("(")
    owner = tree.qualified_name(change.after).rpartition(".")[0].rpartition(".")[2]
    if "static" in lost and owner and site.object.rpartition(".")[2] == owner:
        return "it is no longer static", True
    if "async" in gained and is_call and not is_awaited:
        return "it is async now, and is not awaited", is_python and bool(_STATEMENT.fullmatch(before))
    if "async" in lost and (is_awaited if is_python else _CHAINED.match(behind)):
        return "it is no longer async", False
    if is_call and any(map(str.isdigit, gained | lost)):
        now = next((int(each) for each in gained if each.isdigit()), 1)
        targets = _TARGETS.match(text)
        count = targets[1].count(",") + 1 if targets else 0
        is_sure = count > 1 or language == "go"
        return ("", True) if count == now > 1 else (f"it returns {plural(now, 'value')} now", is_sure)
    if "generator" in gained | lost:
        return "it is a generator now" if "generator" in gained else "it is no longer a generator", False
    return "", True
