"""The tree before a change and after it, each with its relations; only what differs is parsed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map.impact.patches import FilePatch, Hunk, Patch
from repo_map.impact.placing import Placed, PlacedFile
from repo_map.impact.respacing import without_respaced
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import language_named
from repo_map.parsing.forms import NO_FORMS, CallForm, Form, Forms
from repo_map.relations.model import Place
from repo_map.relations.resolve import Relations, relations_of
from repo_map.sources.repository import top_folder

if TYPE_CHECKING:
    from repo_map.index.repo_index import RepoIndex

_MOST_READ: Final = 1_000_000
"""Bytes of a file whose calls are read."""


class SideLines:
    """Which line of a file became which."""

    def __init__(self, count: int, hunks: Sequence[tuple[int, Hunk]]) -> None:
        """Take the lines of the file before, and its hunks in order, each with its first line there."""
        self._after: dict[int, int] = {}
        self._before: dict[int, int] = {}
        before = after = 1
        for first, hunk in hunks:
            after += self._same(before, after, first - before)
            before = first
            for line in hunk.lines:
                if line[0] == " ":
                    self._same(before, after, 1)
                before += line[0] != "+"
                after += line[0] != "-"
        self._same(before, after, count - before + 1)

    def _same(self, before: int, after: int, count: int) -> int:
        for at in range(count):
            self._after[before + at] = after + at
            self._before[after + at] = before + at
        return max(count, 0)

    def after(self, line: int) -> int:
        """Return the line that one of before is now, 0 for one that is gone or edited; lines count from 1."""
        return self._after.get(line, 0)

    def before(self, line: int) -> int:
        """Return the line that one of now was, 0 for one that is new or edited."""
        return self._before.get(line, 0)


class ChangedFile(NamedTuple):
    """A file of a change; one side is missing where it is new or gone."""

    old: str
    """Its path before, ``""`` for a new one."""
    new: str
    """Its path after, ``""`` for one that is gone."""
    lines: SideLines


class PatchedFile(NamedTuple):
    """A file of a patch beside the tree, also where it could not be followed."""

    patch: FilePatch
    file: int | None
    """The file of the tree, None where it has none."""
    places: tuple[Placed | None, ...]
    """Of the hunks in it."""
    is_followed: bool
    """Whether both of its sides are known."""


class Side:
    """One state of the tree."""

    def __init__(self, index: RepoIndex) -> None:
        self.index = index
        self.relations: Relations = relations_of(index)
        self._forms: dict[int, Forms] = {}

    def forms(self, file: int) -> Forms:
        """Return the functions and calls of a file."""
        if file not in self._forms:
            self.read([file])
        return self._forms[file]

    def read(self, files: Sequence[int]) -> None:
        """Have the functions and calls of files read at once."""
        from repo_map.index.worker_pool import read_forms  # noqa: PLC0415 - a warm start parses nothing

        wanted = [file for file in dict.fromkeys(files) if file not in self._forms]
        sources = [(self.index.paths[file], self.index.source(file)) for file in wanted]
        small = [(path, source if len(source) <= _MOST_READ else b"") for path, source in sources]
        read = read_forms(small, self.index.limits) if small else ()
        for file, (_, source), forms in zip(wanted, sources, read, strict=True):
            self._forms[file] = forms if len(source) <= _MOST_READ else NO_FORMS

    def forms_of(self, place: Place) -> tuple[Form, ...]:
        """Return what a function takes: of several that stand on its lines, those of its name."""
        file, row = place
        if row < 0:
            return ()
        definition = self.index.definitions(file)[row]
        name = definition.name.rpartition(".")[2].lstrip("@$#")
        return tuple(
            each
            for each in self.forms(file).functions
            if each.name == name
            and definition.start <= each.line <= max(definition.sig_end, definition.sig_start)
        )

    def calls_at(self, file: int, line: int, name: str) -> tuple[CallForm, ...]:
        """Return the calls of a name in a line."""
        return tuple(each for each in self._calls(file).get(line, ()) if each.name == name)

    def _calls(self, file: int) -> Mapping[int, list[CallForm]]:
        if file not in self._by_line:
            found: dict[int, list[CallForm]] = {}
            for each in self.forms(file).calls:
                found.setdefault(each.line, []).append(each)
            self._by_line[file] = found
        return self._by_line[file]

    @cached_property
    def _by_line(self) -> dict[int, dict[int, list[CallForm]]]:
        return {}

    def lines_of(self, place: Place, *, whole: bool = False) -> list[str]:
        """Return the lines of a definition's head, decorators and all, or of the whole definition."""
        definition = self.index.definitions(place[0])[place[1]]
        last = definition.end if whole else max(definition.sig_end, definition.sig_start)
        return self._texts(place[0])[definition.start - 1 : last]

    def line(self, file: int, line: int) -> str:
        """Return a line of a file, ``""`` for one that it has not."""
        lines = self._texts(file)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def _texts(self, file: int) -> list[str]:
        if file not in self._split:
            self._split[file] = self.index.text(file).split("\n")
        return self._split[file]

    @cached_property
    def _split(self) -> dict[int, list[str]]:
        return {}

    def is_declaration(self, place: Place) -> bool:
        """Tell whether a definition of C or C++ is a prototype."""
        if language_named(self.language(place[0])).family != "c":
            return False
        kind = self.index.definitions(place[0])[place[1]].kind
        text = "\n".join(self.lines_of(place, whole=True))
        return kind in FUNCTIONS - {"macro"} and "{" not in text and text.rstrip().endswith(";")

    def namesakes(self, name: str) -> list[Place]:
        """Return the definitions of a name, in the order of their files."""
        table, number = self.index.symbols, self.index.strings.get(name)
        rows = np.flatnonzero(table.name == number).tolist() if number is not None else []
        files = (np.searchsorted(table.file_start, rows, side="right") - 1).tolist() if rows else []
        return [(file, row - int(table.file_start[file])) for file, row in zip(files, rows, strict=True)]

    def name(self, place: Place) -> str:
        """Return the last name of a definition."""
        return self.index.definitions(place[0])[place[1]].name.rpartition(".")[2]

    def language(self, file: int) -> str:
        """Return a file's language."""
        return self.index.language(file)


class Pair(NamedTuple):
    """A definition on both sides."""

    before: Place
    after: Place


class Sides:
    """A change as two trees."""

    def __init__(
        self,
        index: RepoIndex,
        before: Side,
        after: Side,
        files: Sequence[ChangedFile],
        read: Sequence[PatchedFile],
    ) -> None:
        self.index = index
        """The tree as it is: one of the two, or neither where only some of the change is in it."""
        self.before = before
        self.after = after
        self.files = tuple(files)
        self.read = tuple(read)
        """All files of the patch, in its order."""
        self._by_old = {each.old: each for each in self.files if each.old}
        self._by_new = {each.new: each for each in self.files if each.new}

    def file_after(self, before: int) -> int | None:
        """Return the file that one of before is now, None where it is gone."""
        path = self.before.index.paths[before]
        changed = self._by_old.get(path)
        return self.after.index.file_id(path if changed is None else changed.new)

    def line_after(self, before: int, line: int) -> int:
        """Return the line that one of before is now, 0 where it is edited or gone."""
        changed = self._by_old.get(self.before.index.paths[before])
        return line if changed is None else changed.lines.after(line) if changed.new else 0

    def line_before(self, after: int, line: int) -> int:
        """Return the line that one of now was, 0 where it is edited or new."""
        changed = self._by_new.get(self.after.index.paths[after])
        return line if changed is None else changed.lines.before(line) if changed.old else 0

    def now(self, before: Place) -> Place | None:
        """Return a definition of the tree before as it is now, None where it is gone."""
        file = self.file_after(before[0])
        if before in self.after_of or file is None or self.before.index.paths[before[0]] in self._by_old:
            return self.after_of.get(before)
        return file, before[1]

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The definitions of the changed files that both sides have."""
        return tuple(self._matched[0])

    @cached_property
    def gone(self) -> tuple[Place, ...]:
        """The definitions that only the tree before has, in source order."""
        return tuple(self._matched[1])

    @cached_property
    def added(self) -> tuple[Place, ...]:
        """The definitions that only the tree after has, in source order."""
        return tuple(self._matched[2])

    @cached_property
    def after_of(self) -> Mapping[Place, Place]:
        """The pairs by their side before."""
        return dict(self.pairs)

    @cached_property
    def before_of(self) -> Mapping[Place, Place]:
        """The pairs by their side after."""
        return {each.after: each.before for each in self.pairs}

    @cached_property
    def _matched(self) -> tuple[list[Pair], list[Place], list[Place]]:
        pairs: list[Pair] = []
        gone: list[Place] = []
        added: list[Place] = []
        for each in self.files:
            old = self.before.index.file_id(each.old) if each.old else None
            new = self.after.index.file_id(each.new) if each.new else None
            matched = self._match(old, new, each.lines)
            pairs += (Pair(*pair) for pair in matched)
            for file, side, kept, into in (
                (old, self.before, {before for before, _ in matched}, gone),
                (new, self.after, {after for _, after in matched}, added),
            ):
                if file is not None:
                    rows = range(len(side.index.definitions(file)))
                    into.extend((file, row) for row in rows if (file, row) not in kept)
        return pairs, gone, added

    def _match(self, old: int | None, new: int | None, lines: SideLines) -> list[tuple[Place, Place]]:
        """Return the definitions that are the same on both sides: by name and line, then by name in order."""
        if old is None or new is None:
            return []
        before, after = self._named(self.before, old), self._named(self.after, new)
        found: list[tuple[Place, Place]] = []
        for name, rows in before.items():
            others = list(after.get(name, ()))
            rest: list[int] = []
            for row in rows:
                line = lines.after(self.before.index.definitions(old)[row].sig_start)
                same = [each for each in others if self.after.index.definitions(new)[each].sig_start == line]
                if same:
                    others.remove(same[0])
                    found.append(((old, row), (new, same[0])))
                else:
                    rest.append(row)
            found += (((old, row), (new, other)) for row, other in zip(rest, others, strict=False))
        return found

    @staticmethod
    def _named(side: Side, file: int) -> dict[tuple[str, bool], list[int]]:
        found: dict[tuple[str, bool], list[int]] = {}
        for row, each in enumerate(side.index.definitions(file)):
            key = (side.index.qualified_name(file, row), each.kind in FUNCTIONS)
            found.setdefault(key, []).append(row)
        return found


def sides_of(index: RepoIndex, patch: Patch) -> Sides:
    """Return the trees before and after a patch, whether the index has it already or not."""
    before: dict[str, bytes | None] = {}
    after: dict[str, bytes | None] = {}
    files: list[ChangedFile] = []
    read: list[PatchedFile] = []
    for each in _located(index, patch.files):
        here = index.file_id(each.new) if each.new else None
        file = here if here is not None or not each.old else index.file_id(each.old)
        places = () if file is None or each.is_binary else _places(index, file, each)
        found = None if each.is_binary else _edited(index, each, here, file, places)
        read.append(PatchedFile(each, file, places, found is not None))
        if found is None:
            continue
        if found.is_applied:
            # What is in the tree is the side after.
            if each.new != each.old and each.new:
                before.setdefault(each.new, None)
            if each.old:
                before[each.old] = found.other
        else:
            if each.old != each.new and each.old:
                after.setdefault(each.old, None)
            if each.new:
                after[each.new] = found.other
        files.append(ChangedFile(each.old, each.new, found.lines))
    return Sides(
        index,
        Side(index.with_files(before) if before else index),
        Side(index.with_files(after) if after else index),
        files,
        read,
    )


def _located(index: RepoIndex, files: Sequence[FilePatch]) -> Iterator[FilePatch]:
    """Yield the files of a patch by the index's paths; it names them from the repository's root, or below."""
    prefix = _prefix(index)

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


def _prefix(index: RepoIndex) -> str:
    """Return the folder of the index within its repository, with a slash at its end."""
    first, *others = index.place.parts
    top = None if others else top_folder(first.root)
    return f"{first.root.relative_to(top).as_posix()}/" if top is not None and top != first.root else ""


def _places(index: RepoIndex, file: int, patch: FilePatch) -> tuple[Placed | None, ...]:
    language = index.language(file)
    lines = PlacedFile(index.text(file).split("\n"))
    return tuple(lines.place(hunk, without_respaced(hunk.lines, language)) for hunk in patch.hunks)


class _Edited(NamedTuple):
    """A file of a patch beside the tree."""

    is_applied: bool
    """Whether the tree has it as the patch leaves it."""
    other: bytes
    """The side of it that the tree has not."""
    lines: SideLines


def _edited(
    index: RepoIndex, patch: FilePatch, here: int | None, file: int | None, places: Sequence[Placed | None]
) -> _Edited | None:
    """Return what a patch does to a file; None where its hunks have no sure place."""
    if not patch.old or not patch.new:
        # The whole file comes or goes.
        mark, is_applied = ("+", file is not None) if patch.new else ("-", file is None)
        text = "".join(f"{line}\n" for hunk in patch.hunks for line in hunk.marked(mark))
        return _Edited(is_applied, _bytes("" if is_applied == bool(patch.new) else text), SideLines(0, ()))
    if file is None:
        return None
    text = index.text(file)
    count = text.count("\n") + 1
    if not patch.hunks:
        return _Edited(here is not None, _bytes(text), SideLines(count, ()))
    known = [place for place in places if place is not None and place.is_whole]
    if len(known) < len(patch.hunks) or len({place.is_applied for place in known}) > 1:
        return None
    is_applied = known[0].is_applied
    if patch.old != patch.new and is_applied != (here is not None):
        return None
    pairs = sorted(
        ((place.first, hunk) for place, hunk in zip(known, patch.hunks, strict=True)),
        key=lambda pair: pair[0],
    )
    own, other = ("+", "-") if is_applied else ("-", "+")
    lines = text.split("\n")
    for first, hunk in reversed(pairs):
        lines[first - 1 : first - 1 + len(hunk.side(own))] = hunk.side(other)
    grown = 0
    firsts: list[tuple[int, Hunk]] = []
    for first, hunk in pairs:
        # Where the tree has the side after, the lines before are so many fewer further up.
        firsts.append((first - grown, hunk) if is_applied else (first, hunk))
        grown += len(hunk.marked("+")) - len(hunk.marked("-"))
    return _Edited(
        is_applied, _bytes("\n".join(lines)), SideLines(len(lines) if is_applied else count, firsts)
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
