"""References to definitions and files that a change removes: resolved before it, resolved again after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from typing import Final

import numpy as np

from repo_map.arrays import distinct
from repo_map.check.model import Finding, FindingKind
from repo_map.check.resolution import WORD, PostChangeResolver, find_prototypes
from repo_map.check.trees import TreeComparison
from repo_map.languages.kinds import CODE, FUNCTIONS, MEMBERS
from repo_map.messages import one_line, plural
from repo_map.parsing.facts_model import EXPORTED, IMPORT, RENAMED, STAR, VALUE, Binding, Site
from repo_map.relations.file_facts import FileViews
from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.text_search import row_at

_MAX_REMOVED: Final = 200
"""Removed definitions whose references are checked."""
_MIN_SIMILARITY: Final = 0.6
"""Similarity of two bodies, 0 to 1, from which on one replaces the other under a new name."""
_MAX_COMPARED_CHARS: Final = 2_000
_MAX_IMPORT_LINES: Final = 60
_END: Final = 1_000_000
"""A line after all that a file binds at its top."""
_IMPORTS: Final = frozenset({IMPORT, RENAMED, EXPORTED})


class RemovedReferences:
    """Finds references that a change leaves without a target."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after
        self._resolver = PostChangeResolver(trees)
        self._replacements: dict[Place, Place | None] = {}
        self._found: dict[tuple[int, int, str], Finding] = {}
        removed = set(trees.removed)
        self.removed = tuple(
            place
            for place in trees.removed
            if self._before.definition(place).kind in CODE
            or (
                self._before.definition(place).kind in MEMBERS
                and (place[0], self._before.definition(place).parent) not in removed
            )
        )
        """The removed definitions, without the members of removed classes."""

    @property
    def limitations(self) -> tuple[str, ...]:
        """Why references may be missing, a sentence each."""
        if len(self.removed) <= _MAX_REMOVED:
            return ()
        count = plural(len(self.removed), "definition")
        return (f"{count} were removed; references to the first {_MAX_REMOVED} were checked.",)

    def find(self) -> Iterator[Finding]:
        """Yield a finding for each line and name."""
        yield from self._imports_of_files()
        for place in self.removed[:_MAX_REMOVED]:
            if self._before.relations.knows(place[0]) and not self._is_still_defined(place):
                self._check_references(place)
        yield from self._found.values()
        yield from self._strings_with_paths()

    # Definitions.

    def _check_references(self, place: Place) -> None:
        """Resolve the references to a definition again."""
        edited: set[tuple[int, str, str]] = set()
        for use in self._before.relations.uses_of(place, Confidence.RESOLVED):
            file = self._trees.file_after(use.source[0])
            if file is None or use.kind is RelationKind.IMPORT:
                continue
            line = self._trees.line_after(use.source[0], use.line)
            for site in self._sites_of(place, use.source[0], use.line):
                if line:
                    self._check_unchanged(place, file, line, site)
                else:
                    edited.add((file, site.name, site.object))
        for file, name, receiver in sorted(edited):
            self._check_edited(place, file, name, receiver)
        self._check_own_file(place)
        self._check_imports(place)
        if self._before.language(place[0]) == "c" and not self._resolver.has_body(place):
            for file, line, _ in find_prototypes(self._after, self._before.name(place)):
                if self._trees.line_before(file, line):
                    self._add(place, file, line, -1)

    def _sites_of(self, place: Place, file: int, line: int) -> Iterator[Site]:
        """Yield the sites of a line that refer to a definition, or have its name in their receiver."""
        name = self._before.name(place)
        for site in self._before.index.memo(FileViews)[file].sites:
            if site.line == line and (
                place in self._before.relations.meaning(file, site).targets
                or re.search(WORD.format(re.escape(name)), site.object)
                or (site.name == name and not site.object)
            ):
                yield site

    def _check_unchanged(self, removed: Place, file: int, line: int, before: Site) -> None:
        """Report a reference on an unchanged line, unless it refers to something now."""
        for site in self._after.index.memo(FileViews)[file].sites:
            is_same = site.line == line and site.name == before.name and site.object == before.object
            if is_same and self._resolver.is_broken(removed, file, site):
                self._add(removed, file, line, site.definition)
                return
        if not before.object:
            self._add_unbound(removed, file, before.name, lambda at: at == line)

    def _check_edited(self, removed: Place, file: int, name: str, receiver: str) -> None:
        """Report references on edited lines that name a removed definition as the lines before did."""
        if not receiver:
            self._add_unbound(removed, file, name, lambda at: not self._trees.line_before(file, at))
        parent = (removed[0], self._before.definition(removed).parent)
        outer = self._trees.matched.get(parent) if self._before.is_local(removed) else None
        for site in self._after.index.memo(FileViews)[file].sites:
            if site.name != name or site.object != receiver or self._trees.line_before(file, site.line):
                continue
            if outer is not None and not self._after.is_within((file, site.definition), outer):
                continue
            if self._resolver.is_broken(removed, file, site):
                self._add(removed, file, site.line, site.definition)

    def _check_own_file(self, place: Place) -> None:
        """Report uses in the file itself that are no sites, mostly within written types."""
        file, name = self._trees.file_after(place[0]), self._before.name(place)
        # Go's methods are at the top too, with the name of their type.
        is_top = "." not in self._before.qualified_name(place) or self._before.is_local(place)
        if file is None or not is_top or self._after.forms(file).errors:
            return
        self._add_unbound(place, file, name)

    def _is_still_defined(self, place: Place) -> bool:
        """Return True if its file still defines the name: another overload, or another branch."""
        file = self._trees.file_after(place[0])
        if file is None:
            return False
        name = self._before.qualified_name(place)
        return any(
            self._after.qualified_name((file, row)) == name and not self._after.is_prototype((file, row))
            for row in range(len(self._after.index.definitions(file)))
        )

    # Imports.

    def _imports_of_files(self) -> Iterator[Finding]:
        """Yield the imports of deleted or renamed files."""
        for each in self._trees.files:
            file = self._trees.old_file(each) if each.old != each.new else None
            if file is None or not self._before.relations.knows(file):
                continue
            now = f"; it is {each.new} now" if each.new else ""
            for use in self._before.relations.importers_of(file):
                at = self._trees.unchanged(use.source[0], use.line)
                if at is None or any(own.line == at[1] for own in self._after.relations.imports_of(at[0])):
                    continue
                yield Finding(
                    FindingKind.REMOVED_NAME,
                    self._after.index.paths[at[0]],
                    at[1],
                    "",
                    each.old,
                    f"it imports {one_line(each.old)}, which was removed{now}",
                    f"import {one_line(each.new)}" if each.new else "remove the import",
                    cause=each.new,
                )

    def _check_imports(self, removed: Place) -> None:
        """Report imports of a definition by name, and its uses in a file whose import was removed."""
        if self._before.definition(removed).parent >= 0:
            return
        name = self._before.name(removed)
        for importer, file, binding in self._importing(removed, name):
            site = Site(binding.name, "", -1, _END, VALUE, 0)
            if self._after.relations.meaning(file, site).targets or self._may_provide(removed):
                continue
            line = self._import_line(file, self._trees.line_after(importer, binding.line), name, binding.name)
            if line:
                self._add(removed, file, line, -1)
            else:
                self._add_unbound(removed, file, binding.name)

    def _importing(self, removed: Place, name: str) -> Iterator[tuple[int, int, Binding]]:
        """Yield the imports of a definition: the file before and after, and the binding before."""
        views, table = self._before.index.memo(FileViews), self._before.index.bindings
        # Also from a file that re-exports the name, or under another name.
        is_import = (table.name == self._before.index.strings.get(name)) & np.isin(table.kind, list(_IMPORTS))
        rows = np.flatnonzero(is_import | (table.kind == RENAMED))
        for importer in distinct(np.searchsorted(table.file_start, rows, side="right") - 1).tolist():
            file = self._trees.file_after(importer)
            for binding in views[importer].bindings if file is not None else ():
                if binding.kind in _IMPORTS and re.split(r"[:.\\/]+", binding.value)[-1] == name:
                    site = Site(binding.name, "", -1, _END, VALUE, 0)
                    if removed in self._before.relations.meaning(importer, site).targets:
                        yield importer, file or 0, binding

    def _may_provide(self, removed: Place) -> bool:
        """Return True if a file may still provide a name: by a star import, ``__getattr__`` or a binding."""
        file = self._trees.file_after(removed[0])
        if file is None:
            return False
        name, view = self._before.name(removed), self._after.index.memo(FileViews)[file]
        if any(each.kind == STAR for each in view.bindings) or view.members.get((-1, "__getattr__")):
            return True
        return any(each.name == name for each in view.bindings if view.scope(each.definition) < 0)

    def _import_line(self, file: int, line: int, name: str, bound: str) -> int:
        """Return the line of an import that names something, 0 without one."""
        lines = self._after.lines(file)
        for each in self._after.index.memo(FileViews)[file].bindings:
            if each.kind in _IMPORTS and each.name == bound and (not line or each.line == line):
                for at in range(each.line, min(each.line + _MAX_IMPORT_LINES, len(lines) + 1)):
                    if re.search(WORD.format(re.escape(name)), lines[at - 1]):
                        return at
        return 0

    # Strings.

    def _strings_with_paths(self) -> Iterator[Finding]:
        """Yield strings that name a deleted or renamed file."""
        for each in self._trees.files:
            file = self._trees.old_file(each) if each.old != each.new else None
            if file is None:
                continue
            now = f"it is {one_line(each.new)} now" if each.new else "it was removed"
            for use in file_references_of(self._before.index).references_to(file):
                at = self._trees.unchanged(use.source[0], use.line)
                is_named = (
                    at is not None and each.old.rpartition("/")[2] in self._after.lines(at[0])[at[1] - 1]
                )
                if at is not None and is_named and use.confidence is Confidence.RESOLVED:
                    yield Finding(
                        FindingKind.TEXT,
                        self._after.index.paths[at[0]],
                        at[1],
                        "",
                        each.old,
                        f"it names the file {one_line(each.old)}, and {now}",
                        f"name {each.new}" if each.new else "take it out, or bring the file back",
                    )

    # Findings.

    def _add_unbound(
        self, removed: Place, file: int, name: str, is_wanted: Callable[[int], bool] = bool
    ) -> None:
        """Report the lines of a bare name that refers to nothing."""
        for line in filter(is_wanted, self._resolver.unbound_lines(file, name)):
            self._add(removed, file, line, row_at(self._after.index, file, line))

    def _add(self, removed: Place, file: int, line: int, row: int) -> None:
        name, home = self._before.qualified_name(removed), self._before.index.paths[removed[0]]
        message, action, cause = f"`{one_line(name)}` was removed from {home}", "fix or remove the use", ""
        if (now := self._replacement(removed)) is not None:
            to, path = one_line(self._after.qualified_name(now)), self._after.index.paths[now[0]]
            cause = self._after.location(now)
            message, action = f"`{one_line(name)}` is now `{to}`", f"use `{to}`"
            if path != home:
                message = f"`{one_line(name)}` moved from {home} to {path}"
                action = f"use `{to}` of {path}"
            old, new = self._before.forms_of(removed), self._after.forms_of(now)
            if len(old) == len(new) == 1 and old[0].parameters != new[0].parameters:
                action += f", which takes ({', '.join(one_line(each.name) for each in new[0].parameters)})"
        finding = Finding(
            FindingKind.REMOVED_NAME,
            self._after.index.paths[file],
            line,
            self._after.qualified_name((file, row)),
            name,
            message,
            action,
            cause=cause,
        )
        self._found.setdefault((file, line, name.rpartition(".")[2]), finding)

    def _replacement(self, removed: Place) -> Place | None:
        if removed not in self._replacements:
            self._replacements[removed] = find_replacement(self._trees, removed)
        return self._replacements[removed]


def find_replacement(trees: TreeComparison, removed: Place) -> Place | None:
    """Return the added definition that replaces a removed one: of its name, or much like it in its file."""
    before, after, name = trees.before, trees.after, trees.before.name(removed)
    is_function = before.definition(removed).kind in FUNCTIONS
    same_kind = [each for each in trees.added if (after.definition(each).kind in FUNCTIONS) == is_function]
    moved = [each for each in same_kind if after.name(each) == name]
    if moved:
        return moved[0] if len(moved) == 1 else None
    body = before.text_of(removed).replace(name, "")[:_MAX_COMPARED_CHARS]
    home = trees.file_after(removed[0])
    scored = [
        (SequenceMatcher(None, body, text, autojunk=False).ratio(), each)
        for each in same_kind
        if each[0] == home
        for text in (after.text_of(each).replace(after.name(each), "")[:_MAX_COMPARED_CHARS],)
    ]
    best = max(scored, default=None)
    return best[1] if best is not None and best[0] >= _MIN_SIMILARITY else None
