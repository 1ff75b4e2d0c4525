"""What a patch changes of an index, by name: small enough to keep, and true when the patch is forgotten."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from repo_map.impact.gone import Defined, defined_in, difference
from repo_map.impact.patches import FilePatch, Hunk
from repo_map.impact.placing import Touched
from repo_map.impact.respacing import without_respaced
from repo_map.impact.sides import PatchedFile, Side, Sides
from repo_map.impact.values import MOST_WORDS, ChangedPart, Changes, GoneName
from repo_map.languages.kinds import CODE, FUNCTIONS, MEMBERS, TYPES
from repo_map.messages import one_line, plural
from repo_map.relations.file_facts import FileViews
from repo_map.secrets.masking import mask_text

if TYPE_CHECKING:
    from repo_map.parsing.values import Definition

MOST_PARTS: Final = 120
"""Definitions and stretches of lines that count as changed."""
MOST_GONE: Final = 60
_MOST_NAMED: Final = 3
_LONGEST_NAME: Final = 120
_LEAST_HEADER: Final = 8
"""Characters of a hunk's header below which it names no definition."""


def find_changes(sides: Sides, notes: Sequence[str] = ()) -> Changes:
    """Return what a patch changes, by the lines of the tree as it is.

    Args:
        sides: the patch beside the tree.
        notes: what could not be read of it.
    """
    reader = _Reader(sides)
    for each in sides.read:
        reader.take(each)
    return reader.result(notes)


class _Reader:
    """Collects what the files of a patch come to."""

    def __init__(self, sides: Sides) -> None:
        self._sides = sides
        self._index = sides.index
        self._parts: dict[tuple[str, str, int], ChangedPart] = {}
        self._gone: dict[tuple[str, str], GoneName] = {}
        self._added: dict[str, str] = {}
        """Names that added lines define, each with the file."""
        self._told: dict[str, list[str]] = {}
        self._unplaced: dict[str, int] = {}
        self._respaced: dict[str, int] = {}
        """Lines of files in which white space alone differs."""
        self._words: list[str] = []

    def result(self, notes: Sequence[str]) -> Changes:
        """Return what was collected."""
        parts = tuple(self._parts.values())
        gone = tuple(
            each._replace(successor=f"in `{self._added[each.name]}`") if each.name in self._added else each
            for each in self._gone.values()
        )
        told = [f"{what}: {_listed(paths)}." for what, paths in self._told.items()]
        if self._respaced:
            lines = plural(sum(self._respaced.values()), "line")
            told.append(
                f"Only white space differs, so not followed: {lines} of {_listed(list(self._respaced))}."
            )
        if self._unplaced:
            hunks = plural(sum(self._unplaced.values()), "change")
            files = _listed(list(self._unplaced))
            told.append(f"Not found in the files as they are, so not followed: {hunks} of {files}.")
        if len(parts) > MOST_PARTS or len(gone) > MOST_GONE:
            told.append(f"The change is large: of its parts the first {MOST_PARTS} were followed.")
        words = "\n".join(self._words)[:MOST_WORDS] if parts or gone else ""
        return Changes(parts[:MOST_PARTS], gone[:MOST_GONE], (*notes, *told), words=words)

    def take(self, read: PatchedFile) -> None:
        """Take in what is done to one file."""
        self._tell_kind(read.patch, is_here=read.file is not None)
        if read.file is not None:
            self._touch_all(read, read.file)
        if read.is_followed:
            self._find_gone(read.patch)

    def _touch_all(self, read: PatchedFile, file: int) -> None:
        """Take the definitions that hunks touch."""
        path = self._index.paths[file]
        language = self._index.language(file)
        respaced = 0
        for hunk, placed in zip(read.patch.hunks, read.places, strict=False):
            marked = without_respaced(hunk.lines, language)
            respaced += _marks(hunk.lines) - _marks(marked)
            self._words += (line[1:] for line in marked if line[0] != " ")
            if placed is not None:
                for touched in placed.touched:
                    self._touch(file, touched)
            elif not self._by_header(file, hunk):
                self._unplaced[path] = self._unplaced.get(path, 0) + 1
        if respaced:
            self._respaced[path] = respaced // 2

    def _tell_kind(self, patch: FilePatch, *, is_here: bool) -> None:
        """Note what is done to a file beside the change of its lines."""
        shown = _shown(patch.path)
        if patch.is_binary:
            self._tell("Binary, or not read, so not followed", shown)
        elif not patch.new:
            self._tell("Deleted by the patch" if is_here else "Deleted", shown)
        elif not patch.old:
            self._tell("New" if is_here else "New in the patch, and not here yet", shown)
        elif not is_here:
            self._tell("Not in this repository, so not followed", shown)
        if patch.old and patch.new and patch.old != patch.new:
            self._tell("Renamed", f"{_shown(patch.old)} to {shown}")

    def _touch(self, file: int, touched: Touched) -> None:
        definitions = self._index.definitions(file)
        rows = list(_rows_touched(definitions, touched, self._index.text(file).split("\n")))
        for row in rows:
            self._add(file, row, definitions[row])
        if not rows and not touched.is_between:
            path = self._index.paths[file]
            key = (path, "", touched.first)
            self._parts.setdefault(key, ChangedPart(path, "", touched.first, touched.last))

    def _add(self, file: int, row: int, definition: Definition, *, is_sure: bool = True) -> None:
        path, name = self._index.paths[file], self._index.qualified_name(file, row)
        part = ChangedPart(path, name, definition.start, definition.end, is_sure)
        known = self._parts.get((path, name, definition.start))
        if known is None or (is_sure and not known.is_sure):
            self._parts[path, name, definition.start] = part

    def _by_header(self, file: int, hunk: Hunk) -> bool:
        """Take the one definition that a hunk's header is the beginning of."""
        header = hunk.header.rstrip()
        if len(header) < _LEAST_HEADER:
            return False
        lines = self._index.text(file).split("\n")
        rows = [
            row
            for row, each in enumerate(self._index.definitions(file))
            if each.kind in CODE and lines[each.sig_start - 1].strip().startswith(header)
        ]
        if len(rows) == 1:
            self._add(file, rows[0], self._index.definitions(file)[rows[0]], is_sure=False)
        return len(rows) == 1

    def _find_gone(self, patch: FilePatch) -> None:
        """Take the names that one side of a file defines and the other does not."""
        sides = (self._sides.before, patch.old), (self._sides.after, patch.new)
        found = difference(*(_names(side, path) for side, path in sides))
        self._added.update((each.name, _shown(patch.path)) for each in found.added)
        successors: dict[Defined, str] = {}
        for hunk in patch.hunks:
            removed, added = ({line.strip() for line in hunk.marked(mark)} for mark in "-+")
            going = [each for each in found.gone if each.text in removed]
            coming = [each for each in found.added if each.text in added]
            if len(going) == len(coming) == 1:
                successors[going[0]] = f"`{coming[0].name}`"
        old = self._sides.before.index.file_id(patch.old) if patch.old else None
        for each in found.gone:
            if not each.owner and old is not None and self._sides.line_after(old, each.line):
                continue  # Its line is there: of a long list not every name is read.
            gone = GoneName(_shown(patch.old), each.name, successors.get(each, ""), each.owner)
            self._gone.setdefault((patch.old, each.qualified), gone)

    def _tell(self, what: str, path: str) -> None:
        self._told.setdefault(what, []).append(path)


def _names(side: Side, path: str) -> tuple[Defined, ...]:
    """Return the names that a file of a side defines, none where there is no such file."""
    file = side.index.file_id(path) if path else None
    if file is None:
        return ()
    bindings = side.index.derived(FileViews)[file].bindings
    return defined_in(side.index.definitions(file), bindings, side.index.text(file))


def _rows_touched(definitions: Sequence[Definition], touched: Touched, lines: Sequence[str]) -> Iterator[int]:
    """Yield the definitions whose own lines are touched: functions, else what stands right around."""
    functions = [
        row
        for row, each in enumerate(definitions)
        if each.kind in FUNCTIONS and not _is_within_function(definitions, row)
    ]
    found = [row for row in functions if _holds(definitions[row], touched, lines)]
    yield from found
    covered = [(definitions[row].start, definitions[row].end) for row in found]
    if any(first <= touched.first and touched.last <= last for first, last in covered):
        return
    others = [
        row
        for row, each in enumerate(definitions)
        if each.kind in CODE | MEMBERS
        and each.kind not in FUNCTIONS
        and each.start <= touched.first
        and touched.last <= each.end
        and not _is_within_function(definitions, row)
    ]
    if others and not found:
        yield min(others, key=lambda row: (definitions[row].end - definitions[row].start, row))
    if not found and not touched.is_between:
        yield from (
            row
            for row, each in enumerate(definitions)
            if each.kind in TYPES | MEMBERS
            and touched.first <= each.start
            and each.end <= touched.last
            and row not in others
            and not _is_within_function(definitions, row)
        )


def _holds(definition: Definition, touched: Touched, lines: Sequence[str]) -> bool:
    if not touched.is_between:
        return definition.start <= touched.last and touched.first <= definition.end
    if definition.start <= touched.first and touched.last <= definition.end:
        return True
    # What comes in behind a function's last line belongs to it where it is indented as its body is.
    head = lines[definition.sig_start - 1]
    return touched.first == definition.end and touched.indent > len(head) - len(head.lstrip())


def _is_within_function(definitions: Sequence[Definition], row: int) -> bool:
    parent = definitions[row].parent
    while parent >= 0:
        if definitions[parent].kind in FUNCTIONS:
            return True
        parent = definitions[parent].parent
    return False


def _marks(lines: Sequence[str]) -> int:
    """Return how many lines of a hunk are removed or added."""
    return sum(line[0] != " " for line in lines)


def _shown(path: str) -> str:
    """Return a path that somebody else wrote, as it may be told."""
    told = one_line(mask_text(path))
    return told if len(told) <= _LONGEST_NAME else f"{told[: _LONGEST_NAME - 1]}…"


def _listed(paths: Sequence[str]) -> str:
    named = ", ".join(f"`{path}`" for path in paths[:_MOST_NAMED])
    return named if len(paths) <= _MOST_NAMED else f"{named} and {len(paths) - _MOST_NAMED:,} more"
