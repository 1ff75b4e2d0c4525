"""What names mean in Python."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from repo_map.languages.language import words
from repo_map.languages.python import PYTHON_MEMBERS
from repo_map.languages.python.modules import Module, PythonModules
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
        found = self._modules.find(file, name)
        return None if found is None else _value(found)

    def submodule(self, module: Value, name: str) -> Value | None:
        """Return a module of a package."""
        found = self._modules.at(f"{module.name}/{name}") if module.name else None
        return None if found is None else _value(found)

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
        return (Value(EXTERNAL, name="ContextManager", parts=(self.elements(returned),)),)

    def is_enumeration(self, owner: Place) -> bool:
        """Tell whether a class is an enumeration."""
        return any(base.kind == EXTERNAL_CLASS and base.name in _ENUMS for base in self.base_values(owner))

    def _decorators(self, function: Value) -> frozenset[str]:
        view = self.views[function.file]
        return frozenset(each.name for each in view.of_scope.get((function.row, DECORATED), ()))


def _value(module: Module) -> Value:
    return Value(MODULE, module.file, name=module.folder if module.is_package else "")


RESOLVER: Final = Python
