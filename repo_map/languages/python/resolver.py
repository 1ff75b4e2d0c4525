"""What names mean in Python."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from repo_map.languages.language import words
from repo_map.languages.python import PYTHON_MEMBERS
from repo_map.parsing.facts_model import DECORATED
from repo_map.relations.core.dynamic import DynamicResolver
from repo_map.relations.core.values import CLASS, EXTERNAL, EXTERNAL_CLASS, INSTANCE, MODULE, Value, Values
from repo_map.relations.file_facts import CLASSES, FileView
from repo_map.relations.model import Place

if TYPE_CHECKING:
    from repo_map.index.index import Index

_PROPERTIES: Final = frozenset({"property", "cached_property", "cachedproperty", "lazyproperty", "reify"})
_CONTEXTS: Final = frozenset({"contextmanager", "asynccontextmanager"})
_ENUMS: Final = frozenset({"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"})
_OF_CLASSES: Final = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_ROOTS: Final = ("", "src", "lib")
"""Folders that are searched for modules wherever the import stands."""


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
        self._packages = {_folder(stem) for stem in self._ids if stem.rpartition("/")[2] == "__init__"}
        self._folders: set[str] = set()
        for stem in self._ids:
            folder = _folder(stem)
            while folder not in self._folders:
                self._folders.add(folder)
                if not folder:
                    break
                folder = _folder(folder)
        self._root_of: dict[str, str] = {}
        tops: dict[str, None] = {}
        """Folders that hold packages, the nearest to the repository's root first."""
        for package in sorted(self._packages, key=lambda each: (each.count("/"), each)):
            tops.setdefault(self.root(package), None)
        self._tops = tuple(tops)
        self._known: dict[tuple[str, str], Value | None] = {}

    def root(self, folder: str) -> str:
        """Return the folder that the top package around ``folder`` lies in; itself where it is no package."""
        if folder not in self._root_of:
            is_package = folder in self._packages and folder != ""
            self._root_of[folder] = self.root(_folder(folder)) if is_package else folder
        return self._root_of[folder]

    def find(self, importer: int, name: str) -> Value | None:
        """Return what ``name``, dots before it for relative, leads to; None where it is not here."""
        folder = _folder(self._paths[importer])
        key = (folder, name)
        if key not in self._known:
            self._known[key] = self._find(folder, name)
        return self._known[key]

    def _find(self, folder: str, name: str) -> Value | None:
        bare = name.lstrip(".")
        if dots := len(name) - len(bare):
            for _ in range(dots - 1):
                if not folder:
                    return None
                folder = _folder(folder)
            return self.at(_joined(folder, bare.replace(".", "/")) if bare else folder)
        below = name.replace(".", "/")
        own = self.root(folder)
        is_standard = name.partition(".")[0] in sys.stdlib_module_names
        if found := self.at(_joined(own, below)):
            return found
        if is_standard:
            return None
        # A script finds what lies beside it; a test what lies in the folders above it.
        places = [folder, *(root for root in _ROOTS if root in self._folders or not root), *self._tops]
        near = sorted(
            dict.fromkeys(places),
            key=lambda place: (place != folder, -_shared(place, folder)),
        )
        for place in near:
            if found := self.at(_joined(place, below)):
                return found
        return None

    def at(self, stem: str) -> Value | None:
        """Return the module or package at a path without its suffix."""
        if stem in self._packages:
            return Value(MODULE, self._ids[_joined(stem, "__init__")], name=stem)
        if stem in self._ids:
            return Value(MODULE, self._ids[stem])
        if stem in self._folders and stem:
            return Value(MODULE, name=stem)
        return None


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _shared(first: str, second: str) -> int:
    """Return how many folders two paths begin with alike."""
    count = 0
    for one, other in zip(first.split("/"), second.split("/"), strict=False):
        if one != other:
            break
        count += 1
    return count


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
    container_methods: ClassVar[Mapping[str, str]] = {
        "mapping.get": "1",
        "mapping.pop": "1",
        "mapping.setdefault": "1",
        "mapping.values": "[1",
        "mapping.keys": "[0",
        "mapping.items": "pairs",
        "mapping.copy": "=",
        "several.pop": "0",
        "several.popleft": "0",
        "several.get": "0",
        "several.get_nowait": "0",
        "several.copy": "=",
    }

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        # An empty file has no language, and makes a package all the same.
        ended = [file for file, path in enumerate(index.paths) if path.endswith((".py", ".pyi"))]
        self._modules = PythonModules(index.paths, ended)

    def module(self, file: int, name: str) -> Value | None:
        """Return the module of ours that an import in a file names."""
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
                return (Value(CLASS if is_class else INSTANCE, view.file, owner),)
            scope = owner
        return ()

    def is_property(self, function: Value) -> bool:
        """Tell whether reading a method calls it."""
        return not _PROPERTIES.isdisjoint(self._decorators(function))

    def generated(self, function: Value, returned: Values) -> Values:
        """Return what a call gives: a generator that is decorated to be a context gives what it yields."""
        if _CONTEXTS.isdisjoint(self._decorators(function)):
            return returned
        return (Value(EXTERNAL, name="ContextManager", parts=(self.all_of(returned, self.iterated),)),)

    def is_enumeration(self, owner: Place) -> bool:
        """Tell whether a class is an enumeration."""
        return any(base.kind == EXTERNAL_CLASS and base.name in _ENUMS for base in self.base_values(owner))

    def _decorators(self, function: Value) -> frozenset[str]:
        view = self.views[function.file]
        return frozenset(each.name for each in view.of_scope.get((function.row, DECORATED), ()))


RESOLVER: Final = Python
