"""Names that a module, a class or a package offers to others before a change and not after it.

The name may still be defined: it lost its ``export``, a line of a re-export, ``pub``, or its package's
``exports``. Its users are found through the resolver; other occurrences count as those of removed names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from repo_map.arrays import distinct
from repo_map.check.model import Finding, FindingKind
from repo_map.check.occurrences import ChangedName
from repo_map.check.path_strings import find_path_strings
from repo_map.check.trees import WORD, TreeComparison, TreeVersion
from repo_map.languages.kinds import CODE, MEMBERS, TYPES
from repo_map.languages.registry import kin_of
from repo_map.messages import one_line
from repo_map.parsing.facts_model import IMPORT, RENAMED, STAR, VALUE, Binding, Site
from repo_map.relations.file_facts import FileViews
from repo_map.relations.model import Confidence, Place
from repo_map.relations.text_search import row_at

_MAX_LOST: Final = 200
"""Names whose users are looked up."""
_MAX_STARS: Final = 8
"""Files that hand on the names of one another."""
_MAX_IMPORT_LINES: Final = 60
_END: Final = 1_000_000
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
    "private": _PRIVATE,
    "fileprivate": _PRIVATE,
    "defp": _PRIVATE,
    "defmacrop": _PRIVATE,
    "local": _PRIVATE,
    "protected": _PROTECTED,
    "internal": _INTERNAL,
    "pub(super)": _PROTECTED,
    "pub(crate)": _INTERNAL,
    "pub": _PUBLIC,
    "public": _PUBLIC,
    "open": _PUBLIC,
    "external": _PUBLIC,
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
        self._views = trees.after.index.memo(FileViews)
        self._names: dict[tuple[bool, int], Mapping[str, int]] = {}
        self._found: dict[tuple[int, int, str], Finding] = {}
        self.hidden: list[ChangedName] = []
        """Names that are still defined somewhere and that others can't use any more."""

    def find(self) -> Iterator[Finding]:
        """Yield a finding for each line and name."""
        lost = list(self._lost_names())[:_MAX_LOST]
        for each in lost:
            lost += [more for more in self._handed_on(each) if more not in lost and len(lost) < _MAX_LOST]
        for each in lost:
            self._trees.require_time()
            self._check(each)
        for before, after in self._trees.matched.items():
            self._check_visibility(before, after)
        if any(_SETTINGS.search(each.old or each.new) for each in self._trees.files):
            self._check_modules()
        yield from self._found.values()

    # What is offered.

    def _offered(self, tree: TreeVersion, file: int, depth: int = 0) -> Mapping[str, int]:
        """Return the names that a file offers, with the file that they come from."""
        key = tree is self._before, file
        if key in self._names or depth > _MAX_STARS:
            return self._names.get(key, {})
        view, kin = tree.view(file), kin_of(tree.language(file))
        self._names[key] = {}
        stars: list[int] = []
        if kin == "javascript":
            found = {each.name: file for each in tree.forms(file).exports if each.name not in _WHOLE}
            stars = [each.line for each in tree.forms(file).exports if each.name == "*"]
        elif kin in ("python", "rust"):
            bound = (each for each in view.bindings if view.scope(each.definition) < 0 and each.kind != STAR)
            found = {each.name: file for each in bound if kin == "python" or each.kind in _IMPORTS}
            if kin == "python":
                found |= {each.name: file for each in view.definitions if each.parent < 0}
            stars = [each.line for each in view.bindings if each.kind == STAR]
        else:
            found = {}
        for other, line in self._imported(tree, file) if stars else ():
            if line in stars and other != file:
                listed = _listed(tree, other)
                for name, home in self._offered(tree, other, depth + 1).items():
                    is_given = name in listed if listed is not None else name[:1] != "_"
                    if name != "default" and (kin != "python" or is_given):
                        found.setdefault(name, home)
        self._names[key] = found
        return found

    @staticmethod
    def _imported(tree: TreeVersion, file: int) -> list[tuple[int, int]]:
        return [(each.target[0], each.line) for each in tree.relations.imports_of(file)]

    def _lost_names(self) -> Iterator[_Lost]:
        for each in self._trees.files:
            old, new = self._trees.old_file(each), self._trees.new_file(each)
            if old is None or new is None or self._after.forms(new).errors:
                continue
            text, kin = self._after.index.sources.text(new), kin_of(self._after.language(new))
            if kin not in ("javascript", "python", "rust"):
                continue
            now = self._offered(self._after, new)
            is_open = self._is_open(new, kin, text)
            for name in self._offered(self._before, old):
                if name not in now:
                    lost = _Lost(name, old, self._targets(old, name))
                    if is_open:
                        self._hide(lost)
                    else:
                        yield lost
            before, after = _listed(self._before, old), _listed(self._after, new)
            for name in sorted((before or set()) - after if after is not None else ()):
                yield _Lost(name, old, self._targets(old, name), only_stars=True)

    def _is_open(self, file: int, kin: str, text: str) -> bool:
        """Return True if a module may offer names that it does not spell."""
        dynamic = _DYNAMIC.get(kin)
        is_value = kin == "javascript" and any(each.name == "=" for each in self._after.forms(file).exports)
        return is_value or (dynamic is not None and dynamic.search(text) is not None)

    def _targets(self, file: int, name: str) -> tuple[Place, ...]:
        """Return the definitions that a file offers under a name."""
        exports = self._before.forms(file).exports
        local = next((each.local for each in exports if each.name == name and each.local), name)
        rows = enumerate(self._before.index.definitions(file))
        own = tuple(
            (file, row)
            for row, each in rows
            if each.name == local and not self._before.is_local((file, row)) and each.kind in CODE | MEMBERS
        )
        site = Site(local, "", -1, _END, VALUE, 0)
        return own or self._before.relations.meaning(file, site).targets

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
        table = self._before.index.bindings
        found: dict[int, list[int]] = {}
        rows = np.flatnonzero(table.kind == STAR)
        for file in distinct(np.searchsorted(table.file_start, rows, side="right") - 1).tolist():
            lines = {each.line for each in self._before.view(file).bindings if each.kind == STAR}
            for other, line in self._imported(self._before, file):
                if line in lines:
                    found.setdefault(other, []).append(file)
        return found

    # Who uses it.

    def _check(self, lost: _Lost) -> None:
        is_code = any(self._before.definition(each).kind in CODE for each in lost.targets)
        if is_code and not any(map(self._trees.place_after, lost.targets)):
            return  # It is removed, and checked as such.
        importing = [] if lost.only_stars else list(self._importing(lost))
        if not lost.only_stars:
            for file, line in find_path_strings(self._trees, self._before.index.paths[lost.file], lost.name):
                self._add(lost, (file, row_at(self._after.index, file, line)), line)
            # Of an import that nobody imports from here nothing is said.
            if importing or any(each[0] == lost.file for each in lost.targets) or self._is_explicit(lost):
                self._hide(lost)
        for file, binding in importing:
            self._check_import(lost, file, binding)
        for target in lost.targets:
            for use in self._before.relations.uses_of(target, Confidence.RESOLVED):
                at = self._trees.unchanged(use.source[0], use.line)
                if at is not None and use.source[0] not in (lost.file, target[0]):
                    self._check_use(lost, target, at)

    def _is_explicit(self, lost: _Lost) -> bool:
        """Return True if a file exists to offer the names of others, or says that it offers one."""
        path = self._before.index.paths[lost.file]
        return kin_of(self._before.language(lost.file)) == "javascript" or _stem(path) in _BARRELS

    def _hide(self, lost: _Lost) -> None:
        here = self._trees.file_after(lost.file)
        now = [self._trees.place_after(each) for each in lost.targets]
        own = next((each for each in now if each is not None and each[0] == here), None)
        if lost.name != "default":
            path = self._before.index.paths[lost.file]
            self.hidden.append(ChangedName(lost.name, path, "", own, is_hidden=own is not None))

    def _importing(self, lost: _Lost) -> Iterator[tuple[int, Binding]]:
        """Yield the imports of a name from a file: the importing file before, and the binding."""
        for file, each in self._before.imports_named(lost.name):
            if file != lost.file and each.kind in _IMPORTS and self._is_of(lost, file, each):
                yield file, each

    def _is_of(self, lost: _Lost, file: int, binding: Binding) -> bool:
        """Return True if an import takes a name from the file that offered it."""
        if kin_of(self._before.language(file)) != "rust":
            return (lost.file, binding.line) in self._imported(self._before, file)
        meaning = self._before.relations.meaning(file, Site(binding.name, "", -1, _END, VALUE, 0))
        return not set(lost.targets).isdisjoint(meaning.targets)

    def _check_import(self, lost: _Lost, file: int, binding: Binding) -> None:
        now = self._trees.file_after(file)
        if now is None:
            return
        view, paths = self._views[now], self._after.index.paths
        same = [each for each in view.bindings if each[:2] == binding[:2] and each.kind == binding.kind]
        word = re.compile(WORD.format(re.escape(binding.name if lost.name == "default" else lost.name)))
        for each in same:
            homes = [other for other, line in self._imported(self._after, now) if line == each.line]
            is_offered = any(
                lost.name in self._offered(self._after, other) or _stem(paths[other]) == lost.name
                for other in homes
            )
            if is_offered or (kin_of(self._after.language(now)) == "rust" and self._means(now, each)):
                continue
            lines = self._after.lines(now)[each.line - 1 : each.line - 1 + _MAX_IMPORT_LINES]
            at = next((at for at, text in enumerate(lines, each.line) if word.search(text)), 0)
            if at and self._trees.line_before(now, at):
                self._add(lost, (now, -1), at)
                for site in view.sites:
                    is_use = site.name == binding.name and not site.object
                    if is_use and self._trees.line_before(now, site.line) and self._is_import(now, site):
                        self._add(lost, (now, site.definition), site.line)

    def _means(self, file: int, binding: Binding) -> bool:
        return bool(self._after.relations.meaning(file, Site(binding.name, "", -1, _END, VALUE, 0)).targets)

    def _is_import(self, file: int, site: Site) -> bool:
        """Return True if no scope around a bare name binds it anew."""
        view = self._views[file]
        row = view.scope(site.definition)
        while row >= 0:
            if view.bound.get((row, site.name)):
                return False
            row = view.outer(row)
        return True

    def _check_use(self, lost: _Lost, target: Place, at: tuple[int, int]) -> None:
        place = self._trees.place_after(target)
        for site in self._after.view(at[0]).sites:
            if site.line != at[1] or site.name not in (lost.name, self._before.name(target)):
                continue
            meaning = self._after.relations.meaning(at[0], site)
            is_hidden = False
            if place in meaning.targets and place is not None:
                # The resolver follows what is defined, whether or not it is exported.
                is_hidden = self._is_hidden(lost, place, at[0], site)
            if is_hidden or not (meaning.targets or meaning.is_external or meaning.is_left_open):
                self._add(lost, (at[0], site.definition), at[1])

    def _is_hidden(self, lost: _Lost, place: Place, file: int, site: Site) -> bool:
        """Return True if a use refers to a definition that its file no longer offers by that name."""
        if lost.only_stars:
            takers = [self._trees.file_after(each) for each in self._starring.get(lost.file, ())]
            return not site.object and file in takers
        exports = self._after.forms(place[0]).exports
        is_offered = any((each.local or each.name) == self._after.name(place) for each in exports)
        is_named = site.name == lost.name and bool(site.object)
        return place[0] == self._trees.file_after(lost.file) and (is_named or not is_offered)

    def _add(self, lost: _Lost, place: Place, line: int) -> None:
        path, name = self._before.index.paths[lost.file], one_line(lost.name)
        texts = (f"`{name}` is no longer offered by {path}", "offer it again, or change the use")
        if lost.only_stars:
            texts = (f"`{name}` is no longer in `__all__` of {path}", "import it by its name")
        self._put(place, line, lost.name, texts, path)

    def _put(self, place: Place, line: int, name: str, texts: tuple[str, str], cause: str) -> None:
        finding = self._after.finding(FindingKind.REMOVED_NAME, place, line, name, texts, cause=cause)
        self._found.setdefault((place[0], line, name), finding)

    # Visibility.

    def _check_visibility(self, before: Place, after: Place) -> None:
        old, new = _visibility(self._before, before), _visibility(self._after, after)
        if new >= old or self._before.is_local(before):
            return
        name = self._after.qualified_name(after)
        owner, _, last = name.rpartition(".")
        is_hidden = new == _PRIVATE
        path = self._after.index.paths[after[0]]
        self.hidden.append(ChangedName(last, path, owner, after if is_hidden else None, is_hidden=is_hidden))
        where = self._after.location(after)
        message = f"`{one_line(name)}` can't be used here any more: its visibility was reduced"
        action = f"make it visible again at {where}"
        for file, binding in self._importing(_Lost(last, before[0], (before,))) if not owner else ():
            at = self._trees.unchanged(file, binding.line)
            if at is not None and not self._is_inside(after, (at[0], -1), new):
                self._put((at[0], -1), at[1], last, (message, action), where)
        for use in self._before.relations.uses_of(before, Confidence.RESOLVED):
            at = self._trees.unchanged(use.source[0], use.line)
            if at is not None and not self._is_inside(after, (at[0], use.source[1]), new):
                source = self._trees.place_after(use.source) or (at[0], -1)
                self._put(source, at[1], last, (message, action), where)

    def _is_inside(self, place: Place, use: Place, rank: int) -> bool:
        """Return True if a definition of a visibility can be used from a place."""
        tree, paths = self._after, self._after.index.paths
        if place[0] == use[0]:
            return True
        home, other, language = paths[place[0]], paths[use[0]], tree.language(place[0])
        if language == "rust":
            folder = re.sub(r"(?:/(?:mod|lib|main))?\.rs$", "", home)
            if rank != _PRIVATE:
                folder = folder.rpartition("/")[0] if rank == _PROTECTED else home.partition("/src/")[0]
            return other.startswith(f"{folder}/") or other.removesuffix(".rs") == folder
        if language == "java" and rank != _PRIVATE and home.rpartition("/")[0] == other.rpartition("/")[0]:
            return True
        if rank == _PROTECTED:
            owner = place[0], tree.definition(place).parent
            around = use[0], tree.view(use[0]).class_around(use[1])
            return around[1] >= 0 and owner in tree.relations.classes_above(around)
        return rank == _INTERNAL and language != "java"

    # Packages.

    def _check_modules(self) -> None:
        """Report imports that the changed settings of packages no longer lead to a file."""
        table = self._before.index.bindings
        rows = np.flatnonzero(np.isin(table.kind, (*_IMPORTS, STAR)))
        for file in distinct(np.searchsorted(table.file_start, rows, side="right") - 1).tolist():
            now = self._trees.file_after(file)
            if now is None or kin_of(self._before.language(file)) != "javascript":
                continue
            bindings = [each for each in self._before.view(file).bindings if each.kind in (*_IMPORTS, STAR)]
            if all(each.value.startswith(".") for each in bindings):
                continue
            led = {line for _, line in self._imported(self._after, now)}
            for _, line in self._imported(self._before, file):
                at = self._trees.unchanged(file, line)
                module = next((each.value.partition(":")[0] for each in bindings if each.line == line), "")
                if at is not None and at[1] not in led and module and not module.startswith("."):
                    texts = (
                        f"`{one_line(module)}` leads to no file any more",
                        "offer the path again, or import another",
                    )
                    self._put((at[0], -1), at[1], module, texts, "")


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
    if language in _BY_FILE:
        is_header = tree.index.paths[place[0]].endswith((".h", ".hpp", ".hh"))
        if owner not in TYPES:
            return _PRIVATE if "static" in words and not is_header else _PUBLIC
    ranks = [_MODIFIERS[each] for each in words if each in _MODIFIERS]
    return min(ranks, default=_UNMARKED.get(language, _PUBLIC))


def _stem(path: str) -> str:
    return path.removesuffix("/__init__.py").rpartition("/")[2].partition(".")[0]
