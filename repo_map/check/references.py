"""References to what a change removes: resolved before and after it, and occurrences not resolved."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final, NamedTuple

from repo_map.check.changes import find_replacement
from repo_map.check.model import Finding, FindingKind
from repo_map.check.path_strings import find_path_strings
from repo_map.check.resolution import (
    PostChangeResolver,
    find_prototypes,
)
from repo_map.check.trees import WORD, TreeComparison
from repo_map.languages.kinds import CODE, MEMBERS
from repo_map.messages import one_line, plural
from repo_map.parsing.facts_model import VALUE, Binding, Site
from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence, Place
from repo_map.relations.text_search import row_at

_MAX_REMOVED: Final = 200
"""Removed definitions whose references are checked."""
_MAX_IMPORT_LINES: Final = 60
_END: Final = 1_000_000
"""A line after all that a file binds at its top."""
_MAX_FILES: Final = 400
"""Files with a name that are searched, the nearest."""
_RECEIVER: Final = re.compile(r"([\w.]*)[!?]?(?:\.|->|::)\s*[@$#]*\Z")
_MAX_RECEIVER_CHARS: Final = 120
_OWN_RECEIVERS: Final = frozenset({"self", "this", "exports", "module"})
_TYPE: Final = re.compile(r"[A-Z]\w+")
_KEY: Final = re.compile(r"\s*(?:=(?!=)|:(?!:))")
_EXPORTED: Final = r"\bexports?\b[^;]*(?<![\w.$]){}(?![\w$])"
_IMPLICIT: Final = frozenset(
    {"java", "kotlin", "csharp", "cpp", "scala", "swift", "groovy", "php", "ruby", "c"}
)
"""Languages in which a member is used without a receiver."""


class _Reference(NamedTuple):
    """What referred to a removed definition before the change."""

    line: int
    """After the change; 0 for an edited line."""
    name: str
    receiver: str


class RemovedReferences:
    """Finds references that a change leaves without a target."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after
        self._resolver = PostChangeResolver(trees)
        self._replacements: dict[Place, Place | None] = {}
        self._found: dict[tuple[int, int, str], Finding] = {}
        names = {self._folder_and_name(place) for place in trees.removed}
        self.removed = tuple(
            place
            for place in trees.removed
            if self._before.definition(place).kind in CODE | MEMBERS
            and (self._before.is_local(place) or self._owner(place) not in names)
        )
        """The removed definitions, without the members of removed classes."""

    def _folder_and_name(self, place: Place) -> tuple[str, str]:
        path = self._before.index.paths[place[0]]
        return path.rpartition("/")[0], self._before.qualified_name(place)

    def _owner(self, place: Place) -> tuple[str, str]:
        """Return folder and name of the class of a member; Go's methods may be in another file."""
        folder, name = self._folder_and_name(place)
        return folder, name.rpartition(".")[0]

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
            self._trees.require_time()
            if self._before.relations.knows(place[0]) and not self._is_still_defined(place):
                self._check_references(place)
                if not self._before.is_local(place):
                    name = self._before.qualified_name(place)
                    for file, line in find_path_strings(
                        self._trees, self._before.index.paths[place[0]], name
                    ):
                        self._add(place, file, line, row_at(self._after.index, file, line))
        yield from self._found.values()
        yield from self._strings_with_paths()

    # Definitions.

    def _check_references(self, removed: Place) -> None:
        """Resolve the references to a definition again, in each file that had some."""
        for file, keys in self._references_before(removed).items():
            for site in self._after.view(file).sites:
                is_new = not self._trees.line_before(file, site.line)
                key = _Reference(0 if is_new else site.line, site.name, site.object)
                if key in keys and self._resolver.is_broken(removed, file, site):
                    self._add(removed, file, site.line, site.definition)
            for bare in sorted({name for _, name, receiver in keys if not receiver}):
                for line in self._resolver.unbound_lines(file, bare):
                    self._add(removed, file, line, row_at(self._after.index, file, line))
        if self._before.language(removed[0]) == "c" and not self._resolver.has_body(removed):
            for file, line, _ in find_prototypes(self._after, self._before.name(removed)):
                if self._trees.line_before(file, line):
                    self._add(removed, file, line, -1)

    def _references_before(self, removed: Place) -> dict[int, set[_Reference]]:
        """Return the references to a definition in the tree before, by file of the tree after."""
        found: defaultdict[int, set[_Reference]] = defaultdict(set)
        name, home = self._before.name(removed), self._trees.file_after(removed[0])
        if home is not None and not self._after.forms(home).errors and self._is_bare(removed):
            found[home].add(_Reference(0, name, ""))
        for use in self._before.relations.uses_of(removed, Confidence.RESOLVED):
            file = self._trees.file_after(use.source[0])
            if file is not None:
                line = self._trees.line_after(use.source[0], use.line)
                sites = self._sites_of(removed, use.source[0], use.line)
                found[file].update(_Reference(line, site.name, site.object) for site in sites)
        for file, bound in self._check_imports(removed):
            found[file].add(_Reference(0, bound, ""))
        return found

    def _is_bare(self, place: Place) -> bool:
        """Return True for a definition that its own file uses without a receiver; Go's methods are not."""
        return "." not in self._before.qualified_name(place) or self._before.is_local(place)

    def _sites_of(self, place: Place, file: int, line: int) -> Iterator[Site]:
        """Yield the sites of a line that refer to a definition, or have its name in their receiver."""
        name = self._before.name(place)
        for site in self._before.view(file).sites_by_line.get(line, ()):
            if (
                place in self._before.relations.meaning(file, site).targets
                or re.search(WORD.format(re.escape(name)), site.object)
                or (site.name == name and not site.object)
            ):
                yield site

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
        for each, file in self._trees.removed_files:
            now = f"; it is {each.new} now" if each.new else ""
            message = f"it imports {one_line(each.old)}, which was removed{now}"
            action = f"import {one_line(each.new)}" if each.new else "remove the import"
            importers = (
                self._before.relations.importers_of(file) if self._before.relations.knows(file) else ()
            )
            for use in importers:
                at = self._trees.unchanged(use.source[0], use.line)
                if at and all(own.line != at[1] for own in self._after.relations.imports_of(at[0])):
                    place = at[0], -1
                    yield self._after.finding(
                        FindingKind.REMOVED_NAME, place, at[1], each.old, (message, action), cause=each.new
                    )

    def _check_imports(self, removed: Place) -> Iterator[tuple[int, str]]:
        """Report imports of a definition; yield the files that imported it, with the names they used."""
        if self._before.definition(removed).parent >= 0:
            return
        name = self._before.name(removed)
        for file, binding in self._importing(removed, name):
            site = Site(binding.name, "", -1, _END, VALUE, 0)
            if self._after.relations.meaning(file, site).targets or self._resolver.may_provide(removed):
                continue
            yield file, binding.name
            for each in self._after.view(file).bindings:
                if each[:2] == binding[:2] and each.kind == binding.kind:
                    lines = self._after.lines(file)[each.line - 1 : each.line - 1 + _MAX_IMPORT_LINES]
                    word = re.compile(WORD.format(re.escape(name)))
                    at = next((at for at, text in enumerate(lines, each.line) if word.search(text)), 0)
                    if at:
                        self._add(removed, file, at, -1)

    def _importing(self, removed: Place, name: str) -> Iterator[tuple[int, Binding]]:
        """Yield the imports of a definition: the file after the change, and the binding before."""
        for importer, binding in self._before.imports_named(name):
            file, site = self._trees.file_after(importer), Site(binding.name, "", -1, _END, VALUE, 0)
            if file is not None and removed in self._before.relations.meaning(importer, site).targets:
                yield file, binding

    # Strings.

    def _strings_with_paths(self) -> Iterator[Finding]:
        """Yield strings that name a deleted or renamed file."""
        for each, file in self._trees.removed_files:
            now = f"it is {one_line(each.new)} now" if each.new else "it was removed"
            message = f"it names the file {one_line(each.old)}, and {now}"
            action = f"name {each.new}" if each.new else "take it out, or bring the file back"
            for use in file_references_of(self._before.index).references_to(file):
                at = self._trees.unchanged(use.source[0], use.line)
                text = self._after.lines(at[0])[at[1] - 1] if at else ""
                is_named = each.old.rpartition("/")[2] in text and use.confidence is Confidence.RESOLVED
                if at and is_named:
                    yield self._after.finding(
                        FindingKind.TEXT, (at[0], -1), at[1], each.old, (message, action)
                    )

    # Findings.

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
        finding = self._after.finding(
            FindingKind.REMOVED_NAME, (file, row), line, name, (message, action), cause=cause
        )
        self._found.setdefault((file, line, name.rpartition(".")[2]), finding)

    def _replacement(self, removed: Place) -> Place | None:
        if removed not in self._replacements:
            self._replacements[removed] = find_replacement(self._trees, removed)
        return self._replacements[removed]
