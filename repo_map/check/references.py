"""References to what a change removes: uses, imports, prototypes, and strings with its path."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from repo_map.check.changes import find_replacement
from repo_map.check.model import Finding, FindingKind
from repo_map.check.occurrences import is_data, is_prose
from repo_map.check.resolution import CLOSED, find_prototypes, is_bound_in_text, is_builtin
from repo_map.check.trees import WORD, TreeComparison
from repo_map.languages.kinds import CODE, FUNCTIONS, MEMBERS, TYPES
from repo_map.messages import one_line
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, Binding, Site
from repo_map.relations.file_references import file_references_of
from repo_map.relations.model import Confidence, Place
from repo_map.relations.text_search import files_with

_MAX_REMOVED: Final = 200
"""Removed definitions whose references are checked."""
_MAX_FILES: Final = 200
"""Files with a name that are searched for strings."""
_SEPARATOR: Final = r"(?:::|->|\\{1,4}|[.:#/@])"
_UNNAMED: Final = frozenset({"__init__", "index", "mod", "lib", "main"})
"""Files that are imported by their folder."""
_COMMENT: Final = re.compile(r"\s*(?:#|;|//|<!--)")
_MEMBER_ACCESS: Final = re.compile(r"(?:(?<!\.\.)\.|::|->)\s*\Z")
_KEY: Final = re.compile(r"\s*(?:=(?!=)|:)")
"""Follows the name of a keyword argument, or a key."""
_PROVIDES_MEMBER: Final = (
    r"__getattr|__call\b|method_missing|\bProxy\b|instance_variable|\bdefine_method\b"
    r"|(?m:(?:\.|@|\b(?:var|val|let|const|attr_\w+)\b.*){}\s*(?::[^=]+)?(?:=[^=]|$))"
)
"""What gives an object a member in another way: a hook, a field, an assignment."""


class RemovedReferences:
    """Finds references that a change leaves without a target."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after
        names = set(map(self._folder_and_name, trees.removed))
        self.removed = [
            place
            for place in trees.removed
            if trees.before.definition(place).kind in CODE | MEMBERS and not self._is_member_of(place, names)
        ]
        """The removed definitions, without the members of removed classes."""

    def _folder_and_name(self, place: Place) -> tuple[str, str]:
        """Return what identifies a definition; Go's methods may be in another file of the folder."""
        return self._before.index.paths[place[0]].rpartition("/")[0], self._before.qualified_name(place)

    def _is_member_of(self, place: Place, classes: set[tuple[str, str]]) -> bool:
        folder, name = self._folder_and_name(place)
        return not self._before.is_local(place) and (folder, name.rpartition(".")[0]) in classes

    def find(self) -> Iterator[Finding]:
        yield from self._imports_of_files()
        if len(self.removed) > _MAX_REMOVED:
            limitation = (
                f"Of {len(self.removed):,} removed definitions the first {_MAX_REMOVED} were checked."
            )
            self._trees.limitations.append(limitation)
        for place in self.removed[:_MAX_REMOVED]:
            self._trees.require_time()
            if self._before.relations.knows(place[0]) and not self._is_still_defined(place):
                for file, line in dict.fromkeys(self._broken_references(place)):
                    yield self._finding(place, file, line)
        yield from self._strings_with_paths()

    # Definitions.

    def _broken_references(self, removed: Place) -> Iterator[tuple[int, int]]:
        """Yield file and line of what refers to nothing now, resolved again in each file with references."""
        before, after, name = self._before, self._after, self._before.name(removed)
        references = self._references_before(removed)
        for file, binding in self._broken_imports(removed):
            yield from ((file, at) for _, at in after.import_lines(file, binding, name) if at)
            references[file].add((0, binding.name, ""))
        for file, keys in references.items():
            for site in after.view(file).sites:
                line = site.line if self._trees.line_before(file, site.line) else 0
                if (line, site.name, site.object) in keys and self._is_broken(removed, file, site):
                    yield file, site.line
            for bare in sorted({name for _, name, receiver in keys if not receiver}):
                yield from ((file, line) for line in self._unbound_lines(file, bare))
        if before.language(removed[0]) == "c" and not self._has_body(removed):
            for file, line, _ in find_prototypes(after, name):
                if self._trees.line_before(file, line):
                    yield file, line
        if not before.is_local(removed):
            path, whole = before.index.paths[removed[0]], before.qualified_name(removed)
            yield from find_path_strings(self._trees, path, whole)

    def _references_before(self, removed: Place) -> defaultdict[int, set[tuple[int, str, str]]]:
        """Return the references to a definition in the tree before, by file of the tree after.

        Each is the line after the change, 0 for an edited one, the name and the receiver.
        """
        found: defaultdict[int, set[tuple[int, str, str]]] = defaultdict(set)
        before, name, home = self._before, self._before.name(removed), self._trees.file_after(removed[0])
        # Its own file uses it without a receiver, but for Go's methods.
        is_bare = "." not in before.qualified_name(removed) or before.is_local(removed)
        if home is not None and not self._after.forms(home).errors and is_bare:
            found[home].add((0, name, ""))
        for use in before.relations.uses_of(removed, Confidence.RESOLVED):
            source, file = use.source[0], self._trees.file_after(use.source[0])
            for site in before.view(source).sites_by_line.get(use.line, ()) if file is not None else ():
                if (
                    removed in before.relations.meaning(source, site).targets
                    or re.search(WORD.format(re.escape(name)), site.object)
                    or (site.name == name and not site.object)
                ):
                    line = self._trees.line_after(source, use.line)
                    found[file or 0].add((line, site.name, site.object))
        return found

    def _is_still_defined(self, place: Place) -> bool:
        """Return True if its file still defines the name: another overload, or another branch."""
        file, name = self._trees.file_after(place[0]), self._before.qualified_name(place)
        return file is not None and any(
            self._after.qualified_name((file, row)) == name and not self._after.is_prototype((file, row))
            for row in range(len(self._after.index.definitions(file)))
        )

    def _broken_imports(self, removed: Place) -> Iterator[tuple[int, Binding]]:
        """Yield the imports of a definition that lead to nothing now, each with its file after the change."""
        before, after, name = self._before, self._after, self._before.name(removed)
        for importer, binding in before.imports_named(name) if before.definition(removed).parent < 0 else ():
            file = self._trees.file_after(importer)
            if (
                file is not None
                and removed in before.meaning(importer, binding.name).targets
                and not after.meaning(file, binding.name).targets
                and not self._may_provide(removed)
            ):
                yield file, binding

    # Whether what named a removed definition names anything after the change.

    def _is_broken(self, removed: Place, file: int, site: Site) -> bool:
        """Return True if a site refers to nothing now; a mere declaration counts for nothing."""
        after, name = self._after, self._before.name(removed)
        meaning = after.relations.meaning(file, site)
        # If the removed name is the receiver, a file may still have it from a re-export.
        is_receiver = site.name != name and name in re.findall(r"[\w$]+", site.object)
        if is_receiver and after.meaning(file, name, site.definition, site.line).targets:
            return False
        if not site.object and self._is_bound(file, site):
            return False
        if meaning.targets:
            return all(map(after.is_prototype, meaning.targets)) and not self._has_body(removed)
        if meaning.is_external and self._is_external_now(removed, file, site):
            return False
        is_unsure = site.object and (self._is_edited(file, site) or self._is_open_class(removed))
        return not (is_unsure or meaning.is_left_open or self._has_getattr(removed))

    def _unbound_lines(self, file: int, name: str) -> list[int]:
        """Return the lines of a bare name that refers to nothing in a file, if its language shows that."""
        language, code, view = self._after.language(file), self._after.code(file), self._after.view(file)
        is_closed = language in CLOSED or (language == "rust" and name.islower())
        if (
            not is_closed
            or is_builtin(name, language)
            or any(each.kind == STAR and view.scope(each.definition) < 0 for each in view.bindings)
            or any(each.name == name for each in view.bindings)
            or any(each.name == name for each in view.definitions)
            or any(site.name == name and not site.object for site in view.sites)
            or is_bound_in_text(code, name, language)
        ):
            return []
        is_typed = language in ("typescript", "tsx") and name[:1].isupper()
        found: dict[int, None] = {}
        for match in re.finditer(WORD.format(re.escape(name)), code):
            before = code[code.rfind("\n", 0, match.start()) + 1 : match.start()]
            # In ``const made: Maker = …`` it is a type.
            is_type = is_typed and before.rstrip()[-1:] in tuple(":|&")
            if not _MEMBER_ACCESS.search(before) and (is_type or not _KEY.match(code, match.end())):
                found[code.count("\n", 0, match.start()) + 1] = None
        return list(found)

    def _has_body(self, removed: Place) -> bool:
        """Return True if anything of the name still has a body in the tree."""
        return not all(map(self._after.is_prototype, self._after.named(self._before.name(removed))))

    def _may_provide(self, removed: Place) -> bool:
        """Return True if the file of a removed definition may still provide its name to imports."""
        file, name = self._trees.file_after(removed[0]), self._before.name(removed)
        view = self._after.view(file) if file is not None else None
        bound = (each for each in view.bindings if view.scope(each.definition) < 0) if view else ()
        has_star = view is not None and any(each.kind == STAR for each in view.bindings)
        return has_star or self._has_getattr(removed) or any(each.name == name for each in bound)

    def _has_getattr(self, removed: Place) -> bool:
        file = self._trees.file_after(removed[0])
        return file is not None and (-1, "__getattr__") in self._after.view(file).members

    def _is_open_class(self, removed: Place) -> bool:
        """Return True if the class of a removed member may provide it in another way."""
        owner = self._trees.matched.get((removed[0], self._before.definition(removed).parent))
        pattern = _PROVIDES_MEMBER.format(re.escape(self._before.name(removed)))
        return owner is not None and re.search(pattern, self._after.text_of(owner)) is not None

    def _is_bound(self, file: int, site: Site) -> bool:
        """Return True if an edited line, or a function around a bare name, binds it."""
        view = self._after.view(file)
        for row in self._after.scopes(file, site.definition):
            inner = view.bound.get((row, site.name), ())
            if view.definitions[row].kind in FUNCTIONS and any(each.line < site.line for each in inner):
                return True
        return self._is_edited(file, site)

    def _is_edited(self, file: int, site: Site) -> bool:
        """Return True if an edited line binds the name of a site, or what its receiver begins with."""
        view, root = self._after.view(file), re.match(r"[\w$]*", site.object or site.name)
        return root is not None and any(
            each.name == root[0]
            and not self._trees.line_before(file, each.line)
            and view.scope(each.definition) in (view.scope(site.definition), -1)
            for each in view.bindings
        )

    def _is_external_now(self, removed: Place, file: int, site: Site) -> bool:
        """Return True if a name means a builtin or another package now."""
        home, language = self._trees.file_after(removed[0]), self._after.language(file)
        if home is None:
            return False
        if any(
            each.name == site.name
            and each.kind in (IMPORT, RENAMED)
            and not self._trees.line_before(source, each.line)
            for source in (file, home)
            for each in self._after.view(source).bindings
        ):
            return True
        if language == "java" and not site.object and self._before.definition(removed).kind in TYPES:
            # A class that is neither imported nor in the package is nothing, without a star import.
            return any(each.kind == STAR for each in self._after.view(file).bindings)
        return not site.object and (language not in CLOSED or is_builtin(site.name, language))

    # Files.

    def _imports_of_files(self) -> Iterator[Finding]:
        """Yield the imports of deleted or renamed files."""
        for each, file in self._trees.removed_files:
            now = f"; it is {each.new} now" if each.new else ""
            message = f"it imports {one_line(each.old)}, which was removed{now}"
            texts = message, f"import {one_line(each.new)}" if each.new else "remove the import"
            for use in (
                self._before.relations.importers_of(file) if self._before.relations.knows(file) else ()
            ):
                at = self._trees.unchanged(use.source[0], use.line)
                if at and all(own.line != at[1] for own in self._after.relations.imports_of(at[0])):
                    yield self._after.finding(FindingKind.REMOVED_NAME, *at, each.old, texts, cause=each.new)

    def _strings_with_paths(self) -> Iterator[Finding]:
        """Yield strings that name a deleted or renamed file."""
        for each, file in self._trees.removed_files:
            now = f"it is {one_line(each.new)} now" if each.new else "it was removed"
            texts = (
                f"it names the file {one_line(each.old)}, and {now}",
                f"name {each.new}" if each.new else "take it out, or bring the file back",
            )
            for use in file_references_of(self._before.index).references_to(file):
                at = self._trees.unchanged(use.source[0], use.line)
                text = self._after.lines(at[0])[at[1] - 1] if at else ""
                if at and each.old.rpartition("/")[2] in text and use.confidence is Confidence.RESOLVED:
                    yield self._after.finding(FindingKind.TEXT, *at, each.old, texts)

    def _finding(self, removed: Place, file: int, line: int) -> Finding:
        before, after = self._before, self._after
        name, home = before.qualified_name(removed), before.index.paths[removed[0]]
        message, action, cause = f"`{one_line(name)}` was removed from {home}", "fix or remove the use", ""
        if (now := find_replacement(self._trees, removed)) is not None:
            to, path = one_line(after.qualified_name(now)), after.index.paths[now[0]]
            cause = after.location(now)
            message, action = f"`{one_line(name)}` is now `{to}`", f"use `{to}`"
            if path != home:
                message = f"`{one_line(name)}` moved from {home} to {path}"
                action = f"use `{to}` of {path}"
            old, new = before.forms_of(removed), after.forms_of(now)
            if len(old) == len(new) == 1 and old[0].parameters != new[0].parameters:
                action += f", which takes {after.parameters_of(now)}"
        kind, texts = FindingKind.REMOVED_NAME, (message, action)
        return after.finding(kind, file, line, name, texts, cause=cause)


def find_path_strings(trees: TreeComparison, path: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield file and line, on unchanged lines after a change, of each string with the path of a name.

    Such as ``shop.pay.charge`` in a mock, ``shop.pay:charge`` in an entry point.

    Args:
        trees: The trees before and after the change.
        path: The file that had the name before the change.
        name: The qualified name in that file.
    """
    index, parts = trees.after.index, name.split(".")
    stem = path.rpartition("/")[2].partition(".")[0]
    folders = path.split("/")[:-1]
    module = folders if stem in _UNNAMED or stem == parts[0] else [*folders, stem]
    whole = [*module, *parts]
    pattern = re.compile(rf"(?<![\w$])(?:[\w$-]+{_SEPARATOR})+{re.escape(parts[-1])}(?![\w$])")
    for file in files_with(index, (parts[-1],))[:_MAX_FILES] if module else ():
        text, is_plain, seen = index.sources.text(file), is_data(index.paths[file]), 0
        for found in pattern.finditer(text) if not is_prose(index, file) else ():
            steps = re.split(_SEPARATOR, found[0])
            is_whole = len(steps) == len(whole) or len(steps) >= len(parts) + 2
            if not is_whole or steps != whole[-len(steps) :]:
                continue
            line, start = text.count("\n", 0, found.start()) + 1, text.rfind("\n", 0, found.start()) + 1
            is_string = text[found.start() - 1 : found.start()] in tuple("\"'`")
            is_named = is_string or (is_plain and _COMMENT.match(text, start) is None)
            if is_named and line != seen and trees.line_before(file, line):
                seen = line
                yield file, line
