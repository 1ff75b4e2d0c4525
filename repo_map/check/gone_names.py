"""Uses of names that a change takes away: found in the tree before it, judged in the tree after it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final

import numpy as np

from repo_map.check.bare_names import SCRIPTS, is_own_of_script
from repo_map.check.gone_imports import GoneImports
from repo_map.check.meaning_now import MeaningNow
from repo_map.check.named_uses import NamedUses
from repo_map.check.prototypes import prototypes_of
from repo_map.check.successors import Successors
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Side, Sides
from repo_map.impact.values import GoneName
from repo_map.languages.kinds import CODE, FUNCTIONS, MEMBERS
from repo_map.languages.registry import language_of
from repo_map.messages import one_line, plural
from repo_map.parsing.facts_model import Site
from repo_map.relations.file_facts import FileViews, sites_at
from repo_map.relations.model import Confidence, Place, RelationKind
from repo_map.relations.text_search import row_at

_MOST_GONE: Final = 200
"""Definitions whose uses are looked for."""
_WORD: Final = r"(?<![\w$]){}(?![\w$])"


class GoneNames:
    """Finds what still uses what is gone."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._before, self._after = sides.before, sides.after
        self._now = MeaningNow(sides)
        self._imports, self._successors = GoneImports(sides, self._now), Successors(sides)
        self._found: dict[tuple[str, int, str], Finding] = {}
        self.left_open: list[str] = []
        self.unclear: list[str] = []
        """Of names that still stand where nothing written says whether they are meant."""

    def find(self, names: Sequence[GoneName]) -> tuple[Finding, ...]:
        """Return each use; ``names`` are all that is gone, fields and constants among them."""
        for each in self._imports.of_files():
            self._add(each)
        gone = list(self._gone)
        if len(gone) > _MOST_GONE:
            self.left_open.append(
                f"{plural(len(gone), 'definition')} went; uses of the first {_MOST_GONE} were looked for."
            )
        for place in gone[:_MOST_GONE]:
            if self._before.relations.knows(place[0]):
                self._uses(place)
        self._by_name(names)
        return tuple(self._found.values())

    @property
    def places(self) -> tuple[Place, ...]:
        """The definitions that are gone, without the members of what is gone with them, and local ones."""
        return tuple(place for place in self._gone if not self._now.is_local(*place))

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

    # By relations.

    def _uses(self, place: Place) -> None:
        """Take the uses that the tree before resolves to a definition, and that mean nothing now."""
        if self._is_still_defined(place):
            return
        self._prototypes(place)
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
        for found in self._imports.of(place):
            self._take(place, *found, is_sure=True)

    def _prototypes(self, place: Place) -> None:
        """Take declarations in C of a function that has no body left."""
        if self._before.language(place[0]) != "c" or self._now.has_body(place):
            return
        for each in prototypes_of(self._after, self._before.name(place)):
            if self._sides.line_before(each.file, each.line):
                self._take(place, each.file, each.line, -1, is_sure=True)

    def _in_its_file(self, place: Place) -> None:
        """Take uses that are no sites of a name that its file binds no more: within written types, mostly."""
        home, name = self._sides.file_after(place[0]), self._before.name(place)
        # Go's methods stand at the top too, by the name of their type.
        is_top = "." not in self._before.index.qualified_name(*place) or self._now.is_local(*place)
        if home is None or not is_top or self._after.forms(home).errors:
            return
        if self._now.is_unbound(home, name):
            for line in sorted(self._now.lines_naming(home, name)):
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
                and self._now.is_broken(gone, file, site)
            ):
                self._take(gone, file, line, site.definition, is_sure=True)
                return
        if (
            not before.object
            and self._now.is_unbound(file, before.name)
            and line in self._now.lines_naming(file, before.name)
        ):
            self._take(gone, file, line, row_at(self._after.index, file, line), is_sure=True)

    def _judge_edited(self, gone: Place, file: int, name: str, receiver: str) -> None:
        """Take uses on edited lines that name what is gone as the lines before did."""
        if not receiver and self._now.is_unbound(file, name):
            for line in sorted(self._now.lines_naming(file, name)):
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
        around = self._sides.after_of.get((gone[0], parent)) if self._now.is_local(*gone) else None
        for site in sites_at(self._after.index, rows):
            is_new = not self._sides.line_before(file, site.line)
            if around and not self._now.is_within(file, site.definition, around):
                continue
            if is_new and site.object == receiver and self._now.is_broken(gone, file, site):
                self._take(gone, file, site.line, site.definition, is_sure=True)

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
            is_own = self._is_own(gone)
            found = NamedUses(self._after, gone, told, is_function=kind in FUNCTIONS, is_own=is_own)
            if found.unclear:
                self.unclear.append(found.unclear)
            name, is_renamed = one_line(gone.name), gone.successor.startswith("`")
            now = f"; it is {gone.successor} now" if gone.successor else ""
            message = (
                f"`{name}` is now {gone.successor}"
                if is_renamed
                else f"`{name}` is gone from {gone.path}{now}"
            )
            for each in found.uses:
                within = index.qualified_name(each.file, each.row) if each.row >= 0 else ""
                self._add(
                    Finding(
                        FindingKind.GONE,
                        index.paths[each.file],
                        each.line,
                        within,
                        gone.name,
                        message,
                        f"use {gone.successor}" if is_renamed else "fix or remove the use",
                        is_sure=False,
                    )
                )

    def _is_own(self, gone: GoneName) -> bool:
        """Tell whether no other file sees a name."""
        home = self._before.index.file_id(gone.path)
        if home is None or gone.owner or self._before.language(home) not in SCRIPTS:
            return False
        return is_own_of_script(self._before.index.text(home), gone.name)

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
        now = self._successors.of(gone)
        if now is None:
            message, action, cause = f"`{one_line(name)}` is gone from {home}", "fix or remove the use", ""
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
            action += self._takes_now(gone, now)
        within = index.qualified_name(file, row) if row >= 0 else ""
        self._add(
            Finding(FindingKind.GONE, index.paths[file], line, within, name, message, action, is_sure, cause)
        )

    def _takes_now(self, gone: Place, now: Place) -> str:
        """Return what a successor takes where that is not what the name took before, in words."""
        old, new = self._before.forms_of(gone), self._after.forms_of(now)
        if len(old) != 1 or len(new) != 1 or old[0].parameters == new[0].parameters:
            return ""
        return f", which takes ({', '.join(one_line(each.name) for each in new[0].parameters)})"

    def _add(self, finding: Finding) -> None:
        self._found.setdefault((finding.path, finding.line, finding.name.rpartition(".")[2]), finding)


def _sites_in(side: Side, file: int, line: int) -> list[Site]:
    """Return the sites of a line."""
    return [site for site in side.index.derived(FileViews)[file].sites if site.line == line]
