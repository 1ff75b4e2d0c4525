"""The rules of languages whose values are followed: assignments, calls, attributes, modules."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final

from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import Receiver, Root
from repo_map.parsing.facts_model import Binding, Site
from repo_map.relations.core.memo import BINDINGS_A_STEP, MAX_DEPTH, cached, memoized
from repo_map.relations.core.resolver import Resolver
from repo_map.relations.core.values import (
    MAX_VALUES,
    UNKNOWN_EXTERNAL,
    Kind,
    Position,
    Value,
    Values,
    position_of,
)
from repo_map.relations.file_facts import CLASSES, SCOPES, FileView
from repo_map.relations.model import Place

_BEFOREHAND: Final = re.compile(r"[*%](?:#\d+)*\Z")
"""A loop, a comprehension or a context binds its name before the rest of its line is read."""
_MAX_BASES: Final = 200
_MARKS: Final = frozenset({facts.EXCLUDED, facts.NARROWED})
"""Kinds of bindings that bind nothing: they say which others hold."""
_TYPES: Final = frozenset({Kind.CLASS, Kind.EXTERNAL_CLASS, Kind.INSTANCE, Kind.TUPLE})


class DynamicResolver(Resolver):
    """Follows values; a language says what its modules, its objects and its containers are."""

    literals: ClassVar[Mapping[str, str]] = {"'": "str", "0": "int"}
    renaming: ClassVar[frozenset[int]] = frozenset({facts.RENAMED, facts.ASSIGNED, facts.EXPORTED})
    own_names: ClassVar[frozenset[str]] = frozenset()
    """What a method calls its object, or its class."""
    themselves: ClassVar[frozenset[str]] = frozenset()
    """What a method that gives its own object returns."""
    builtins: ClassVar[frozenset[str]] = frozenset()
    nothing: ClassVar[frozenset[str]] = frozenset()
    """Written types of which nothing is known, or that have no members."""
    wrappers: ClassVar[frozenset[str]] = frozenset()
    """Written types that stand for their first argument."""
    awaited: ClassVar[frozenset[str]] = frozenset()
    """Written types that stand for their last argument."""
    mappings: ClassVar[frozenset[str]] = frozenset()
    ignored_bases: ClassVar[frozenset[str]] = frozenset()
    """Bases from elsewhere that bring no members worth a name."""
    pair: ClassVar[Value] = Value(Kind.TUPLE)

    # What a language may say otherwise.

    def module(self, file: int, name: str) -> Value | None:
        """Return the module of ours that an import in a file names."""
        raise NotImplementedError

    def submodule(self, module: Value, name: str) -> Value | None:
        """Return a module that lies in another."""
        return None

    def own_object(self, view: FileView, scope: int, name: str) -> Values:
        """Return what a method's name for its object is, in a scope; nothing outside of methods."""
        raise NotImplementedError

    def of_file(self, module: Value, name: str) -> Values | None:
        """Return what a file binds a name to at its top, None where it does not."""
        return self.bound_at(self.views[module.file], -1, name, None)

    def is_property(self, function: Value) -> bool:
        """Return True if reading a method calls it."""
        return False

    # Bare names.

    def at_site(self, where: Position, site: Site, receiver: Receiver) -> Values:
        """Return what a site's name is; a builtin where nothing is known of what hides it."""
        found = self.named(where, site, receiver)
        if not found and not receiver.text and site.name in self.builtins:
            return (Value(Kind.EXTERNAL_CLASS, name=site.name),)
        return found

    def one_of(self, targets: list[Place]) -> list[Place]:
        """Return all targets: which of them is meant may depend on the run."""
        return targets

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is, ``super`` among them."""
        if name == "super":
            owner = self.views[where.file].class_around(where.row)
            return (Value(Kind.SUPER, where.file, owner),) if owner >= 0 else ()
        return self.lookup(where, name, is_called=is_called)

    def lookup(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is: a method's name for its object, or what the scopes around bind."""
        if name in self.own_names:
            view = self.views[where.file]
            if found := self.own_object(view, view.scope(where.row), name):
                return found
        return super().lookup(where, name, is_called=is_called)

    def in_scope(
        self, view: FileView, scope: int, name: str, where: Position, *, is_inner: bool, is_called: bool
    ) -> Values | None:
        """Return what a scope binds a name to; a class's names are seen in no function of it."""
        if not is_inner and view.definitions[scope].kind in CLASSES:
            return None
        return self.bound_at(view, scope, name, where if is_inner else None)

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is in its module: bound there, from a star, or built in."""
        view = self.views[where.file]
        is_inner = where.row < 0 or view.scope(where.row) < 0
        found = self.bound_at(view, -1, name, where if is_inner else None)
        if found is not None:
            return found
        if starred := self._starred(view, name):
            return starred
        return (Value(Kind.EXTERNAL_CLASS, name=name),) if name in self.builtins else ()

    def bound_at(self, view: FileView, scope: int, name: str, where: Position | None) -> Values | None:
        """Return what a name is in one scope, None where the scope does not bind it."""
        bound = view.bound.get((scope, name), ())
        rows = [
            row
            for row in view.members.get((scope, name), ())
            if view.definitions[row].name == name and _is_bare(view, row, scope)
        ]
        if not bound and not rows:
            return None
        values: dict[Value, None] = {}
        for row in rows:
            kind = Kind.CLASS if view.definitions[row].kind in CLASSES else Kind.FUNCTION
            values[Value(kind, view.file, row)] = None
        for each in self._reaching(bound, where):
            for value in self.of_binding(view.file, each):
                values[value] = None
        return tuple(values)[:MAX_VALUES]

    def _reaching(self, bound: Iterable[Binding], where: Position | None) -> list[Binding]:
        """Return the bindings that may hold at a position, all of them where there is none."""
        every = list(bound)
        self.memo.charge(len(every) // BINDINGS_A_STEP)
        bindings = [each for each in every if each.kind not in _MARKS]
        if where is None or not where.line:
            return bindings
        chosen: list[Binding] = []
        for each in _not_excluded([each for each in every if each.line <= where.line], where.line):
            if each.kind == facts.NARROWED:
                last = forms.decode_narrowed(each.value)[0]
                is_inside = where.line <= last if last else where.indent >= each.indent
                if where.line > each.line and is_inside:
                    return [*chosen, each]
                continue
            if each.line == where.line and each.kind == facts.ASSIGNED and not _BEFOREHAND.search(each.value):
                continue  # ``x = x.next()`` reads what was bound before.
            chosen.append(each)
            if each.indent <= where.indent:
                break
        # A loop's body may use what is bound further down.
        return chosen or bindings

    @memoized
    def of_binding(self, file: int, each: Binding) -> Values:
        """Return what a name is bound to: what is imported, something of a type, or an expression."""
        where = position_of(file, each)
        if each.kind in (facts.IMPORT, facts.RENAMED):
            return self._imported_value(file, each.value)
        if not each.value or each.kind == facts.EXCLUDED:
            return ()
        if each.kind in (facts.DECLARED, facts.FIELD_TYPE):
            return self.instances(where, each.value)
        if each.kind == facts.NARROWED:
            return self.instances(where, forms.decode_narrowed(each.value)[1])
        return self.evaluate(where, forms.decode(each.value))

    # Modules.

    def _imported_value(self, file: int, value: str) -> Values:
        name, _, member = value.partition(":")
        module = self.module(file, name)
        if module is None:
            return (Value(Kind.EXTERNAL_CLASS, name=member or name),)
        return self._of_module(module, member) if member else (module,)

    def of_module(self, module: Value, name: str, where: Position) -> Values:
        """Return what a module calls ``name``: bound in it, one of its modules, or from a star."""
        return self._of_module(module, name)

    @memoized
    def _of_module(self, module: Value, name: str) -> Values:
        if module.file >= 0 and (found := self.of_file(module, name)):
            return found
        if (child := self.submodule(module, name)) is not None:
            return (child,)
        return self._starred(self.views[module.file], name) if module.file >= 0 else ()

    def _starred(self, view: FileView, name: str) -> Values:
        """Return what the modules that a file takes all names of call ``name``."""
        for star in view.of_scope.get((-1, facts.STAR), ()):
            module = self.module(view.file, star.value)
            if module is not None and (found := self._of_module(module, name)):
                return found
        return ()

    def of_import(self, file: int, each: Binding) -> Values:
        self.memo.charge()
        path, _, name = each.value.partition(":")
        if (module := self.module(file, path)) is None:
            return ()
        inner = self.submodule(module, name) if name else None
        is_inner = inner is not None and inner.file >= 0 and not self._has_own(module, name)
        return (inner,) if inner is not None and is_inner else (module,)

    def _has_own(self, module: Value, name: str) -> bool:
        return module.file >= 0 and (-1, name) in self.views[module.file].members

    # Written types.

    def instance(self, where: Position, head: str, arguments: tuple[str, ...], of: Value | None) -> Values:
        """Return what has one written type."""
        last = head.rpartition(".")[2]
        if last in self.nothing:
            return ()
        if last in self.wrappers:
            return self.instances(where, arguments[0]) if arguments else ()
        if last == "Union":
            return tuple(dict.fromkeys(v for each in arguments for v in self.instances(where, each)))
        if last in self.awaited and arguments:
            return self.instances(where, arguments[-1])
        if last in ("type", "Type") and arguments:
            found = self.instances(where, arguments[0])
            return tuple(each._replace(kind=Kind.CLASS) for each in found if each.kind == Kind.INSTANCE)
        if last == "Self":
            owner = self.views[where.file].class_around(where.row)
            return (Value(Kind.INSTANCE, where.file, owner),) if owner >= 0 else ()
        # What is written as a type may be defined below.
        values = self.evaluate(where._replace(line=0), forms.decode(head))
        return tuple(self._object_of(where, value, arguments) for value in values if value.kind in _TYPES)

    def _object_of(self, where: Position, value: Value, arguments: tuple[str, ...]) -> Value:
        """Return the object of a type with its arguments."""
        if value.kind == Kind.CLASS:
            return Value(Kind.INSTANCE, value.file, value.row)
        if value.kind != Kind.EXTERNAL_CLASS:
            # A name for a type: ``Handler = Union[A, B]`` is read as what it was made of.
            return value
        parts = tuple(self.instances(where, each) for each in arguments)
        name = value.name.rpartition(".")[2]
        if name not in ("tuple", "Tuple"):
            return Value(Kind.EXTERNAL, name=name, parts=parts)
        if len(arguments) == 1 or arguments[1:] == ("...",):
            return Value(Kind.EXTERNAL, name="list", parts=parts[:1])
        return Value(Kind.TUPLE, name="tuple", parts=parts)

    # Members.

    def read_member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what reading an attribute gives: a property's value, not the property."""
        if value.kind != Kind.INSTANCE:
            return self.member(value, name, where)
        if name == "__class__":
            return (value._replace(kind=Kind.CLASS),)
        read: dict[Value, None] = {}
        for each in self.of_type(value, name, where):
            if each.kind == Kind.FUNCTION and self.is_property(each):
                read.update(dict.fromkeys(self.returned(each)))
            else:
                read[each] = None
        return tuple(read)

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``."""
        kind = value.kind
        if kind == Kind.SUPER:
            return self.of_type(value, name, where)
        if kind == Kind.EXTERNAL_CLASS:
            return (Value(Kind.EXTERNAL_CLASS, name=name),)
        return () if kind == Kind.EXTERNAL_METHOD else super().member(value, name, where)

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the members of a name that a class itself has; ``super`` skips the class around."""
        view = self.views[place[0]]
        if value.kind == Kind.SUPER:
            if place == value.place:
                return None
            value = value._replace(kind=Kind.INSTANCE)
        fields = view.fields.get((place[1], name), ())
        bound = [*view.bound.get((place[1], name), ()), *fields]
        found = self._defined(view, place[1], name, value, is_callback=bool(fields))
        declared = [each for each in bound if each.kind in (facts.DECLARED, facts.FIELD_TYPE)]
        for each in declared or bound:
            for of in self.of_binding(view.file, each):
                found[of._replace(parts=((value,),)) if of.kind == Kind.FUNCTION else of] = None
        return tuple(found)[:MAX_VALUES] if found or bound else None

    def _defined(
        self, view: FileView, scope: int, name: str, value: Value, *, is_callback: bool
    ) -> dict[Value, None]:
        """Return the methods and classes of a name that a class holds, a field too that is a callback."""
        found: dict[Value, None] = {}
        for row in view.members.get((scope, name), ()):
            kind = view.definitions[row].kind
            if kind in ("method", "function"):
                found[Value(Kind.FUNCTION, view.file, row, parts=((value,),))] = None
            elif kind in CLASSES:
                found[Value(Kind.CLASS, view.file, row)] = None
            elif is_callback and kind == "field" and view.fields[scope, name][0].value == forms.CALLBACK:
                found[Value(Kind.FUNCTION, view.file, row)] = None
        return found

    def member_not_found(
        self, value: Value, name: str, where: Position, *, is_called: bool, is_complete: bool
    ) -> Values:
        """Return an external method where all bases that are not ours are known to be external."""
        if is_complete:
            return ()
        order = self.order(value.place)[0]
        bases = (base.kind for owner in order for base in self.base_values(owner))
        is_external = all(kind in (Kind.CLASS, Kind.EXTERNAL_CLASS) for kind in bases)
        return (Value(Kind.EXTERNAL_METHOD, name=name),) if is_external else ()

    # Inheritance.

    @cached
    def order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a class and its bases; one that comes again stands after all that extend it."""
        is_complete = True
        order: dict[Place, None] = {}
        seen = {place}

        def visit(at: Place, depth: int) -> None:
            nonlocal is_complete
            self.memo.charge()
            ours = []
            for base in self.base_values(at):
                if base.kind == Kind.CLASS:
                    ours.append(base.place)
                elif base.name not in self.ignored_bases:
                    is_complete = False
            for each in reversed(ours):
                if each not in seen and depth < MAX_DEPTH and len(seen) < _MAX_BASES:
                    seen.add(each)
                    visit(each, depth + 1)
            order[at] = None

        visit(place, 0)
        return tuple(reversed(order)), is_complete

    @memoized
    def base_values(self, place: Place) -> Values:
        """Return the direct bases of a class; of some it is not known whether they are ours."""
        view = self.views[place[0]]
        found: list[Value] = []
        for each in view.of_scope.get((place[1], facts.INHERITS), ()):
            head = forms.head_of_type(each.value).partition("(")[0]
            values: Values = ()
            if head:
                values = self.evaluate(Position(view.file, view.outer(place[1]), 0), forms.decode(head))
            found += values or (Value(Kind.UNKNOWN_BASE, name=head or "?"),)
        return tuple(found)

    # Calls.

    def result(self, value: Value) -> Values:
        """Return what calling a value gives."""
        kind = value.kind
        if kind == Kind.CLASS:
            return (Value(Kind.INSTANCE, value.file, value.row),)
        if kind == Kind.FUNCTION:
            return self.returned(value)
        if kind == Kind.INSTANCE:
            return self._result_of(value, "__call__")
        if kind == Kind.EXTERNAL_CLASS:
            return (Value(Kind.EXTERNAL, name=value.name),)
        if kind == Kind.EXTERNAL_METHOD:
            return self.result_of_external(value)
        return (value,) if kind == Kind.SUPER else ()

    def _result_of(self, value: Value, method: str) -> Values:
        """Return what a method of an object of ours gives."""
        found = self.of_type(value, method, Position(value.file, -1, 0))
        return self.all_of(found, lambda each: self.returned(each) if each.kind == Kind.FUNCTION else ())

    @memoized
    def returned(self, function: Value) -> Values:
        """Return what calling a function gives, as it is written or by its ``return``."""
        view = self.views[function.file]
        written = view.of_scope.get((function.row, facts.RETURN_TYPE), ())
        receiver = function.parts[0] if function.parts else ()
        own = tuple(each._replace(kind=Kind.INSTANCE) for each in receiver)
        if written:
            if own and self._returns_itself(view, function.row, written[0].value):
                return own
            return self.instances(Position(function.file, function.row, 0), written[0].value)
        found: dict[Value, None] = {}
        for each in view.of_scope.get((function.row, facts.RETURNED), ()):
            where = position_of(view.file, each)
            if each.value in self.themselves:
                where = Position(view.file, function.row, each.line)
            values = own if each.value in self.themselves else ()
            found.update(dict.fromkeys(values or self.evaluate(where, forms.decode(each.value))))
        return tuple(found)[:MAX_VALUES]

    def _returns_itself(self, view: FileView, row: int, written: str) -> bool:
        """Return True if a method returns its own object: ``Self``, ``this``, or the type variable of it."""
        if written in ("Self", "this"):
            return True
        own = [each for name in self.own_names for each in view.bound.get((row, name), ())]
        return any(each.value in (written, f"type[{written}]", f"Type[{written}]") for each in own)

    # Containers.

    def several(self, where: Position, literal: Root) -> Values:
        """Return the list, mapping or tuple that a literal makes."""
        parts = tuple(self.evaluate(where, each) for each in literal.parts)
        return (
            Value(Kind.TUPLE if literal.kind == "tuple" else Kind.EXTERNAL, name=literal.kind, parts=parts),
        )

    def item(self, value: Value, number: int | None) -> Values:
        """Return what subscripting a value gives."""
        if value.kind in (Kind.CLASS, Kind.EXTERNAL_CLASS):
            return (value,)
        if value.kind == Kind.TUPLE:
            return _flat(value.parts) if number is None else self.nth(value, number)
        if value.kind == Kind.EXTERNAL:
            if value.name in self.mappings:
                return value.parts[1] if len(value.parts) == 2 else ()
            return _first_part(value)
        return self._result_of(value, "__getitem__") if value.kind == Kind.INSTANCE else ()

    def iterated(self, value: Value) -> Values:
        """Return what iterating over a value gives."""
        if value.kind == Kind.TUPLE:
            return _flat(value.parts)
        if value.kind == Kind.EXTERNAL:
            return _first_part(value)
        if value.kind == Kind.CLASS:
            return (value._replace(kind=Kind.INSTANCE),)
        if value.kind != Kind.INSTANCE:
            return ()
        for method in ("__iter__", "__aiter__"):
            if found := self._result_of(value, method):
                others = tuple(each for each in found if each != value)
                return self.all_of(others, self.iterated) or self._result_of(value, "__next__")
        return self._result_of(value, "__getitem__")

    def entered(self, value: Value) -> Values:
        """Return what entering a value as a context gives."""
        if value.kind == Kind.INSTANCE:
            return self._result_of(value, "__enter__") or self._result_of(value, "__aenter__")
        return _first_part(value) if value.kind == Kind.EXTERNAL else ()

    def nth(self, value: Value, number: int) -> Values:
        """Return one of the parts of a tuple."""
        if value.kind == Kind.TUPLE:
            return value.parts[number] if number < len(value.parts) else ()
        return _first_part(value) if value.kind == Kind.EXTERNAL else ()


def _not_excluded(before: Sequence[Binding], line: int) -> Iterator[Binding]:
    """Yield the bindings before a line, the last first, without those of branches that it is no part of."""
    other_branches: list[range] = []
    for each in reversed(before):
        if each.kind == facts.EXCLUDED:
            first, last, until = forms.decode_excluded(each.value)
            if line <= until:
                other_branches.append(range(first, last + 1))
        elif not any(each.line in lines for lines in other_branches):
            yield each


def _is_bare(view: FileView, row: int, scope: int) -> bool:
    """Return True if a definition can be used by its bare name in its scope."""
    kind = view.definitions[row].kind
    if kind == "method":
        return scope >= 0 and view.definitions[scope].kind in CLASSES
    return kind in SCOPES


def _first_part(value: Value) -> Values:
    return value.parts[0] if value.parts else (UNKNOWN_EXTERNAL,)


def _flat(parts: Iterable[Values]) -> Values:
    return tuple(dict.fromkeys(value for part in parts for value in part))[:MAX_VALUES]
