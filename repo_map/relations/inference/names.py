"""What a bare name is at a place: local, of a scope around, of the module, imported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

import numpy as np

from repo_map.parsing.facts_model import (
    ASSIGNED,
    DECLARED,
    EXPORTED,
    FIELD_TYPE,
    IMPORT,
    NARROWED,
    RENAMED,
    STAR,
    Binding,
)
from repo_map.relations.expressions import Expression, parse
from repo_map.relations.file_facts import CLASSES, SCOPES, FileView
from repo_map.relations.inference.answers import Answers
from repo_map.relations.memo import BINDINGS_A_STEP
from repo_map.relations.model import Place
from repo_map.relations.values import CLASS, FOREIGN_CLASS, FUNCTION, MOST_VALUES, Value, Values, Where

_BEFOREHAND: Final = re.compile(r"[*%](?:#\d+)*\Z")
"""A loop, a comprehension or a context binds its name before the rest of its line is read."""


class Names(Answers):
    """Looks names up in scopes and modules."""

    own_names: frozenset[str] = frozenset()
    """What a method calls its object, or its class."""
    builtins: frozenset[str] = frozenset()

    # What a family may say otherwise.

    def module(self, file: int, name: str) -> Value | None:
        """Return the module of ours that an import in a file names."""
        raise NotImplementedError

    def submodule(self, module: Value, name: str) -> Value | None:
        """Return a module that lies in another."""
        return None

    def own(self, view: FileView, scope: int, name: str) -> Values:
        """Return what a method's name for its object is, in a scope; nothing outside of methods."""
        raise NotImplementedError

    def of_whole(self, module: Value, name: str) -> Values | None:
        """Return what a file binds a name to at its top, None where it does not."""
        return self._in_scope(self.views[module.file], -1, name, None)

    # What the layers above read.

    def _evaluate(self, where: Where, expression: Expression) -> Values:
        """Return what an expression may be."""
        raise NotImplementedError

    def _typed(self, where: Where, written: str) -> Values:
        """Return the objects that a written type stands for."""
        raise NotImplementedError

    # Names.

    def _lookup(self, where: Where, name: str) -> Values:
        """Return what a bare name is at a place: local, of a scope around, of the module."""
        view = self.views[where.file]
        scope = view.scope(where.row)
        inner = True
        if name in self.own_names and (owned := self.own(view, scope, name)):
            return owned
        while True:
            is_class = scope >= 0 and view.definitions[scope].kind in CLASSES
            if inner or not is_class:
                found = self._in_scope(view, scope, name, where if inner else None)
                if found is not None:
                    return found
            if scope < 0:
                break
            scope, inner = view.outer(scope), False
        for star in view.told.get((-1, STAR), ()):
            found = self._starred(where.file, star, name)
            if found:
                return found
        if name in self.builtins:
            return (Value(FOREIGN_CLASS, name=name),)
        return ()

    def _in_scope(self, view: FileView, scope: int, name: str, where: Where | None) -> Values | None:
        """Return what a name is in one scope, None where the scope does not bind it."""
        bound = view.bound.get((scope, name), ())
        rows = [
            row
            for row in view.members.get((scope, name), ())
            if view.definitions[row].name == name and self._is_bare(view, row, scope)
        ]
        if not bound and not rows:
            return None
        chosen = self._reaching(bound, where)
        values: dict[Value, None] = {}
        for row in rows:
            kind = CLASS if view.definitions[row].kind in CLASSES else FUNCTION
            values[Value(kind, view.file, row)] = None
        for each in chosen:
            for value in self._of_binding(view, each):
                values[value] = None
        return tuple(values)[:MOST_VALUES]

    def _is_bare(self, view: FileView, row: int, scope: int) -> bool:
        """Tell whether a definition can be meant by its bare name in its scope."""
        kind = view.definitions[row].kind
        if kind == "method":
            return scope >= 0 and view.definitions[scope].kind in CLASSES
        return kind in SCOPES

    def _reaching(self, bound: Iterable[Binding], where: Where | None) -> list[Binding]:
        """Return the bindings that may hold at a place, all of them where there is none."""
        every = list(bound)
        self.memo.charge(len(every) // BINDINGS_A_STEP)
        if where is None or not where.line:
            return [each for each in every if each.kind != NARROWED]
        before = [each for each in every if each.line <= where.line]
        chosen: list[Binding] = []
        for each in reversed(before):
            if each.kind == NARROWED:
                last = int(each.value.partition(":")[0])
                inside = where.line > each.line and (
                    where.line <= last if last else where.indent >= each.indent
                )
                if inside:
                    chosen.append(each)
                    return chosen
                continue
            if each.line == where.line and each.kind == ASSIGNED and not _BEFOREHAND.search(each.value):
                continue  # ``x = x.next()`` reads what was bound before.
            chosen.append(each)
            if each.indent <= where.indent:
                break
        # A loop's body may use what is bound further down.
        return chosen or [each for each in every if each.kind != NARROWED]

    def _of_binding(self, view: FileView, each: Binding) -> Values:
        return self.memo.once((view.file, each), lambda: self._read_binding(view, each))

    def _read_binding(self, view: FileView, each: Binding) -> Values:
        where = Where(view.file, each.definition, each.line, each.indent)
        if each.kind in (IMPORT, RENAMED):
            return self._import(view.file, each.value)
        if not each.value:
            return ()
        if each.kind in (DECLARED, FIELD_TYPE):
            return self._typed(where, each.value)
        if each.kind == NARROWED:
            return self._typed(where, each.value.partition(":")[2])
        return self._evaluate(where, parse(each.value))

    # Modules.

    def _import(self, file: int, value: str) -> Values:
        name, _, member = value.partition(":")
        module = self.module(file, name)
        if module is None:
            return (Value(FOREIGN_CLASS, name=member or name),)
        return self._of_module(module, member) if member else (module,)

    def _of_module(self, module: Value, name: str) -> Values:
        """Return what a module calls ``name``: bound in it, one of its modules, or from a star."""
        key = ("module", module.file, module.name, name)
        return self.memo.once(key, lambda: self._read_module(module, name))

    def _read_module(self, module: Value, name: str) -> Values:
        if module.file >= 0:
            view = self.views[module.file]
            found = self.of_whole(module, name)
            if found:
                return found
        if (child := self.submodule(module, name)) is not None:
            return (child,)
        if module.file >= 0:
            for star in view.told.get((-1, STAR), ()):
                if found := self._starred(module.file, star, name):
                    return found
        return ()

    def _starred(self, file: int, star: Binding, name: str) -> Values:
        module = self.module(file, star.value)
        return self._of_module(module, name) if module is not None else ()

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        found: dict[tuple[int, int], None] = {}
        for each in self.views[file].bindings:
            if each.kind in (IMPORT, RENAMED, STAR):
                self.memo.charge()
                module, _, name = each.value.partition(":")
                known = self.module(file, module)
                inner = self.submodule(known, name) if known is not None and name else None
                if known is None:
                    continue
                if inner is not None and inner.file >= 0 and not self._has_own(known, name):
                    known = inner
                if known.file >= 0:
                    found.setdefault((known.file, each.line), None)
        return tuple(found)

    def _has_own(self, module: Value, name: str) -> bool:
        return module.file >= 0 and (-1, name) in self.views[module.file].members

    # Other names.

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition."""
        names = {self.views[place[0]].definitions[place[1]].name.rpartition(".")[2]}
        for _ in range(3):
            more = {alias for each in names for alias in self._renamed.get(each, ())} - names
            if not more:
                break
            names |= more
        return frozenset(names)

    @cached_property
    def _renamed(self) -> dict[str, tuple[str, ...]]:
        """The other names of each name: imports ``as``, and plain assignments at the top or in a class."""
        index, table = self.index, self.index.bindings
        starts = table.file_start
        kinds = np.isin(table.kind, (RENAMED, ASSIGNED, EXPORTED))
        values = index.expressions
        dotted = np.zeros(len(values), bool)
        plain = re.compile(r"(?:.*:)?[\w.$=]+\Z")
        rows = np.flatnonzero(kinds)
        used = np.unique(table.value[rows]) if len(rows) else np.zeros(0, np.int64)
        for number in used.tolist():
            dotted[number] = bool(plain.match(values[number]))
        rows = rows[dotted[table.value[rows]]] if len(rows) else rows
        found: dict[str, dict[str, None]] = {}
        for row in rows.tolist():
            file = int(np.searchsorted(starts, row, side="right")) - 1
            if int(table.kind[row]) == ASSIGNED:
                definition = int(table.definition[row])
                if definition >= 0 and self._kind(file, definition) in ("function", "method"):
                    continue
            last = re.split(r"[.:]", values[int(table.value[row])])[-1]
            name = index.strings[int(table.name[row])]
            if last and last != name:
                found.setdefault(last, {})[name] = None
        return {name: tuple(others) for name, others in found.items()}

    def _kind(self, file: int, row: int) -> str:
        index = self.index
        return index.kinds[int(index.symbols.kind[int(index.symbols.file_start[file]) + row])]
