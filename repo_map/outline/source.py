"""One file of the repository, as packing reads it: its lines, parts, statements and imports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from repo_map.outline.sections import qualified_names
from repo_map.outline.statements import Statement, Statements
from repo_map.parsing.facts_model import IMPORT, RENAMED
from repo_map.parsing.values import LineRange
from repo_map.relations.file_facts import FileViews
from repo_map.relations.resolve import relations_of
from repo_map.text.units import FUNCTION

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.parsing.values import Definition
    from repo_map.ranking.score import ScoredUnit

_WORD = re.compile(r"\w+")
_LAST_WORD = re.compile(r"[A-Za-z_]\w*")
_CHEAP_GAP = 1
"""Lines between two imports that cost no more than the line that says they are left out."""
_SHORT_COMMENT = 3
"""Lines above a definition that are shown with it: what shows it is then called by its name."""
_LONGEST_IMPORT = 4
"""Lines up to which an import statement is shown whole."""


def joined(ranges: Sequence[tuple[int, int]], gap: int = 0) -> list[tuple[int, int]]:
    """Return ascending ranges of lines, those joined that have at most ``gap`` lines between them."""
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        if found and first <= found[-1][1] + 1 + gap:
            found[-1] = (found[-1][0], max(last, found[-1][1]))
        else:
            found.append((first, last))
    return found


def own_lines(index: Index, unit: ScoredUnit) -> LineRange:
    """Return the lines of a unit without a long comment above its definition."""
    file = index.file_id(unit.path)
    for each in index.definitions(file) if unit.name and file is not None else ():
        if unit.start <= each.sig_start <= unit.end and unit.name.endswith(each.name):
            is_long = each.start - unit.start > _SHORT_COMMENT
            return LineRange(each.start if is_long else unit.start, unit.end)
    return LineRange(unit.start, unit.end)


class SourceFile:
    """The text of one file, cut as pieces need it."""

    def __init__(self, index: Index, file_id: int, aside: float, *, is_bare: bool = False) -> None:
        """Read a file; where ``is_bare``, of its imports those alone that lead into the repository."""
        self.path = index.paths[file_id]
        self.id = file_id
        self.aside = aside
        """What its pieces are worth less for the kind of file it is."""
        self._index = index
        self._is_bare = is_bare

    @cached_property
    def text(self) -> str:
        return self._index.sources.text(self.id)

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        return self._index.definitions(self.id)

    @cached_property
    def names(self) -> list[str]:
        """Qualified name of each definition."""
        return qualified_names(self.definitions)

    @cached_property
    def imported(self) -> Mapping[str, tuple[int, ...]]:
        """The lines on which each name is imported; where the file is bare, those into the repository."""
        if not self._is_bare:
            return self._imported
        known = {each.line for each in relations_of(self._index).imports_of(self.id)}
        found = {name: tuple(at for at in lines if at in known) for name, lines in self._imported.items()}
        return {name: lines for name, lines in found.items() if lines}

    @cached_property
    def _imported(self) -> Mapping[str, tuple[int, ...]]:
        index = self._index
        view = index.memo(FileViews)[self.id]
        named = [(each.name, each.line) for each in view.bindings if each.kind in (IMPORT, RENAMED)]
        if not named:
            for each in index.imports(self.id):
                names = each.names or (_LAST_WORD.findall(each.module) or [""])[-1:]
                named += ((name, each.line) for name in names)
        found: dict[str, tuple[int, ...]] = {}
        for name, line in named:
            if name:
                found[name] = (*found.get(name, ()), line)
        return found

    def imports_of(
        self, ranges: Sequence[tuple[int, int]], *, from_outside: bool = False
    ) -> list[tuple[int, int]]:
        """Return the lines outside some ranges that import what the lines within use.

        Of a bare file, those from outside of the repository only where they are asked for.
        """
        imported = self._imported if from_outside else self.imported
        if not imported:
            return []
        used = {name for each in ranges for name in _WORD.findall(self.cut(*each))}
        found: set[tuple[int, int]] = set()
        for name in sorted(used & imported.keys()):
            for line in imported[name]:
                if not any(first <= line <= last for first, last in ranges):
                    found.update(self._import_at(line, name))
        return joined(sorted(found), _CHEAP_GAP)

    def _import_at(self, line: int, name: str) -> Iterator[tuple[int, int]]:
        """Yield the lines that import a name: of a long statement its head, and the line of the name."""
        at = self.statements.at(line)
        if at < 0:
            return
        each = self.statements[at]
        if each.parent >= 0 and (around := self.statements[each.parent]).start in self.import_lines:
            last = self._end(around)
            if last - around.start < _LONGEST_IMPORT:
                yield around.start, last
                return
            yield from ((around.start, around.start), (last, last))
        last = self._end(each)
        if last - each.start < _LONGEST_IMPORT:
            yield each.start, last
            return
        yield each.start, each.start
        is_named = re.compile(rf"\b{re.escape(name)}\b").search
        yield from ((n, n) for n in range(each.start + 1, last) if is_named(self.lines[n - 1]))
        yield last, last

    def _end(self, statement: Statement) -> int:
        """Return the last line of a statement that is not blank."""
        filled = (n for n in range(statement.last, statement.start, -1) if self.lines[n - 1].strip())
        return next(filled, statement.start)

    @cached_property
    def import_lines(self) -> frozenset[int]:
        """The lines on which its imports begin."""
        return frozenset(each.line for each in self._index.imports(self.id))

    @cached_property
    def statements(self) -> Statements:
        """Its lines as statements."""
        return Statements(self.text, self._index.language(self.id))

    def cut(self, first: int, last: int) -> str:
        """Return the lines from ``first`` to ``last``."""
        return "\n".join(self.lines[first - 1 : last]) + "\n"

    def definition_of(self, unit: ScoredUnit) -> int:
        """Return the row of the definition that a unit shows, -1 for a gap."""
        rows = (row for row, name in enumerate(self.names) if name == unit.name)
        return next((row for row in rows if unit.start <= self.definitions[row].sig_start <= unit.end), -1)

    def section_name(self, unit: ScoredUnit) -> str:
        """Return the name that asks for exactly this unit, empty where only line numbers do."""
        if unit.kind != FUNCTION or self.names.count(unit.name) != 1:
            return ""
        return unit.name if self.definitions[self.names.index(unit.name)].end == unit.end else ""
