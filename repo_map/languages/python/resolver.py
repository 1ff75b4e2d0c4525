"""What names mean in Python."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator, Sequence
from posixpath import dirname, join
from typing import TYPE_CHECKING, Final

from repo_map.languages.language import words
from repo_map.languages.python import PYTHON_MEMBERS
from repo_map.parsing.facts_model import DECORATED
from repo_map.relations.core.dynamic import DynamicResolver
from repo_map.relations.core.values import Kind, Value, Values
from repo_map.relations.file_facts import CLASSES, FileView
from repo_map.relations.model import Place
from repo_map.relations.text_search import shared_folders

if TYPE_CHECKING:
    from repo_map.index.index import Index

_PROPERTIES: Final = frozenset({"property", "cached_property", "cachedproperty", "lazyproperty", "reify"})
_CONTEXTS: Final = frozenset({"contextmanager", "asynccontextmanager"})
_ENUMS: Final = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_OF_CLASSES: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_ROOTS: Final = ("", "src", "lib")
"""Folders that are searched for modules wherever the import stands."""
_CERTAIN_DOTS: Final = 2
"""In the name of a module that is found by the end of its path alone."""


class PythonModules:
    """The modules of one index."""

    def __init__(self, paths: Sequence[str], files: Sequence[int]) -> None:
        """``files`` are the ids of the Python files, ``paths`` those of all."""
        self._paths = paths
        self._ids: dict[str, int] = {}
        for file in files:
            path = paths[file]
            stem = path.removesuffix(".py") if path.endswith(".py") else path.removesuffix(".pyi")
            if stem not in self._ids or path.endswith(".py"):
                self._ids[stem] = file
        self._packages = {dirname(stem) for stem in self._ids if stem.rpartition("/")[2] == "__init__"}
        self._folders = {folder for stem in self._ids for folder in _around(stem)}
        self._named: dict[str, list[str]] = {}
        for stem in self._ids:
            self._named.setdefault(stem.rpartition("/")[2], []).append(stem)
        self._root_of: dict[str, str] = {}
        nearest = sorted(self._packages, key=lambda each: (each.count("/"), each))
        self._tops = tuple(dict.fromkeys(map(self.root, nearest)))
        """Folders that hold packages, the nearest to the repository's root first."""
        self._known: dict[tuple[str, str], Value | None] = {}

    def root(self, folder: str) -> str:
        """Return the folder that the top package around ``folder`` lies in; itself where it is no package."""
        if folder not in self._root_of:
            is_package = folder in self._packages and folder != ""
            self._root_of[folder] = self.root(dirname(folder)) if is_package else folder
        return self._root_of[folder]

    def find(self, importer: int, name: str) -> Value | None:
        """Return what ``name``, dots before it for relative, leads to; None where it is not here."""
        folder = dirname(self._paths[importer])
        if (folder, name) not in self._known:
            self._known[folder, name] = self._find(folder, name)
        return self._known[folder, name]

    def _find(self, folder: str, name: str) -> Value | None:
        bare = name.lstrip(".")
        below = bare.replace(".", "/")
        if dots := len(name) - len(bare):
            for _ in range(dots - 1):
                if not folder:
                    return None
                folder = dirname(folder)
            return self.at(join(folder, below) if below else folder)
        if found := self.at(join(self.root(folder), below)):
            return found
        if bare.partition(".")[0] in sys.stdlib_module_names:
            return None
        # A script finds what lies beside it; a test what lies in the folders above it.
        places = [folder, *(root for root in _ROOTS if root in self._folders or not root), *self._tops]
        near = sorted(
            dict.fromkeys(places),
            key=lambda place: (place != folder, -shared_folders(join(place, ""), join(folder, ""))),
        )
        found = next((found for place in near if (found := self.at(join(place, below)))), None)
        if found is None and bare.count(".") >= _CERTAIN_DOTS:
            # Below a folder that the caller puts on the path, as for a submodule.
            ends = [
                stem for stem in self._named.get(below.rpartition("/")[2], ()) if stem.endswith(f"/{below}")
            ]
            found = self.at(ends[0]) if len(ends) == 1 else None
        return found

    def at(self, stem: str) -> Value | None:
        """Return the module or package at a path without its suffix."""
        if stem in self._packages:
            return Value(Kind.MODULE, self._ids[join(stem, "__init__")], name=stem)
        if stem in self._ids:
            return Value(Kind.MODULE, self._ids[stem])
        if stem in self._folders and stem:
            return Value(Kind.MODULE, name=stem)
        return None


def _around(path: str) -> Iterator[str]:
    while path:
        path = dirname(path)
        yield path


class Python(DynamicResolver):
    """The resolver of Python."""

    common = PYTHON_MEMBERS | words("close read write flush open match group sub search send run start now")
    own_names = frozenset({"self", "cls"})
    themselves = frozenset({"self", "cls()"})
    builtins = frozenset(dir(builtins))
    nothing = frozenset({"None", "NoReturn", "Never", "Any", "object", "Literal", ""})
    wrappers = frozenset(
        {"Optional", "Annotated", "ClassVar", "Final", "Required", "NotRequired", "ReadOnly", "InitVar"}
    )
    awaited = frozenset({"Awaitable", "Coroutine", "Task", "Future"})
    mappings = words(
        "dict Dict Mapping MutableMapping OrderedDict defaultdict DefaultDict WeakValueDictionary"
    )
    ignored_bases = frozenset({"object", "Generic", "Protocol", "ABC"})
    initialisers = frozenset({"__init__", "__new__"})

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        # An empty file has no language, and makes a package all the same.
        ended = [file for file, path in enumerate(index.paths) if path.endswith((".py", ".pyi"))]
        self._modules = PythonModules(index.paths, ended)

    def module(self, file: int, name: str) -> Value | None:
        return self._modules.find(file, name)

    def submodule(self, module: Value, name: str) -> Value | None:
        """Return a module of a package."""
        return self._modules.at(f"{module.name}/{name}") if module.name else None

    def own_object(self, view: FileView, scope: int, name: str) -> Values:
        """Return what ``self`` or ``cls`` is in the innermost method around a scope."""
        while scope >= 0:
            owner = view.outer(scope)
            if owner >= 0 and view.definitions[owner].kind in CLASSES:
                is_class = name == "cls" or view.definitions[scope].name in _OF_CLASSES
                return (Value(Kind.CLASS if is_class else Kind.INSTANCE, view.file, owner),)
            scope = owner
        return ()

    def is_property(self, function: Value) -> bool:
        return not _PROPERTIES.isdisjoint(self._decorators(function))

    def result(self, value: Value) -> Values:
        """Return what calling a value gives; a generator decorated as a context has what it yields."""
        found = super().result(value)
        if value.kind != Kind.FUNCTION or _CONTEXTS.isdisjoint(self._decorators(value)):
            return found
        return (Value(Kind.EXTERNAL, name="ContextManager", parts=(self.all_of(found, self.iterated),)),)

    def declared_member(self, place: Place, value: Value, name: str, *, is_called: bool) -> Values | None:
        """Return the members of a name that a class itself has; an enumeration's values are objects of it."""
        found = super().declared_member(place, value, name, is_called=is_called)
        is_enumeration = found == () and any(
            base.kind == Kind.EXTERNAL_CLASS and base.name in _ENUMS
            for owner in self.order(value.place)[0]
            for base in self.base_values(owner)
        )
        return (value._replace(kind=Kind.INSTANCE),) if is_enumeration else found

    def _decorators(self, function: Value) -> frozenset[str]:
        view = self.views[function.file]
        return frozenset(each.name for each in view.of_scope.get((function.row, DECORATED), ()))


RESOLVER: Final = Python
