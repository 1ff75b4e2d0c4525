"""What names mean in Java and Kotlin, which see each other: packages, members, extensions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import ClassVar, Final

from repo_map.languages.registry import vocabulary
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import Expression, Receiver, decode, head_of_type
from repo_map.parsing.facts_model import Binding, Site
from repo_map.relations.core.memo import memoized
from repo_map.relations.core.overloads import OverloadResolver
from repo_map.relations.core.values import UNKNOWN_EXTERNAL, Kind, Position, Value, Values
from repo_map.relations.file_facts import CLASSES, FileView
from repo_map.relations.model import Place
from repo_map.relations.text_search import shared_folders

_GETTER: Final = re.compile(r"(?:get|set)([A-Z]\w*)\Z")
_OF_ANY: Final = frozenset({"Object", "T"})
_LAST_LINE: Final = 1 << 30
_NUMBERS: Final = ("byte", "short", "char", "int", "long", "float", "double")
_BOXES: Final = {
    **{f"{name[:1].upper()}{name[1:]}": name for name in (*_NUMBERS, "boolean")},
    "Integer": "int",
    "Character": "char",
}
_PRIMITIVES: Final = frozenset({*_NUMBERS, "boolean"})
_EXTERNAL_ROOTS: Final = _PRIMITIVES | {"java", "javax"}
"""Names that begin nothing of ours."""
_FINAL_TYPES: Final = _PRIMITIVES | {"String", "list"}
"""Types that nothing else is an instance of."""
_ROOT_TYPE: Final = "Object"
_SUPERTYPES: Final = {
    "String": frozenset({"CharSequence", "Comparable", "Serializable"}),
    **dict.fromkeys((*_BOXES, *_PRIMITIVES), frozenset({"Number", "Comparable", "Serializable"})),
}


class Jvm(OverloadResolver):
    """The resolver of Java and Kotlin."""

    common = vocabulary("jvm", "java_members", "kotlin_members")
    has_implicit_receiver = True
    has_names_apart = True
    literals: ClassVar[Mapping[str, str]] = {"'": "String", "0": "int"}
    callback_methods: Final = vocabulary("jvm", "callback_methods")
    functions: Final = vocabulary("jvm", "functions")

    # Sites.

    def at_site(self, where: Position, site: Site, receiver: Receiver) -> Values:
        """Return what a site's name is: a member of what is implicit, or whatever it is without."""
        for each in receiver.implicit:
            found = self.evaluate(where, each)
            values = self.all_of(found, lambda value: self.member(value, site.name, where, is_called=True))
            if any(value.kind == Kind.FUNCTION for value in values):
                return values
            if values or not found:
                return ()  # It may be a member of what is not known, or not ours.
        if receiver.implicit:
            return self.lookup(where, site.name, is_called=True)
        values = super().at_site(where, site, receiver)
        if not values and receiver.text and site.kind == facts.CALL and self._is_kotlin(where.file):
            return self._extensions(UNKNOWN_EXTERNAL, site.name, where)
        return values

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition; a constructor has that of its class."""
        if self.definitions.last_name(place) == "constructor" and (owner := self.owner(place)) is not None:
            return super().names_of(owner)
        return super().names_of(place)

    def of_import(self, file: int, each: Binding) -> Values:
        is_star = each.kind == facts.STAR
        return () if is_star else self._at(each.value.partition(":")[0], Position(file, -1, 0))

    # Bare names.

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        if name not in ("this", "super"):
            return super().root_name(where, name, is_called=is_called)
        if name == "this" and (extension := self._extension_around(where)) is not None:
            written = self.definitions.stated(extension, facts.RECEIVER)[0].value
            return self.instances(Position(*extension, 0), written)
        owner = self.views[where.file].class_around(where.row)
        if owner < 0:
            return ()
        if name == "this":
            return (Value(Kind.INSTANCE, where.file, owner),)
        return self.bases_as(Kind.INSTANCE, (where.file, owner))

    def _extension_around(self, where: Position) -> Place | None:
        """Return the extension within the innermost class around a position."""
        view = self.views[where.file]
        for row in view.around(where.row) if self._is_kotlin(where.file) else ():
            if view.definitions[row].kind in CLASSES:
                break
            if self.definitions.stated((where.file, row), facts.RECEIVER):
                return (where.file, row)
        return None

    def lookup(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is; a call of a class's name constructs it, or is a function's."""
        is_kotlin, is_constructed = self._is_kotlin(where.file), is_called and name[:1].isupper()
        if is_kotlin and is_called and (bound := self._bound_around(where, name)) is not None:
            return self.of_binding(where.file, bound) or (UNKNOWN_EXTERNAL,)
        if not is_constructed:
            return super().lookup(where, name, is_called=is_called)
        types = [value for value in self.named_type(where, name) if value.kind == Kind.CLASS]
        if types and not is_kotlin:
            return tuple(types)
        found = super().lookup(where, name, is_called=is_called)
        if not is_kotlin:
            return found
        functions = [value for value in found if value.kind == Kind.FUNCTION]
        if functions:
            types = [value for value in types if self.definitions.kind(value.place) != "interface"]
        return (*types, *functions) if types or functions else found

    def _bound_around(self, where: Position, name: str) -> Binding | None:
        """Return the local of a name that holds at a position."""
        view = self.views[where.file]
        scope, is_inner = view.scope(where.row), True
        while scope >= 0 and where.line and view.definitions[scope].kind not in CLASSES:
            if bound := self.reaching(view, scope, name, where, is_inner=is_inner):
                return bound
            scope, is_inner = view.outer(scope), False
        return None

    def inner_definitions(self, view: FileView, scope: int, name: str) -> Values:
        """Return the functions and types that a function holds, extensions left out."""
        return tuple(
            value
            for value in super().inner_definitions(view, scope, name)
            if not self.definitions.stated(value.place, facts.RECEIVER)
        )

    # Outside of all types.

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is outside of all functions: imported, or of the package."""
        if self._is_kotlin(where.file):
            return self._top_of_kotlin(where, name, is_called=is_called)
        found = self._top_of_java(where, name, is_called=is_called)
        if found not in ((), (UNKNOWN_EXTERNAL,)) or is_called:
            return found
        # A class that holds a Kotlin file's functions.
        bound = self.views[where.file].bound.get((-1, name), ())
        packages = [self.package(where.file), *(each.value.rpartition(".")[0] for each in bound)]
        facades = [package for package in packages if (package, name) in self._facades]
        return (Value(Kind.MODULE, name=facades[0]),) if facades else found

    def _top_of_java(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what Java sees: imported, of the package, or of an imported package."""
        view = self.views[where.file]
        for each in view.bound.get((-1, name), ()):
            if each.kind == facts.IMPORT:
                owner, is_static, member = each.value.partition(":")
                if not is_static:
                    found = () if is_called else self._qualified(owner, where.file)
                    return found or (() if is_called else (UNKNOWN_EXTERNAL,))
                if found := self._static(owner, member, where, is_called=is_called):
                    return found
        own = self.package(where.file)
        if not is_called and (found := self._package_types(own, name, where.file)):
            return found
        for star in (each.value for each in view.of_scope.get((-1, facts.STAR), ())):
            if found := self._starred(star, name, where, is_called=is_called):
                return found
        if is_called:
            # A constructor's name is that of its class.
            return self.top(where, name) if name[:1].isupper() else ()
        return self._unknown_top(name, _EXTERNAL_ROOTS)

    def _unknown_top(self, name: str, outside: frozenset[str]) -> Values:
        """Return the package that a name begins, or what is not ours where it is written like a type."""
        if name in self._package_roots:
            return (Value(Kind.MODULE, name=name),)
        return (UNKNOWN_EXTERNAL,) if name[:1].isupper() or name in outside else ()

    def _starred(self, star: str, name: str, where: Position, *, is_called: bool) -> Values:
        """Return what an import of all names of a package, or of a class (``:`` behind it), brings."""
        if star.endswith(":"):
            return self._static(star[:-1], name, where, is_called=is_called)
        return () if is_called else self._package_types(star, name, where.file)

    def _static(self, owner: str, name: str, where: Position, *, is_called: bool) -> Values:
        """Return a member of a type by the type's full name."""
        package, _, last = owner.rpartition(".")
        if (package, last) in self._facades:
            return self._of_package(package, name, where, is_called=is_called)
        found = self._qualified(owner, where.file)
        return self.all_of(found, lambda value: self.of_type(value, name, where, is_called=is_called))

    def _top_of_kotlin(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what Kotlin sees: imported, of the file, of the package, or of one imported whole."""
        bound = self.views[where.file].bound.get((-1, name), ())
        if imported := [each.value for each in bound if each.kind in (facts.IMPORT, facts.RENAMED)]:
            values = (value for path in imported for value in self._at(path, where, is_called=is_called))
            return tuple(dict.fromkeys(values)) or (UNKNOWN_EXTERNAL,)
        for each in bound if not is_called else ():
            if each.kind in (facts.ASSIGNED, facts.DECLARED):
                return self.of_binding(where.file, each)
        if (found := self._unnamed(where, name, is_called=is_called)) or is_called:
            return found
        return self._unknown_top(name, _FINAL_TYPES)

    def _unnamed(self, where: Position, name: str, *, is_called: bool) -> Values:
        """Return what is seen without its own import: of the package, or of one imported whole."""
        stars = [each.value for each in self.views[where.file].of_scope.get((-1, facts.STAR), ())]
        for at, package in enumerate((self.package(where.file), *stars)):
            if found := self._of_package(package, name, where, is_called=is_called):
                return found
            for value in self._qualified(package, where.file) if at else ():
                if found := self.of_type(value, name, where, is_called=is_called):
                    return found
        return ()

    def of_module(self, module: Value, name: str, where: Position) -> Values:
        """Return what a package calls ``name``: a function, a type, or a package below it."""
        found = self._package_functions(module.name, name, where.file)
        found = found or self._package_types(module.name, name, where.file)
        return found or (() if name[:1].isupper() else (Value(Kind.MODULE, name=f"{module.name}.{name}"),))

    def _of_package(self, package: str, name: str, where: Position, *, is_called: bool) -> Values:
        if is_called:
            return self._package_functions(package, name, where.file)
        return self._package_types(package, name, where.file) or self._package_variables(package, name)

    def _at(self, path: str, where: Position, *, is_called: bool | None = None) -> Values:
        """Return what a full name is: a type, a function, a property, or a member of an object."""
        package, _, name = path.rpartition(".")
        found: Values = ()
        if is_called is not True:
            found = self._qualified(path, where.file) or self._package_variables(package, name)
        if is_called is not False:
            found = (*found, *self._package_functions(package, name, where.file))
        if found or not package:
            return found
        return self.all_of(
            self._qualified(package, where.file),
            lambda value: self.of_type(value, name, where, is_called=is_called is not False),
        )

    # What packages hold: types, and functions and properties of no type.

    def _is_kotlin(self, file: int) -> bool:
        """Return True if a file is written in Kotlin."""
        return self.index.language(file) == "kotlin"

    @cached_property
    def _package_roots(self) -> frozenset[str]:
        """The first parts of the names of our packages."""
        return frozenset(self.package(file).partition(".")[0] for file in self.files) - {""}

    @cached_property
    def _facades(self) -> frozenset[tuple[str, str]]:
        """Packages and names of the classes that hold, for Java, what Kotlin's files define of no type."""
        found = set()
        for file in filter(self._is_kotlin, self.files):
            stated = self.views[file].of_scope.get((-1, facts.EXPORTED), ())
            stem = self.index.paths[file].rpartition("/")[2].partition(".")[0]
            name = stated[0].name if stated else f"{stem[:1].upper()}{stem[1:]}Kt"
            found.add((self.package(file), name))
        return frozenset(found)

    def space_of(self, place: Place) -> str | None:
        """Return the package of what is in no type; extensions are none of its definitions."""
        is_top = self.definitions[place].parent < 0 and not self.definitions.stated(place, facts.RECEIVER)
        return self.package(place[0]) if is_top else None

    def _package_types(self, package: str, name: str, seen_from: int) -> Values:
        """Return the type of a name in a package; of several modules' the one nearest to a file."""
        found = [place for place in self.tops(package, name) if self.definitions.is_type(place)]
        if len(found) > 1:
            paths = self.index.paths
            found = [max(found, key=lambda place: shared_folders(paths[seen_from], paths[place[0]]))]
        return tuple(Value(Kind.CLASS, *place) for place in found)

    def _qualified(self, name: str, seen_from: int) -> Values:
        """Return the type of a full name (``a.b.Outer.Inner``)."""
        parts = name.split(".")
        for at in range(len(parts) - 1, -1, -1):
            found = self._package_types(".".join(parts[:at]), parts[at], seen_from)
            for inner in parts[at + 1 :]:
                found = self.all_of(
                    found,
                    lambda value, inner=inner: self.inner_types(self.views[value.file], value.row, inner),  # type: ignore[misc]
                )
            if found:
                return found
        return ()

    def _package_functions(self, package: str, name: str, seen_from: int) -> Values:
        """Return the functions of a package that are of no type, those of the file first."""
        tops = self.tops(package, name)
        found = tuple(Value(Kind.FUNCTION, *place) for place in tops if self.definitions.is_function(place))
        own = tuple(value for value in found if value.file == seen_from)
        if own or len({value.file for value in found}) < 2:
            return own or found
        return tuple(value for value in found if not self._is_private(value.place))

    def _is_private(self, place: Place) -> bool:
        """Return True if a function is visible in its own file only."""
        definition = self.views[place[0]].definitions[place[1]]
        lines = self.index.sources.text(place[0]).split("\n")[definition.start - 1 : definition.sig_end]
        return re.search(r"\bprivate\b", "\n".join(lines).partition("fun ")[0]) is not None

    def _package_variables(self, package: str, name: str) -> Values:
        """Return what the properties of a package are that are of no type."""
        tops = (place for place in self.tops(package, name) if self.definitions.kind(place) == "constant")
        return tuple(dict.fromkeys(value for place in tops for value in self.variable(place, name)))

    # Types.

    def named_type(self, where: Position, head: str) -> Values:
        """Return the types that a written name stands for, inherited ones too."""
        found = super().named_type(where, head)
        if "." in head or any(value.kind == Kind.CLASS for value in found):
            return found
        own = self.views[where.file]
        owner = own.class_around(where.row)
        while owner >= 0:
            for place in self.order((where.file, owner))[0]:
                if inner := self.inner_types(self.views[place[0]], place[1], head):
                    return inner
            owner = own.class_around(own.definitions[owner].parent)
        return found

    def fits(self, value: Value, wanted: Value) -> float | None:
        if Kind.EXTERNAL not in (value.kind, wanted.kind):
            return super().fits(value, wanted)
        one = value.name if value.kind == Kind.EXTERNAL else ""
        other = wanted.name if wanted.kind == Kind.EXTERNAL else ""
        if other == _ROOT_TYPE:
            return 0.3 if one in _PRIMITIVES else 1.0
        if one == "null":
            return None if other in _PRIMITIVES else 1.0
        if wanted.kind == Kind.INSTANCE and one:
            return None if one in _FINAL_TYPES else 0.1
        if value.kind == Kind.INSTANCE and other:
            return None if other in _FINAL_TYPES or self.order(value.place)[1] else 0.5
        if one == other == "list" and value.parts and wanted.parts and value.parts[0] and wanted.parts[0]:
            inner = self.fits(value.parts[0][0], wanted.parts[0][0])
            return inner if inner is None or inner >= 1 else None
        return _fit_of_names(one, other) if one and other else 0.5

    # Members.

    def owner(self, place: Place) -> Place | None:
        """Return the type that a definition is a member of; an extension is one of what it extends."""
        if stated := self.definitions.stated(place, facts.RECEIVER):
            head = head_of_type(stated[0].value)
            for value in self.named_type(Position(*place, 0), head) if head != "?" else ():
                if value.kind == Kind.CLASS:
                    return value.place
            return None
        return super().owner(place)

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the constructors that a class declares, in Kotlin beside the one in its head."""
        is_kotlin = self._is_kotlin(place[0])
        name = "constructor" if is_kotlin else self.definitions.last_name(place)
        owned = self.definitions.owned(name, place)
        return [each for each in owned if self.definitions.is_function(each)]

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``; ``Outer.this`` is the object around.

        In Kotlin extensions that are seen from a position are among it.
        """
        if value.kind == Kind.CLASS and name in ("this", "class"):
            return (value._replace(kind=Kind.INSTANCE),) if name == "this" else (UNKNOWN_EXTERNAL,)
        found = super().member(value, name, where, is_called=is_called)
        is_open = not found or all(each.kind == Kind.EXTERNAL_METHOD for each in found)
        if is_called and is_open and value.kind != Kind.MODULE and self._is_kotlin(where.file):
            return self._extensions(value, name, where) or found
        return found

    def of_type(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a type, or an object of it, calls ``name``, as the language of a file sees it."""
        found = self._declared(value, name, where, is_called=is_called)
        if not self._is_kotlin(where.file):
            return self._seen_by_java(found, value, name, where, is_called=is_called)
        if any(each.kind != Kind.EXTERNAL_METHOD for each in found):
            return found
        return self._of_companion(value, name, where, is_called=is_called) or found

    def _declared(self, value: Value, name: str, where: Position, *, is_called: bool) -> Values:
        """Return what a type calls ``name``; a call of a class's name constructs it."""
        found = super().of_type(value, name, where, is_called=is_called)
        if is_called and name[:1].isupper() and not any(each.kind == Kind.FUNCTION for each in found):
            types = super().of_type(value, name, where)
            if any(each.kind == Kind.CLASS for each in types):
                return types
        return found

    def _of_companion(self, value: Value, name: str, where: Position, *, is_called: bool) -> Values:
        """Return what the companion of a type, or of one that it extends, calls ``name``."""
        for place in self.order(value.place)[0]:
            for row in self.views[place[0]].members.get((place[1], "Companion"), ()):
                inner = Value(Kind.CLASS, place[0], row)
                is_type = self.definitions.is_type((place[0], row)) and inner[1:3] != value[1:3]
                if is_type and (found := self._declared(inner, name, where, is_called=is_called)):
                    return found
        return ()

    def _seen_by_java(
        self, found: Values, value: Value, name: str, where: Position, *, is_called: bool
    ) -> Values:
        """Return members as Java sees them: a property may be read by a call of its name."""
        functions = [each for each in found if each.kind == Kind.FUNCTION]
        stated = self.definitions.stated
        seen = tuple(v for v in found if v.kind != Kind.FUNCTION or not stated(v.place, facts.EXPORTED))
        if is_called and any(self._is_kotlin(each.file) for each in functions):
            read = super().of_type(value, name, where)
            if read and read[0].kind != Kind.EXTERNAL_METHOD:
                return (*seen, Value(Kind.EXTERNAL, name="func", parts=(read,)))
        return seen

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the members of a name that a type itself has, properties and what reads them alike."""
        found = super().declared_member(place, value, name, is_called=is_called)
        if found is not None:
            # A member is meant before an extension of its name.
            stated = self.definitions.stated
            return tuple(v for v in found if v.row < 0 or not stated(v.place, facts.RECEIVER)) or found
        if is_called and self._is_kotlin(place[0]):
            return self._property_called(place, value, name)
        if not is_called and not self._is_kotlin(place[0]):
            getter = super().declared_member(place, value, f"get{name[:1].upper()}{name[1:]}", is_called=True)
            return self.all_of(getter or (), self.returned) or None
        return None

    def _property_called(self, place: Place, value: Value, name: str) -> Values | None:
        """Return the property of Kotlin that a call reads, by its name or as Java does."""
        accessed = _GETTER.match(name)
        names = [name, accessed[1][:1].lower() + accessed[1][1:]] if accessed else [name]
        for each in names:
            if values := super().declared_member(place, value, each, is_called=False):
                if values[0].kind == Kind.CLASS:
                    return None
                is_function = values[0].kind == Kind.EXTERNAL and values[0].name == "func"
                return values if is_function else (Value(Kind.EXTERNAL, name="func", parts=(values,)),)
        return None

    def field_position(self, view: FileView, each: Binding) -> Position:
        """Return where the expression of a field is read: it sees no locals."""
        return Position(view.file, each.definition, 0)

    # Calls.

    def called(self, values: Values, arguments: tuple[Expression, ...] | None, where: Position) -> Values:
        """Return what a call with these arguments means; a class of Kotlin has a constructor in its head."""
        types = [value for value in values if value.kind == Kind.CLASS and self._is_kotlin(value.file)]
        functions = tuple(value for value in values if value.kind == Kind.FUNCTION)
        if not types:
            if functions and len(functions) < len(values) and arguments is not None:
                # A function, and a property that Java reads by a call without arguments.
                given = [self.evaluate(where, each) for each in arguments]
                fitting = {each for each in functions if self.fit(each.place, given) is not None}
                values = tuple(each for each in values if each.kind != Kind.FUNCTION or each in fitting)
            return super().called(values, arguments, where)
        made: list[Value] = []
        for value in types:
            place = value.place
            others = tuple(Value(Kind.FUNCTION, *each) for each in self.constructors(place)) + functions
            has_head = self.definitions.stated(place, facts.PARAMETERS) or not others
            head = (Value(Kind.FUNCTION, *place),) if has_head else ()
            chosen = super().called(head + others, arguments, where) if others else head
            if all(each not in functions for each in chosen):
                made.append(value)
            if len(chosen) == 1 and chosen != head:
                made += chosen
        return tuple(made)

    def returned(self, function: Value) -> Values:
        """Return what a function gives, as it is written, or as the expression that it is."""
        return super().returned(function) or self._expression_of(function.place)

    @memoized
    def _expression_of(self, place: Place) -> Values:
        where = Position(*place, _LAST_LINE)
        stated = self.definitions.stated(place, facts.RETURNED)[:1]
        return tuple(value for each in stated for value in self.evaluate(where, decode(each.value)))

    def taken(self, value: Value, count: int, number: int) -> Values:
        if value.kind == Kind.EXTERNAL_METHOD:
            return (value,)
        if value.kind == Kind.CLASS:
            made = [Value(Kind.FUNCTION, *each) for each in self.constructors(value.place)]
            return self.all_of(tuple(made), lambda each: self.taken(each, count, number))
        if value.kind != Kind.FUNCTION or value.row < 0:
            return ()
        place = value.place
        parameters = self.definitions.parameters(place)
        if parameters is None or len(parameters.types) != count:
            return ()
        receiver = value.parts[0][0] if value.parts and value.parts[0] else None
        return self.instances(Position(*place, 0), parameters.types[number], of=receiver)

    def parameter(self, value: Value, number: int) -> Values:
        """Return a parameter of what is a function: of an interface, or of what a container calls."""
        if value.kind == Kind.EXTERNAL_METHOD and value.parts and value.parts[0]:
            container = value.parts[0][0]
            if container.kind == Kind.EXTERNAL and container.parts and value.name in self.callback_methods:
                return container.parts[min(number, len(container.parts) - 1)]
            return ()
        if value.kind == Kind.EXTERNAL and value.name in self.functions:
            return value.parts[min(number, len(value.parts) - 1)] if value.parts else ()
        return self._parameter_of_interface(value, number) if value.kind == Kind.INSTANCE else ()

    def _parameter_of_interface(self, value: Value, number: int) -> Values:
        """Return a parameter of the only method that an interface of ours leaves open."""
        view = self.views[value.file]
        if view.definitions[value.row].kind != "interface":
            return ()
        methods = [
            each.definition
            for each in view.bindings
            if each.kind == facts.DECORATED
            and each.name == "announced"
            and view.definitions[each.definition].parent == value.row
        ]
        if len(methods) != 1:
            return ()
        parameters = self.definitions.parameters((value.file, methods[0]))
        if parameters is None or number >= len(parameters.types):
            return ()
        return self.instances(Position(value.file, methods[0], 0), parameters.types[number], of=value)

    # Extensions of what is not ours.

    def _extensions(self, value: Value, name: str, where: Position) -> Values:
        """Return the extensions seen from a position that take a value which has no member of the name."""
        found: list[tuple[float, Place]] = []
        candidates = self.definitions.named(name)
        self.memo.charge(len(candidates) // 2)
        for place in filter(self.definitions.is_function, candidates):
            stated = self.definitions.stated(place, facts.RECEIVER)
            if stated and stated[0].value != "?" and self.owner(place) is None:
                fit = self._extends(place, head_of_type(stated[0].value), value)
                is_seen = self._is_imported(place, where) or (fit > 1 and self._is_near(place, where))
                if fit and is_seen:
                    found.append((fit, place))
        best = max((fit for fit, _ in found), default=0)
        return tuple(Value(Kind.FUNCTION, *place) for fit, place in found if fit == best)

    def _extends(self, place: Place, head: str, value: Value) -> float:
        """Return how well an extension takes a value, 0 where not at all."""
        parameters = self.definitions.stated(place, facts.TYPE_PARAMETER)
        if head in _OF_ANY or any(each.name == head for each in parameters):
            return 1.0
        last = head.rpartition(".")[2]
        if value.kind == Kind.EXTERNAL and value.name == last != "":
            return 2.0
        is_other = value.kind == Kind.EXTERNAL and value.name in _FINAL_TYPES and last in _FINAL_TYPES
        is_ours = value.kind in (Kind.INSTANCE, Kind.CLASS) and self.order(value.place)[1]
        return 0.0 if is_other or is_ours else 0.5

    def _is_imported(self, place: Place, where: Position) -> bool:
        """Return True if a file imports an extension by its name."""
        full = f"{self.package(place[0])}.{self.index.qualified_name(*place)}"
        return any(
            each.kind in (facts.IMPORT, facts.RENAMED) and each.value == full
            for each in self.views[where.file].bound.get((-1, self.definitions.last_name(place)), ())
        )

    def _is_near(self, place: Place, where: Position) -> bool:
        """Return True if an extension needs no import: of the package, or of an enclosing class."""
        if self.definitions[place].parent >= 0:
            return place[0] == where.file
        package = self.package(place[0])
        stars = (each.value for each in self.views[where.file].of_scope.get((-1, facts.STAR), ()))
        return package == self.package(where.file) or package in stars


def _fit_of_names(one: str, other: str) -> float | None:
    """Return how well a type that is not ours fits another one; None where not at all."""
    if one == other:
        return 3.0
    if one in _NUMBERS and other in _NUMBERS:
        distance = _NUMBERS.index(other) - _NUMBERS.index(one)
        return 2.5 - distance / 10 if distance > 0 and other != "char" else None
    if one in (_BOXES.get(other), other) or other == _BOXES.get(one):
        return 1.5
    if other in _SUPERTYPES.get(one, ()):
        return 1.0
    return None if {one, other} & (_FINAL_TYPES | _BOXES.keys()) else 0.2


RESOLVER: Final = Jvm
