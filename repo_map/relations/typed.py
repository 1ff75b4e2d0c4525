"""What the resolvers of languages with written types share: scopes, receivers, members, what calls give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from repo_map.languages.kinds import CODE, FUNCTIONS
from repo_map.languages.registry import language_named
from repo_map.parsing.facts_model import (
    ALIAS,
    ASSIGNED,
    BASE,
    BASE_OF,
    CALL,
    DECLARED,
    EXPORTED,
    PARAMETERS,
    RECEIVER,
    RENAMED,
    RETURN_TYPE,
    RETURNED,
    TYPE,
    TYPE_PARAMETER,
    VALUE,
    Binding,
    Site,
)
from repo_map.relations.expressions import (
    Expression,
    Name,
    One,
    Text,
    Typed,
    parse,
    parts_of_type,
    split,
)
from repo_map.relations.file_facts import CLASSES, FileView, FileViews
from repo_map.relations.model import OPEN, OUTSIDE, Meaning, Place

if TYPE_CHECKING:
    from repo_map.index import RepoIndex

TYPE_VALUE, INSTANCE, FUNCTION, SPACE, FOREIGN, FOREIGN_METHOD = (
    "type",
    "instance",
    "function",
    "space",
    "foreign",
    "foreign method",
)
TYPE_KINDS: Final = CODE - FUNCTIONS
_MOST: Final = 8
_DEEPEST: Final = 20
_MOST_KEPT: Final = 200_000
_SAID: Final = frozenset(
    {ALIAS, BASE_OF, EXPORTED, PARAMETERS, RECEIVER, RETURNED, RETURN_TYPE, TYPE_PARAMETER}
)
_CONTAINERS: Final = frozenset({"list", "dict", "tuple", "func", "chan"})


class Value(NamedTuple):
    """What an expression may be."""

    kind: str
    file: int = -1
    row: int = -1
    name: str = ""
    """Of what is not ours, or the key of a space."""
    parts: tuple[tuple[Value, ...], ...] = ()
    """Type arguments, or the receiver that a function is reached through."""


Values = tuple[Value, ...]
"""Any one of them; empty where nothing is known."""
STRANGER: Final = Value(FOREIGN)


class Where(NamedTuple):
    """A place in the source that an expression is read at."""

    file: int
    row: int
    """Innermost definition."""
    line: int
    """What is bound below it does not count; 0 for no locals at all."""
    indent: int = 255


class TypedFamily:
    """Resolves by written types; a family says what its names mean outside of functions."""

    common: frozenset[str] = frozenset()
    has_implicit_receiver: ClassVar[bool] = False
    """Whether a bare name may be a member of the class around it."""
    has_names_apart: ClassVar[bool] = False
    """Whether a method and a field of one name are different things, told apart by the call."""
    has_local_functions: ClassVar[bool] = False
    """Whether a local may be called by its bare name even so."""
    binds_below: ClassVar[bool] = False
    """Whether what binds a name reads, on its own line, what was bound before."""
    elements: ClassVar[dict[str, int]] = {}
    """Methods of containers that are not ours which give one of their parts, by its position."""
    initialisers: frozenset[str] = frozenset()
    """Methods that constructing an object of their class calls, and that bear another name than it."""
    literals: ClassVar[dict[str, str]] = {}
    """The types of texts (``'``) and whole numbers (``0``)."""
    same: ClassVar[frozenset[str]] = frozenset()
    """Methods of containers that are not ours which give a container alike."""
    several: ClassVar[dict[str, int]] = {}
    """Methods of mappings that are not ours which give all parts of one position; -1: all pairs."""
    takers: ClassVar[frozenset[str]] = frozenset()
    """Methods of containers that are not ours which call a function with their parts."""
    functions: ClassVar[frozenset[str]] = frozenset()
    """Types that are not ours of functions, which say what these take first."""

    def __init__(self, index: RepoIndex) -> None:
        self._index = index
        self._views = index.derived(FileViews)
        family = type(self).__module__.rpartition(".")[2]
        numbers = [
            number for number, name in enumerate(index.languages) if language_named(name).family == family
        ]
        self.files: list[int] = np.flatnonzero(np.isin(index.files.language, numbers)).tolist()
        self._lock = RLock()
        self._known: dict[object, object] = {}
        self._active: set[object] = set()
        self._depth = 0

    # What a family adds.

    def top(self, where: Where, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is outside of all functions, seen from a place."""
        raise NotImplementedError

    def of_space(self, space: Value, name: str, where: Where) -> Values:
        """Return what a package, module or namespace calls ``name``."""
        raise NotImplementedError

    def owner(self, place: Place) -> Place | None:
        """Return the type that a definition is a member of: by default the class around it."""
        view = self._views[place[0]]
        around = view.definitions[place[1]].parent
        if around >= 0 and view.definitions[around].kind in CLASSES:
            return (place[0], around)
        return None

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the definitions that constructing a type calls."""
        del place
        return ()

    def read_imports(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        raise NotImplementedError

    # What the core asks.

    def meaning(self, file: int, site: Site) -> Meaning:
        """Return what a site means."""
        with self._lock:
            return self._meaning(file, site)

    def _meaning(self, file: int, site: Site) -> Meaning:
        where = Where(file, site.definition, site.line, site.indent)
        receiver, is_told, given = site.receiver.partition("/")
        arguments = tuple(split(given, ",")) if is_told else None
        values = found = self._at_site(where, site, receiver)
        if site.kind == CALL:
            values = self._called(found, arguments, where)
        targets = sorted({(v.file, v.row) for v in values if v.kind in (TYPE_VALUE, FUNCTION) and v.row >= 0})
        if targets and not self._is_one(targets):
            # Which constructor is called is open; what is constructed is not.
            targets = [place for place in targets if self.kind(place) in TYPE_KINDS]
        if targets:
            return Meaning(tuple(targets), is_certain=self.is_certain(where, site, found, targets))
        if any(v.kind in (TYPE_VALUE, FUNCTION) and v.row >= 0 for v in values):
            return OPEN
        is_outside = bool(values) and all(v.kind in (FOREIGN, FOREIGN_METHOD) for v in values)
        return OUTSIDE if is_outside else OPEN

    def is_certain(self, where: Where, site: Site, found: Values, targets: list[Place]) -> bool:
        """Tell whether what was found at a site is all that its name can mean there, and one of it."""
        del where, site, found, targets
        return True

    def _at_site(self, where: Where, site: Site, receiver: str) -> Values:
        """Return what a site's name is, whatever it is called with."""
        if site.kind in (TYPE, BASE):
            return self.named_type(where, f"{receiver}.{site.name}" if receiver else site.name)
        is_called = site.kind in (CALL, VALUE)
        if not receiver:
            return self.lookup(where, site.name, is_called=is_called)
        return self._all(
            self.evaluate(where, parse(receiver)),
            lambda value: self.member(value, site.name, where, is_called=is_called),
        )

    def names_of(self, place: Place) -> frozenset[str]:
        """Return the names by which sites may use a definition."""
        name = self.last_name(place)
        return frozenset({name, *self._renamed.get(name, ())})

    @cached_property
    def _renamed(self) -> dict[str, frozenset[str]]:
        """The other names that imports give to each last name."""
        index, table = self._index, self._index.bindings
        found: dict[str, set[str]] = {}
        for row in np.flatnonzero(table.kind == RENAMED).tolist():
            last = index.expressions[int(table.value[row])].rpartition(".")[2]
            found.setdefault(last, set()).add(index.strings[int(table.name[row])])
        return {name: frozenset(others) for name, others in found.items()}

    def bases(self, place: Place) -> tuple[Place, ...]:
        """Return the types of this repository that a type extends or implements directly, in order."""
        with self._lock:
            return tuple((v.file, v.row) for v in self.base_values(place) if v.kind == TYPE_VALUE)

    def imported(self, file: int) -> tuple[tuple[int, int], ...]:
        """Return the files that a file imports, each with the line where it does."""
        with self._lock:
            return self.read_imports(file)

    # Names of the whole family.

    @cached_property
    def _rows(self) -> dict[str, tuple[int, ...]]:
        """The ids in ``index.strings`` of the definitions of each last name that is not the whole name."""
        index = self._index
        found: dict[str, list[int]] = {}
        for number in np.unique(index.symbols.name).tolist():
            whole = index.strings[number]
            last = whole.rpartition(".")[2]
            if last != whole:
                found.setdefault(last, []).append(number)
        return {name: tuple(numbers) for name, numbers in found.items()}

    @cached_property
    def _own(self) -> frozenset[int]:
        return frozenset(self.files)

    def named(self, name: str) -> tuple[Place, ...]:
        """Return the definitions of a last name, in the order of the repository."""
        key = ("named", name)
        if (kept := self._known.get(key)) is not None:
            return kept  # type: ignore[return-value]
        index = self._index
        numbers = list(self._rows.get(name, ()))
        if (number := index.strings.get(name)) is not None:
            numbers.append(number)
        rows = np.flatnonzero(np.isin(index.symbols.name, numbers)) if numbers else np.zeros(0, np.int64)
        starts = index.symbols.file_start
        files = (np.searchsorted(starts, rows, side="right") - 1).tolist()
        found = tuple(
            (file, row - int(starts[file]))
            for file, row in zip(files, rows.tolist(), strict=True)
            if file in self._own
        )
        self._keep(key, found)
        return found

    def kind(self, place: Place) -> str:
        """Return the kind of a definition."""
        return self._views[place[0]].definitions[place[1]].kind

    def last_name(self, place: Place) -> str:
        """Return a definition's name without what it is a member of."""
        return self._views[place[0]].definitions[place[1]].name.rpartition(".")[2]

    def said(self, place: Place, kind: int) -> list[Binding]:
        """Return what is said of a definition itself."""
        key = ("said", place[0])
        table: dict[tuple[int, int], list[Binding]] | None = self._known.get(key)  # type: ignore[assignment]
        if table is None:
            table = {}
            for each in self._views[place[0]].bindings:
                if each.kind in _SAID:
                    table.setdefault((each.definition, each.kind), []).append(each)
            self._keep(key, table)
        return table.get((place[1], kind), [])

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
        for each in reversed(view.bound.get((scope, name), ())):
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

    def value_of(self, place: Place) -> Value:
        """Return a definition of a function or a type as a value."""
        return Value(TYPE_VALUE if self.kind(place) in TYPE_KINDS else FUNCTION, *place)

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

        return self._once(("binding", view.file, each), read)

    # Expressions.

    def evaluate(self, where: Where, expression: Expression) -> Values:
        """Return what an expression may be."""
        steps = expression.then
        values = self._root(where, expression, is_called=_is_called(steps[:1]))
        for at, suffix in enumerate(steps):
            if not values:
                return ()
            is_called = _is_called(steps[at + 1 : at + 2])
            values = self._all(
                values,
                lambda value, suffix=suffix, is_called=is_called: self._follow(  # type: ignore[misc]
                    value, suffix, where, is_called=is_called
                ),
            )
        return values

    def _root(self, where: Where, expression: Expression, *, is_called: bool) -> Values:
        root = expression.root
        if isinstance(root, Name):
            return self.root_name(where, root.name, is_called=is_called)
        if isinstance(root, Text):
            return () if root.mark == "?" else (Value(FOREIGN, name=self.literals.get(root.mark, "")),)
        if isinstance(root, Typed):
            return self.instances(where, root.written)
        if isinstance(root, One):
            return tuple(dict.fromkeys(value for part in root.parts for value in self.evaluate(where, part)))[
                :_MOST
            ]
        return ()

    def root_name(self, where: Where, name: str, *, is_called: bool) -> Values:
        """Return what the first name of an expression is."""
        return self.lookup(where, name, is_called=is_called)

    def _follow(self, value: Value, suffix: str, where: Where, *, is_called: bool) -> Values:
        first = suffix[0]
        if first == ".":
            return self.member(value, suffix[1:], where, is_called=is_called)
        if suffix == "()":
            return self.result(value, where)
        if first == "[":
            return self._part(value, -1, where)
        if first == "*":
            return self._part(value, -1, where)
        if first == "%":
            return self._part(value, 0, where)
        if first == "@":
            count, dot, number_text = suffix[1:].partition(".")
            if dot:
                return self._wanted(value, int(count), int(number_text), where)
            return self.parameter_of(value, int(count))
        number = int(suffix[1:])
        if value.kind == FOREIGN and value.name == "tuple":
            return value.parts[number] if number < len(value.parts) else ()
        if value.kind in (FOREIGN, FOREIGN_METHOD) and not value.parts:
            return (STRANGER,)
        return (value,) if number == 0 else ()

    def _part(self, value: Value, number: int, where: Where) -> Values:
        """Return one of the parts of a container."""
        if value.kind == INSTANCE:
            return self._all(self.made_of(value), lambda each: self._part(each, number, where))
        if value.kind == FOREIGN:
            if value.name == "list" and number == 0:
                return (STRANGER,)
            return value.parts[number] if value.parts else (STRANGER,)
        return ()

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
        return self._once(
            ("field", view.file, each, value), lambda: self.instances(where, each.value, of=value)
        )

    def _owned(self, name: str) -> dict[Place, tuple[Place, ...]]:
        """Return the definitions of a last name by the types that they are members of."""

        def read() -> dict[Place, tuple[Place, ...]]:
            found: dict[Place, list[Place]] = {}
            for place in self.named(name):
                if (owner := self.owner(place)) is not None:
                    found.setdefault(owner, []).append(place)
            return {owner: tuple(places) for owner, places in found.items()}

        key = ("owned", name)
        if (kept := self._known.get(key)) is not None:
            return kept  # type: ignore[return-value]
        if key in self._active:
            return {}
        self._active.add(key)
        try:
            made = read()
        finally:
            self._active.discard(key)
        self._keep(key, made)
        return made

    def made_of(self, value: Value) -> Values:
        """Return what a type is another name of, as an instance of it."""
        found = self.said((value.file, value.row), ALIAS)
        if not found:
            return ()
        where = Where(value.file, value.row, 0)
        return self._once(
            ("made of", value),
            lambda: tuple(
                each for each in self.instances(where, found[0].value, of=value) if each[:3] != value[:3]
            ),
        )

    def order(self, place: Place) -> tuple[tuple[Place, ...], bool]:
        """Return a type and all that it inherits from, nearest first, and whether all of them are ours."""
        key = ("order", place)
        if (kept := self._known.get(key)) is not None:
            return kept  # type: ignore[return-value]
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
        made = (tuple(found), is_whole)
        if not self._active:
            self._keep(key, made)
        return made

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

        return self._once(("bases", place), read)

    # Calls.

    def result(self, value: Value, where: Where) -> Values:
        """Return what calling a value gives."""
        if value.kind == FUNCTION:
            return self.returned(value)
        if value.kind == TYPE_VALUE:
            return (value._replace(kind=INSTANCE),)
        if value.kind == INSTANCE:
            return self._all(self.made_of(value), lambda each: self.result(each, where))
        if value.kind == FOREIGN and value.name == "func":
            return value.parts[-1] if value.parts else ()
        if value.kind == FOREIGN_METHOD:
            container = value.parts[0][0] if value.parts and value.parts[0] else STRANGER
            if value.name in self.elements and container.parts and container.kind == FOREIGN:
                return container.parts[min(self.elements[value.name], len(container.parts) - 1)]
            if value.name in self.several and container.kind == FOREIGN and len(container.parts) == 2:
                at = self.several[value.name]
                pair = (Value(FOREIGN, name="tuple", parts=container.parts),)
                return (Value(FOREIGN, name="Set", parts=(pair if at < 0 else container.parts[at],)),)
            return (container,) if value.name in self.same else (STRANGER,)
        return (STRANGER,) if value.kind == FOREIGN else ()

    def returned(self, function: Value) -> Values:
        """Return what a function gives, as it is written."""

        def read() -> Values:
            written = self.said((function.file, function.row), RETURN_TYPE)
            if not written or not written[0].value:
                return ()
            receiver = function.parts[0][0] if function.parts and function.parts[0] else None
            return self.instances(Where(function.file, function.row, 0), written[0].value, of=receiver)

        return self._once(("returned", function), read)

    def _wanted(self, value: Value, count: int, number: int, where: Where) -> Values:
        """Return what a call of ``count`` arguments takes as the one at ``number``."""
        if value.kind == FOREIGN_METHOD:
            return (value,)
        if value.kind == TYPE_VALUE:
            made = [Value(FUNCTION, *each) for each in self.constructors((value.file, value.row))]
            return self._all(tuple(made), lambda each: self._wanted(each, count, number, where))
        if value.kind != FUNCTION or value.row < 0:
            return ()
        place = (value.file, value.row)
        told = self.said(place, PARAMETERS)
        types = split(told[0].value, ",") if told else []
        if len(types) != count:
            return ()
        receiver = value.parts[0][0] if value.parts and value.parts[0] else None
        return self.instances(Where(*place, 0), types[number], of=receiver)

    def parameter_of(self, value: Value, number: int) -> Values:
        """Return a parameter of what is a function: of an interface, or of what a container calls."""
        if value.kind == FOREIGN_METHOD and value.parts and value.parts[0]:
            container = value.parts[0][0]
            if container.kind == FOREIGN and container.parts and value.name in self.takers:
                return container.parts[min(number, len(container.parts) - 1)]
            return ()
        if value.kind == FOREIGN and value.name in self.functions:
            return value.parts[min(number, len(value.parts) - 1)] if value.parts else ()
        if value.kind == INSTANCE:
            return self.parameter_of_interface(value, number)
        return ()

    def parameter_of_interface(self, value: Value, number: int) -> Values:
        """Return a parameter of the only method that an interface of ours leaves open."""
        del value, number
        return ()

    def _called(self, values: Values, arguments: tuple[str, ...] | None, where: Where) -> Values:
        """Return what a call with these arguments may mean, constructors of types too."""
        made: list[Value] = []
        for value in values:
            made.append(value)
            if value.kind == TYPE_VALUE:
                made += (Value(FUNCTION, *each) for each in self.constructors((value.file, value.row)))
        functions = [value for value in made if value.kind == FUNCTION and value.row >= 0]
        if arguments is None or len(functions) < 2:
            return tuple(made)
        others = [value for value in made if value.kind != FUNCTION or value.row < 0]
        given = [self.evaluate(where, parse(each)) for each in arguments]
        fits = [(self._fit((each.file, each.row), given), each) for each in functions]
        possible = [(fit, each) for fit, each in fits if fit is not None]
        if not possible:
            return tuple(others)
        best = max(fit for fit, _ in possible)
        chosen = [each for fit, each in possible if fit == best]
        if len(chosen) == 1 and len(possible) > 1 and not all(given):
            # What is not known of an argument may be what another one takes.
            chosen = [each for _, each in possible]
        return (*others, *chosen)

    def takes(self, place: Place, count: int) -> bool:
        """Tell whether a function can be called with so many arguments."""
        told = self.said(place, PARAMETERS)
        if not told:
            return True
        most = len(split(told[0].value, ","))
        if told[0].name.endswith("+"):
            return count >= most - 1
        return int(told[0].name.rstrip("-")) <= count <= most if told[0].name.endswith("-") else count == most

    def _fit(self, place: Place, given: list[Values]) -> float | None:
        """Return how well a function takes arguments, None where it does not."""
        told = self.said(place, PARAMETERS)
        if not told:
            return 0.0
        types = split(told[0].value, ",")
        has_more = told[0].name.endswith("+")
        if not self.takes(place, len(given)):
            return None
        if not has_more:
            types = types[: len(given)]
        sum_, where = 0.0, Where(*place, 0)
        for at, values in enumerate(given):
            if not types:
                break
            written = types[min(at, len(types) - 1)]
            if has_more and at >= len(types) - 1:
                one = self._matches(values, written.removeprefix("list[").removesuffix("]"), where)
                whole = self._matches(values, written, where) if len(given) == len(types) else None
                fit = max((each for each in (one, whole) if each is not None), default=None)
                fit = fit - 0.5 if fit is not None else None
            else:
                fit = self._matches(values, written, where)
            if fit is None:
                return None
            sum_ += fit
        return sum_ - (0.5 if has_more else 0.0)

    def _matches(self, values: Values, written: str, where: Where) -> float | None:
        """Return how well an argument fits a written type, None where it can't."""
        wanted = self.instances(where, written)
        if not values or not wanted:
            return 0.5
        found = [fit for value in values for each in wanted if (fit := self.fits(value, each)) is not None]
        return max(found, default=None)

    def fits(self, value: Value, wanted: Value) -> float | None:
        """Return how well a value fits an instance of a type: 3 exactly, None not at all."""
        if value.kind == INSTANCE and wanted.kind == INSTANCE:
            if value[1:3] == wanted[1:3]:
                return 3.0
            order, is_whole = self.order((value.file, value.row))
            if (wanted.file, wanted.row) in order:
                return 2.0
            return None if is_whole else 0.2
        return 0.5

    def _is_one(self, targets: list[Place]) -> bool:
        """Tell whether several targets are one thing: a type with its constructor, or functions alike."""
        functions = [place for place in targets if self.kind(place) in FUNCTIONS]
        return len(functions) <= 1 or self.are_alike(functions)

    def are_alike(self, functions: list[Place]) -> bool:
        """Tell whether functions of one name stand for one another, such as one for each system."""
        del functions
        return False

    # Written types.

    def instances(self, where: Where, written: str, *, of: Value | None = None) -> Values:
        """Return what has a written type; ``of`` is the object whose type's parameters are known."""
        key = ("type", where.file, where.row, written, of)

        def read() -> Values:
            found: dict[Value, None] = {}
            for head, arguments in parts_of_type(written):
                found.update(dict.fromkeys(self.instance(where, head, arguments, of)))
            return tuple(found)[:_MOST]

        return self._once(key, read)

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

    # Underneath.

    def _once(self, key: object, read: Callable[[], Values]) -> Values:
        """Return what is read, kept; nothing where it depends on itself."""
        if (kept := self._known.get(key)) is not None:
            return kept  # type: ignore[return-value]
        if key in self._active or self._depth > _DEEPEST:
            return ()
        self._active.add(key)
        self._depth += 1
        try:
            found = read()
        finally:
            self._active.discard(key)
            self._depth -= 1
        if not self._active:
            self._keep(key, found)
        return found

    def _keep(self, key: object, value: object) -> None:
        if len(self._known) > _MOST_KEPT:
            self._known.clear()
        self._known[key] = value

    def _all(self, values: Values, make: Callable[[Value], Iterable[Value]]) -> Values:
        return tuple(dict.fromkeys(each for value in values for each in make(value)))[:_MOST]

    def typed_places(self, name: str) -> Iterator[Place]:
        """Yield the types of a last name."""
        return (place for place in self.named(name) if self.kind(place) in TYPE_KINDS)


def _root_of(each: Binding) -> str:
    """Return the name that the value of an assignment begins with, ``""`` for none."""
    root = parse(each.value).root if each.kind == ASSIGNED and each.value else None
    return root.name if isinstance(root, Name) else ""


def _is_called(step: tuple[str, ...]) -> bool:
    """Tell whether the next step, if there is one, is a call or asks what one takes."""
    return step == ("()",) or (bool(step) and step[0][0] == "@" and "." in step[0])
