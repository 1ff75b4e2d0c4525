"""The tree before and after a change, each with its relations; only the files that differ are parsed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.arrays import distinct
from repo_map.check.model import Finding, FindingKind, Occurrence
from repo_map.check.patch import FilePatch, LineMap, Patch, locate_hunk, switch_side
from repo_map.deadline import CpuDeadline
from repo_map.index.build import overlay_index
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import Structure
from repo_map.languages.registry import language_named
from repo_map.messages import one_line
from repo_map.parsing.facts_model import EXPORTED, IMPORT, RENAMED, VALUE, Binding, Site
from repo_map.parsing.forms import NO_FORMS, CallForm, Form, Forms
from repo_map.relations.file_facts import FileView, FileViews, grouped
from repo_map.relations.model import Meaning, Place
from repo_map.relations.resolve import Relations, relations_of
from repo_map.relations.text_search import row_at
from repo_map.sources.repository import top_folder

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.parsing.values import Definition

IMPORTS: Final = (IMPORT, RENAMED, EXPORTED)
"""Kinds of bindings that name something of another file, or give a name to others."""
_LAST: Final = re.compile(r"[:.\\/]+")
WORD: Final = r"(?<![\w$]){}(?![\w$\"'])"
"""A whole word that is no prefix of a string."""
_MAX_IMPORT_LINES: Final = 60
_END: Final = 1_000_000
"""A line after all that a file binds at its top."""
_MAX_SOURCE_BYTES: Final = 1_000_000
"""Of a file whose calls are parsed."""
_MAX_SECONDS: Final = 6.0
"""CPU time of a check, parsing and git left out."""
_FLAGS: Final = re.DOTALL | re.ASCII
_TRIPLE: Final = ('"""', "'''")
_NO_BREAK: Final = re.compile(r"[^\n]")


class CheckTimeoutError(Exception):
    """A check took all of its time; what it found by then counts."""


class ChangedFile(NamedTuple):
    """A file of a change of which both sides are known."""

    old: str
    """Its path before, ``""`` for a new file."""
    new: str
    """Its path after, ``""`` for a deleted one."""
    lines: LineMap
    is_applied: bool
    """Whether the tree as it is has the file as after the change."""


class PatchedFile(NamedTuple):
    """A file of a patch next to the tree as it is."""

    patch: FilePatch
    file: int | None
    """The file of the tree, None if it has none."""
    changed: ChangedFile | None
    """Both of its sides, None if they are not known."""


class TreeVersion:
    """One of the two trees."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.relations: Relations = relations_of(index)
        self._forms: dict[int, Forms] = {}
        self._functions: dict[int, dict[str, list[Form]]] = {}
        self._calls: dict[int, dict[tuple[int, str], list[CallForm]]] = {}
        self._lines: dict[int, list[str]] = {}
        self._code: dict[tuple[int, bool], str] = {}

    def view(self, file: int) -> FileView:
        return self.index.memo(FileViews)[file]

    def finding(  # noqa: PLR0917 - they are the columns of a finding
        self, kind: FindingKind, file: int, line: int, name: str, texts: tuple[str, str], cause: str = ""
    ) -> Finding:
        """Return a finding by its message and action."""
        within = self.qualified_name((file, row_at(self.index, file, line)))
        return Finding(kind, self.index.paths[file], line, within, name, *texts, cause=cause)

    def forms(self, file: int) -> Forms:
        if file not in self._forms:
            self.read([file])
        return self._forms[file]

    def read(self, files: Sequence[int]) -> None:
        """Parse the functions and calls of files at once."""
        from repo_map.index.worker_pool import read_forms  # noqa: PLC0415 - a warm start parses nothing

        wanted = [file for file in dict.fromkeys(files) if file not in self._forms]
        sources = {file: self.index.sources.content(file) for file in wanted}
        small = [file for file in wanted if len(sources[file]) <= _MAX_SOURCE_BYTES]
        named = [(self.index.paths[file], sources[file]) for file in small]
        read = read_forms(named, self.index.limits) if small else ()
        self._forms |= dict.fromkeys(wanted, NO_FORMS) | dict(zip(small, read, strict=True))

    def forms_of(self, place: Place) -> tuple[Form, ...]:
        """Return the signatures of a definition: those of its name in the lines of its head."""
        file, row = place
        if row < 0:
            return ()
        definition = self.index.definitions(file)[row]
        if file not in self._functions:
            self._functions[file] = grouped((each.name, each) for each in self.forms(file).functions)
        lines = range(definition.start, max(definition.sig_end, definition.sig_start) + 1)
        named = self._functions[file].get(self.name(place).lstrip("@$#"), ())
        return tuple(each for each in named if each.line in lines)

    def parameters_of(self, place: Place) -> str:
        """Return the names of a function's parameters as a list, ``""`` if they are unknown."""
        forms = self.forms_of(place)
        return f"({', '.join(one_line(each.name) for each in forms[0].parameters)})" if forms else ""

    def calls_at(self, file: int, line: int, name: str) -> Sequence[CallForm]:
        if file not in self._calls:
            self._calls[file] = grouped(((each.line, each.name), each) for each in self.forms(file).calls)
        return self._calls[file].get((line, name), [])

    def definition(self, place: Place) -> Definition:
        return self.index.definitions(place[0])[place[1]]

    def is_function(self, place: Place) -> bool:
        return self.definition(place).kind in FUNCTIONS

    def name(self, place: Place) -> str:
        return self.definition(place).name.rpartition(".")[2]

    def qualified_name(self, place: Place) -> str:
        """Return the qualified name of a definition, ``""`` for the top of a file."""
        return self.index.qualified_name(*place) if place[1] >= 0 else ""

    def location(self, place: Place) -> str:
        """Return path and line of a definition, ``price.py:9``."""
        return f"{self.index.paths[place[0]]}:{self.definition(place).sig_start}"

    def language(self, file: int) -> str:
        return self.index.language(file)

    def meaning(self, file: int, name: str, row: int = -1, line: int = _END, receiver: str = "") -> Meaning:
        """Return what a name means in a file, after all that the file binds at its top by default."""
        return self.relations.meaning(file, Site(name, receiver, row, line, VALUE, 0))

    def sites(self, file: int, line: int, name: str) -> list[Site]:
        return [each for each in self.view(file).sites_by_line.get(line, ()) if each.name == name]

    def scopes(self, file: int, row: int) -> Iterator[int]:
        """Yield the scopes around a definition, its own included, the innermost first."""
        view = self.view(file)
        row = view.scope(row)
        while row >= 0:
            yield row
            row = view.outer(row)

    def head(self, place: Place) -> list[str]:
        """Return the lines of a definition's head, decorators included."""
        definition = self.definition(place)
        return self.lines(place[0])[definition.start - 1 : max(definition.sig_end, definition.sig_start)]

    def text_of(self, place: Place) -> str:
        definition = self.definition(place)
        return "\n".join(self.lines(place[0])[definition.start - 1 : definition.end])

    def lines(self, file: int) -> list[str]:
        if file not in self._lines:
            self._lines[file] = self.index.sources.text(file).split("\n")
        return self._lines[file]

    def code(self, file: int, *, keeps_strings: bool = False) -> str:
        """Return the text of a file with blanks for comments, docstrings and, unless kept, other strings.

        Code within strings stays.
        """
        key = file, keeps_strings
        if key not in self._code:
            text, known = self.index.sources.text(file), language_named(self.language(file))
            if known.structure is Structure.BLOCKS and known.readable is not None and not keeps_strings:
                text = known.readable(text.encode("utf-8", "replace")).decode("utf-8", "replace")
            self._code[key] = _without_literals(text, known.name, keeps_strings=keeps_strings)
        return self._code[key]

    def is_prototype(self, place: Place) -> bool:
        """Return True for a function of C or C++ that is declared and has no body."""
        if language_named(self.language(place[0])).family != "c":
            return False
        text = self.text_of(place)
        is_function = self.definition(place).kind in FUNCTIONS - {"macro"}
        return is_function and "{" not in text and text.rstrip().endswith(";")

    def imports_named(self, name: str) -> Iterator[tuple[int, Binding]]:
        """Yield file and binding of each import of a name, whatever the file calls it, and of its exports."""
        for file in self.files_binding(IMPORTS, self._imported.get(name, [])):
            for each in self.view(file).bindings:
                if each.kind in IMPORTS and _LAST.split(each.value)[-1] == name:
                    yield file, each

    def files_binding(self, kinds: Sequence[int], values: Sequence[int] | None = None) -> list[int]:
        """Return the files with bindings of some kinds, and of some expressions if these are given."""
        table = self.index.bindings
        is_wanted = np.isin(table.kind, kinds)
        if values is not None:
            is_wanted &= np.isin(table.value, values)
        files = np.searchsorted(table.file_start, np.flatnonzero(is_wanted), side="right") - 1
        return list(map(int, distinct(files)))

    def import_lines(self, file: int, binding: Binding, name: str) -> Iterator[tuple[int, int]]:
        """Yield the first lines of the imports that equal one, each with that of a name in it, 0 if none."""
        word = re.compile(WORD.format(re.escape(name)))
        for each in self.view(file).bindings:
            if each[:2] == binding[:2] and each.kind == binding.kind:
                lines = self.lines(file)[each.line - 1 : each.line - 1 + _MAX_IMPORT_LINES]
                yield (
                    each.line,
                    next((at for at, text in enumerate(lines, each.line) if word.search(text)), 0),
                )

    @cached_property
    def _imported(self) -> dict[str, list[int]]:
        """The expressions that imports bind, by number, of each last name."""
        table = self.index.bindings
        values = distinct(table.value[np.isin(table.kind, IMPORTS)]).tolist()
        return grouped((_LAST.split(self.index.expressions[each])[-1], each) for each in values)

    def named(self, name: str) -> list[Place]:
        table, number = self.index.symbols, self.index.strings.get(name)
        rows = np.flatnonzero(table.name == number).tolist() if number is not None else []
        files = (np.searchsorted(table.file_start, rows, side="right") - 1).tolist() if rows else []
        return [(file, row - int(table.file_start[file])) for file, row in zip(files, rows, strict=True)]

    def is_local(self, place: Place) -> bool:
        """Return True for a definition within a function."""
        return self.view(place[0]).innermost(self.definition(place).parent, FUNCTIONS) >= 0


class TreeComparison:
    """A change as two trees, with their definitions and lines matched."""

    def __init__(self, before: TreeVersion, after: TreeVersion, patched: Sequence[PatchedFile]) -> None:
        self._deadline = CpuDeadline(_MAX_SECONDS)
        self.before = before
        self.after = after
        self.patched = patched
        """All files of the patch, in its order."""
        self.files = tuple(each.changed for each in patched if each.changed is not None)
        self._by_old = {each.old: each for each in self.files if each.old}
        self._by_new = {each.new: each for each in self.files if each.new}
        self.matched: dict[Place, Place] = {}
        """The definitions of changed files that both trees have, before to after."""
        self.removed: list[Place] = []
        """The definitions that only the tree before has, in source order."""
        self.added: list[Place] = []
        """The definitions that only the tree after has, in source order."""
        self.limitations: list[str] = []
        """Why findings may be missing, a sentence each."""
        self.unresolved: list[Occurrence] = []
        """Uses of changed functions that can't be judged."""
        self.replacements: dict[Place, Place | None] = {}
        """The added definition that replaces each removed one, as far as it was looked for."""
        for each in self.files:
            self._match(self.old_file(each), self.new_file(each), each.lines)
        self.matched_before = {new: old for old, new in self.matched.items()}
        """The same, after to before."""

    def is_late(self) -> bool:
        return self._deadline.is_over()

    def require_time(self) -> None:
        """Raise CheckTimeoutError if the check has used up its time."""
        if self._deadline.is_over():
            raise CheckTimeoutError

    def leave_open(self, after: Place, file: int, line: int, reason: str) -> None:
        """Note a use of a function of the tree after that can't be judged."""
        self.unresolved.append(Occurrence(self.after.name(after), self.after.index.paths[file], line, reason))

    def old_file(self, changed: ChangedFile) -> int | None:
        return self.before.index.file_id(changed.old) if changed.old else None

    def new_file(self, changed: ChangedFile) -> int | None:
        return self.after.index.file_id(changed.new) if changed.new else None

    @property
    def new_files(self) -> Iterator[tuple[ChangedFile, int]]:
        """The changed files of the tree after, with their numbers there."""
        for each in self.files:
            if (file := self.new_file(each)) is not None:
                yield each, file

    @property
    def removed_files(self) -> Iterator[tuple[ChangedFile, int]]:
        """The deleted and renamed files, with their numbers in the tree before."""
        for each in self.files:
            if each.old != each.new and (file := self.old_file(each)) is not None:
                yield each, file

    def file_after(self, before: int) -> int | None:
        """Return the file in the tree after, None if it is deleted."""
        path = self.before.index.paths[before]
        changed = self._by_old.get(path)
        return self.after.index.file_id(path if changed is None else changed.new)

    def line_after(self, before: int, line: int) -> int:
        """Return the line in the tree after, 0 if it is edited or removed."""
        changed = self._by_old.get(self.before.index.paths[before])
        return line if changed is None else changed.lines.after.get(line, 0)

    def line_before(self, after: int, line: int) -> int:
        """Return the line in the tree before, 0 if it is edited or new."""
        changed = self._by_new.get(self.after.index.paths[after])
        return line if changed is None else changed.lines.before.get(line, 0)

    def place_after(self, before: Place) -> Place | None:
        file = self.file_after(before[0])
        if before in self.matched or file is None or self.before.index.paths[before[0]] in self._by_old:
            return self.matched.get(before)
        return file, before[1]

    def unchanged(self, before: int, line: int) -> tuple[int, int] | None:
        """Return file and line in the tree after of an unchanged line, None for one that is edited."""
        file, at = self.file_after(before), self.line_after(before, line)
        return (file, at) if file is not None and at else None

    def changed_forms(self) -> Iterator[tuple[Place, Place, Form, Form]]:
        """Yield the functions of one signature before and after that differ in it, and both signatures."""
        for old, new in self.matched.items():
            if self.is_late():
                return
            is_function = self.before.is_function(old)
            if is_function and self.before.relations.knows(old[0]):
                one, other = self.before.forms_of(old), self.after.forms_of(new)
                if len(one) == len(other) == 1 and one[0][2:] != other[0][2:]:
                    yield old, new, one[0], other[0]

    def _match(self, old: int | None, new: int | None, lines: LineMap) -> None:
        """Match definitions by name and line, then by name in order."""
        others = _places_by_name(self.after, new)
        unmatched: list[tuple[tuple[str, bool], Place]] = []
        for name, places in _places_by_name(self.before, old).items():
            for place in places:
                line = lines.after.get(self.before.definition(place).sig_start)
                new_places = others.get(name, [])
                same = [each for each in new_places if self.after.definition(each).sig_start == line]
                if same:
                    new_places.remove(same[0])
                    self.matched[place] = same[0]
                else:
                    unmatched.append((name, place))
        removed = []
        for name, place in unmatched:
            if others.get(name):
                self.matched[place] = others[name].pop(0)
            else:
                removed.append(place)
        self.removed += sorted(removed)
        self.added += sorted(place for places in others.values() for place in places)


def _places_by_name(tree: TreeVersion, file: int | None) -> dict[tuple[str, bool], list[Place]]:
    definitions = enumerate(tree.index.definitions(file)) if file is not None else ()
    places = (((file or 0, row), each.kind in FUNCTIONS) for row, each in definitions)
    return grouped(((tree.qualified_name(place), is_function), place) for place, is_function in places)


def _without_literals(text: str, language: str, *, keeps_strings: bool) -> str:
    writing = language_named(language).writing
    if writing is None:
        return ""
    inside = re.compile(writing.inside, _FLAGS)

    def blank(found: re.Match[str]) -> str:
        literal = found[0]
        if keeps_strings and literal[0] in "\"'`":
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start()]
            if not literal.startswith(_TRIPLE) or line.strip():
                return literal
        at = int(literal[0] in "\"'`")
        result = literal[:at]
        around = text[max(0, found.start() - 2) : found.end()]
        if result and any(marker in around for marker in writing.markers):
            for code in inside.finditer(literal):
                result += _NO_BREAK.sub(" ", literal[at : code.start(1)]) + code[1]
                at = code.end(1)
        return result + _NO_BREAK.sub(" ", literal[at:])

    return re.sub("|".join(writing.skipped), blank, text, flags=_FLAGS)


def compare_trees(index: Index, patch: Patch) -> TreeComparison:
    """Return the trees before and after a patch, whether the index has it already or not."""
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    patched: list[PatchedFile] = []
    for each in _with_index_paths(index, patch.files):
        here = index.file_id(each.new) if each.new else None
        file = here if here is not None or not each.old else index.file_id(each.old)
        found = None if each.is_binary else _other_side(index, each, here, file)
        patched.append(PatchedFile(each, file, found and found[0]))
        if found is None:
            continue
        changed, source = found
        sides = (each.new, each.old) if changed.is_applied else (each.old, each.new)
        contents = before if changed.is_applied else after
        if sides[0] and each.old != each.new:
            contents.setdefault(sides[0], None)
        if sides[1]:
            contents[sides[1]] = source
    one, two = (TreeVersion(overlay_index(index, each) if each else index) for each in (before, after))
    return TreeComparison(one, two, patched)


def _with_index_paths(index: Index, files: Sequence[FilePatch]) -> Iterator[FilePatch]:
    """Yield the files with the index's paths; a patch names them from the repository's root, or below."""
    first, *others = index.build.source.parts
    top = None if others else top_folder(first.root)
    prefix = f"{first.root.relative_to(top).as_posix()}/" if top is not None and top != first.root else ""

    def located(path: str) -> str:
        for each in (path, path.removeprefix(prefix)):
            if index.file_id(each) is not None:
                return each
        if "/" not in path or path.startswith("/"):
            return path
        ends = [known for known in index.paths if known.endswith(f"/{path}")]
        return ends[0] if len(ends) == 1 else path

    for each in files:
        old, new = each.old and located(each.old), each.new and located(each.new)
        yield each._replace(old=new if each.old == each.new else old, new=new)


def _other_side(
    index: Index, patch: FilePatch, here: int | None, file: int | None
) -> tuple[ChangedFile, bytes] | None:
    """Return a changed file and its source on the side that the tree does not have.

    None if the patch does not apply, forwards or backwards.
    """
    if not patch.old or not patch.new:
        mark, is_applied = ("+", file is not None) if patch.new else ("-", file is None)
        text = "".join(f"{line}\n" for line in patch.marked(mark) if is_applied != bool(patch.new))
        changed = ChangedFile(patch.old, patch.new, LineMap(), is_applied)
        return changed, text.encode("utf-8", "surrogateescape")
    if file is None:
        return None
    lines = index.sources.text(file).split("\n")
    stripped = [line.rstrip() for line in lines]
    known = [each for hunk in patch.hunks if (each := locate_hunk(stripped, hunk)) is not None]
    if len(known) < len(patch.hunks) or len({each.is_applied for each in known}) > 1:
        return None
    is_applied = known[0].is_applied if known else here is not None
    if patch.old != patch.new and is_applied != (here is not None):
        return None
    other, line_map = switch_side(lines, known, is_applied=is_applied)
    source = "\n".join(other).encode("utf-8", "surrogateescape")
    return ChangedFile(patch.old, patch.new, line_map, is_applied), source
