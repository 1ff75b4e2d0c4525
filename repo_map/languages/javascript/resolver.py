"""What names mean in JavaScript and TypeScript."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Final

from repo_map import globs
from repo_map.languages.javascript import SCRIPT_GLOBALS, SCRIPT_MEMBERS
from repo_map.parsing.facts_model import DECORATED
from repo_map.relations.core.dynamic import DynamicResolver
from repo_map.relations.core.values import FUNCTION, INSTANCE, MODULE, OBJECT, Position, Value, Values
from repo_map.relations.file_facts import CLASSES, FileView

if TYPE_CHECKING:
    from repo_map.index.index import Index

_WHOLE: Final = "="
"""What ``module.exports = …`` gives is called so."""
_ENDS: Final = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mts", ".cts", ".mjs", ".cjs", ".vue", ".svelte")
_WRITTEN: Final = {
    ".js": (".ts", ".tsx", ".d.ts", ".jsx"),
    ".mjs": (".mts", ".d.mts"),
    ".cjs": (".cts", ".d.cts"),
    ".jsx": (".tsx",),
}
"""What an import may be written as, and what it is compiled from."""
_COMMENT: Final = re.compile(r'("[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?)|//[^\n]*|/\*.*?(?:\*/|\Z)', re.S)
_TRAILING: Final = re.compile(r",(\s*[}\]])")
_ENTRIES: Final = ("source", "types", "typings", "module", "main")
_DEPENDENCIES: Final = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_LOCAL: Final = ("workspace:", "file:", "link:", "portal:")
_LISTED: Final = re.compile(r"^[^\S\n]*-[^\S\n]*[\"']?([^\s\"'#]+)", re.M)
_BUILT: Final = ("dist", "lib", "build", "out", "esm", "cjs")
_MAX_SETTINGS: Final = 500
_MAX_CHARS: Final = 100_000


class ScriptModules:
    """The modules of one index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._packages: dict[str, str] = {}
        """Folder of each package of the repository, by its name."""
        self._entries: dict[str, tuple[str, ...]] = {}
        self._paths: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        """By folder of a ``tsconfig.json``: patterns, and where each may lead."""
        self._wanted: dict[str, dict[str, str]] = {}
        """What the packages in each folder depend on, and in which version."""
        self._members: dict[str, tuple[str, ...]] = {}
        """By folder of a workspace: patterns of the folders of its members."""
        self._known: dict[tuple[str, str], int | None] = {}
        settings = [
            (file, path)
            for file, path in enumerate(index.paths)
            if path.endswith(".json")
            and _is_settings(path.rpartition("/")[2])
            and "node_modules/" not in path
        ]
        for file, path in settings[:_MAX_SETTINGS]:
            if int(index.files.size[file]) <= _MAX_CHARS:
                self._read(path, _parsed(index.sources.text(file)))
        for file, path in enumerate(index.paths):
            if path.rpartition("/")[2] == "pnpm-workspace.yaml" and int(index.files.size[file]) <= _MAX_CHARS:
                self._members[path.rpartition("/")[0]] = tuple(_LISTED.findall(index.sources.text(file)))

    def _read(self, path: str, data: Any) -> None:
        if not isinstance(data, dict):
            return
        folder, _, name = path.rpartition("/")
        if name == "package.json":
            self._read_package(folder, data)
        elif isinstance(options := data.get("compilerOptions"), dict):
            self._read_options(folder, options)

    def _read_package(self, folder: str, data: dict[str, Any]) -> None:
        called, exported = data.get("name"), data.get("exports")
        if isinstance(called, str):
            self._packages.setdefault(called, folder)
        tables = [data.get(key) for key in _DEPENDENCIES]
        self._wanted[folder] = {
            wanted: version
            for table in tables
            if isinstance(table, dict)
            for wanted, version in table.items()
            if isinstance(version, str)
        }
        members = data.get("workspaces")
        members = members.get("packages") if isinstance(members, dict) else members
        if isinstance(members, list):
            self._members[folder] = tuple(each for each in members if isinstance(each, str))
        found = [data.get(key) for key in _ENTRIES]
        found += _texts(exported.get(".", exported)) if isinstance(exported, dict) else [exported]
        self._entries[folder] = tuple(each for each in found if isinstance(each, str))

    def _read_options(self, folder: str, options: dict[str, Any]) -> None:
        base, paths = options.get("baseUrl"), options.get("paths")
        start = posixpath.normpath(posixpath.join(folder, base)) if isinstance(base, str) else folder
        start = "" if start == "." else start
        rules = [
            (pattern, tuple(_joined(start, each) for each in places if isinstance(each, str)))
            for pattern, places in (paths.items() if isinstance(paths, dict) else ())
            if isinstance(places, list)
        ]
        if isinstance(base, str):
            rules.append(("*", (_joined(start, "*"),)))
        if rules:
            self._paths.setdefault(folder, []).extend(rules)

    def find(self, file: int, name: str) -> int | None:
        """Return the file that an import names, None where it is not of this repository."""
        folder = self._index.paths[file].rpartition("/")[0]
        key = (folder, name)
        if key not in self._known:
            self._known[key] = self._find(folder, name)
        return self._known[key]

    def _find(self, folder: str, name: str) -> int | None:
        name = name.partition("?")[0]
        if name.startswith("."):
            return self._at(posixpath.normpath(posixpath.join(folder, name)))
        first, _, rest = name.partition("/")
        called = f"{first}/{rest.partition('/')[0]}" if first.startswith("@") else first
        if called in self._packages and self._is_published(folder, called):
            return None
        around = folder
        while True:
            for pattern, places in self._paths.get(around, ()):
                head, star, tail = pattern.partition("*")
                if (name.startswith(head) and name.endswith(tail)) if star else name == pattern:
                    middle = name[len(head) : len(name) - len(tail)] if star else ""
                    for place in places:
                        found = self._at(posixpath.normpath(place.replace("*", middle, 1)))
                        if found is not None:
                            return found
            if not around:
                break
            around = around.rpartition("/")[0]
        return self._in_package(name)

    def _in_package(self, name: str) -> int | None:
        parts = name.split("/")
        for length in range(min(len(parts), 2), 0, -1):
            called = "/".join(parts[:length])
            if called in self._packages:
                folder, below = self._packages[called], "/".join(parts[length:])
                return self._entry(folder) if not below else self._below(folder, below)
        return None

    def _is_published(self, around: str, called: str) -> bool:
        """Tell whether a folder takes a package of ours as it was published, not as it is here."""
        while around not in self._wanted and around:
            around = around.rpartition("/")[0]
        version = self._wanted.get(around, {}).get(called)
        if version is None or version.startswith(_LOCAL) or around == self._packages[called]:
            return False
        return not any(
            around == folder
            or any(globs.matches(_joined(folder, each.strip("./")), around) for each in members)
            for folder, members in self._members.items()
        )

    def _entry(self, folder: str) -> int | None:
        for each in self._entries.get(folder, ()):
            found = self._built(folder, each)
            if found is not None:
                return found
        for each in ("src/index", "index", "src/main", "lib/index"):
            found = self._at(_joined(folder, each))
            if found is not None:
                return found
        return None

    def _below(self, folder: str, name: str) -> int | None:
        for place in (name, f"src/{name}"):
            found = self._at(_joined(folder, place))
            if found is not None:
                return found
        return None

    def _built(self, folder: str, entry: str) -> int | None:
        """Return the source of what a package gives out, which is seldom in the repository itself."""
        entry = posixpath.normpath(entry)
        found = self._at(_joined(folder, entry))
        if found is not None:
            return found
        first, _, rest = entry.partition("/")
        if first in _BUILT and rest:
            stem = rest
            while "." in stem.rpartition("/")[2]:
                stem = stem.rpartition(".")[0]
            for place in ("src", "lib", ""):
                found = self._at(_joined(folder, _joined(place, stem)))
                if found is not None:
                    return found
        return None

    def _at(self, path: str) -> int | None:
        """Return the file at a path as imports write it: without its end, or with that of its output."""
        if path in (".", "/"):
            path = ""
        for each in _candidates(path):
            found = self._index.file_id(each)
            if found is not None and _is_script(each):
                return found
        return None


def _candidates(path: str) -> Iterable[str]:
    if path:
        yield path
        stem, dot, end = path.rpartition(".")
        for other in _WRITTEN.get(dot + end, ()):
            yield stem + other
        for end in _ENDS:
            yield path + end
    for end in _ENDS:
        yield _joined(path, "index" + end)


def _is_script(path: str) -> bool:
    return path.endswith(_ENDS)


def _is_settings(name: str) -> bool:
    return name == "package.json" or name.startswith(("tsconfig", "jsconfig"))


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _texts(value: Any, depth: int = 0) -> list[Any]:
    """Return the texts of nested conditions of ``exports``."""
    if isinstance(value, dict) and depth < 4:
        return [text for each in value.values() for text in _texts(each, depth + 1)]
    return [value]


def _parsed(text: str) -> Any:
    """Read JSON that may hold comments and trailing commas, None for what is none."""
    bare = _TRAILING.sub(r"\1", _COMMENT.sub(lambda found: found[1] or " ", text))
    try:
        return json.loads(bare)
    except (ValueError, RecursionError):
        return None


class JavaScript(DynamicResolver):
    """The resolver of JavaScript and TypeScript."""

    common = SCRIPT_MEMBERS
    own_names = frozenset({"this"})
    themselves = frozenset({"this"})
    builtins = SCRIPT_GLOBALS
    nothing = frozenset({"any", "unknown", "void", "never", "null", "undefined", "object", "func", ""})
    wrappers = frozenset(
        {"Readonly", "Partial", "Required", "NonNullable", "DeepPartial", "Awaited", "InstanceType"}
    )
    awaited = frozenset({"Promise", "PromiseLike"})
    mappings = frozenset({"Map", "WeakMap", "ReadonlyMap", "Record"})
    initialisers = frozenset({"constructor"})
    container_methods: ClassVar[Mapping[str, str]] = {
        "mapping.get": "1",
        "mapping.values": "[1",
        "mapping.keys": "[0",
        "mapping.entries": "pairs",
        "several.pop": "0",
        "several.shift": "0",
        "several.at": "0",
        "several.find": "0",
        "several.findLast": "0",
        "several.filter": "=",
        "several.slice": "=",
        "several.splice": "=",
        "several.concat": "=",
        "several.sort": "=",
        "several.toSorted": "=",
        "several.reverse": "=",
        "several.values": "[0",
    }

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._modules = ScriptModules(index)

    def module(self, file: int, name: str) -> Value | None:
        """Return the module of ours that an import in a file names."""
        found = self._modules.find(file, name)
        return None if found is None else Value(MODULE, found)

    def own_object(self, view: FileView, scope: int, name: str) -> Values:
        """Return what ``this`` is: an object of the class, or what a function was assigned to."""
        at = scope
        while at >= 0:
            definition = view.definitions[at]
            owner = view.outer(at)
            if owner >= 0 and view.definitions[owner].kind in CLASSES:
                return (Value(INSTANCE, view.file, owner),)
            holder, dot, _ = definition.name.rpartition(".")
            if dot:
                return (Value(OBJECT, view.file, -1, holder),)
            parent = definition.parent
            if definition.kind == "method" and parent >= 0 and view.definitions[parent].kind == "constant":
                return (Value(OBJECT, view.file, parent, view.definitions[parent].name),)
            at = owner
        return ()

    def object_literal(self, where: Position) -> Values:
        """Return the object that a constant's literal makes, whose methods are definitions."""
        view = self.views[where.file]
        if where.row >= 0 and view.definitions[where.row].kind in ("constant", "field"):
            return (Value(OBJECT, where.file, where.row, view.definitions[where.row].name),)
        return ()

    def of_object(self, value: Value, name: str) -> Values:
        """Return a method of an object literal, or what is assigned to ``object.name``."""
        view = self.views[value.file]
        rows = [
            row
            for row in view.members.get((-1, name), ())
            if view.definitions[row].name == f"{value.name}.{name}"
            or (value.row >= 0 and view.definitions[row].parent == value.row)
        ]
        return tuple(Value(FUNCTION, value.file, row, parts=((value,),)) for row in rows)

    def constructed(self, function: Value) -> Values:
        """Return the object that ``new`` makes of a function."""
        name = self.views[function.file].definitions[function.row].name
        return (Value(OBJECT, function.file, -1, name),)

    def of_file(self, module: Value, name: str) -> Values | None:
        """Return what a module gives where it gives one thing, or what its default is called in it."""
        view = self.views[module.file]
        if name == _WHOLE:
            return self.bound_at(view, -1, _WHOLE, None) or (module,)
        if name == "default":
            found = self.bound_at(view, -1, "default", None)
            return found if found is not None else self.bound_at(view, -1, _WHOLE, None)
        found = self.bound_at(view, -1, name, None)
        if found is None and (whole := self.bound_at(view, -1, _WHOLE, None)):
            return tuple(
                dict.fromkeys(
                    v for each in whole for v in self.member(each, name, Position(module.file, -1, 0))
                )
            )
        return found

    def is_property(self, function: Value) -> bool:
        """Tell whether reading a method calls it."""
        view = self.views[function.file]
        return any(each.name == "get" for each in view.of_scope.get((function.row, DECORATED), ()))


RESOLVER: Final = JavaScript
