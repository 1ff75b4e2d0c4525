"""The one core: what the use of a name means, by rules of which a language says what is its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from repo_map.arrays import distinct
from repo_map.languages.kinds import FUNCTIONS
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    FIELDS,
    Expression,
    Receiver,
    Root,
    Step,
    decode_receiver,
    decode_type,
)
from repo_map.parsing.facts_model import Binding, Site
from repo_map.relations.core.memo import Memo
from repo_map.relations.core.values import (
    CLASS,
    EXTERNAL,
    EXTERNAL_CLASS,
    EXTERNAL_METHOD,
    FUNCTION,
    INSTANCE,
    MAX_VALUES,
    MODULE,
    TUPLE,
    UNNAMED,
    Position,
    Value,
    Values,
)
from repo_map.relations.file_facts import FileView, FileViews
from repo_map.relations.model import UNRESOLVED, Meaning, Place

if TYPE_CHECKING:
    from repo_map.index.index import Index

_OURS: Final = frozenset({CLASS, FUNCTION})
_EXTERNAL: Final = frozenset({EXTERNAL, EXTERNAL_CLASS, EXTERNAL_METHOD, TUPLE})
_PLAIN_NAME: Final = re.compile(r"(?:.*:)?[\w.$=]+\Z")
_MAX_RENAMES: Final = 3
"""Names of a name of a name that are followed."""


class Resolver:
    """Resolves the names of one family of languages.

    ``StaticResolver`` adds the rules of languages whose types are written, ``DynamicResolver`` those of
    languages whose values are followed. A language overrides what it does otherwise.
    """

    common: ClassVar[frozenset[str]] = frozenset()
    """Names of members that the language's own types bear: unresolved, they are attributed to nothing."""
    initialisers: ClassVar[frozenset[str]] = frozenset()
    """Methods that constructing an object of their class calls, and that bear another name than it."""
    literals: ClassVar[Mapping[str, str]] = {}
    """The types of texts (``'``) and whole numbers (``0``)."""
    renaming: ClassVar[frozenset[int]] = frozenset({facts.RENAMED})
    """Kinds of binding that give a definition another name."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.views = index.memo(FileViews)
        self.memo = Memo()

    # What is asked of it.

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        where = Position(file, site.definition, site.line, site.indent)
        receiver = decode_receiver(site.receiver)
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
        return tuple(v.place for v in self.base_values(place) if v.kind == CLASS)

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        raise NotImplementedError

    # Sites.

    def at_site(self, where: Position, site: Site, receiver: Receiver) -> Values:
        """Return what a site's name is, whatever it is called with."""
        is_called = site.kind in (facts.CALL, facts.VALUE)
        if not receiver.text:
            return self.lookup(where, site.name, is_called=is_called)
        return self.all_of(
            self.evaluate(where, receiver.expression),
            lambda value: self.member(value, site.name, where, is_called=is_called),
        )

    def called(self, values: Values, arguments: tuple[Expression, ...] | None, where: Position) -> Values:
        """Return what a call with these arguments may mean; None where a language does not overload."""
        del arguments, where
        return values

    def one_of(self, targets: list[Place]) -> list[Place]:
        """Return those of several targets that are one thing, none where they are not."""
        return targets

    def is_certain(self, where: Position, site: Site, found: Values, targets: list[Place]) -> bool:
        """Tell whether what was found at a site is all that its name can mean there, and one of it."""
        del where, site, found, targets
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
        """Return what a definition's scope says of a name, None where it says nothing."""
        raise NotImplementedError

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is outside of all functions, seen from a position."""
        raise NotImplementedError

    def of_binding(self, view: FileView, each: Binding) -> Values:
        """Return what a name is bound to."""
        return self.memo.memoized(("binding", view.file, each), lambda: self.read_binding(view, each))

    def read_binding(self, view: FileView, each: Binding) -> Values:
        """Read what a name is bound to."""
        raise NotImplementedError

    # Written types.

    def instances(self, where: Position, written: str, *, of: Value | None = None) -> Values:
        """Return what has a written type; ``of`` is the object whose type's parameters are known."""

        def read() -> Values:
            found: dict[Value, None] = {}
            for head, arguments in decode_type(written):
                if head == FIELDS:
                    found[Value(UNNAMED, where.file, where.row, ",".join(arguments))] = None
                else:
                    found.update(dict.fromkeys(self.instance(where, head, arguments, of)))
            return tuple(found)[:MAX_VALUES]

        return self.memo.memoized(("type", where.file, where.row, written, of), read)

    def instance(self, where: Position, head: str, arguments: tuple[str, ...], of: Value | None) -> Values:
        """Return what has one written type."""
        raise NotImplementedError

    # Members.

    def read_member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what reading a member gives."""
        return self.member(value, name, where, is_called=is_called)

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``."""
        kind = value.kind
        if kind in (INSTANCE, CLASS):
            return self.of_type(value, name, where, is_called=is_called)
        if kind == MODULE:
            return self.of_module(value, name, where)
        if kind in (EXTERNAL, EXTERNAL_METHOD, TUPLE):
            return (Value(EXTERNAL_METHOD, name=name, parts=((value,),)),)
        return self.of_unnamed(value, name) if kind == UNNAMED else ()

    def of_unnamed(self, value: Value, name: str) -> Values:
        """Return the member of a type without a name: a method, or something of a field's type."""
        view = self.views[value.file]
        first, _, last = value.name.partition(",")
        lines = range(int(first), int(last) + 1)
        methods = view.members.get((view.scope(value.row), name), ())
        found = [row for row in methods if view.definitions[row].start in lines]
        if found:
            return tuple(Value(FUNCTION, view.file, row, parts=((value,),)) for row in found[:1])
        for each in view.fields.get((view.class_around(value.row), name), ()):
            if each.line in lines:
                return self.instances(Position(view.file, each.definition, 0), each.value)
        return ()

    def of_module(self, module: Value, name: str, where: Position) -> Values:
        """Return what a package, module or namespace calls ``name``."""
        raise NotImplementedError

    def of_type(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a type, or an object of it, calls ``name``: its own, or inherited."""
        order, is_complete = self.order(value.place)
        for place in order:
            found = self.declared_member(place, value, name, is_called=is_called)
            if found is not None:
                return found
        return self.member_not_found(value, name, where, is_called=is_called, is_complete=is_complete)

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the members of a name that a type itself has, None where the next one is asked."""
        raise NotImplementedError

    def member_not_found(
        self, value: Value, name: str, where: Position, *, is_called: bool, is_complete: bool
    ) -> Values:
        """Return what no type in the order of inheritance has; ``is_complete`` where all of them are ours."""
        raise NotImplementedError

    # Inheritance.

    def order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a type and all that it inherits from, nearest first, and whether all of them are ours."""
        return self.memo.cached(("order", place), lambda: self.read_order(place))

    def read_order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Read the order of inheritance."""
        raise NotImplementedError

    def base_values(self, place: Place) -> Values:
        """Return the direct bases of a type, in order; one that is not known to be ours is none of them."""
        return self.memo.memoized(("bases", place), lambda: self.read_bases(place))

    def read_bases(self, place: Place) -> Values:
        """Read the direct bases of a type."""
        raise NotImplementedError

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
            return (Value(EXTERNAL, name=self.literals.get(root.text, "")),)
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
        del where, literal
        return ()

    def result(self, value: Value) -> Values:
        """Return what calling a value gives."""
        raise NotImplementedError

    def item(self, value: Value, number: int | None) -> Values:
        """Return what subscripting a value gives."""
        raise NotImplementedError

    def iterated(self, value: Value) -> Values:
        """Return what iterating over a value gives."""
        raise NotImplementedError

    def entered(self, value: Value) -> Values:
        """Return what entering a value as a context gives, or a key of it."""
        raise NotImplementedError

    def nth(self, value: Value, number: int) -> Values:
        """Return one of the parts of a tuple."""
        raise NotImplementedError

    def taken(self, value: Value, count: int, number: int) -> Values:
        """Return what a call of ``count`` arguments takes as the one at ``number``."""
        del value, count, number
        return ()

    def parameter(self, value: Value, number: int) -> Values:
        """Return a parameter of what is a function."""
        del value, number
        return ()

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
