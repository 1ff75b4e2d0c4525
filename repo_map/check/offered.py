"""Names that a module, a class or a package offers to others before a change and not after it.

The name may still be defined: it lost its ``export``, a line of a re-export, ``pub``, or its package's
``exports``. Its users are found through the resolver; other occurrences count as those of removed names.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property
from typing import Final, NamedTuple

import msgspec

from repo_map.check.model import Finding, FindingKind
from repo_map.check.occurrences import ChangedName
from repo_map.check.references import find_path_strings
from repo_map.check.trees import TreeComparison, TreeVersion
from repo_map.languages.kinds import CODE, MEMBERS, TYPES
from repo_map.languages.registry import kin_of
from repo_map.messages import one_line
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, Binding, Site
from repo_map.relations.file_facts import grouped
from repo_map.relations.model import Confidence, Place

_MAX_LOST: Final = 200
"""Names whose users are looked up."""
_MAX_STARS: Final = 8
"""Files that hand on the names of one another."""
_IMPORTS: Final = (IMPORT, RENAMED)
_WHOLE: Final = frozenset({"*", "="})
_SETTINGS: Final = re.compile(r"(?:^|/)(?:package\.json|[tj]sconfig[^/]*\.json|pnpm-workspace\.yaml)$")
_DYNAMIC: Final = {
    "python": re.compile(r"\b__getattr__\b|\bglobals\(\)|\bsetattr\("),
    "javascript": re.compile(r"\bexports\[|\bObject\.(?:assign|defineProperty)\(\s*(?:module\.)?exports\b"),
}
"""What may offer any name, by kin of languages."""
_ALL: Final = re.compile(r"\b__all__\b[^=\n(]*(?:\+?=|\.extend\()\s*[\[(]([^\])]*)")
_QUOTED: Final = re.compile(r"[\"'](\w+)[\"']")
_BARRELS: Final = frozenset({"__init__", "index", "lib", "mod"})
_PRIVATE, _PROTECTED, _INTERNAL, _PUBLIC = range(4)
_MODIFIERS: Final = {
    **dict.fromkeys(("private", "fileprivate", "defp", "defmacrop", "local"), _PRIVATE),
    **dict.fromkeys(("protected", "pub(super)"), _PROTECTED),
    **dict.fromkeys(("internal", "pub(crate)"), _INTERNAL),
    **dict.fromkeys(("public", "pub", "open", "external"), _PUBLIC),
}
_MODIFIER: Final = re.compile(r"pub\s*\(\s*(?:crate|super)\s*\)|[A-Za-z]+")
_UNMARKED: Final = {"java": _INTERNAL, "csharp": _PRIVATE, "rust": _PRIVATE, "zig": _PRIVATE}
"""What a definition without a modifier is in languages where that is not public."""
_UNMODIFIED: Final = frozenset({"python", "javascript", "go"})
_SECTION: Final = {
    "ruby": re.compile(r"\s*(public|private|protected)\s*(?:#.*)?$"),
    "cpp": re.compile(r"\s*(public|private|protected)\s*:"),
}
"""A line that gives all members below it a visibility, by language."""
_BY_FILE: Final = frozenset({"c", "cpp"})
"""Languages in which ``static`` keeps a function in its file."""


class _Lost(NamedTuple):
    name: str
    file: int
    """Of the tree before."""
    targets: tuple[Place, ...]
    """Its definitions in the tree before, none if they are unknown."""
    only_stars: bool = False
    """Whether only an import of all names misses it."""


class OfferedNames:
    """Compares what modules offer before and after a change, and finds the users of what is missing."""

    def __init__(self, trees: TreeComparison) -> None:
        self._trees = trees
        self._before, self._after = trees.before, trees.after
        self._names: dict[tuple[bool, int], set[str]] = {}
        self.hidden: list[ChangedName] = []
        """Names that are still defined somewhere and that others can't use any more."""

    def find(self) -> Iterator[Finding]:
        lost = list(self._lost_names())[:_MAX_LOST]
        for each in lost:
            lost += [more for more in self._handed_on(each) if more not in lost and len(lost) < _MAX_LOST]
        for each in lost:
            self._trees.require_time()
            yield from self._check(each)
        for before, after in self._trees.matched.items():
            yield from self._check_visibility(before, after)
        if any(_SETTINGS.search(each.old or each.new) for each in self._trees.files):
            yield from self._check_modules()
            self._check_entries()

    # What is offered.

    def _offered(self, tree: TreeVersion, file: int, depth: int = 0) -> set[str]:
        key = tree is self._before, file
        if key in self._names or depth > _MAX_STARS:
            return self._names.get(key, set())
        view, kin = tree.view(file), kin_of(tree.language(file))
        self._names[key] = found = set()
        stars: list[int] = []
        if kin == "javascript":
            found |= {each.name for each in tree.forms(file).exports if each.name not in _WHOLE}
            stars = [each.line for each in tree.forms(file).exports if each.name == "*"]
        elif kin in ("python", "rust"):
            bound = (each for each in view.bindings if view.scope(each.definition) < 0 and each.kind != STAR)
            found |= {each.name for each in bound if kin == "python" or each.kind in _IMPORTS}
            found |= {each.name for each in view.definitions if each.parent < 0 and kin == "python"}
            stars = [each.line for each in view.bindings if each.kind == STAR]
        for other, line in _imported(tree, file) if stars else ():
            if line in stars and other != file:
                listed = _listed(tree, other)
                for name in self._offered(tree, other, depth + 1):
                    is_given = name in listed if listed is not None else name[:1] != "_"
                    if name != "default" and (kin != "python" or is_given):
                        found.add(name)
        return found

    def _lost_names(self) -> Iterator[_Lost]:
        for each, new in self._trees.new_files:
            old, kin = self._trees.old_file(each), kin_of(self._after.language(new))
            is_known = kin in ("javascript", "python", "rust")
            if old is None or not is_known or self._after.forms(new).errors:
                continue
            # A module may offer names that it does not spell.
            text, dynamic = self._after.index.sources.text(new), _DYNAMIC.get(kin)
            is_value = kin == "javascript" and any(
                each.name == "=" for each in self._after.forms(new).exports
            )
            is_open = is_value or (dynamic is not None and dynamic.search(text) is not None)
            for name in sorted(self._offered(self._before, old) - self._offered(self._after, new)):
                lost = _Lost(name, old, self._targets(old, name))
                if is_open:
                    self._hide(lost)
                else:
                    yield lost
            before, after = _listed(self._before, old), _listed(self._after, new)
            for name in sorted((before or set()) - after if after is not None else ()):
                yield _Lost(name, old, self._targets(old, name), only_stars=True)

    def _targets(self, file: int, name: str) -> tuple[Place, ...]:
        """Return the definitions that a file offers under a name."""
        exports = self._before.forms(file).exports
        local = next((each.local for each in exports if each.name == name and each.local), name)
        own = tuple(
            (file, row)
            for row, each in enumerate(self._before.index.definitions(file))
            if each.name == local and each.kind in CODE | MEMBERS and not self._before.is_local((file, row))
        )
        return own or self._before.meaning(file, local).targets

    def _handed_on(self, lost: _Lost) -> Iterator[_Lost]:
        """Yield the same name of the files that offer all names of a file."""
        for file in self._starring.get(lost.file, ()):
            now = self._trees.file_after(file)
            is_lost = now is not None and lost.name not in self._offered(self._after, now)
            if is_lost and lost.name in self._offered(self._before, file):
                yield lost._replace(file=file, only_stars=False)

    @cached_property
    def _starring(self) -> dict[int, list[int]]:
        """The files that take all names of a file, by that file."""
        before = self._before
        return grouped(
            (other, file)
            for file in before.files_binding([STAR])
            for other, line in _imported(before, file)
            if any(each.kind == STAR and each.line == line for each in before.view(file).bindings)
        )

    # Who uses it.

    def _check(self, lost: _Lost) -> Iterator[Finding]:
        before = self._before
        is_code = any(before.definition(each).kind in CODE for each in lost.targets)
        if is_code and not any(map(self._trees.place_after, lost.targets)):
            return  # It is removed, and checked as such.
        path, name = before.index.paths[lost.file], one_line(lost.name)
        texts = f"`{name}` is no longer offered by {path}", "offer it again, or change the use"
        if lost.only_stars:
            texts = f"`{name}` is no longer in `__all__` of {path}", "import it by its name"
        for at in dict.fromkeys(self._users(lost)):
            yield self._finding(*at, lost.name, texts, path)

    def _users(self, lost: _Lost) -> Iterator[tuple[int, int]]:
        """Yield file and line of what uses a name that is no longer offered."""
        before = self._before
        if not lost.only_stars:
            path, importing = before.index.paths[lost.file], list(self._importing(lost))
            yield from find_path_strings(self._trees, path, lost.name)
            # Of an import that no file takes from here nothing is said, unless the file is there to offer it.
            is_explicit = kin_of(before.language(lost.file)) == "javascript" or _stem(path) in _BARRELS
            if importing or is_explicit or any(each[0] == lost.file for each in lost.targets):
                self._hide(lost)
            for file, binding in importing:
                yield from self._broken_imports(lost, file, binding)
        for target in lost.targets:
            for use in before.relations.uses_of(target, Confidence.RESOLVED):
                at = self._trees.unchanged(use.source[0], use.line)
                is_outside = use.source[0] not in (lost.file, target[0])
                if at is not None and is_outside and self._is_broken(lost, target, *at):
                    yield at

    def _hide(self, lost: _Lost) -> None:
        here = self._trees.file_after(lost.file)
        now = (self._trees.place_after(each) for each in lost.targets)
        own = next((each for each in now if each is not None and each[0] == here), None)
        if lost.name != "default":
            path = self._before.index.paths[lost.file]
            self.hidden.append(ChangedName(lost.name, path, "", own, is_hidden=own is not None))

    def _importing(self, lost: _Lost) -> Iterator[tuple[int, Binding]]:
        """Yield the imports of a name from a file: the importing file before, and the binding."""
        before = self._before
        for file, each in before.imports_named(lost.name):
            if file == lost.file or each.kind not in _IMPORTS:
                continue
            if kin_of(before.language(file)) != "rust":
                is_of = (lost.file, each.line) in _imported(before, file)
            else:
                is_of = not set(lost.targets).isdisjoint(before.meaning(file, each.name).targets)
            if is_of:
                yield file, each

    def _broken_imports(self, lost: _Lost, file: int, binding: Binding) -> Iterator[tuple[int, int]]:
        """Yield file and line of an import that leads to nothing now, and of the uses of what it binds."""
        now, after = self._trees.file_after(file), self._after
        if now is None:
            return
        view, paths, is_rust = after.view(now), after.index.paths, kin_of(after.language(now)) == "rust"
        word = binding.name if lost.name == "default" else lost.name
        for first, at in after.import_lines(now, binding, word):
            homes = [other for other, line in _imported(after, now) if line == first]
            is_offered = any(
                lost.name in self._offered(after, other) or _stem(paths[other]) == lost.name
                for other in homes
            )
            is_offered = is_offered or (is_rust and bool(after.meaning(now, binding.name).targets))
            if at and not is_offered and self._trees.line_before(now, at):
                yield now, at
                for site in view.sites:
                    is_use = site.name == binding.name and not site.object
                    if is_use and self._trees.line_before(now, site.line):
                        scopes = after.scopes(now, site.definition)
                        if not any(view.bound.get((scope, site.name)) for scope in scopes):
                            yield now, site.line

    def _is_broken(self, lost: _Lost, target: Place, file: int, line: int) -> bool:
        """Return True if an unchanged line still uses a name by what its file no longer offers."""
        place = self._trees.place_after(target)
        for site in self._after.view(file).sites_by_line.get(line, ()):
            if site.name in (lost.name, self._before.name(target)):
                meaning = self._after.relations.meaning(file, site)
                # The resolver follows what is defined, whether or not it is exported.
                is_defined = place is not None and place in meaning.targets
                if is_defined and place is not None and self._is_hidden(lost, place, file, site):
                    return True
                if not (meaning.targets or meaning.is_external or meaning.is_left_open):
                    return True
        return False

    def _is_hidden(self, lost: _Lost, place: Place, file: int, site: Site) -> bool:
        """Return True if a use refers to a definition that its file no longer offers by that name."""
        if lost.only_stars:
            takers = (self._trees.file_after(each) for each in self._starring.get(lost.file, ()))
            return not site.object and file in takers
        exports = self._after.forms(place[0]).exports
        is_offered = any((each.local or each.name) == self._after.name(place) for each in exports)
        is_named = site.name == lost.name and bool(site.object)
        return place[0] == self._trees.file_after(lost.file) and (is_named or not is_offered)

    def _finding(self, file: int, line: int, name: str, texts: tuple[str, str], cause: str) -> Finding:
        return self._after.finding(FindingKind.REMOVED_NAME, file, line, name, texts, cause)

    # Visibility.

    def _check_visibility(self, before: Place, after: Place) -> Iterator[Finding]:
        old, new = _visibility(self._before, before), _visibility(self._after, after)
        if new >= old or self._before.is_local(before):
            return
        name, where = self._after.qualified_name(after), self._after.location(after)
        owner, _, last = name.rpartition(".")
        path, is_hidden = self._after.index.paths[after[0]], new == _PRIVATE
        self.hidden.append(ChangedName(last, path, owner, after if is_hidden else None, is_hidden=is_hidden))
        message = f"`{one_line(name)}` can't be used here any more: its visibility was reduced"
        texts = message, f"make it visible again at {where}"
        imports = self._importing(_Lost(last, before[0], (before,))) if not owner else ()
        for place, line in (
            *(((file, -1), binding.line) for file, binding in imports),
            *((use.source, use.line) for use in self._before.relations.uses_of(before, Confidence.RESOLVED)),
        ):
            at = self._trees.unchanged(place[0], line)
            if at is not None and not self._is_inside(after, (at[0], place[1]), new):
                yield self._finding(*at, last, texts, where)

    def _is_inside(self, place: Place, use: Place, rank: int) -> bool:
        """Return True if a definition of a visibility can be used from a place."""
        tree, paths = self._after, self._after.index.paths
        home, other, language = paths[place[0]], paths[use[0]], tree.language(place[0])
        if language == "rust" and home != other:
            folder = re.sub(r"(?:/(?:mod|lib|main))?\.rs$", "", home)
            if rank != _PRIVATE:
                folder = folder.rpartition("/")[0] if rank == _PROTECTED else home.partition("/src/")[0]
            return other.startswith(f"{folder}/") or other.removesuffix(".rs") == folder
        is_package = home.rpartition("/")[0] == other.rpartition("/")[0]
        if home == other or (language == "java" and rank != _PRIVATE and is_package):
            return True
        if rank == _PROTECTED:
            owner = place[0], tree.definition(place).parent
            around = use[0], tree.view(use[0]).class_around(use[1])
            return around[1] >= 0 and owner in tree.relations.classes_above(around)
        return rank == _INTERNAL and language != "java"

    # Packages.

    def _check_modules(self) -> Iterator[Finding]:
        """Yield imports that the changed settings of packages no longer lead to a file."""
        for file in self._before.files_binding((*_IMPORTS, STAR)):
            now, bindings = self._trees.file_after(file), self._before.view(file).bindings
            modules = {
                each.line: each.value.partition(":")[0] for each in bindings if each.kind in (*_IMPORTS, STAR)
            }
            named = {
                line: module for line, module in modules.items() if module and not module.startswith(".")
            }
            if now is None or not named or kin_of(self._before.language(file)) != "javascript":
                continue
            led = {line for _, line in _imported(self._after, now)}
            for _, line in _imported(self._before, file):
                at = self._trees.unchanged(file, line)
                if at is not None and at[1] not in led and line in named:
                    message = f"`{one_line(named[line])}` leads to no file any more"
                    texts = message, "offer the path again, or import another"
                    yield self._finding(*at, named[line], texts, "")

    def _check_entries(self) -> None:
        """Note a changed ``main`` of a package that is no file of the tree, whatever source stands for it."""
        for each in self._trees.files:
            old, main = _main_of(self._before, each.old), _main_of(self._after, each.new)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(each.new), main))
            ends = ("", ".js", ".json", "/index.js")
            is_there = any(self._after.index.file_id(path + end) is not None for end in ends)
            if main not in ("", old) and not is_there:
                self._trees.limitations.append(
                    f"{one_line(each.new)} names `{one_line(main)}`, which is not in the tree."
                )


def _imported(tree: TreeVersion, file: int) -> list[tuple[int, int]]:
    return [(each.target[0], each.line) for each in tree.relations.imports_of(file)]


def _main_of(tree: TreeVersion, path: str) -> str:
    """Return ``main`` of a ``package.json``, ``""`` without one."""
    file = tree.index.file_id(path) if posixpath.basename(path) == "package.json" else None
    with suppress(msgspec.DecodeError, RecursionError):
        found = msgspec.json.decode(tree.index.sources.text(file)) if file is not None else {}
        main = found.get("main") if isinstance(found, dict) else ""
        return main if isinstance(main, str) else ""
    return ""


def _listed(tree: TreeVersion, file: int) -> set[str] | None:
    """Return the names in ``__all__`` of a Python file, None without one."""
    if tree.language(file) != "python":
        return None
    found = _ALL.findall(tree.index.sources.text(file))
    return {name for text in found for name in _QUOTED.findall(text)} if found else None


def _visibility(tree: TreeVersion, place: Place) -> int:
    """Return who may use a definition, by the modifiers before its name."""
    language, definition = tree.language(place[0]), tree.definition(place)
    owner = tree.definition((place[0], definition.parent)).kind if definition.parent >= 0 else ""
    if definition.kind not in CODE | MEMBERS or owner == "interface" or language in _UNMODIFIED:
        return _PUBLIC
    line = tree.lines(place[0])[definition.sig_start - 1]
    head = re.split(r"[{,;]", re.split(rf"\b{re.escape(tree.name(place))}\b", line)[0])[-1]
    words = ["".join(each.split()) for each in _MODIFIER.findall(head)]
    if language in _SECTION and owner:
        first = tree.definition((place[0], definition.parent)).start
        above = reversed(tree.lines(place[0])[first : definition.sig_start - 1])
        words += [each[1] for line in above if (each := _SECTION[language].match(line))][:1]
    if language in _BY_FILE and owner not in TYPES:
        is_header = tree.index.paths[place[0]].endswith((".h", ".hpp", ".hh"))
        return _PRIVATE if "static" in words and not is_header else _PUBLIC
    ranks = [_MODIFIERS[each] for each in words if each in _MODIFIERS]
    return min(ranks, default=_UNMARKED.get(language, _PUBLIC))


def _stem(path: str) -> str:
    return path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
