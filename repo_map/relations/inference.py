"""What names mean, by scopes, receivers, inheritance, written types, and what functions return.

A family of languages gives its modules and the words that it has for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from repo_map.parsing.facts_model import (
    ASSIGNED,
    BASE_OF,
    DECLARED,
    EXPORTED,
    FIELD_TYPE,
    IMPORT,
    NARROWED,
    RENAMED,
    RETURN_TYPE,
    RETURNED,
    STAR,
    Binding,
    Site,
)
from repo_map.relations.expressions import Expression, Name, One, Several, Text, Typed, parse, parts_of_type
from repo_map.relations.file_facts import CLASSES, SCOPES, FileView, FileViews
from repo_map.relations.model import OPEN, OUTSIDE, Meaning, Place

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

_DEEPEST: Final = 24
"""Steps from one expression to the next; a longer way is given up."""
_MOST_VALUES: Final = 8
_MOST_KEPT: Final = 200_000
_MOST_STEPS: Final = 3_000
"""For one site; some milliseconds."""
_MOST_BASES: Final = 200

# Kinds of value.
MODULE, CLASS, INSTANCE, FUNCTION, FOREIGN, FOREIGN_CLASS = (
    "module",
    "class",
    "instance",
    "function",
    "foreign",
    "foreign class",
)
TUPLE, METHOD, SUPER, OBJECT = "tuple", "foreign method", "super", "object"


class Value(NamedTuple):
    """What an expression may be."""

    kind: str
    file: int = -1
    row: int = -1
    name: str = ""
    """Of what is not ours, or the folder of a package."""
    parts: tuple[tuple[Value, ...], ...] = ()
    """Type arguments, items of a tuple, or the receiver that a function is bound to."""


Values = tuple[Value, ...]
"""Any one of them; empty where nothing is known."""
STRANGER: Final = Value(FOREIGN)


class Where(NamedTuple):
    """A place in the source that an expression is read at."""

    file: int
    row: int
    """Innermost definition."""
    line: int
    """What is bound below it counts only in scopes around; 0 for all."""
    indent: int = 255


class Inference:
    """A resolver that follows values; what it knows of a language, its family tells."""

    common: frozenset[str] = frozenset()
    own_names: frozenset[str] = frozenset()
    """What a method calls its object, or its class."""
    builtins: frozenset[str] = frozenset()
    nothing: frozenset[str] = frozenset()
    """Written types of which nothing is known, or that have no members."""
    wrappers: frozenset[str] = frozenset()
    """Written types that stand for their first argument."""
    awaited: frozenset[str] = frozenset()
    """Written types that stand for their last argument."""
    mappings: frozenset[str] = frozenset()
    harmless: frozenset[str] = frozenset()
    """Bases from elsewhere that bring no members worth a name."""
    themselves: frozenset[str] = frozenset()
    """What a method that gives its own object returns."""
    initialisers: frozenset[str] = frozenset()
    """What makes an object of a class."""
    givers: ClassVar[Mapping[str, str]] = {}
    """What methods of containers give: ``0``, ``1`` that argument, ``[0`` several of it, ``=`` themselves."""

    def __init__(self, index: RepoIndex) -> None:
        self.index = index
        self.views = index.derived(FileViews)
        self._lock = RLock()
        self._known: dict[Hashable, Values] = {}
        self._active: set[Hashable] = set()
        self._is_cut = False
        self._steps = 0

    # What the core asks.

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        with self._lock:
            self._steps = 0
            return self._meaning(file, site)

    def _meaning(self, file: int, site: Site) -> Meaning:
        where = Where(file, site.definition, site.line, site.indent)
        if not site.receiver:
            values = self._lookup(where, site.name)
            if not values and site.name in self.builtins:
                return OUTSIDE
        else:
            values = tuple(
                dict.fromkeys(
                    found
                    for value in self._evaluate(where, parse(site.receiver))
                    for found in self._member(value, site.name, where)
                )
            )
        targets = tuple(
            sorted({(v.file, v.row) for v in values if v.kind in (CLASS, FUNCTION) and v.row >= 0})
        )
        if targets:
            return Meaning(targets)
        return OUTSIDE if values and all(v.kind in _FOREIGN_KINDS for v in values) else OPEN

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition."""
        names = {self.views[place[0]].definitions[place[1]].name.rpartition(".")[2]}
        for _ in range(3):
            more = {alias for each in names for alias in self._renamed.get(each, ())} - names
            if not more:
                break
            names |= more
        return frozenset(names)

    def bases(self, place: Place) -> tuple[Place, ...]:
        """Return the classes of this repository that a class extends directly, in order."""
        with self._lock:
            self._steps = 0
            return tuple((v.file, v.row) for v in self.bases_of(place) if v.kind == CLASS)

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        found: dict[tuple[int, int], None] = {}
        for each in self.views[file].bindings:
            if each.kind in (IMPORT, RENAMED, STAR):
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

    def is_property(self, function: Value) -> bool:
        """Tell whether reading a method calls it."""
        return False

    def entered(self, function: Value, returned: Values) -> Values:
        """Return what a call gives, where a function is more than its ``return``."""
        return returned

    def member_of_enum(self, owner: Place) -> bool:
        """Tell whether the values of a class are objects of it."""
        return False

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

    def literal(self, where: Where) -> Values:
        """Return the object that a literal makes at a place."""
        return ()

    def of_object(self, value: Value, name: str) -> Values:
        """Return a member of an object that no class makes."""
        return ()

    def made(self, function: Value) -> Values:
        """Return what a function makes that returns nothing."""
        return ()

    def of_whole(self, module: Value, name: str) -> Values | None:
        """Return what a file binds a name to at its top, None where it does not."""
        return self._in_scope(self.views[module.file], -1, name, None)

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
        return tuple(values)[:_MOST_VALUES]

    def _is_bare(self, view: FileView, row: int, scope: int) -> bool:
        """Tell whether a definition can be meant by its bare name in its scope."""
        kind = view.definitions[row].kind
        if kind == "method":
            return scope >= 0 and view.definitions[scope].kind in CLASSES
        return kind in SCOPES

    def _reaching(self, bound: Iterable[Binding], where: Where | None) -> list[Binding]:
        """Return the bindings that may hold at a place, all of them where there is none."""
        every = list(bound)
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
        return self._once((view.file, each), lambda: self._read_binding(view, each))

    def _once(self, key: Hashable, make: Callable[[], Values]) -> Values:
        """Return what ``make`` finds, kept where it is all there is to find.

        What leads back to itself, too far or to too much is given up; what was found on the way there is not
        kept, for from elsewhere more may be found.
        """
        if (kept := self._known.get(key)) is not None:
            return kept
        self._steps += 1
        if key in self._active or len(self._active) > _DEEPEST or self._steps > _MOST_STEPS:
            self._is_cut = True
            return ()
        was_cut, self._is_cut = self._is_cut, False
        self._active.add(key)
        try:
            found = make()
        finally:
            self._active.discard(key)
        if not self._is_cut or not self._active:
            if len(self._known) > _MOST_KEPT:
                self._known.clear()
            self._known[key] = found
        self._is_cut = self._is_cut or was_cut
        return found

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
        return self._once(key, lambda: self._read_module(module, name))

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

    # Expressions.

    def _evaluate(self, where: Where, expression: Expression) -> Values:
        values = self._root(where, expression)
        for suffix in expression.then:
            if not values:
                return ()
            found: dict[Value, None] = {}
            for value in values:
                for each in self._follow(value, suffix, where):
                    found[each] = None
            values = tuple(found)[:_MOST_VALUES]
        return values

    def _root(self, where: Where, expression: Expression) -> Values:
        root = expression.root
        if isinstance(root, Name):
            if root.name == "super":
                owner = self.views[where.file].class_around(where.row)
                return (Value(SUPER, where.file, owner),) if owner >= 0 else ()
            return self._lookup(where, root.name)
        if isinstance(root, Text):
            return (Value(FOREIGN, name="str" if root.mark == "'" else "int"),) if root.mark != "?" else ()
        if isinstance(root, Typed):
            return self._typed(where, root.written)
        parts = tuple(self._evaluate(where, each) for each in root.parts)
        if isinstance(root, Several) and root.mark == "{" and not root.parts:
            return self.literal(where)
        if isinstance(root, One):
            return tuple(dict.fromkeys(value for part in parts for value in part))[:_MOST_VALUES]
        kind = {"[": "list", "{": "dict", "(": "tuple"}[root.mark]
        return (Value(TUPLE if kind == "tuple" else FOREIGN, name=kind, parts=parts),)

    def _follow(self, value: Value, suffix: str, where: Where) -> Values:
        first = suffix[0]
        if first == ".":
            return self._attribute(value, suffix[1:], where)
        if suffix == "()":
            return self._call(value)
        if first == "[":
            return self._item(value, suffix[1:-1])
        if first == "*":
            return self._iterate(value)
        if first == "%":
            return self._enter(value)
        return self._nth(value, int(suffix[1:]))

    def _attribute(self, value: Value, name: str, where: Where) -> Values:
        """Return what reading an attribute gives: a property's value, not the property."""
        if name == "__class__" and value.kind == INSTANCE:
            return (value._replace(kind=CLASS),)
        found = self._member(value, name, where)
        if value.kind != INSTANCE:
            return found
        read: dict[Value, None] = {}
        for each in found:
            if each.kind == FUNCTION and self.is_property(each):
                read.update(dict.fromkeys(self._returned(each)))
            else:
                read[each] = None
        return tuple(read)

    def _member(self, value: Value, name: str, where: Where) -> Values:
        """Return the member of a value that a name means."""
        kind = value.kind
        if kind == MODULE:
            return self._of_module(value, name)
        if kind in (CLASS, INSTANCE):
            return self._of_class(value, name)
        if kind == SUPER:
            return self._of_class(value._replace(kind=INSTANCE), name, skip=True)
        if kind in (FOREIGN, TUPLE):
            return (Value(METHOD, name=name, parts=(_one(value),)),)
        if kind == FOREIGN_CLASS:
            return (Value(FOREIGN_CLASS, name=name),)
        if kind == OBJECT:
            return self.of_object(value, name)
        if kind == FUNCTION:
            return self.of_object(value._replace(name=self._name(value)), name)
        return ()

    def _name(self, value: Value) -> str:
        return self.views[value.file].definitions[value.row].name

    def _of_class(self, receiver: Value, name: str, *, skip: bool = False) -> Values:
        """Return a member of a class by its order of inheritance."""
        known, complete = self._order((receiver.file, receiver.row))
        for owner in known[1:] if skip else known:
            view = self.views[owner[0]]
            found: dict[Value, None] = {}
            for row in view.members.get((owner[1], name), ()):
                kind = view.definitions[row].kind
                if kind in ("method", "function"):
                    found[Value(FUNCTION, view.file, row, parts=((receiver,),))] = None
                elif kind in CLASSES:
                    found[Value(CLASS, view.file, row)] = None
            bound = [*view.bound.get((owner[1], name), ()), *view.fields.get((owner[1], name), ())]
            declared = [each for each in bound if each.kind in (DECLARED, FIELD_TYPE)]
            for each in declared or bound:
                for value in self._of_binding(view, each):
                    found[value._replace(parts=((receiver,),)) if value.kind == FUNCTION else value] = None
            if found:
                return tuple(found)[:_MOST_VALUES]
            if bound:
                return self._enumerated(receiver)
        if complete:
            return ()
        return (Value(METHOD, name=name),) if self._is_half_foreign(known) else ()

    def _enumerated(self, receiver: Value) -> Values:
        """Return a member of an enumeration as what it is: an object of its class."""
        order = self._order((receiver.file, receiver.row))[0]
        return (receiver._replace(kind=INSTANCE),) if any(map(self.member_of_enum, order)) else ()

    def _is_half_foreign(self, owners: Iterable[Place]) -> bool:
        """Tell whether all unknown bases of some classes are known not to be ours."""
        return all(base.kind in (CLASS, FOREIGN_CLASS) for owner in owners for base in self.bases_of(owner))

    def _order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a class and its bases in order of inheritance, and whether all of them are here."""
        complete = True
        order: dict[Place, None] = {}

        def visit(at: Place, depth: int) -> None:
            nonlocal complete
            if depth > _DEEPEST or len(order) > _MOST_BASES:
                return
            # A base that comes again stands after all that extend it.
            order.pop(at, None)
            order[at] = None
            for base in self.bases_of(at):
                if base.kind == CLASS and (base.file, base.row) != at:
                    visit((base.file, base.row), depth + 1)
                elif base.kind != CLASS and base.name not in self.harmless:
                    complete = False

        visit(place, 0)
        return tuple(order), complete

    def bases_of(self, place: Place) -> Values:
        """Return the direct bases of a class, in order; what is unknown is ``?``."""
        return self._once(("bases", place), lambda: self._read_bases(place))

    def _read_bases(self, place: Place) -> Values:
        view = self.views[place[0]]
        found: list[Value] = []
        for each in view.told.get((place[1], BASE_OF), ()):
            head = each.value.partition("[")[0].partition("(")[0]
            values: Values = ()
            if head and head != "?":
                values = self._evaluate(Where(view.file, view.outer(place[1]), 0), parse(head))
            found += values or (Value("unknown", name=head or "?"),)
        return tuple(found)

    def _call(self, value: Value) -> Values:
        kind = value.kind
        if kind == CLASS:
            return (Value(INSTANCE, value.file, value.row),)
        if kind == FUNCTION:
            return self.entered(value, self._returned(value)) or self.made(value)
        if kind == INSTANCE:
            called = self._of_class(value, "__call__")
            return self._all(called, lambda each: self._returned(each) if each.kind == FUNCTION else ())
        if kind == FOREIGN_CLASS:
            return (Value(FOREIGN, name=value.name),)
        if kind == METHOD:
            return self._foreign_method(value)
        if kind == SUPER:
            return (value,)
        return ()

    def _foreign_method(self, method: Value) -> Values:
        """Return what a method of a container gives."""
        if not method.parts:
            return (STRANGER,)
        container = method.parts[0][0]
        kind = "mapping" if container.name in self.mappings and len(container.parts) == 2 else "several"
        gives = self.givers.get(f"{kind}.{method.name}", "")
        if not gives or not container.parts:
            return (STRANGER,)
        if gives == "=":
            return (container,)
        if gives == "pairs":
            return (Value(FOREIGN, name="list", parts=((Value(TUPLE, parts=container.parts),),)),)
        part = container.parts[int(gives[-1])]
        return (Value(FOREIGN, name="list", parts=(part,)),) if gives[0] == "[" else part

    def _returned(self, function: Value) -> Values:
        """Return what calling a function gives, as it is written or by its ``return``."""
        return self._once(("returned", function), lambda: self._read_returned(function))

    def _read_returned(self, function: Value) -> Values:
        view = self.views[function.file]
        written = view.told.get((function.row, RETURN_TYPE), ())
        receiver = function.parts[0] if function.parts else ()
        if written and receiver and self._returns_itself(view, function.row, written[0].value):
            return tuple(each._replace(kind=INSTANCE) for each in receiver)
        if written:
            where = Where(function.file, function.row, 0)
            return self._typed(where, written[0].value)
        found: dict[Value, None] = {}
        for each in view.told.get((function.row, RETURNED), ()):
            if each.value in self.themselves:
                values: Values = tuple(value._replace(kind=INSTANCE) for value in receiver)
                values = values or self._evaluate(
                    Where(view.file, function.row, each.line), parse(each.value)
                )
            else:
                values = self._evaluate(
                    Where(view.file, each.definition, each.line, each.indent), parse(each.value)
                )
            found.update(dict.fromkeys(values))
        return tuple(found)[:_MOST_VALUES]

    def _returns_itself(self, view: FileView, row: int, written: str) -> bool:
        """Tell whether a method gives its own object: ``Self``, ``this``, or the variable of its type."""
        if written in ("Self", "this"):
            return True
        own = [each for name in self.own_names for each in view.bound.get((row, name), ())]
        return any(each.value in (written, f"type[{written}]", f"Type[{written}]") for each in own)

    def _item(self, value: Value, index: str) -> Values:
        if value.kind in (CLASS, FOREIGN_CLASS):
            return (value,)
        if value.kind == TUPLE:
            return self._nth(value, int(index)) if index else _flat(value.parts)
        if value.kind == FOREIGN:
            if value.name in self.mappings:
                return value.parts[1] if len(value.parts) == 2 else ()
            return value.parts[0] if value.parts else (STRANGER,)
        if value.kind == INSTANCE:
            return self._through(value, "__getitem__")
        return ()

    def _through(self, value: Value, method: str) -> Values:
        """Return what a method of an object of ours gives."""
        found = self._of_class(value, method)
        return self._all(found, lambda each: self._returned(each) if each.kind == FUNCTION else ())

    def _iterate(self, value: Value) -> Values:
        if value.kind == TUPLE:
            return _flat(value.parts)
        if value.kind == FOREIGN:
            return value.parts[0] if value.parts else (STRANGER,)
        if value.kind == CLASS:
            return (value._replace(kind=INSTANCE),)
        if value.kind == INSTANCE:
            for method in ("__iter__", "__aiter__"):
                if found := self._through(value, method):
                    return self.each_of(tuple(each for each in found if each != value)) or self._through(
                        value, "__next__"
                    )
            return self._through(value, "__getitem__")
        return ()

    def each_of(self, values: Values) -> Values:
        """Return what iterating over values gives."""
        return self._all(values, self._iterate)

    def _enter(self, value: Value) -> Values:
        if value.kind == INSTANCE:
            return self._through(value, "__enter__") or self._through(value, "__aenter__")
        if value.kind == FOREIGN and value.parts:
            return value.parts[0]
        return (STRANGER,) if value.kind == FOREIGN else ()

    def _nth(self, value: Value, number: int) -> Values:
        if value.kind == TUPLE:
            return value.parts[number] if number < len(value.parts) else ()
        if value.kind == FOREIGN and value.parts:
            return value.parts[0]
        return (STRANGER,) if value.kind == FOREIGN else ()

    def _all(self, values: Values, make: Callable[[Value], Values]) -> Values:
        return tuple(dict.fromkeys(each for value in values for each in make(value)))[:_MOST_VALUES]

    # Written types.

    def _typed(self, where: Where, written: str) -> Values:
        """Return the objects that a written type stands for."""
        key = ("type", where.file, where.row, written)
        return self._once(key, lambda: self._read_type(where, written))

    def _read_type(self, where: Where, written: str) -> Values:
        found: dict[Value, None] = {}
        for head, arguments in parts_of_type(written):
            found.update(dict.fromkeys(self._of_type(where, head, arguments)))
        return tuple(found)[:_MOST_VALUES]

    def _of_type(self, where: Where, head: str, arguments: tuple[str, ...]) -> Values:
        last = head.rpartition(".")[2]
        if last in self.nothing:
            return ()
        if last in self.wrappers:
            return self._typed(where, arguments[0]) if arguments else ()
        if last == "Union":
            return tuple(dict.fromkeys(v for each in arguments for v in self._typed(where, each)))
        if last in self.awaited and arguments:
            return self._typed(where, arguments[-1])
        if last in ("type", "Type") and arguments:
            found = self._typed(where, arguments[0])
            return tuple(each._replace(kind=CLASS) for each in found if each.kind == INSTANCE)
        if last == "Self":
            owner = self.views[where.file].class_around(where.row)
            return (Value(INSTANCE, where.file, owner),) if owner >= 0 else ()
        # What is written as a type may be defined below.
        values = self._evaluate(where._replace(line=0), parse(head))
        return tuple(self._made(where, value, arguments) for value in values if value.kind in _TYPES)

    def _made(self, where: Where, value: Value, arguments: tuple[str, ...]) -> Value:
        """Return the instance of a type with its arguments."""
        if value.kind == CLASS:
            return Value(INSTANCE, value.file, value.row)
        if value.kind != FOREIGN_CLASS:
            # A name for a type: ``Handler = Union[A, B]`` is read as what it was made of.
            return value
        parts = tuple(self._typed(where, each) for each in arguments)
        name = value.name.rpartition(".")[2]
        if name not in ("tuple", "Tuple"):
            return Value(FOREIGN, name=name, parts=parts)
        if len(arguments) == 1 or arguments[1:] == ("...",):
            return Value(FOREIGN, name="list", parts=parts[:1])
        return Value(TUPLE, name="tuple", parts=parts)


_TYPES: Final = frozenset({CLASS, FOREIGN_CLASS, INSTANCE, TUPLE})
_BEFOREHAND: Final = re.compile(r"[*%](?:#\d+)*\Z")
"""A loop, a comprehension or a context binds its name before the rest of its line is read."""
_FOREIGN_KINDS: Final = frozenset({FOREIGN, FOREIGN_CLASS, METHOD, TUPLE})


def _one(value: Value) -> tuple[Value, ...]:
    return (value,)


def _flat(parts: Iterable[Values]) -> Values:
    return tuple(dict.fromkeys(value for part in parts for value in part))[:_MOST_VALUES]
