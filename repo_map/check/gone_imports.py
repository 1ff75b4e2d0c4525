"""Imports of what a change takes away: of files, and of definitions by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from repo_map.check.meaning_now import MeaningNow
from repo_map.distinct import distinct
from repo_map.impact.findings import Finding, FindingKind
from repo_map.impact.sides import Sides
from repo_map.messages import one_line
from repo_map.parsing.facts_model import EXPORTED, IMPORT, RENAMED, STAR, VALUE, Binding, Site
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Place
from repo_map.relations.text_search import row_at

_TOP: Final = 1_000_000
"""A line behind all that a file binds at its top."""
_BROUGHT: Final = frozenset({IMPORT, RENAMED, EXPORTED})
_WORD: Final = r"(?<![\w$]){}(?![\w$])"


class ImportedUse(NamedTuple):
    """A line that names what is gone, and has it by an import."""

    file: int
    line: int
    """1-based."""
    row: int
    """Of the definition around it, -1 for the import itself."""


class GoneImports:
    """Finds the imports of what is gone."""

    def __init__(self, sides: Sides, now: MeaningNow) -> None:
        self._sides, self._now = sides, now
        self._before, self._after = sides.before, sides.after

    def of_files(self) -> Iterator[Finding]:
        """Yield the imports of files that are gone."""
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
                    yield Finding(
                        FindingKind.GONE,
                        self._after.index.paths[after],
                        line,
                        "",
                        each.old,
                        f"it imports {one_line(each.old)}, which is gone{now}",
                        f"import {one_line(each.new)}" if each.new else "remove the import",
                        is_sure=True,
                        cause=each.new,
                    )

    def _imports_ours(self, file: int, line: int) -> bool:
        """Tell whether the import in a line leads to a file of the tree."""
        return any(each.line == line for each in self._after.relations.imports_of(file))

    def of(self, gone: Place) -> Iterator[ImportedUse]:
        """Yield the imports of a definition by its name, and what stands by them without one."""
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
            if not at and self._now.is_unbound(after, binding.name):
                # Its import went, and what is handed on or only named is no site in every language.
                lines = sorted(self._now.lines_naming(after, binding.name))
            for line in lines:
                row = -1 if at else row_at(self._after.index, after, line)
                yield ImportedUse(after, line, row)

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
