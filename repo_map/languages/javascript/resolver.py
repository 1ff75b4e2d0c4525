"""What names mean in JavaScript and TypeScript."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from repo_map import globs
from repo_map.languages.registry import vocabulary
from repo_map.parsing.expressions import Root
from repo_map.parsing.facts_model import DECORATED
from repo_map.relations.core.dynamic import DynamicResolver
from repo_map.relations.core.values import Kind, Position, Value, Values
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
_SETTINGS: Final = re.compile(r"(?:\A|/)(?:package\.json|[tj]sconfig[^/]*\.json|pnpm-workspace\.yaml)\Z")
_PACKAGE: Final = re.compile(r"@[^/]*/[^/]*|[^/]+")
_MAX_SETTINGS: Final = 500
_MAX_CHARS: Final = 100_000


class ScriptModules:
    """The modules of one index."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._packages: dict[str, str] = {}
        """Folder of each package of the repository, by its name."""
        self._entries: dict[str, list[str]] = {}
        self._subpaths: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        """By folder of a package: its ``exports`` and its ``imports``, by subpath."""
        self._paths: dict[str, list[tuple[str, list[str]]]] = {}
        """By folder of a ``tsconfig.json``: patterns, and where each may lead."""
        self._wanted: dict[str, dict[str, str]] = {}
        """What the packages in each folder depend on, and in which version."""
        self._members: dict[str, list[str]] = {}
        """By folder of a workspace: patterns of the folders of its members."""
        self._known: dict[tuple[str, str], int | None] = {}
        settings = [file for file, path in enumerate(index.paths) if _SETTINGS.search(path)]
        for file in settings[:_MAX_SETTINGS]:
            folder, _, name = index.paths[file].rpartition("/")
            if "node_modules/" in folder + "/" or int(index.files.size[file]) > _MAX_CHARS:
                continue
            text = index.sources.text(file)
            if name == "pnpm-workspace.yaml":
                self._members[folder] = _LISTED.findall(text)
            elif isinstance(data := _parsed(text), dict):
                if name == "package.json":
                    self._read_package(folder, data)
                elif isinstance(options := data.get("compilerOptions"), dict):
                    self._read_options(folder, options)

    def _read_package(self, folder: str, data: dict[str, Any]) -> None:
        called, exported, members = data.get("name"), data.get("exports"), data.get("workspaces")
        if isinstance(called, str):
            self._packages.setdefault(called, folder)
        tables = [table for key in _DEPENDENCIES if isinstance(table := data.get(key), dict)]
        self._wanted[folder] = {
            wanted: version
            for table in tables
            for wanted, version in table.items()
            if isinstance(version, str)
        }
        members = members.get("packages") if isinstance(members, dict) else members
        if isinstance(members, list):
            self._members[folder] = _strings(members)
        found = [data.get(key) for key in _ENTRIES]
        found += _texts(exported.get(".", exported)) if isinstance(exported, dict) else [exported]
        self._entries[folder] = _strings(found)
        exports = exported if isinstance(exported, dict) and any(each[:1] == "." for each in exported) else {}
        inner = data.get("imports")
        self._subpaths[folder] = exports, inner if isinstance(inner, dict) else {}

    def _read_options(self, folder: str, options: dict[str, Any]) -> None:
        base, paths = options.get("baseUrl"), options.get("paths")
        start = posixpath.normpath(posixpath.join(folder, base)) if isinstance(base, str) else folder
        start = "" if start == "." else start
        rules = [
            (pattern, [_joined(start, each) for each in _strings(places)])
            for pattern, places in (paths.items() if isinstance(paths, dict) else ())
            if isinstance(places, list)
        ]
        if isinstance(base, str):
            rules.append(("*", [_joined(start, "*")]))
        if rules:
            self._paths.setdefault(folder, []).extend(rules)

    def find(self, file: int, name: str) -> int | None:
        """Return the file that an import names, None where it is not of this repository."""
        key = (self._index.paths[file].rpartition("/")[0], name)
        if key not in self._known:
            self._known[key] = self._find(*key)
        return self._known[key]

    def _find(self, folder: str, name: str) -> int | None:
        name = name.partition("?")[0]
        if name.startswith("."):
            return self._first((posixpath.join(folder, name),))
        if name.startswith("#") and (found := self._internal(folder, name)) is not None:
            return found
        called = _PACKAGE.match(name)
        if called is not None and called[0] in self._packages and self._is_published(folder, called[0]):
            return None
        found = self._first(self._mapped(folder, name))
        return found if found is not None else self._in_package(name)

    def _mapped(self, around: str, name: str) -> Iterator[str]:
        """Yield where the settings of a folder, or of those around it, say that a module lies."""
        while True:
            for pattern, places in self._paths.get(around, ()):
                head, star, tail = pattern.partition("*")
                if (name.startswith(head) and name.endswith(tail)) if star else name == pattern:
                    middle = name[len(head) : len(name) - len(tail)] if star else ""
                    yield from (place.replace("*", middle, 1) for place in places)
            if not around:
                return
            around = around.rpartition("/")[0]

    def _internal(self, around: str, name: str) -> int | None:
        """Return the file that the ``imports`` of the package around a folder give a name."""
        while around not in self._subpaths and around:
            around = around.rpartition("/")[0]
        _, imports = self._subpaths.get(around, ({}, {}))
        targets = _targets_of(imports, name) or ()
        return self._first(_joined(around, place) for each in targets for place in _sources_of(each))

    def _in_package(self, name: str) -> int | None:
        parts = name.split("/")
        for length in range(min(len(parts), 2), 0, -1):
            folder = self._packages.get("/".join(parts[:length]))
            if folder is None:
                continue
            if not (below := "/".join(parts[length:])):
                return self._first(_joined(folder, place) for place in self._entries_of(folder))
            places = [below, f"src/{below}"]
            if exports := self._subpaths[folder][0]:
                if (targets := _targets_of(exports, f"./{below}")) is None:
                    return None
                places[:0] = (place for each in targets for place in _sources_of(each))
            return self._first(_joined(folder, place) for place in places)
        return None

    def _is_published(self, around: str, called: str) -> bool:
        """Return True if a folder uses the published version of a package of this workspace."""
        while around not in self._wanted and around:
            around = around.rpartition("/")[0]
        version = self._wanted.get(around, {}).get(called)
        if version is None or version.startswith(_LOCAL) or around == self._packages[called]:
            return False
        return not any(
            around == folder
            or any(
                globs.matches(_joined(folder, each.strip("./")), around)
                for each in members
                if each.strip("./")
            )
            for folder, members in self._members.items()
        )

    def _entries_of(self, folder: str) -> Iterator[str]:
        """Yield where a package begins: the sources of what it gives out are seldom named."""
        for each in self._entries.get(folder, ()):
            yield from _sources_of(each)
        yield from ("src/index", "index", "src/main", "lib/index")

    def _first(self, places: Iterable[str]) -> int | None:
        """Return the first file at one of several paths as imports write them."""
        for place in places:
            path = posixpath.normpath(place)
            for each in _candidates("" if path in (".", "/") else path):
                found = self._index.file_id(each)
                if found is not None and each.endswith(_ENDS):
                    return found
        return None


def _sources_of(entry: str) -> Iterator[str]:
    """Yield a path that a package gives out, and where the source may be that it is built from."""
    entry = posixpath.normpath(entry)
    yield entry
    first, _, rest = entry.partition("/")
    if first in _BUILT and rest:
        above, slash, name = rest.rpartition("/")
        stem = above + slash + (name.partition(".")[0] or name)
        yield from (f"src/{stem}", f"lib/{stem}", stem)


def _targets_of(subpaths: dict[str, Any], name: str) -> list[str] | None:
    """Return the paths that ``exports`` or ``imports`` give a name, of all conditions; None for no entry."""
    if name in subpaths:
        return _strings(_texts(subpaths[name])) or None
    for pattern in sorted(subpaths, key=len, reverse=True):
        head, star, tail = pattern.partition("*") if "*" in pattern else (pattern, pattern[-1:] == "/", "")
        if star and name.startswith(head) and name.endswith(tail) and len(name) > len(head) + len(tail):
            middle = name[len(head) : len(name) - len(tail)]
            found = _strings(_texts(subpaths[pattern]))
            return [
                each.replace("*", middle) if tail or "*" in each else each + middle for each in found
            ] or None
    return None


def _strings(values: Iterable[Any]) -> list[str]:
    return [each for each in values if isinstance(each, str)]


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


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _texts(value: Any, depth: int = 0) -> list[Any]:
    """Return the texts of nested conditions of ``exports``."""
    if isinstance(value, dict) and depth < 4:
        return [text for each in value.values() for text in _texts(each, depth + 1)]
    if isinstance(value, list) and depth < 4:
        return [text for each in value for text in _texts(each, depth + 1)]
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

    common = vocabulary("javascript", "members")
    own_names = frozenset({"this"})
    themselves = frozenset({"this"})
    builtins = vocabulary("javascript", "globals")
    nothing = frozenset({"any", "unknown", "void", "never", "null", "undefined", "object", "func", ""})
    wrappers = frozenset(
        {"Readonly", "Partial", "Required", "NonNullable", "DeepPartial", "Awaited", "InstanceType"}
    )
    awaited = frozenset({"Promise", "PromiseLike"})
    mappings = frozenset({"Map", "WeakMap", "ReadonlyMap", "Record"})
    initialisers = frozenset({"constructor"})

    def __init__(self, index: Index) -> None:
        super().__init__(index)
        self._modules = ScriptModules(index)

    def module(self, file: int, name: str) -> Value | None:
        found = self._modules.find(file, name)
        return None if found is None else Value(Kind.MODULE, found)

    def own_object(self, view: FileView, scope: int, name: str) -> Values:
        """Return what ``this`` is: an object of the class, or what a function was assigned to."""
        at = scope
        while at >= 0:
            definition = view.definitions[at]
            owner = view.outer(at)
            if owner >= 0 and view.definitions[owner].kind in CLASSES:
                return (Value(Kind.INSTANCE, view.file, owner),)
            holder, dot, _ = definition.name.rpartition(".")
            if dot:
                return (Value(Kind.OBJECT, view.file, -1, holder),)
            parent = definition.parent
            if definition.kind == "method" and parent >= 0 and view.definitions[parent].kind == "constant":
                return (Value(Kind.OBJECT, view.file, parent, view.definitions[parent].name),)
            at = owner
        return ()

    def several(self, where: Position, literal: Root) -> Values:
        """Return what a literal of parts makes: that of a constant may be an object with methods."""
        if literal.kind != "dict" or literal.parts:
            return super().several(where, literal)
        view = self.views[where.file]
        if where.row >= 0 and view.definitions[where.row].kind in ("constant", "field"):
            return (Value(Kind.OBJECT, where.file, where.row, view.definitions[where.row].name),)
        return ()

    def member(self, value: Value, name: str, where: Position, *, is_called: bool = False) -> Values:
        """Return what a value calls ``name``, an object without a class and a function among them."""
        if value.kind not in (Kind.OBJECT, Kind.FUNCTION):
            return super().member(value, name, where, is_called=is_called)
        view = self.views[value.file]
        if value.kind == Kind.FUNCTION:
            value = value._replace(name=view.definitions[value.row].name)
        rows = [
            row
            for row in view.members.get((-1, name), ())
            if view.definitions[row].name == f"{value.name}.{name}"
            or (value.row >= 0 and view.definitions[row].parent == value.row)
        ]
        return tuple(Value(Kind.FUNCTION, value.file, row, parts=((value,),)) for row in rows)

    def result(self, value: Value) -> Values:
        """Return what calling a value gives; ``new`` makes an object of a function."""
        found = super().result(value)
        if found or value.kind != Kind.FUNCTION:
            return found
        return (Value(Kind.OBJECT, value.file, -1, self.views[value.file].definitions[value.row].name),)

    def of_file(self, module: Value, name: str) -> Values | None:
        """Return what a module gives where it gives one thing, or what its default is called in it."""
        view = self.views[module.file]
        if name == _WHOLE:
            return self.bound_at(view, -1, _WHOLE, None) or (module,)
        found = self.bound_at(view, -1, name, None)
        if found is None and name == "default":
            return self.bound_at(view, -1, _WHOLE, None)
        if found is None and (whole := self.bound_at(view, -1, _WHOLE, None)):
            where = Position(module.file, -1, 0)
            return self.all_of(whole, lambda each: self.member(each, name, where))
        return found

    def is_property(self, function: Value) -> bool:
        view = self.views[function.file]
        return any(each.name == "get" for each in view.of_scope.get((function.row, DECORATED), ()))


RESOLVER: Final = JavaScript
