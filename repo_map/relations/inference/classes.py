"""What a value calls a name: members of modules, and of classes in their order of inheritance."""

from __future__ import annotations

from collections.abc import Iterable

from repo_map.parsing.facts_model import BASE_OF, DECLARED, FIELD_TYPE
from repo_map.relations.expressions import parse
from repo_map.relations.file_facts import CLASSES
from repo_map.relations.inference.names import Names
from repo_map.relations.memo import DEEPEST
from repo_map.relations.model import Place
from repo_map.relations.values import (
    CLASS,
    FOREIGN,
    FOREIGN_CLASS,
    FOREIGN_METHOD,
    FUNCTION,
    INSTANCE,
    MODULE,
    MOST_VALUES,
    OBJECT,
    SUPER,
    TUPLE,
    Value,
    Values,
    Where,
)

_MOST_BASES = 200


class Classes(Names):
    """Finds members of values."""

    harmless: frozenset[str] = frozenset()
    """Bases from elsewhere that bring no members worth a name."""

    # What a family may say otherwise.

    def member_of_enum(self, owner: Place) -> bool:
        """Tell whether the values of a class are objects of it."""
        return False

    def of_object(self, value: Value, name: str) -> Values:
        """Return a member of an object that no class makes."""
        return ()

    # Members.

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
            return (Value(FOREIGN_METHOD, name=name, parts=((value,),)),)
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
                return tuple(found)[:MOST_VALUES]
            if bound:
                return self._enumerated(receiver)
        if complete:
            return ()
        return (Value(FOREIGN_METHOD, name=name),) if self._is_half_foreign(known) else ()

    def _enumerated(self, receiver: Value) -> Values:
        """Return a member of an enumeration as what it is: an object of its class."""
        order = self._order((receiver.file, receiver.row))[0]
        return (receiver._replace(kind=INSTANCE),) if any(map(self.member_of_enum, order)) else ()

    # Inheritance.

    def _is_half_foreign(self, owners: Iterable[Place]) -> bool:
        """Tell whether all unknown bases of some classes are known not to be ours."""
        return all(base.kind in (CLASS, FOREIGN_CLASS) for owner in owners for base in self.bases_of(owner))

    def _order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a class and its bases in order of inheritance, and whether all of them are here."""
        complete = True
        order: dict[Place, None] = {}
        seen = {place}

        def visit(at: Place, depth: int) -> None:
            nonlocal complete
            self.memo.charge()
            ours = []
            for base in self.bases_of(at):
                if base.kind == CLASS:
                    ours.append((base.file, base.row))
                elif base.name not in self.harmless:
                    complete = False
            for each in reversed(ours):
                if each not in seen and depth < DEEPEST and len(seen) < _MOST_BASES:
                    seen.add(each)
                    visit(each, depth + 1)
            order[at] = None

        visit(place, 0)
        # A base that comes again stands after all that extend it.
        return tuple(reversed(order)), complete

    def bases(self, place: Place) -> tuple[Place, ...]:
        """Return the classes of this repository that a class extends directly, in order."""
        return tuple((v.file, v.row) for v in self.bases_of(place) if v.kind == CLASS)

    def bases_of(self, place: Place) -> Values:
        """Return the direct bases of a class, in order; what is unknown is ``?``."""
        return self.memo.once(("bases", place), lambda: self._read_bases(place))

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
