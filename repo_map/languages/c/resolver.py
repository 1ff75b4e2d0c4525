"""What names mean in C and C++: linkage, headers and sources, namespaces, classes, members."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import language_named, vocabulary
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import decode_receiver
from repo_map.parsing.facts_model import Binding, Site
from repo_map.relations.core.memo import cached
from repo_map.relations.core.overloads import OverloadResolver
from repo_map.relations.core.values import TYPE_KINDS, UNKNOWN_EXTERNAL, Kind, Position, Value, Values
from repo_map.relations.file_facts import FileView, grouped
from repo_map.relations.model import Place

_TYPES: Final = vocabulary("c", "types")
_HEADERS: Final = (".h", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".tcc")
_POINTERS: Final = frozenset({"unique_ptr", "shared_ptr", "weak_ptr", "optional", "reference_wrapper"})
_OF_POINTERS: Final = frozenset(
    {"get", "reset", "release", "swap", "use_count", "value", "has_value", "lock"}
)
_NAMESPACE: Final = re.compile(r"\w+\.")
_MAX_INCLUDED: Final = 400
_MACRO: Final = re.compile(r"\s*#\s*define\s+(\w+)(?:\s+(.*))?\Z")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_DEEPEST_MACRO: Final = 2
"""Macros within a macro that are looked into."""


class C(OverloadResolver):
    """The resolver of C and C++."""

    common = vocabulary("c", "members")
    has_implicit_receiver = True

    def root_name(self, where: Position, name: str, *, is_called: bool) -> Values:
        if name == "this":
            owner = self._class_at(where)
            return (Value(Kind.INSTANCE, *owner),) if owner is not None else ()
        return super().root_name(where, name, is_called=is_called)

    def owner(self, place: Place) -> Place | None:
        """Return the class of a member, written in it or outside of it."""
        around, _, _ = self._full_name(place).rpartition(".")
        found = self._named_fully(around) if around else ()
        return next((each for each in found if self.definitions.is_type(each)), None)

    def constructors(self, place: Place) -> Iterable[Place]:
        """Return the constructors that a class declares and defines."""
        owned = self.definitions.owned(self.definitions.last_name(place), place)
        return [each for each in owned if self.definitions.is_function(each)]

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``; a pointer that is an object leads to what it points to."""
        if (
            value.kind == Kind.EXTERNAL
            and value.name in _POINTERS
            and value.parts
            and name not in _OF_POINTERS
        ):
            return self.all_of(
                value.parts[0], lambda each: self.member(each, name, where, is_called=is_called)
            )
        return super().member(value, name, where, is_called=is_called)

    def top(self, where: Position, name: str, *, is_called: bool = False) -> Values:
        """Return what a bare name is in the namespaces around, or in those that are used."""
        space = self._space_at(where)
        used, renamed = self._spaces_used(where.file)
        while True:
            if found := self._in_space(space, name, where):
                return found
            if not space:
                break
            space = space.rpartition(".")[0]
        for path in renamed.get(name, ()):
            around, _, last = path.rpartition(".")
            if found := self._in_space(around, last, where):
                return found
        for each_space in used:
            if found := self._in_space(each_space, name, where):
                return found
        return (UNKNOWN_EXTERNAL,) if name in _TYPES or name == "std" else ()

    def of_module(self, space: Value, name: str, where: Position) -> Values:
        return self._in_space(space.name, name, where)

    def of_import(self, file: int, each: Binding) -> Values:
        included = self._included(file, each.value) if each.kind == facts.IMPORT else None
        return (Value(Kind.MODULE, included),) if included is not None else ()

    def are_same_declaration(self, functions: list[Place]) -> bool:
        """Return True if functions are the same one: declared and defined, or defined once for each system.

        Macros of one name stand for one another under conditions.
        """
        if all(self.definitions.kind(place) == "macro" for place in functions):
            return True
        # Templates of one name in one file differ by what they are given between angles.
        written = [
            each[0] for each in functions if self._has_overloads(each) and not self._is_announced(each)
        ]
        return self._are_one(functions) and len(set(written)) == len(written)

    def _are_one(self, functions: Iterable[Place]) -> bool:
        """Return True if functions have the same qualified name and the same parameters."""
        return len({(self._full_name(each), self._parameters_of(each)) for each in functions}) < 2

    def is_certain(self, where: Position, site: Site, found: Values, targets: list[Place]) -> bool:
        """Return True if a name is unambiguous: in C++ only if no overload must be chosen by types.

        What is handed on without a call, what a base that is not ours may bring, and templates of one name
        are left open.
        """
        is_type = self.definitions.is_type
        if site.kind in (facts.TYPE, facts.BASE):
            # Conditions often write another name of a type twice.
            named = [each for each in self.definitions.named(site.name) if is_type(each)]
            return len(targets) == 1 and (
                self.definitions.kind(targets[0]) != "type" or {*named} <= {*targets}
            )
        if site.kind != facts.CALL or sum(map(is_type, targets)) > 1:
            return False
        is_member = any(self.owner(each) is not None for each in targets)
        # Under another condition it may be something that is not ours, or taken from elsewhere.
        is_conditional = any(value.kind in (Kind.EXTERNAL, Kind.EXTERNAL_METHOD) for value in found) or (
            not is_member and any(site.name in self._spaces_used(each[0])[1] for each in targets)
        )
        if is_conditional or self._is_chosen_by_types(site, found, targets, is_member=is_member):
            return False
        around = self._class_at(where) if not site.object and not is_member else None
        return around is None or self.order(around)[1]

    def _is_chosen_by_types(
        self, site: Site, found: Values, targets: list[Place], *, is_member: bool
    ) -> bool:
        """Return True if several functions accept the number of arguments, or the found one does not."""
        is_function, count = self.definitions.is_function, len(decode_receiver(site.receiver).arguments or ())
        functions = [v.place for v in found if v.kind == Kind.FUNCTION and v.row >= 0]
        functions += (each for v in found if v.kind == Kind.CLASS for each in self.constructors(v.place))
        if not site.object and not is_member:
            # What it is given may lead to one of another namespace, or to a friend.
            functions += filter(is_function, self.definitions.named(site.name))
        taking = [each for each in functions if self.takes(each, count)]
        return not self._are_one(taking) or any(
            is_function(each) and not self.takes(each, count) for each in targets
        )

    def _has_overloads(self, place: Place) -> bool:
        return language_named(self.index.language(place[0])).has_overloads

    def _parameters_of(self, place: Place) -> str:
        """Return what tells a function from others of its name: what it takes, namespaces left out."""
        if not self._has_overloads(place):
            return ""
        stated = self.definitions.stated(place, facts.PARAMETERS)
        return _NAMESPACE.sub("", stated[0].value) if stated else ""

    def part(self, value: Value, number: int) -> Values:
        if value.kind == Kind.INSTANCE:
            # What is subscripted may be a pointer: it leads to things of the same type.
            return super().part(value, number) or (value,)
        return super().part(value, number)

    def inner_types(self, view: FileView, scope: int, name: str) -> Values:
        """Return the types that a class holds; namespaces are looked into by their full names."""
        if view.definitions[scope].kind == "module":
            return ()
        return super().inner_types(view, scope, name)

    # Names.

    @cached
    def _full_name(self, place: Place) -> str:
        """Return the name of a definition with all that is around it.

        A member that is written outside of its class may have lost the namespaces around it, where a macro
        keeps the grammar from reading them: those of the only class of that name are its own.
        """
        name = self._written_name(place)
        around, _, last = name.rpartition(".")
        if "." in self.definitions[place].name and self.definitions.is_function(place):
            return f"{self._class_called(around)}.{last}"
        return name

    def _class_called(self, name: str) -> str:
        """Return the full name of the class that a name written outside of it means, or the name itself."""
        if name in self._spaces or self._named_fully(name):
            return name
        parts = name.split(".")
        ends = {
            known
            for place in self.definitions.types_named(parts[-1])
            if (known := self._written_name(place)).split(".")[-1] == parts[-1]
        }
        return ends.pop() if len(ends) == 1 else name

    @cached
    def _written_name(self, place: Place) -> str:
        around = [self.views[place[0]].definitions[row] for row in self.views[place[0]].around(place[1])]
        # A function holds no other: it only seems to where conditions leave a brace open.
        outer = (each.name for each in around[1:] if each.kind not in FUNCTIONS)
        return ".".join(reversed((around[0].name, *outer)))

    @cached
    def _named_fully(self, name: str) -> tuple[Place, ...]:
        """Return the types of a full name."""
        types = self.definitions.types_named(name.rpartition(".")[2])
        return tuple(place for place in types if self._full_name(place) == name)

    def _class_at(self, where: Position) -> Place | None:
        view = self.views[where.file]
        for row in view.around(where.row):
            kind = view.definitions[row].kind
            if kind in TYPE_KINDS:
                return (where.file, row)
            if kind in FUNCTIONS and (owner := self.owner((where.file, row))) is not None:
                return owner
        return None

    def _space_at(self, where: Position) -> str:
        """Return the full name of what is around a place, its functions left out."""
        view = self.views[where.file]
        for row in view.around(where.row):
            name, kind = self._full_name((where.file, row)), view.definitions[row].kind
            if kind == "module" or kind in TYPE_KINDS:
                return name
            if "." in name and kind in FUNCTIONS:
                return name.rpartition(".")[0]
        return ""

    def _in_space(self, space: str, name: str, where: Position) -> Values:
        """Return what a namespace or class, ``""`` for neither, calls ``name``, seen from a file."""
        full = f"{space}.{name}" if space else name
        places = [place for place in self.definitions.named(name) if self._full_name(place) == full]
        types = [place for place in places if self.definitions.is_type(place)]
        if types:
            return tuple(Value(Kind.CLASS, *place) for place in self._nearest(types, where.file))
        functions = [place for place in places if self.definitions.is_function(place)]
        if functions:
            return tuple(Value(Kind.FUNCTION, *place) for place in self._linked(functions, where.file))
        if full in self._spaces:
            return (Value(Kind.MODULE, name=full),)
        for place in places:
            if found := self.variable(place, name):
                return found
        return ()

    def _linked(self, functions: list[Place], file: int) -> list[Place]:
        """Return those of the functions of one name that a file's calls reach."""
        own = [place for place in functions if place[0] == file]
        if any(self._is_own(place) for place in own):
            return own
        # A function that only a source announces is another's: the library's, most likely.
        known = [place for place in functions if self._is_header(place[0]) or not self._is_announced(place)]
        if any(not self._is_announced(place) for place in own):
            # Another function of that name is another program's, or of a header that is not seen here.
            return [
                place
                for place in known
                if place in own or (self._is_header(place[0]) and self._is_seen(place, file))
            ] or own
        seen = [
            place
            for place in known
            if place[0] == file
            or (self._is_seen(place, file) if self._is_header(place[0]) else not self._is_own(place))
        ]
        return [*own, *(place for place in seen if place not in own)] if seen else []

    def _is_seen(self, place: Place, file: int) -> bool:
        """Return True if a C source may use a function of a header; if defined there, it must be included."""
        if self._is_header(file) or self._has_overloads((file, -1)) or self._is_announced(place):
            return True
        reached = self._reached(file)
        if place[0] in reached:
            return True
        name = self.index.paths[place[0]].rpartition("/")[2]
        return any(
            each.kind == facts.IMPORT
            and not each.value.startswith("<")
            and each.value.rpartition("/")[2] == name
            and self._included(other, each.value) is None
            for other in (file, *sorted(reached))
            for each in self.views[other].bindings
        )

    def _is_announced(self, place: Place) -> bool:
        """Return True if a function is only declared here and defined elsewhere."""
        return self._has_mark(place, "announced")

    def _has_mark(self, place: Place, word: str) -> bool:
        return any(each.name == word for each in self.definitions.stated(place, facts.DECORATED))

    def _is_own(self, place: Place) -> bool:
        """Return True if a function or macro is local to its file."""
        view = self.views[place[0]]
        if view.definitions[place[1]].kind == "macro":
            return not self._is_header(place[0])
        return any(
            each.name == "static" or self._expands_to_static(each.name)
            for each in self.definitions.stated(place, facts.DECORATED)
        )

    @cached
    def _expands_to_static(self, word: str, depth: int = 0) -> bool:
        """Return True if a macro of the repository, under any condition, makes a definition static."""
        for file, row in self.definitions.named(word) if word != "announced" else ():
            line = self.index.sources.text(file).split("\n")[self.definitions[file, row].start - 1]
            if (found := _MACRO.match(line)) is not None and found[1] == word:
                inner = _WORD.findall(found[2] or "")
                further = inner if depth < _DEEPEST_MACRO else ()
                if "static" in inner or any(
                    self._expands_to_static(each, depth + 1) for each in further if each != word
                ):
                    return True
        return False

    def _is_header(self, file: int) -> bool:
        return self.index.paths[file].endswith(_HEADERS)

    def _nearest(self, types: list[Place], file: int) -> list[Place]:
        """Return the types of one name that a file means: its own, else what it includes, else any."""
        if len(types) > 1:
            for near in (
                [place for place in types if place[0] == file],
                [place for place in types if place[0] in self._reached(file)],
                [place for place in types if self._is_header(place[0])],
            ):
                if near:
                    return near
        return types

    @cached
    def _reached(self, file: int) -> frozenset[int]:
        """Return the files that a file includes, directly or not."""
        found: set[int] = set()
        level = [file]
        while level and len(found) < _MAX_INCLUDED:
            self.memo.charge(len(level))
            further = {other for each in level for other, _ in self.imported(each)} - found
            found |= further
            level = sorted(further)
        return frozenset(found)

    @cached
    def _included(self, file: int, path: str) -> int | None:
        """Return the included file: relative to the file, else the only one whose path ends so.

        No build gives include paths here. An include between angle brackets is never relative.
        """
        folder = posixpath.dirname(self.index.paths[file])
        relative = self.index.file_id(posixpath.normpath(posixpath.join(folder, path)))
        if relative is not None and not path.startswith("<"):
            return relative
        tail = "/".join(part for part in path.strip("<>").split("/") if part not in (".", ".."))
        named = self._by_name.get(tail.rpartition("/")[2], ())
        found = [each for each in named if f"/{self.index.paths[each]}".endswith(f"/{tail}")]
        return found[0] if len(found) == 1 else None

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        """The files of each name."""
        return grouped((self.index.paths[file].rpartition("/")[2], file) for file in self.files)

    @cached
    def _spaces_used(self, file: int) -> tuple[list[str], dict[str, list[str]]]:
        """Return the namespaces that a file uses, and what it takes under another name, by that name."""
        bindings = self.views[file].bindings
        renamed = grouped((each.name, each.value) for each in bindings if each.kind == facts.RENAMED)
        return [each.value for each in bindings if each.kind == facts.STAR], renamed

    @cached_property
    def _spaces(self) -> frozenset[str]:
        """The full names of all namespaces."""
        found: set[str] = set()
        for place in self.definitions.of_kind("module"):
            parts = self._full_name(place).split(".")
            found.update(".".join(parts[:at]) for at in range(1, len(parts) + 1))
        return frozenset(found)


RESOLVER: Final = C
