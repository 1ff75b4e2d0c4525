"""Uses of functions that became async, generators, properties, or return another number of values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from repo_map.check.model import Finding, FindingKind
from repo_map.check.trees import TreeComparison
from repo_map.languages.kinds import CODE, MEMBERS
from repo_map.messages import first_three, one_line, plural
from repo_map.parsing.facts_model import Site
from repo_map.relations.model import Confidence, Place, RelationKind

_NOW: Final = {
    "async": ("is async now", "is no longer async"),
    "generator": ("is a generator now", "is no longer a generator"),
    "property": ("is a property now", "is a method now"),
    "static": ("is static now", "is no longer static"),
}
"""What is said of a function that gained and of one that lost a trait."""
_AWAITED: Final = re.compile(r"\bawait\b[^;=]*\Z")
_STATEMENT: Final = re.compile(r"\s*(?:[\w.]+\s*=\s*)?[\w.]*\Z")
"""Precedes a call whose value is assigned, or not used at all."""
_TARGETS: Final = re.compile(r"\s*(?:(?:const|let|var)\s*)?[\[(]?([\w.]+(?:\s*,\s*[\w.]+)+)[\])]?\s*:?=[^=]")
_CHAINED: Final = re.compile(r"\([^()]*\)\s*\.(?:then|catch|finally)\b")
_CALLS: Final = frozenset({RelationKind.CALL, RelationKind.DECORATOR})


class _Change(NamedTuple):
    before: Place
    after: Place
    gained: frozenset[str]
    lost: frozenset[str]


class TraitChecker:
    """Finds unchanged uses of functions whose traits changed."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        changed = (
            _Change(old, new, other.traits - one.traits, one.traits - other.traits)
            for old, new, one, other in trees.changed_forms()
            if one.traits != other.traits
        )
        self._changes = [*changed, *self._converted()]
        self._uncertain: dict[_Change, dict[str, None]] = {}
        self.incompatible = tuple(each.after for each in self._changes)
        """The functions, in the tree after."""

    def _converted(self) -> Iterator[_Change]:
        """Yield the methods that became fields, and the fields that became methods."""
        before, after = self._trees.before, self._trees.after
        added: dict[tuple[int | None, str], Place] = {
            (each[0], after.qualified_name(each)): each for each in self._trees.added
        }
        for old in self._trees.removed:
            new = added.get((self._trees.file_after(old[0]), before.qualified_name(old)))
            if new is None or before.definition(old).kind not in CODE | MEMBERS or before.is_local(old):
                continue
            was, now = before.is_function(old), after.is_function(new)
            forms = (*before.forms_of(old), *after.forms_of(new))
            if was != now and not any("property" in each.traits for each in forms):
                names = frozenset({"property"}), frozenset[str]()
                yield _Change(old, new, *(names if was else reversed(names)))

    def find(self) -> Iterator[Finding]:
        after = self._trees.after
        for change in self._changes:
            where, name = after.location(change.after), after.qualified_name(change.after)
            for file, line, site, is_call in self._uses(change):
                error, is_sure = self._error(change, file, line, site, is_call=is_call)
                if error and is_sure:
                    texts = (
                        f"the use of `{one_line(name)}` does not fit: {error}",
                        f"use it as it is at {where}",
                    )
                    yield after.finding(FindingKind.ARGUMENTS, file, line, name, texts, cause=where)
                elif error:
                    self._uncertain.setdefault(change, {})[f"{after.index.paths[file]}:{line}"] = None

    def _uses(self, change: _Change) -> Iterator[tuple[int, int, Site, bool]]:
        """Yield the uses on unchanged lines: file and line after the change, site, and whether it calls."""
        trees = self._trees
        # What reads a field is resolved only once it is a method.
        is_function = trees.before.is_function(change.before)
        tree, target = (trees.before, change.before) if is_function else (trees.after, change.after)
        for use in tree.relations.uses_of(target, Confidence.RESOLVED):
            file, line = use.source[0], use.line
            at = trees.unchanged(file, line) if is_function else (file, line)
            if at is not None and trees.line_before(*at):
                for site in tree.sites(file, line, tree.name(target)):
                    yield *at, site, use.kind in _CALLS

    @property
    def limitations(self) -> Iterator[str]:
        """Uses that may not fit, a sentence for each function."""
        after = self._trees.after
        for change, places in self._uncertain.items():
            now = " and ".join(_describe(change))
            uses = f"{plural(len(places), 'unchanged use')} may not match: {first_three(list(places))}"
            name = one_line(after.qualified_name(change.after))
            yield f"`{name}` {now} ({after.location(change.after)}). {uses}."

    def _error(self, change: _Change, file: int, line: int, site: Site, *, is_call: bool) -> tuple[str, bool]:
        """Return why a use does not fit, ``""`` if it does, and whether that is sure."""
        tree, gained, lost = self._trees.after, change.gained, change.lost
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
        if is_call and (now := _count(change)):
            targets = _TARGETS.match(text)
            count = targets[1].count(",") + 1 if targets else 0
            is_sure = count > 1 or language == "go"
            return ("", True) if count == now > 1 else (f"it returns {plural(now, 'value')} now", is_sure)
        return ("it " + _describe(change)[0], False) if "generator" in gained | lost else ("", True)


def _count(change: _Change) -> int:
    """Return how many values a function returns now; 0 if that did not change."""
    counts = [each for each in (*change.gained, *change.lost) if each.isdigit()]
    return next((int(each) for each in change.gained if each.isdigit()), 1) if counts else 0


def _describe(change: _Change) -> list[str]:
    found = [_NOW[each][0] for each in sorted(change.gained) if each in _NOW]
    found += [_NOW[each][1] for each in sorted(change.lost) if each in _NOW]
    return [*found, f"returns {plural(now, 'value')} now"] if (now := _count(change)) else found
