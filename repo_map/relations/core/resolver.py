"""The one core: what the use of a name means, by rules of which a language says what is its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from repo_map.arrays import distinct
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import container_methods, language_named
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import Expression, Receiver, Root, Step
from repo_map.parsing.facts_model import Binding, Site
from repo_map.relations.core.definitions import Definitions
from repo_map.relations.core.memo import BINDINGS_A_STEP, Memo, cached, memoized
from repo_map.relations.core.values import (
    MAX_VALUES,
    TYPE_KINDS,
    UNKNOWN_EXTERNAL,
    Kind,
    Position,
    Value,
    Values,
    position_of,
)
from repo_map.relations.file_facts import CLASSES, FileView, FileViews, grouped
from repo_map.relations.model import UNRESOLVED, Meaning, Place

if TYPE_CHECKING:
    from repo_map.index.index import Index

_OURS: Final = frozenset({Kind.CLASS, Kind.FUNCTION})
_EXTERNAL: Final = frozenset({Kind.EXTERNAL, Kind.EXTERNAL_CLASS, Kind.EXTERNAL_METHOD, Kind.TUPLE})
_PLAIN_NAME: Final = re.compile(r"(?:.*:)?[\w.$=]+\Z")
_MAX_RENAMES: Final = 3
"""Names of a name of a name that are followed."""
_MAX_DEPTH: Final = 20
"""Classes above a class that are looked into, one above the other."""
_CONTAINERS: Final = frozenset({"list", "dict", "tuple", "func", "chan"})


class Resolver:
    """Resolves the names of one family of languages whose types are written.

    A language overrides what it does otherwise. ``OverloadResolver`` adds the choice among functions of one
    name, ``DynamicResolver`` has the rules of languages whose values are followed.
    """

    common: ClassVar[frozenset[str]] = frozenset()
    """Names of members that the language's own types bear: unresolved, they are attributed to nothing."""
    initialisers: ClassVar[frozenset[str]] = frozenset()
    """Methods that constructing an object of their class calls, and that bear another name than it."""
    literals: ClassVar[Mapping[str, str]] = {}
    """The types of texts (``'``) and whole numbers (``0``)."""
    renaming: ClassVar[frozenset[int]] = frozenset({facts.RENAMED})
    """Kinds of binding that give a definition another name."""
    has_implicit_receiver: ClassVar[bool] = False
    """Whether a bare name may be a member of the class around it."""
    has_names_apart: ClassVar[bool] = False
    """Whether a method and a field of one name are different things, told apart by the call."""
    has_local_functions: ClassVar[bool] = False
    """Whether a local may be called by its bare name even so."""
    binds_below: ClassVar[bool] = False
    """Whether ``let x = x.next()`` refers to the previous ``x``."""
    pair: ClassVar[Value] = Value(Kind.EXTERNAL, name="tuple")

    def __init__(self, index: Index) -> None:
        self.index = index
        self.views = index.memo(FileViews)
        self.memo = Memo()
        family = type(self).__module__.split(".")[-2]
        numbers = [n for n, name in enumerate(index.languages) if language_named(name).family == family]
        self.container_methods = container_methods(family)
        """What methods of containers that are not ours give: ``1`` the second part, or the last of fewer,
        ``[1`` a container of it, ``pairs`` one of both parts, ``=`` the container itself."""
        self.files: list[int] = np.flatnonzero(np.isin(index.files.language, numbers)).tolist()
        self.definitions = Definitions(index, self.files, self.memo, self.owner)

    # What is asked of it.

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        where = Position(file, site.definition, site.line, site.indent)
        receiver = forms.decode_receiver(site.receiver)
        found = self.at_site(where, site, receiver)
        values = self.called(found, receiver.arguments, where) if site.kind == facts.CALL else found
        targets = sorted({v.place for v in values if v.kind in _OURS and v.row >= 0})
        if targets and (chosen := self.one_of(targets)):
            return Meaning(tuple(chosen), is_certain=self.is_certain(where, site, found, chosen))
        if targets or not values or any(value.kind not in _EXTERNAL for value in values):
            return UNRESOLVED
        return Meaning(is_external=True)

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition: its own, and what it is renamed to."""
        names = {self.views[place[0]].definitions[place[1]].name.rpartition(".")[2]}
        for _ in range(_MAX_RENAMES):
            more = {alias for each in names for alias in self._other_names.get(each, ())} - names
            if not more:
                break
            names |= more
        return frozenset(names)

    def bases(self, place: Place) -> tuple[Place, ...]:
        """Return the types of this repository that a type extends or implements directly, in order."""
        return tuple(v.place for v in self.base_values(place) if v.kind == Kind.CLASS)

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        bindings = self.views[file].bindings
        self.memo.charge(1 + len(bindings) // BINDINGS_A_STEP)
        imports = (each for each in bindings if each.kind in (facts.IMPORT, facts.RENAMED, facts.STAR))
        found = ((value.file, each.line) for each in imports for value in self.of_import(file, each))
        return tuple(dict.fromkeys(each for each in found if each[0] >= 0 and each[0] != file))

    def of_import(self, file: int, each: Binding) -> Values:
        """Return what an import in a file names."""
        raise NotImplementedError

    def package(self, file: int) -> str:
        """Return the package, module or namespace that a file says it belongs to."""
        return self._packages.get(file, "")

    @cached_property
    def _packages(self) -> dict[int, str]:
        """Those of all files: read at once, as one file after the other takes seconds of thousands."""
        table = self.index.bindings
        rows = np.flatnonzero(table.kind == facts.PACKAGE)[::-1]
        files = (np.searchsorted(table.file_start, rows, side="right") - 1).tolist()
        return dict(zip(files, self.index.expressions.many(table.value[rows]), strict=True))

    def space_of(self, place: Place) -> Hashable:
        """Return the package or module at whose top a definition stands, None where it is no part of one."""
        return None if self.definitions[place].parent >= 0 else self.package(place[0])

    def tops(self, space: Hashable, name: str) -> Sequence[Place]:
        """Return the definitions of a last name at the top of a package or module."""
        return self._tops(name).get(space, ())

    @cached
    def _tops(self, name: str) -> dict[Hashable, list[Place]]:
        return grouped((self.space_of(place), place) for place in self.definitions.named(name))

    def owner(self, place: Place) -> Place | None:
        """Return the type that a definition is a member of: by default the class around it."""
        view = self.views[place[0]]
        around = view.definitions[place[1]].parent
        if around >= 0 and view.definitions[around].kind in CLASSES:
            return (place[0], around)
        return None

    def are_same_declaration(self, functions: list[Place]) -> bool:
        """Return True if functions of one name are alternatives, such as one for each system."""
        return False

    # Sites.

    def at_site(self, where: Position, site: Site, receiver: Receiver) -> Values:
        """Return what a site's name is, whatever it is called with: a type where a type is written."""
        if site.kind in (facts.TYPE, facts.BASE):
            return self.named_type(where, f"{receiver.text}.{site.name}" if receiver.text else site.name)
        return self.named(where, site, receiver)

    def named(self, where: Position, site: Site, receiver: Receiver) -> Values:
        """Return what the name at a site is, bare or behind a receiver."""
        is_called = site.kind in (facts.CALL, facts.VALUE)
        if not receiver.text:
            return self.lookup(where, site.name, is_called=is_called)
        return self.all_of(
            self.evaluate(where, receiver.expression),
            lambda value: self.member(value, site.name, where, is_called=is_called),
        )

    def called(self, values: Values, arguments: tuple[Expression, ...] | None, where: Position) -> Values:
        """Return what a call with these arguments may mean; None where a language does not overload."""
        return values

    def one_of(self, targets: list[Place]) -> list[Place]:
        """Return a type with its constructor, or functions alike; else the types alone.

        Which constructor is called is open then; what is constructed is not.
        """
        functions = [place for place in targets if self.definitions.is_function(place)]
        if len(functions) <= 1 or self.are_same_declaration(functions):
            return targets
        return [place for place in targets if self.definitions.is_type(place)]

    def is_certain(self, where: Position, site: Site, found: Values, targets: list[Place]) -> bool:
        """Return True if the name at a site resolves to exactly one definition."""
        return True

    # Bare names.

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is."""
        return self.lookup(where, name, is_called=is_called)

    def lookup(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is at a position: from the innermost scope outwards."""
        view = self.views[where.file]
        scope, is_inner = view.scope(where.row), True
        while scope >= 0:
            found = self.in_scope(view, scope, name, where, is_inner=is_inner, is_called=is_called)
            if found is not None:
                return found
            scope, is_inner = view.outer(scope), False
        return self.top(where, name, is_called=is_called)

    def in_scope(
        self, view: FileView, scope: int, name: str, where: Position, *, is_inner: bool, is_called: bool
    ) -> Values | None:
        """Return the local, the inner definition or, where the language has it, the member of a name."""
        if view.definitions[scope].kind in CLASSES:
            return self._of_implicit(Value(Kind.INSTANCE, view.file, scope), name, where, is_called=is_called)
        if where.line and (not is_called or self.has_local_functions or not self.has_names_apart):
            bound = self.reaching(view, scope, name, where, is_inner=is_inner)
            if bound is not None:
                return self.of_binding(view.file, bound)
        if local := self.inner_definitions(view, scope, name):
            return local
        if self.has_implicit_receiver and (owner := self.owner((view.file, scope))) is not None:
            return self._of_implicit(Value(Kind.INSTANCE, *owner), name, where, is_called=is_called)
        return None

    def _of_implicit(self, value: Value, name: str, where: Position, *, is_called: bool) -> Values | None:
        """Return the member that a bare name means, None where it is none of ours."""
        if not self.has_implicit_receiver:
            return None
        found = self.of_type(value, name, where, is_called=is_called)
        return found if any(each.kind != Kind.EXTERNAL_METHOD for each in found) else None

    def reaching(
        self, view: FileView, scope: int, name: str, where: Position, *, is_inner: bool
    ) -> Binding | None:
        """Return the binding of a local that holds at a position: the last before it in a block around it.

        A test of its type that comes after it says more.
        """
        bound = view.bound.get((scope, name), ())
        self.memo.charge(len(bound) // BINDINGS_A_STEP)
        found: Binding | None = None
        for each in reversed(bound):
            if found is not None and each.line < found.line:
                break
            if each.line > where.line:
                continue
            if each.kind == facts.NARROWED:
                last, written = forms.decode_narrowed(each.value)
                if where.line <= last:
                    return each._replace(kind=facts.DECLARED, value=written)
            elif found is None and self._holds(each, where, is_inner=is_inner):
                found = each
        return found

    def _holds(self, each: Binding, where: Position, *, is_inner: bool) -> bool:
        """Return True if a local is bound before a position."""
        if each.kind not in (facts.DECLARED, facts.ASSIGNED):
            return False
        is_own_line = is_inner and each.line == where.line and each.indent <= where.indent
        if is_own_line and (root := _root_of(each)) and (self.binds_below or root == each.name):
            return False  # ``let x = x.next()`` reads what was bound before.
        return not is_inner or each.indent <= where.indent or each.line == where.line

    def inner_definitions(self, view: FileView, scope: int, name: str) -> Values:
        """Return the functions and types that a function holds."""
        return tuple(
            self.definitions.value_of((view.file, row))
            for row in view.members.get((scope, name), ())
            if view.definitions[row].kind in TYPE_KINDS | FUNCTIONS
        )

    def variable(self, place: Place, name: str) -> Values:
        """Return what a variable outside of functions is, as it is written where it is defined."""
        view = self.views[place[0]]
        for each in view.bound.get((view.scope(place[1]), name), ()):
            if found := self.of_binding(view.file, each):
                return found
        return ()

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is outside of all functions, seen from a position."""
        raise NotImplementedError

    @memoized
    def of_binding(self, file: int, each: Binding) -> Values:
        """Return what a name is bound to; one bound anew from itself means what it meant before."""
        where = position_of(file, each)
        if not each.value:
            return ()
        if each.kind != facts.ASSIGNED:
            return self.instances(where, each.value)
        value = forms.decode(each.value)
        return self.evaluate(where._replace(line=each.line - 1), value) or self.evaluate(where, value)

    # Written types.

    def instances(self, where: Position, written: str, *, of: Value | None = None) -> Values:
        """Return what has a written type; ``of`` is the object whose type's parameters are known."""

        def read() -> Values:
            found: dict[Value, None] = {}
            for head, arguments in forms.decode_type(written):
                if head == forms.FIELDS:
                    found[Value(Kind.UNNAMED, where.file, where.row, ",".join(arguments))] = None
                else:
                    found.update(dict.fromkeys(self.instance(where, head, arguments, of)))
            return tuple(found)[:MAX_VALUES]

        return self.memo.memoized(("type", where.file, where.row, written, of), read)

    def instance(self, where: Position, head: str, arguments: tuple[str, ...], of: Value | None) -> Values:
        """Return what has one written type."""
        if head == "?":
            return ()
        if head in _CONTAINERS:
            parts = tuple(self.instances(where, each, of=of) for each in arguments)
            return (Value(Kind.EXTERNAL, name=head, parts=parts),)
        if "." not in head and (parameter := self.type_parameter(where, head)) is not None:
            return self._type_argument(parameter, of)
        parts = tuple(self.instances(where, each, of=of) for each in arguments)
        return tuple(
            value._replace(kind=Kind.INSTANCE, parts=parts)
            if value.kind == Kind.CLASS
            else value._replace(name=head.rpartition(".")[2], parts=parts)
            for value in self.named_type(where, head)
            if value.kind in (Kind.CLASS, Kind.EXTERNAL)
        )

    def type_parameter(self, where: Position, name: str) -> tuple[Place, int, str] | None:
        """Return which type parameter a name is: whose, which one, and what bounds it."""
        for row in self.views[where.file].around(where.row):
            for at, each in enumerate(self.definitions.stated((where.file, row), facts.TYPE_PARAMETER)):
                if each.name == name:
                    return (where.file, row), at, each.value
        return None

    def _type_argument(self, parameter: tuple[Place, int, str], of: Value | None) -> Values:
        place, number, bound = parameter
        if of is not None and (of.file, of.row) == place and number < len(of.parts) and of.parts[number]:
            return of.parts[number]
        return self.instances(Position(*place, 0), bound) if bound else ()

    def named_type(self, where: Position, head: str) -> Values:
        """Return the types that a written name without arguments stands for."""
        if "." not in head and self.type_parameter(where, head) is not None:
            return ()
        first, *rest = head.split(".")
        view = self.views[where.file]
        values: Values = ()
        scope = view.scope(where.row)
        while scope >= 0 and not values:
            values = self.inner_types(view, scope, first)
            scope = view.outer(scope)
        values = values or self.top(where, first)
        for name in rest:
            values = self.all_of(values, lambda value, name=name: self.member(value, name, where))  # type: ignore[misc]
        return tuple(
            UNKNOWN_EXTERNAL if value.kind == Kind.EXTERNAL_METHOD else value
            for value in values
            if value.kind in (Kind.CLASS, Kind.EXTERNAL, Kind.EXTERNAL_METHOD)
        )

    def inner_types(self, view: FileView, scope: int, name: str) -> Values:
        """Return the types that a scope holds, inherited ones for a class."""
        found = tuple(
            Value(Kind.CLASS, view.file, row)
            for row in view.members.get((scope, name), ())
            if view.definitions[row].kind in TYPE_KINDS
        )
        if view.definitions[scope].kind in TYPE_KINDS and view.definitions[scope].name == name:
            return found or (Value(Kind.CLASS, view.file, scope),)
        return found

    @memoized
    def alias_of(self, value: Value) -> Values:
        """Return what a type is another name of, as an instance of it."""
        where = Position(value.file, value.row, 0)
        found = self.definitions.stated(value.place, facts.ALIAS)[:1]
        meant = (each for alias in found for each in self.instances(where, alias.value, of=value))
        return tuple(each for each in meant if each[:3] != value[:3])

    # Members.

    def read_member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what reading a member gives."""
        return self.member(value, name, where, is_called=is_called)

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``."""
        kind = value.kind
        if kind in (Kind.INSTANCE, Kind.CLASS):
            return self.of_type(value, name, where, is_called=is_called)
        if kind == Kind.MODULE:
            return self.of_module(value, name, where)
        if kind in (Kind.EXTERNAL, Kind.EXTERNAL_METHOD, Kind.TUPLE):
            return (Value(Kind.EXTERNAL_METHOD, name=name, parts=((value,),)),)
        return self.of_unnamed(value, name) if kind == Kind.UNNAMED else ()

    def of_unnamed(self, value: Value, name: str) -> Values:
        """Return the member of a type without a name: a method, or something of a field's type."""
        view = self.views[value.file]
        first, _, last = value.name.partition(",")
        lines = range(int(first), int(last) + 1)
        methods = view.members.get((view.scope(value.row), name), ())
        found = [row for row in methods if view.definitions[row].start in lines]
        if found:
            return tuple(Value(Kind.FUNCTION, view.file, row, parts=((value,),)) for row in found[:1])
        for each in view.fields.get((view.class_around(value.row), name), ()):
            if each.line in lines:
                return self.instances(Position(view.file, each.definition, 0), each.value)
        return ()

    def of_module(self, module: Value, name: str, where: Position) -> Values:
        """Return what a package, module or namespace calls ``name``."""
        return ()

    def of_type(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a type, or an object of it, calls ``name``: its own, or inherited."""
        order, is_complete = self.order(value.place)
        for place in order:
            found = self.declared_member(place, value, name, is_called=is_called)
            if found is not None:
                return found
        return self.member_not_found(value, name, where, is_called=is_called, is_complete=is_complete)

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the methods, the field or the inner types of a name that a type itself has."""
        owned = self.definitions.owned(name, place)
        kind = self.definitions.kind
        if is_called or not self.has_names_apart:
            functions = tuple(
                Value(Kind.FUNCTION, *each, parts=((value,),)) for each in owned if kind(each) in FUNCTIONS
            )
            if functions or self.has_names_apart:
                return functions or None
        view = self.views[place[0]]
        for each in view.fields.get((place[1], name), ()):
            return self.field(view, each, value) or None
        if any(kind(each) in TYPE_KINDS for each in owned):
            return tuple(Value(Kind.CLASS, *each) for each in owned if kind(each) in TYPE_KINDS)
        return (Value(Kind.INSTANCE, *place),) if owned and kind(place) == "enum" else None

    def field(self, view: FileView, each: Binding, value: Value) -> Values:
        """Return what a field of an object is: something of a type, or an expression."""
        if each.kind == facts.FIELD:
            where = self.field_position(view, each)
            return self.memo.memoized(
                ("field", view.file, each), lambda: self.evaluate(where, forms.decode(each.value))
            )
        return self.instances(Position(view.file, each.definition, 0), each.value, of=value)

    def field_position(self, view: FileView, each: Binding) -> Position:
        """Return where the expression of a field is read."""
        return Position(view.file, each.definition, each.line, each.indent)

    def member_not_found(
        self, value: Value, name: str, where: Position, *, is_called: bool, is_complete: bool
    ) -> Values:
        """Return what the type that a type is another name of calls ``name``."""
        if found := self.all_of(
            self.alias_of(value), lambda each: self.member(each, name, where, is_called=is_called)
        ):
            return found
        return () if is_complete else (Value(Kind.EXTERNAL_METHOD, name=name, parts=((value,),)),)

    # Inheritance.

    @cached
    def order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a type and all that it inherits from, level by level, and whether all of them are ours."""
        found: dict[Place, None] = {place: None}
        is_complete, level = True, [place]
        for _ in range(_MAX_DEPTH):
            further: list[Place] = []
            for each in level:
                for base in self.base_values(each):
                    at = base.place
                    if base.kind != Kind.CLASS:
                        is_complete = False
                    elif at not in found:
                        found[at] = None
                        further.append(at)
            level = further
            if not level:
                break
        return tuple(found), is_complete

    @memoized
    def base_values(self, place: Place) -> Values:
        """Return the direct bases of a type, in order; one that is not known to be ours is external."""
        found: list[Value] = []
        around = Position(place[0], self.views[place[0]].definitions[place[1]].parent, 0)
        for each in self.definitions.stated(place, facts.INHERITS):
            head = forms.head_of_type(each.value)
            values = self.named_type(around, head) or self.named_type(Position(*place, 0), head)
            found += [value for value in values if value[1:3] != place] or [UNKNOWN_EXTERNAL]
        return tuple(found)

    def bases_as(self, kind: str, place: Place) -> Values:
        """Return what ``super`` is in a type: its bases, those of ours as values of a kind."""
        bases = self.base_values(place)
        return tuple(each._replace(kind=kind) if each.kind == Kind.CLASS else each for each in bases)

    # What is done with a value.

    def evaluate(self, where: Position, expression: Expression) -> Values:
        """Return what an expression may be at a position."""
        values = self._root(where, expression.root)
        for step in expression.steps:
            found = (each for value in values for each in self._follow(value, step, where))
            values = tuple(dict.fromkeys(found))[:MAX_VALUES]
        return values

    def _root(self, where: Position, root: Root) -> Values:
        if root.kind == forms.NAME:
            return self.root_name(where, root.text, is_called=root.is_called)
        if root.kind == forms.LITERAL:
            return (Value(Kind.EXTERNAL, name=self.literals.get(root.text, "")),)
        if root.kind == forms.TYPED:
            return self.instances(where, root.text)
        if root.kind == forms.ONE_OF:
            parts = (value for part in root.parts for value in self.evaluate(where, part))
            return tuple(dict.fromkeys(parts))[:MAX_VALUES]
        return self.several(where, root) if root.kind in forms.CONTAINERS else ()

    def _follow(self, value: Value, step: Step, where: Position) -> Values:
        match step.kind:
            case forms.MEMBER:
                return self.read_member(value, step.name, where, is_called=step.is_called)
            case forms.CALLED:
                return self.result(value)
            case forms.ITEM:
                return self.item(value, step.number)
            case forms.ITERATED:
                return self.iterated(value)
            case forms.ENTERED:
                return self.entered(value)
            case forms.TUPLE_ITEM:
                return self.nth(value, step.number or 0)
            case forms.ARGUMENT_TYPE:
                return self.taken(value, step.arguments, step.number or 0)
        return self.parameter(value, step.number or 0)

    def several(self, where: Position, literal: Root) -> Values:
        """Return what a literal of parts makes."""
        return ()

    def result(self, value: Value) -> Values:
        """Return what calling a value gives."""
        if value.kind == Kind.FUNCTION:
            return self.returned(value)
        if value.kind == Kind.CLASS:
            return (value._replace(kind=Kind.INSTANCE),)
        if value.kind == Kind.INSTANCE:
            return self.all_of(self.alias_of(value), self.result)
        if value.kind == Kind.EXTERNAL and value.name == "func":
            return value.parts[-1] if value.parts else ()
        if value.kind == Kind.EXTERNAL_METHOD:
            return self.result_of_external(value)
        return (UNKNOWN_EXTERNAL,) if value.kind == Kind.EXTERNAL else ()

    def result_of_external(self, method: Value) -> Values:
        """Return what a method of a container gives."""
        container = method.parts[0][0] if method.parts and method.parts[0] else UNKNOWN_EXTERNAL
        gives = self.container_methods.get(method.name, "")
        parts = container.parts if container.kind == Kind.EXTERNAL else ()
        if gives == "=":
            return (container,)
        if not gives or not parts or (gives == "pairs" and len(parts) != 2):
            return (UNKNOWN_EXTERNAL,)
        is_pair = gives == "pairs"
        part = (self.pair._replace(parts=parts),) if is_pair else parts[min(int(gives[-1]), len(parts) - 1)]
        return part if gives.isdigit() else (Value(Kind.EXTERNAL, name="Set", parts=(part,)),)

    @memoized
    def returned(self, function: Value) -> Values:
        """Return what a function gives, as it is written."""
        written = self.definitions.stated(function.place, facts.RETURN_TYPE)
        if not written or not written[0].value:
            return ()
        receiver = function.parts[0][0] if function.parts and function.parts[0] else None
        return self.instances(Position(function.file, function.row, 0), written[0].value, of=receiver)

    def taken(self, value: Value, count: int, number: int) -> Values:
        """Return what a call of ``count`` arguments takes as the one at ``number``."""
        return ()

    def parameter(self, value: Value, number: int) -> Values:
        """Return a parameter of what is a function."""
        return ()

    def item(self, value: Value, number: int | None) -> Values:
        """Return what subscripting a value gives."""
        return self.part(value, -1)

    def iterated(self, value: Value) -> Values:
        """Return what iterating over a value gives."""
        return self.part(value, -1)

    def entered(self, value: Value) -> Values:
        """Return a key of what is iterated over."""
        return self.part(value, 0)

    def part(self, value: Value, number: int) -> Values:
        """Return one of the parts of a container, by its position."""
        if value.kind == Kind.INSTANCE:
            return self.all_of(self.alias_of(value), lambda each: self.part(each, number))
        if value.kind != Kind.EXTERNAL:
            return ()
        if not value.parts or (value.name == "list" and number == 0):
            return (UNKNOWN_EXTERNAL,)
        return value.parts[number]

    def nth(self, value: Value, number: int) -> Values:
        """Return one of several results, or of the parts of a tuple."""
        if value.kind == Kind.EXTERNAL and value.name == "tuple":
            return value.parts[number] if number < len(value.parts) else ()
        if value.kind in (Kind.EXTERNAL, Kind.EXTERNAL_METHOD) and not value.parts:
            return (UNKNOWN_EXTERNAL,)
        return (value,) if number == 0 else ()

    # Underneath.

    def all_of(self, values: Values, make: Callable[[Value], Iterable[Value]]) -> Values:
        """Return what is made of each value, without repetition."""
        return tuple(dict.fromkeys(each for value in values for each in make(value)))[:MAX_VALUES]

    @cached_property
    def _other_names(self) -> dict[str, tuple[str, ...]]:
        """The other names of each name: imports ``as``, and what else renames; locals of functions do not."""
        index, table = self.index, self.index.bindings
        rows = np.flatnonzero(np.isin(table.kind, sorted(self.renaming)))
        values = index.expressions
        is_plain = np.zeros(len(values), bool)
        for number in distinct(table.value[rows]).tolist():
            is_plain[number] = bool(_PLAIN_NAME.match(values[number]))
        found: dict[str, dict[str, None]] = {}
        for row in rows[is_plain[table.value[rows]]].tolist():
            if int(table.kind[row]) == facts.ASSIGNED:
                file = int(np.searchsorted(table.file_start, row, side="right")) - 1
                definition, first = int(table.definition[row]), int(index.symbols.file_start[file])
                if definition >= 0 and index.kinds[int(index.symbols.kind[first + definition])] in FUNCTIONS:
                    continue
            last = re.split(r"[.:]", values[int(table.value[row])])[-1]
            name = index.strings[int(table.name[row])]
            if last and last != name:
                found.setdefault(last, {})[name] = None
        return {name: tuple(others) for name, others in found.items()}


def _root_of(each: Binding) -> str:
    """Return the name that the value of an assignment begins with, ``""`` for none."""
    if each.kind != facts.ASSIGNED or not each.value:
        return ""
    root = forms.decode(each.value).root
    return root.text if root.kind == forms.NAME else ""
