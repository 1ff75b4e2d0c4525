"""What a bare name is at a place, and what a value calls a name."""

from __future__ import annotations

from typing import ClassVar

from repo_map.languages.kinds import FUNCTIONS
from repo_map.parsing.facts_model import ASSIGNED, DECLARED, Binding
from repo_map.relations.expressions import Expression, Name, parse
from repo_map.relations.file_facts import CLASSES, FileView
from repo_map.relations.memo import BINDINGS_A_STEP
from repo_map.relations.model import Place
from repo_map.relations.typed.written import WrittenTypes
from repo_map.relations.values import (
    FOREIGN,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    SPACE,
    STRANGER,
    TYPE_KINDS,
    TYPE_VALUE,
    Value,
    Values,
    Where,
)


class Members(WrittenTypes):
    """Looks names up in scopes and in types."""

    has_implicit_receiver: ClassVar[bool] = False
    """Whether a bare name may be a member of the class around it."""
    has_names_apart: ClassVar[bool] = False
    """Whether a method and a field of one name are different things, told apart by the call."""
    has_local_functions: ClassVar[bool] = False
    """Whether a local may be called by its bare name even so."""
    binds_below: ClassVar[bool] = False
    """Whether what binds a name reads, on its own line, what was bound before."""

    def of_space(self, space: Value, name: str, where: Where) -> Values:
        """Return what a package, module or namespace calls ``name``."""
        raise NotImplementedError

    def evaluate(self, where: Where, expression: Expression) -> Values:
        """Return what an expression may be."""
        raise NotImplementedError

    # Bare names.

    def lookup(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is at a place."""
        view = self._views[where.file]
        scope, is_inner = view.scope(where.row), True
        while scope >= 0:
            if view.definitions[scope].kind in CLASSES:
                if self.has_implicit_receiver:
                    found = self._of_type(Value(INSTANCE, view.file, scope), name, where, is_called=is_called)
                    if any(value.kind != FOREIGN_METHOD for value in found):
                        return found
            else:
                has_locals = where.line and (
                    not is_called or self.has_local_functions or not self.has_names_apart
                )
                if has_locals and (bound := self._reaching(view, scope, name, where, is_inner=is_inner)):
                    return self._of_binding(view, bound)
                if local := self._inner_definitions(view, scope, name):
                    return local
                if (owner := self.owner((view.file, scope))) is not None and self.has_implicit_receiver:
                    found = self._of_type(Value(INSTANCE, *owner), name, where, is_called=is_called)
                    if any(value.kind != FOREIGN_METHOD for value in found):
                        return found
            scope, is_inner = view.outer(scope), False
        return self.top(where, name, is_called=is_called)

    def _reaching(
        self, view: FileView, scope: int, name: str, where: Where, *, is_inner: bool
    ) -> Binding | None:
        """Return the binding of a local that holds at a place: the last before it in a block around it."""
        bound = view.bound.get((scope, name), ())
        self.memo.charge(len(bound) // BINDINGS_A_STEP)
        for each in reversed(bound):
            if each.kind not in (DECLARED, ASSIGNED) or each.line > where.line:
                continue
            is_own_line = is_inner and each.line == where.line and each.indent <= where.indent
            if is_own_line and (root := _root_of(each)) and (self.binds_below or root == name):
                continue  # ``let x = x.next()`` reads what was bound before.
            if not is_inner or each.indent <= where.indent or each.line == where.line:
                return each
        return None

    def _inner_definitions(self, view: FileView, scope: int, name: str) -> Values:
        """Return the functions and types that a function holds."""
        return tuple(
            self.value_of((view.file, row))
            for row in view.members.get((scope, name), ())
            if view.definitions[row].kind in TYPE_KINDS | FUNCTIONS
        )

    def variable(self, place: Place, name: str) -> Values:
        """Return what a variable outside of functions is, as it is written where it is defined."""
        view = self._views[place[0]]
        scope = view.scope(place[1])
        for each in view.bound.get((scope, name), ()):
            if found := self._of_binding(view, each):
                return found
        return ()

    def _of_binding(self, view: FileView, each: Binding) -> Values:
        def read() -> Values:
            where = Where(view.file, each.definition, each.line, each.indent)
            if not each.value:
                return ()
            if each.kind == ASSIGNED:
                # A name that is bound anew from itself means what it meant before.
                return self.evaluate(where._replace(line=each.line - 1), parse(each.value)) or self.evaluate(
                    where, parse(each.value)
                )
            return self.instances(where, each.value)

        return self.memo.once(("binding", view.file, each), read)

    # Members.

    def member(self, value: Value, name: str, where: Where, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``."""
        if value.kind in (INSTANCE, TYPE_VALUE):
            return self._of_type(value, name, where, is_called=is_called)
        if value.kind == SPACE:
            return self.of_space(value, name, where)
        if value.kind in (FOREIGN, FOREIGN_METHOD):
            return (Value(FOREIGN_METHOD, name=name, parts=((value,),)),)
        return ()

    def _of_type(self, value: Value, name: str, where: Where, *, is_called: bool = False) -> Values:
        order, is_whole = self.order((value.file, value.row))
        for place in order:
            if found := self._direct(place, value, name, is_called=is_called):
                return found
        if found := self._all(
            self.made_of(value), lambda each: self.member(each, name, where, is_called=is_called)
        ):
            return found
        return () if is_whole else (Value(FOREIGN_METHOD, name=name, parts=((value,),)),)

    def _direct(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values:
        """Return the members of a name that a type itself has."""
        owned = self._owned(name).get(place, ())
        if is_called or not self.has_names_apart:
            functions = tuple(
                Value(FUNCTION, *each, parts=((value,),)) for each in owned if self.kind(each) in FUNCTIONS
            )
            if functions or self.has_names_apart:
                return functions
        view = self._views[place[0]]
        for each in view.fields.get((place[1], name), ()):
            return self._field(view, each, value)
        if any(self.kind(each) in TYPE_KINDS for each in owned):
            return tuple(Value(TYPE_VALUE, *each) for each in owned if self.kind(each) in TYPE_KINDS)
        if owned and self.kind(place) == "enum":
            return (Value(INSTANCE, *place),)
        return (STRANGER,) if owned and self._is_plain(owned) else ()

    def _is_plain(self, owned: tuple[Place, ...]) -> bool:
        del owned
        return False

    def _field(self, view: FileView, each: Binding, value: Value) -> Values:
        where = Where(view.file, each.definition, 0)
        return self.memo.once(
            ("field", view.file, each, value), lambda: self.instances(where, each.value, of=value)
        )


def _root_of(each: Binding) -> str:
    """Return the name that the value of an assignment begins with, ``""`` for none."""
    root = parse(each.value).root if each.kind == ASSIGNED and each.value else None
    return root.name if isinstance(root, Name) else ""
