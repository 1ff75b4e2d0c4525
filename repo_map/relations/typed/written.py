"""What a written type stands for: type parameters, other names of types, what a type inherits from."""

from __future__ import annotations

from typing import Final

from repo_map.parsing.facts_model import ALIAS, BASE_OF, TYPE_PARAMETER
from repo_map.relations.expressions import parts_of_type
from repo_map.relations.file_facts import FileView
from repo_map.relations.model import Place
from repo_map.relations.typed.definitions import Definitions
from repo_map.relations.values import (
    FOREIGN,
    FOREIGN_METHOD,
    INSTANCE,
    MOST_VALUES,
    STRANGER,
    TYPE_KINDS,
    TYPE_VALUE,
    Value,
    Values,
    Where,
)

_DEEPEST: Final = 20
"""Classes above a class that are looked into, one above the other."""
_CONTAINERS: Final = frozenset({"list", "dict", "tuple", "func", "chan"})


class WrittenTypes(Definitions):
    """Reads types as they are written."""

    def top(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is outside of all functions, seen from a place."""
        raise NotImplementedError

    def member(self, value: Value, name: str, where: Where, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``."""
        raise NotImplementedError

    # Written types.

    def instances(self, where: Where, written: str, *, of: Value | None = None) -> Values:
        """Return what has a written type; ``of`` is the object whose type's parameters are known."""
        key = ("type", where.file, where.row, written, of)

        def read() -> Values:
            found: dict[Value, None] = {}
            for head, arguments in parts_of_type(written):
                found.update(dict.fromkeys(self.instance(where, head, arguments, of)))
            return tuple(found)[:MOST_VALUES]

        return self.memo.once(key, read)

    def instance(self, where: Where, head: str, arguments: tuple[str, ...], of: Value | None) -> Values:
        """Return what has one written type."""
        if head == "?":
            return ()
        if head in _CONTAINERS:
            parts = tuple(self.instances(where, each, of=of) for each in arguments)
            return (Value(FOREIGN, name=head, parts=parts),)
        if "." not in head and (parameter := self._parameter(where, head)) is not None:
            return self._argument(parameter, of)
        parts = tuple(self.instances(where, each, of=of) for each in arguments)
        values = self.named_type(where, head)
        return tuple(
            value._replace(kind=INSTANCE, parts=parts)
            if value.kind == TYPE_VALUE
            else value._replace(name=head.rpartition(".")[2], parts=parts)
            for value in values
            if value.kind in (TYPE_VALUE, FOREIGN)
        )

    def _parameter(self, where: Where, name: str) -> tuple[Place, int, str] | None:
        """Return which type parameter a name is: whose, which one, and what bounds it."""
        view = self._views[where.file]
        row = where.row
        while row >= 0:
            for at, each in enumerate(self.said((where.file, row), TYPE_PARAMETER)):
                if each.name == name:
                    return (where.file, row), at, each.value
            row = view.definitions[row].parent
        return None

    def _argument(self, parameter: tuple[Place, int, str], of: Value | None) -> Values:
        place, number, bound = parameter
        if of is not None and (of.file, of.row) == place and number < len(of.parts) and of.parts[number]:
            return of.parts[number]
        return self.instances(Where(*place, 0), bound) if bound else ()

    def named_type(self, where: Where, head: str) -> Values:
        """Return the types that a written name without arguments stands for."""
        if "." not in head and self._parameter(where, head) is not None:
            return ()
        first, *rest = head.split(".")
        view = self._views[where.file]
        values: Values = ()
        scope = view.scope(where.row)
        while scope >= 0 and not values:
            values = self.inner_types(view, scope, first)
            scope = view.outer(scope)
        values = values or self.top(where, first)
        for name in rest:
            values = self._all(values, lambda value, name=name: self.member(value, name, where))  # type: ignore[misc]
        return tuple(
            STRANGER if value.kind == FOREIGN_METHOD else value
            for value in values
            if value.kind in (TYPE_VALUE, FOREIGN, FOREIGN_METHOD)
        )

    def inner_types(self, view: FileView, scope: int, name: str) -> Values:
        """Return the types that a scope holds, inherited ones for a class."""
        found = tuple(
            Value(TYPE_VALUE, view.file, row)
            for row in view.members.get((scope, name), ())
            if view.definitions[row].kind in TYPE_KINDS
        )
        if view.definitions[scope].kind in TYPE_KINDS and view.definitions[scope].name == name:
            return found or (Value(TYPE_VALUE, view.file, scope),)
        return found

    def made_of(self, value: Value) -> Values:
        """Return what a type is another name of, as an instance of it."""
        found = self.said((value.file, value.row), ALIAS)
        if not found:
            return ()
        where = Where(value.file, value.row, 0)
        return self.memo.once(
            ("made of", value),
            lambda: tuple(
                each for each in self.instances(where, found[0].value, of=value) if each[:3] != value[:3]
            ),
        )

    # What a type inherits from.

    def bases(self, place: Place) -> tuple[Place, ...]:
        """Return the types of this repository that a type extends or implements directly, in order."""
        return tuple((v.file, v.row) for v in self.base_values(place) if v.kind == TYPE_VALUE)

    def order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a type and all that it inherits from, nearest first, and whether all of them are ours."""
        return self.memo.kept(("order", place), lambda: self._read_order(place))

    def _read_order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        found: dict[Place, None] = {place: None}
        is_whole, level = True, [place]
        for _ in range(_DEEPEST):
            further: list[Place] = []
            for each in level:
                for base in self.base_values(each):
                    at = (base.file, base.row)
                    if base.kind != TYPE_VALUE:
                        is_whole = False
                    elif at not in found:
                        found[at] = None
                        further.append(at)
            level = further
            if not level:
                break
        return tuple(found), is_whole

    def base_values(self, place: Place) -> Values:
        """Return the direct bases of a type, in order; one that is not known to be ours is foreign."""

        def read() -> Values:
            found: list[Value] = []
            view = self._views[place[0]]
            for each in self.said(place, BASE_OF):
                where = Where(place[0], view.definitions[place[1]].parent, 0)
                head = each.value.partition("[")[0]
                values = self.named_type(where, head) or self.named_type(Where(place[0], place[1], 0), head)
                found += [value for value in values if value[1:3] != place] or [STRANGER]
            return tuple(found)

        return self.memo.once(("bases", place), read)
