"""Uses of names that a change takes away: found in the tree before it, judged in the tree after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final

import numpy as np

from repo_map.check.bare_names import CLOSED, SCRIPTS, is_bound_in_script, is_given
from repo_map.check.named_uses import NamedUses
from repo_map.check.occurrences import find_name
from repo_map.check.prototypes import prototypes_of
from repo_map.distinct import distinct
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Side, Sides
from repo_map.impact.values import GoneName
from repo_map.languages.kinds import CODE, FUNCTIONS, MEMBERS, TYPES
from repo_map.languages.registry import language_of
from repo_map.messages import counted, one_line
from repo_map.parsing.facts_model import EXPORTED, IMPORT, RENAMED, STAR, VALUE, Binding, Site
from repo_map.relations.file_facts import FileViews, sites_at
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.text_search import row_at

_MOST_GONE: Final = 200
"""Definitions whose uses are looked for."""
_ALIKE: Final = 0.6
"""Likeness of two bodies, 0 to 1, from which on one is the other by a new name."""
_MOST_COMPARED: Final = 20_000
"""Characters of a body that are compared."""
_TOP: Final = 1_000_000
"""A line behind all that a file binds at its top."""
_BROUGHT: Final = frozenset({IMPORT, RENAMED, EXPORTED})
_BEHIND: Final = re.compile(r"(?:(?<!\.\.)\.|::|->)\s*\Z")
_GIVEN: Final = re.compile(r"\s*(?:=(?!=)|:)")
"""What stands behind the name of a parameter that a value is given by, or a key."""
_OWN: Final = frozenset({"self", "this", "cls", "super()"})
_TYPE_PARAMETER: Final = r"[<,]\s*(?:const\s+|in\s+|out\s+)*{}\s*(?:=(?![=>])|extends\b|:)"
_WORD: Final = r"(?<![\w$]){}(?![\w$])"


class GoneNames:
    """Finds what still uses what is gone."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._before, self._after = sides.before, sides.after
        self._found: dict[tuple[str, int, str], Finding] = {}
        self.left_open: list[str] = []
        self.unclear: list[str] = []
        """Of names that still stand where nothing written says whether they are meant."""

    def find(self, names: Sequence[GoneName]) -> tuple[Finding, ...]:
        """Return each use; ``names`` are all that is gone, fields and constants among them."""
        self._importers()
        gone = list(self._gone)
        if len(gone) > _MOST_GONE:
            self.left_open.append(
                f"{counted(len(gone), 'definition')} went; uses of the first {_MOST_GONE} were looked for."
            )
        for place in gone[:_MOST_GONE]:
            if self._before.relations.knows(place[0]):
                self._uses(place)
        self._by_name(names)
        return tuple(self._found.values())

    @property
    def places(self) -> tuple[Place, ...]:
        """The definitions that are gone, without the members of what is gone with them, and local ones."""
        return tuple(place for place in self._gone if not self._is_local(*place))

    @cached_property
    def _gone(self) -> tuple[Place, ...]:
        """The definitions that are gone, without the members of what is gone with them."""
        index, gone = self._before.index, set(self._sides.gone)
        found = []
        for file, row in self._sides.gone:
            definition = index.definitions(file)[row]
            is_of_gone = (file, definition.parent) in gone and definition.kind not in CODE
            if definition.kind in CODE | MEMBERS and not is_of_gone:
                found.append((file, row))
        return tuple(found)

    def _is_local(self, file: int, row: int) -> bool:
        definitions = self._before.index.definitions(file)
        parent = definitions[row].parent
        while parent >= 0:
            if definitions[parent].kind in FUNCTIONS:
                return True
            parent = definitions[parent].parent
        return False

    # By relations.

    def _uses(self, place: Place) -> None:
        """Take the uses that the tree before resolves to a definition, and that mean nothing now."""
        if self._is_still_defined(place):
            return
        if self._before.language(place[0]) == "c" and not self._has_body(place):
            for each in prototypes_of(self._after, self._before.name(place)):
                if self._sides.line_before(each.file, each.line):
                    self._take(place, each.file, each.line, -1, is_sure=True)
        edited: set[tuple[int, str, str]] = set()
        for use in self._before.relations.uses_of(place, Confidence.RESOLVED):
            before = use.source[0]
            after = self._sides.file_after(before)
            if after is None or use.kind is RelationKind.IMPORT:
                continue
            line = self._sides.line_after(before, use.line)
            for site in self._sites_of(place, before, use.line):
                if line:
                    self._judge(place, after, line, site)
                else:
                    edited.add((after, site.name, site.object))
        for after, name, receiver in sorted(edited):
            self._judge_edited(place, after, name, receiver)
        self._in_its_file(place)
        self._imported(place)

    def _in_its_file(self, place: Place) -> None:
        """Take uses that are no sites of a name that its file binds no more: within written types, mostly."""
        home, name = self._sides.file_after(place[0]), self._before.name(place)
        # Go's methods stand at the top too, by the name of their type.
        is_top = "." not in self._before.index.qualified_name(*place) or self._is_local(*place)
        if home is None or not is_top or self._after.forms(home).errors:
            return
        if self._is_unbound(home, name):
            for line in sorted(self._lines(home, name)):
                self._take(place, home, line, row_at(self._after.index, home, line), is_sure=True)

    def _is_still_defined(self, place: Place) -> bool:
        """Tell whether its file still defines the name: another overload, or another branch."""
        after = self._sides.file_after(place[0])
        if after is None:
            return False
        name, index = self._before.index.qualified_name(*place), self._after.index
        return any(
            index.qualified_name(after, row) == name and not self._after.is_declaration((after, row))
            for row in range(len(index.definitions(after)))
        )

    def _sites_of(self, place: Place, file: int, line: int) -> list[Site]:
        """Return the sites of a line that mean a definition, or that stand behind its name and a dot."""
        name = self._before.name(place)
        found = []
        for site in _sites_in(self._before, file, line):
            is_meant = place in self._before.relations.meaning(file, site).targets
            if (
                is_meant
                or re.search(_WORD.format(re.escape(name)), site.object)
                or (site.name == name and not site.object)
            ):
                found.append(site)
        return found

    def _judge(self, gone: Place, file: int, line: int, before: Site) -> None:
        """Take a use on a line that stayed as it was, unless the name means something there now."""
        for site in _sites_in(self._after, file, line):
            if (
                site.name == before.name
                and site.object == before.object
                and self._is_broken(gone, file, site)
            ):
                self._take(gone, file, line, site.definition, is_sure=True)
                return
        if (
            not before.object
            and self._is_unbound(file, before.name)
            and line in self._lines(file, before.name)
        ):
            self._take(gone, file, line, row_at(self._after.index, file, line), is_sure=True)

    def _is_unbound(self, file: int, name: str) -> bool:
        """Tell whether a bare name can mean nothing in a file, where its language says so.

        What means nothing is no site in every language.
        """
        if self._after.language(file) not in CLOSED or is_given(name, self._after.language(file)):
            return False
        if self._is_type_parameter(file, name):
            return False
        if self._after.language(file) in SCRIPTS and is_bound_in_script(self._after.index.text(file), name):
            return False
        view = self._after.index.derived(FileViews)[file]
        is_bound = any(each.name == name or each.kind == STAR for each in view.bindings)
        is_site = any(site.name == name and not site.object for site in view.sites)
        return not is_bound and not is_site and all(each.name != name for each in view.definitions)

    def _is_type_parameter(self, file: int, name: str) -> bool:
        """Tell whether a file has type parameters of a name, which no language's facts all tell."""
        if self._after.language(file) == "python":
            return False
        written = _TYPE_PARAMETER.format(re.escape(name))
        return re.search(written, self._after.index.text(file)) is not None

    def _lines(self, file: int, name: str) -> set[int]:
        """Return the lines in which a name stands by itself, in code and behind no dot."""
        text = self._after.index.text(file)
        found = find_name(text, name, self._after.language(file))
        return {
            text.count("\n", 0, at) + 1
            for at in found
            if not _BEHIND.search(text, text.rfind("\n", 0, at) + 1, at)
            and not _GIVEN.match(text, at + len(name))
        }

    def _judge_edited(self, gone: Place, file: int, name: str, receiver: str) -> None:
        """Take uses on edited lines that name what is gone as the lines before did."""
        if not receiver and self._is_unbound(file, name):
            for line in sorted(self._lines(file, name)):
                if not self._sides.line_before(file, line):
                    self._take(gone, file, line, row_at(self._after.index, file, line), is_sure=True)
            return
        number = self._after.index.strings.get(name)
        table = self._after.index.sites
        start, end = int(table.file_start[file]), int(table.file_start[file + 1])
        rows = (
            start + np.flatnonzero(table.name[start:end] == number)
            if number is not None
            else np.array([], np.int64)
        )
        parent = self._before.index.definitions(gone[0])[gone[1]].parent
        around = self._sides.after_of.get((gone[0], parent)) if self._is_local(*gone) else None
        for site in sites_at(self._after.index, rows):
            is_new = not self._sides.line_before(file, site.line)
            if around and not self._is_within(file, site.definition, around):
                continue
            if is_new and site.object == receiver and self._is_broken(gone, file, site):
                self._take(gone, file, site.line, site.definition, is_sure=True)

    def _is_within(self, file: int, row: int, around: Place) -> bool:
        while row >= 0 and (file, row) != around:
            row = self._after.index.definitions(file)[row].parent
        return row >= 0

    def _is_broken(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether a site means nothing now; what is only declared counts for nothing."""
        meaning = self._after.relations.meaning(file, site)
        if self._is_type_parameter(file, site.name) or (not site.object and self._is_bound(gone, file, site)):
            return False
        if meaning.targets:
            return all(map(self._after.is_declaration, meaning.targets)) and not self._has_body(gone)
        if meaning.is_external and self._leads_outside(gone, file, site):
            return False
        if site.object and (self._is_open_class(gone) or self._may_be_another(gone, file, site)):
            return False
        return not meaning.is_left_open and not self._is_given_on_access(gone)

    def _is_bound(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether a function around a bare name binds it; few languages tell parameters as facts."""
        view = self._after.index.derived(FileViews)[file]
        if any(
            each.name == site.name and not self._sides.line_before(file, each.line) for each in view.bindings
        ):
            # What binds it was edited: that line says whether it is right.
            return True
        row = view.scope(site.definition)
        while row >= 0:
            inner = view.bound.get((row, site.name), ())
            if view.definitions[row].kind in FUNCTIONS and any(each.line < site.line for each in inner):
                return True
            row = view.outer(row)
        taken = rf"\([^()]*(?<![\w.$]){re.escape(site.name)}\b[^()]*\)\s*(?:=>|\{{)"
        return self._is_local(*gone) and re.search(taken, self._after.index.text(file)) is not None

    def _may_be_another(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether an object is perhaps of another class now, so that a member of ours says nothing."""
        was = self._owner(gone)
        if was is None or site.object in _OWN:
            return False
        names = re.findall(r"[\w$]+", site.object)
        owner = self._sides.now(was)
        if owner is None:
            # With its class gone, what names the class is told, and no object of its name.
            is_class = self._before.name(was) in names
            return not is_class or self._is_bound(gone, file, Site(names[0], "", *site[2:]))
        index = self._after.index
        for row, each in enumerate(index.definitions(owner[0])):
            is_beside = index.qualified_name(owner[0], row).startswith(f"{index.qualified_name(*owner)}.")
            if is_beside and each.kind in FUNCTIONS:
                probe = site._replace(name=self._after.name((owner[0], row)))
                if (owner[0], row) in self._after.relations.meaning(file, probe).targets:
                    return False
        view = index.derived(FileViews)[file]
        around = view.scope(site.definition)
        return any(
            each.name in names[:1]
            and not self._sides.line_before(file, each.line)
            and view.scope(each.definition) in (around, -1)
            for each in view.bindings
        )

    def _owner(self, gone: Place) -> Place | None:
        """Return the class of a member in the tree before; in Go a method stands beside its type."""
        index, (file, row) = self._before.index, gone
        if (parent := index.definitions(file)[row].parent) >= 0:
            return file, parent
        name, folder = (
            index.qualified_name(file, row).rpartition(".")[0],
            index.paths[file].rpartition("/")[0],
        )
        return next(
            (
                place
                for place in self._before.namesakes(name)
                if index.definitions(place[0])[place[1]].kind in TYPES
                and index.paths[place[0]].rpartition("/")[0] == folder
            ),
            None,
        )

    def _is_given_on_access(self, gone: Place) -> bool:
        """Tell whether a module of Python's gives a name when it is asked for it."""
        name = self._before.name(gone)
        return any(
            re.search(rf"[\"']{re.escape(name)}[\"']", self._after.index.text(file)) is not None
            for file, row in self._after.namesakes("__getattr__")
            if self._after.index.definitions(file)[row].parent < 0
        )

    def _leads_outside(self, gone: Place, file: int, site: Site) -> bool:
        """Tell whether a name is written to mean something of another package now, or of the language."""
        home = self._sides.file_after(gone[0])
        if home is None:
            return False
        views = self._after.index.derived(FileViews)
        if any(
            binding.name == site.name
            and binding.kind in (IMPORT, RENAMED)
            and not self._sides.line_before(each, binding.line)
            for each in (file, home)
            for binding in views[each].bindings
        ):
            return True
        if site.object:
            return False
        if self._after.language(file) == "java" and self._is_class(gone):
            # Without the import of a whole package, what is neither imported nor beside it is nothing.
            return any(binding.kind == STAR for binding in views[file].bindings)
        return self._after.language(file) not in CLOSED or is_given(site.name, self._after.language(file))

    def _is_class(self, place: Place) -> bool:
        return self._before.index.definitions(place[0])[place[1]].kind in TYPES

    def _is_open_class(self, gone: Place) -> bool:
        """Tell whether the class of a member that is gone may have it from elsewhere."""
        file, row = gone
        parent = self._before.index.definitions(file)[row].parent
        owner = self._sides.after_of.get((file, parent)) if parent >= 0 else None
        if owner is None:
            return False
        text = "\n".join(self._after.lines_of(owner, whole=True))
        name = self._before.name(gone)
        if re.search(
            r"__getattr|__call\b|method_missing|\bProxy\b|instance_variable|\bdefine_method\b", text
        ):
            return True
        # What it is given in another way, as a field or by an assignment.
        return (
            re.search(
                rf"(?:\.|@|\b(?:var|val|let|const|attr_\w+)\b.*){re.escape(name)}\s*(?::[^=]+)?(?:=[^=]|$)",
                text,
                re.M,
            )
            is not None
        )

    def _has_body(self, gone: Place) -> bool:
        """Tell whether anything of the name still has a body in the tree."""
        return not all(map(self._after.is_declaration, self._after.namesakes(self._before.name(gone))))

    # Imports.

    def _importers(self) -> None:
        """Take imports of files that are gone."""
        for each in self._sides.files:
            file = self._before.index.file_id(each.old) if each.old and not each.new else None
            if each.old and each.new and each.old != each.new:
                file = self._before.index.file_id(each.old)
            if file is None or not self._before.relations.knows(file):
                continue
            for use in self._before.relations.importers_of(file):
                after = self._sides.file_after(use.source[0])
                line = self._sides.line_after(use.source[0], use.line)
                if after is not None and line and not self._imports_ours(after, line):
                    now = f"; it is {each.new} now" if each.new else ""
                    self._add(
                        Finding(
                            FindingKind.GONE,
                            self._after.index.paths[after],
                            line,
                            "",
                            each.old,
                            f"it imports {one_line(each.old)}, which is gone{now}",
                            f"import {one_line(each.new)}" if each.new else "take the import out",
                            is_sure=True,
                            cause=each.new,
                        )
                    )

    def _imports_ours(self, file: int, line: int) -> bool:
        """Tell whether the import in a line leads to a file of the tree."""
        return line in self._import_lines.get(file, ())

    @cached_property
    def _import_lines(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = {}
        for file in range(len(self._after.index)):
            for each in self._after.relations.importers_of(file):
                found.setdefault(each.source[0], set()).add(each.line)
        return found

    def _imported(self, gone: Place) -> None:
        """Take the imports of a definition by its name."""
        if self._before.index.definitions(gone[0])[gone[1]].parent >= 0:
            return
        name = self._before.name(gone)
        for importer, after, binding in self._bound_to(gone, name):
            site = Site(binding.name, "", -1, _TOP, VALUE, 0)
            if self._after.relations.meaning(after, site).targets or self._is_open_module(gone):
                continue
            now = self._sides.line_after(importer, binding.line)
            at = self._import_line(after, now, name, binding.name)
            lines = [at] if at else []
            if not at and self._is_unbound(after, binding.name):
                # Its import went, and what is handed on or only named is no site in every language.
                lines = sorted(self._lines(after, binding.name))
            for line in lines:
                row = -1 if at else row_at(self._after.index, after, line)
                self._take(gone, after, line, row, is_sure=True)

    def _bound_to(self, gone: Place, name: str) -> Iterator[tuple[int, int, Binding]]:
        """Yield what brings a definition into a file: the file before, after, and the binding before."""
        views, table = self._before.index.derived(FileViews), self._before.index.bindings
        # Also who gets the name from a file that hands it on, or calls it otherwise.
        is_bound = (table.name == self._before.index.strings.get(name)) & np.isin(table.kind, list(_BROUGHT))
        rows = np.flatnonzero(is_bound | (table.kind == RENAMED))
        for importer in distinct(np.searchsorted(table.file_start, rows, side="right") - 1).tolist():
            after = self._sides.file_after(importer)
            if after is None:
                continue
            for binding in views[importer].bindings:
                if binding.kind in _BROUGHT and re.split(r"[:.\\/]+", binding.value)[-1] == name:
                    site = Site(binding.name, "", -1, _TOP, VALUE, 0)
                    if gone in self._before.relations.meaning(importer, site).targets:
                        yield importer, after, binding

    def _is_open_module(self, gone: Place) -> bool:
        """Tell whether a file may still have a name: by a star, by ``__getattr__``, or from outside."""
        file = self._sides.file_after(gone[0])
        if file is None:
            return False
        name, view = self._before.name(gone), self._after.index.derived(FileViews)[file]
        if any(each.kind == STAR for each in view.bindings) or view.members.get((-1, "__getattr__")):
            return True
        return any(each.name == name for each in view.bindings if view.scope(each.definition) < 0)

    def _import_line(self, file: int, line: int, name: str, bound: str) -> int:
        """Return the line where an import names something now, 0 for none."""
        views = self._after.index.derived(FileViews)
        begins = [
            each.line
            for each in views[file].bindings
            if each.kind in (IMPORT, RENAMED, EXPORTED)
            and each.name == bound
            and (not line or each.line == line)
        ]
        lines = self._after.index.text(file).split("\n")
        for first in begins:
            for at in range(first - 1, min(first + 60, len(lines))):
                if re.search(_WORD.format(re.escape(name)), lines[at]):
                    return at + 1
        return 0

    # By name alone.

    def _by_name(self, names: Sequence[GoneName]) -> None:
        """Take uses that nothing resolves, of names that nothing else bears."""
        index = self._after.index
        for gone in names[:_MOST_GONE]:
            kind, language = self._resolved_kind(gone), language_of(gone.path)
            # Relations know all uses of what stands at the top of Python's files, and of scripts' types.
            is_known = language == "python" or (language in SCRIPTS and kind not in FUNCTIONS)
            if (kind and not gone.owner and is_known) or self._is_bound_at(gone):
                continue
            told = {
                (file, line)
                for path, line, name in self._found
                if name == gone.name and (file := index.file_id(path)) is not None
            }
            found = NamedUses(self._after, gone, told, is_function=kind in FUNCTIONS)
            if found.unclear:
                self.unclear.append(found.unclear)
            now = f"; it is {gone.successor} now" if gone.successor else ""
            for each in found.uses:
                within = index.qualified_name(each.file, each.row) if each.row >= 0 else ""
                self._add(
                    Finding(
                        FindingKind.GONE,
                        index.paths[each.file],
                        each.line,
                        within,
                        gone.name,
                        f"`{one_line(gone.name)}` is gone from {gone.path}{now}",
                        f"use {gone.successor}" if gone.successor.startswith("`") else "mend or drop the use",
                        is_sure=False,
                    )
                )

    def _is_bound_at(self, gone: GoneName) -> bool:
        """Tell whether the file binds the name at its top in another way, by an import mostly."""
        home = self._after.index.file_id(gone.path)
        view = self._after.index.derived(FileViews)[home] if home is not None else None
        return view is not None and not gone.owner and bool(view.bound.get((-1, gone.name)))

    def _resolved_kind(self, gone: GoneName) -> str:
        """Return the kind of a definition of code that is gone, in a language whose names are resolved."""
        index = self._before.index
        for file, row in self._gone:
            each = index.definitions(file)[row]
            is_same = index.paths[file] == gone.path and self._before.name((file, row)) == gone.name
            if is_same and each.kind in CODE and self._before.relations.knows(file):
                return each.kind
        return ""

    # What is told.

    def _take(self, gone: Place, file: int, line: int, row: int, *, is_sure: bool) -> None:
        index = self._after.index
        name = self._before.index.qualified_name(*gone)
        home = self._before.index.paths[gone[0]]
        now = self._successor(gone)
        if now is None:
            message, action, cause = f"`{one_line(name)}` is gone from {home}", "mend or drop the use", ""
        else:
            to = self._after.index.qualified_name(*now)
            path = self._after.index.paths[now[0]]
            at = self._after.index.definitions(now[0])[now[1]].sig_start
            cause = f"{path}:{at}"
            action = f"use `{one_line(to)}`"
            message = f"`{one_line(name)}` is now `{one_line(to)}`"
            if path != home:
                message, action = (
                    f"`{one_line(name)}` moved from {home} to {path}",
                    f"use `{one_line(to)}` of {path}",
                )
        within = index.qualified_name(file, row) if row >= 0 else ""
        self._add(
            Finding(FindingKind.GONE, index.paths[file], line, within, name, message, action, is_sure, cause)
        )

    def _add(self, finding: Finding) -> None:
        self._found.setdefault((finding.path, finding.line, finding.name.rpartition(".")[2]), finding)

    def _successor(self, gone: Place) -> Place | None:
        """Return what stands for a definition now: its namesake elsewhere, or one much like it beside it."""
        if gone not in self._successors:
            self._successors[gone] = self._find_successor(gone)
        return self._successors[gone]

    @cached_property
    def _successors(self) -> dict[Place, Place | None]:
        return {}

    def _find_successor(self, gone: Place) -> Place | None:
        before, after = self._before.index, self._after.index
        definition, name = before.definitions(gone[0])[gone[1]], self._before.name(gone)
        same_kind = [
            place
            for place in self._sides.added
            if (after.definitions(place[0])[place[1]].kind in FUNCTIONS) == (definition.kind in FUNCTIONS)
        ]
        moved = [place for place in same_kind if self._after.name(place) == name]
        if moved:
            return moved[0] if len(moved) == 1 else None
        home = self._sides.file_after(gone[0])
        beside = [place for place in same_kind if place[0] == home]
        body = _body(before.text(gone[0]), definition.start, definition.end, name)
        scored = []
        for place in beside:
            other = after.definitions(place[0])[place[1]]
            text = _body(after.text(place[0]), other.start, other.end, self._after.name(place))
            scored.append((SequenceMatcher(None, body, text, autojunk=False).ratio(), place))
        best = max(scored, default=None)
        return best[1] if best is not None and best[0] >= _ALIKE else None


def _body(text: str, first: int, last: int, name: str) -> str:
    return "\n".join(text.split("\n")[first - 1 : last]).replace(name, "")[:2_000]


def _sites_in(side: Side, file: int, line: int) -> list[Site]:
    """Return the sites of a line."""
    return [site for site in side.index.derived(FileViews)[file].sites if site.line == line]
