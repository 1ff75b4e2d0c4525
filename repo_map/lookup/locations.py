"""Locations: ranges of lines with the definition or statement that they are, names of them, and pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

import numpy as np

from repo_map import globs
from repo_map.arrays import distinct
from repo_map.errors import FlightPlanError
from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.lookup.requests import LookupRequestError
from repo_map.messages import first_three, one_line, printable
from repo_map.sources.file_kinds import (
    GENERATED_OR_VENDORED,
    PATH_ONLY,
    is_auxiliary,
    is_build_output,
    is_bundle,
)
from repo_map.text.tokens import count

if TYPE_CHECKING:
    from repo_map.index.index import Index
    from repo_map.relations.model import Place

MAX_LINE_CHARS: Final = 200
"""Characters of a line that are printed."""
_MAX_STATEMENT_LINES: Final = 400
"""Lines of a statement outside definitions that are looked through for its ends."""
_MAX_CURSOR_CHARS: Final = 8
_MAX_MEMBERS: Final = 8
"""Members that the message about an unknown one lists."""
_CLOSING: Final = re.compile(r"\s*[)\]}>;,]")
_Entry = TypeVar("_Entry")
_IN_FILE: Final = (
    re.compile(r"(?P<path>.+?):L?(?P<first>\d+)(?:\s?[-–]\s?L?(?P<last>\d+))?$"),
    # As a test runner writes it: ``tests/test_a.py::TestA::test_b[1]``.
    re.compile(r"(?P<path>[^:]+)::(?P<name>[^\[]+)"),
    re.compile(r"(?P<path>.+?):(?P<name>[^\d:].*)$"),
    re.compile(r"(?P<name>\S+) \((?P<path>[^()]+)\)$"),
)
"""The ways to write lines or a definition with the file."""
_OWNER: Final = re.compile(r"^\(?[*&]*([\w.]+)\)?\.(?=\w)|^[*&]+")
"""The receiver of a method as its users write it: ``(*LB).``, ``LB.``."""


class Location(NamedTuple):
    """A definition, a statement outside definitions, or lines of a file."""

    file: int
    first: int
    """First line, 1-based: with decorators, without the documentation comment above."""
    last: int
    """Last line, inclusive."""
    name: str = ""
    """Qualified name; ``""`` for lines that have none."""
    kind: str = ""
    """One of ``languages.kinds.KINDS``; ``""`` for lines that are no definition."""
    row: int = -1
    """Row of the definition within its file, -1 where it is none."""


class Answer(NamedTuple):
    """The answer to one request."""

    text: str
    locations: tuple[Location, ...] = ()
    """The definitions and lines that are listed or shown, in the order of the text."""
    cursor: str = ""
    """What continues the list where it was cut; ``""`` where nothing is left."""


def definition_at(index: Index, place: Place) -> Location:
    """Return the location of a definition; of row -1 the first line of its file."""
    file, row = place
    if row < 0:
        return Location(file, 1, 1)
    found = index.definitions(file)[row]
    return Location(file, found.start, found.end, index.qualified_name(file, row), found.kind, row)


class FileLocations:
    """The innermost definition or statement around each line of one file."""

    def __init__(self, index: Index, file: int) -> None:
        self._index = index
        self._file = file
        self._definitions = index.definitions(file)
        self._starts = [each.start for each in self._definitions]
        self._lines: list[str] | None = None
        self._bases: dict[tuple[int, int], int] = {}

    @property
    def lines(self) -> list[str]:
        """The lines of the file."""
        if self._lines is None:
            self._lines = self._index.sources.text(self._file).split("\n")
        return self._lines

    def row_at(self, line: int) -> int:
        """Return the row of the innermost definition around a line, -1 where there is none."""
        row = bisect_right(self._starts, line) - 1
        while row >= 0 and self._definitions[row].end < line:
            row = self._definitions[row].parent
        return row

    def at(self, line: int) -> Location:
        """Return the innermost function, constant or member around a line, else the statement there."""
        row = self.row_at(line)
        if row >= 0:
            found = self._definitions[row]
            is_body = line > found.sig_end and any(
                each.parent == row for each in self._definitions[row + 1 : row + 2]
            )
            if not is_body or found.kind in ("function", "method", "macro"):
                return definition_at(self._index, (self._file, row))
        return self._statement(line, row)

    def _statement(self, line: int, owner: int) -> Location:
        """Return the statement around a line that no inner definition contains."""
        lines, (low, high) = self.lines, self._gap(line, owner)
        at = min(line, len(lines)) - 1
        if (low, high) not in self._bases:
            indented = (_indentation(each) for each in lines[low - 1 : high] if each.strip())
            self._bases[low, high] = min(indented, default=0)
        base = self._bases[low, high]
        first = last = at
        while first >= low and not _opens(lines[first], base) and at - first < _MAX_STATEMENT_LINES:
            first -= 1
        while last + 1 < high and not _opens(lines[last + 1], base) and last - at < _MAX_STATEMENT_LINES:
            last += 1
        while last > at and not lines[last].strip():
            last -= 1
        name = self._index.qualified_name(self._file, owner) if owner >= 0 else ""
        return Location(self._file, first + 1, last + 1, name)

    def _gap(self, line: int, owner: int) -> tuple[int, int]:
        """Return the lines around ``line`` that belong to ``owner`` and to no definition inside of it."""
        around = self._definitions[owner] if owner >= 0 else None
        low, high = (around.sig_end + 1, around.end) if around else (1, len(self.lines))
        following = bisect_right(self._starts, line)
        before = following - 1
        while before >= 0 and self._definitions[before].parent != owner:
            before = self._definitions[before].parent
        if before >= 0:
            low = max(low, self._definitions[before].end + 1)
        if following < len(self._starts):
            high = min(high, self._starts[following] - 1)
        return min(low, line), max(line, high)


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _opens(line: str, base: int) -> bool:
    """Return True if a line begins a statement at an indentation: it is no closing bracket."""
    return bool(line.strip()) and _indentation(line) <= base and _CLOSING.match(line) is None


def describe(index: Index, location: Location) -> str:
    """Return ``path:first-last qualified.name [kind]``."""
    lines = f"{location.first}" if location.first == location.last else f"{location.first}-{location.last}"
    name = f" {one_line(location.name)}" if location.name else ""
    kind = f" [{location.kind}]" if location.kind else ""
    return f"{one_line(index.paths[location.file])}:{lines}{name}{kind}"


def numbered(number: int, line: str, at: int = 0) -> str:
    """Return a line with its number; of a long one what stands around the character ``at``."""
    text = printable(line.rstrip())
    if len(text) > MAX_LINE_CHARS:
        first = max(0, min(at - MAX_LINE_CHARS // 3, len(text) - MAX_LINE_CHARS))
        text = ("…" if first else "") + text[first : first + MAX_LINE_CHARS] + "…"
    return f"{number:>5} {text}"


def is_left_out(index: Index, file: int) -> bool:
    """Return True if a file is generated, vendored or a build product, which nobody edits."""
    return bool(int(index.files.flags[file]) & GENERATED_OR_VENDORED) or is_bundle(index.paths[file])


def trust(index: Index, file: int) -> int:
    """Return 0 for the source of the project, more for what is less likely meant: the order of results."""
    role = language_named(index.language(file)).role
    is_code = role in (LanguageRole.CODE, LanguageRole.DECLARATIONS)
    if is_left_out(index, file):
        return 4
    if index.files.is_test(file):
        return 3
    path = index.paths[file]
    return (0 if is_code else 2) + (1 if is_code and (is_auxiliary(path) or is_build_output(path)) else 0)


def has_text(index: Index, file: int) -> bool:
    """Return True if a file is more than a path: no binary, no link, not over the size limit."""
    return not int(index.files.flags[file]) & PATH_ONLY


def listed_elsewhere(index: Index, locations: Sequence[Location]) -> str:
    """Return the places of some definitions in one line, four by range and the others by number."""
    shown = [f"{one_line(index.paths[each.file])}:{each.first}-{each.last}" for each in locations[:4]]
    more = len(locations) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def listed_files(index: Index, files: Iterable[int]) -> str:
    """Return files with how often each is among them: ``a.py (3), b.py``."""
    counts = Counter(files).items()
    return first_three([f"{one_line(index.paths[file])}{f' ({n})' if n > 1 else ''}" for file, n in counts])


def nothing_excluded(_path: str) -> bool:
    """Return False: the user left out no path."""
    return False


class Page(NamedTuple, Generic[_Entry]):
    """The entries of a list that fit into one answer."""

    texts: list[str]
    shown: Sequence[_Entry]
    rest: Sequence[_Entry]
    cursor: str
    """What continues the list; ``""`` where nothing is left."""

    @property
    def continued(self) -> str:
        """How to ask for the rest."""
        return f'continue with cursor "{self.cursor}"'


def make_page(
    entries: Sequence[_Entry],
    forms: Callable[[int, _Entry], Iterable[str]],
    tokens: int,
    *,
    cursor: str = "",
    limit: int | None = None,
    head: str = "",
) -> Page[_Entry]:
    """Return the entries that fit, from a cursor on; the first one in any case, cut to its lines.

    Args:
        entries: All of them.
        forms: Returns the texts of an entry at a position, the fullest first, of which the first that fits
            is taken.
        tokens: What they may take.
        cursor: What an earlier page gave.
        limit: How many they may be at most.
        head: A text before them.

    Raises:
        LookupRequestError: The cursor is none.
    """
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < _MAX_CURSOR_CHARS):
        raise LookupRequestError(f"`cursor` is `{one_line(cursor)[:40]}`; send the one that the answer gave.")
    first = int(cursor or 0)
    texts = [head] if head else []
    left = tokens - sum(count(text) + 1 for text in texts)
    end = first
    for at, entry in enumerate(entries[first : None if limit is None else first + limit], first):
        sizes = ((text, count(text) + 1) for text in forms(at, entry))
        text, size = next(((text, size) for text, size in sizes if size <= left or not texts), ("", 0))
        if not text:
            break
        if size > left:
            text, size = _cut(text, left), left
        texts.append(text)
        left -= size
        end = at + 1
    return Page(texts, entries[first:end], entries[end:], str(end) if end < len(entries) else "")


def _cut(text: str, tokens: int) -> str:
    """Return as many lines of a text as fit, at least one."""
    lines = text.split("\n")
    while len(lines) > 1 and count("\n".join(lines)) + 1 > tokens:
        lines = lines[: max(1, len(lines) * 3 // 4)]
    return "\n".join(lines)


class Name(NamedTuple):
    """A name in its parts."""

    name: str
    """Of a definition, as it is written; ``""`` for lines."""
    files: tuple[int, ...] = ()
    """The files that are named with it, none if it is written without a path."""
    lines: tuple[int, int] | None = None
    """First and last line."""


def parse_name(index: Index, text: str) -> Name:
    """Return the parts of ``path:first-last``, ``path:name``, ``name (path)`` or a mere name."""
    for form in _IN_FILE:
        if (match := form.match(text)) and (files := files_named(index, match["path"])):
            groups = match.groupdict()
            if first := groups.get("first"):
                return Name("", tuple(files), (int(first), int(groups["last"] or first)))
            return Name(groups["name"] or "", tuple(files))
    return Name(text)


def find_files(index: Index, paths: str) -> list[int]:
    """Return the files that a path, a folder, the end of a path, or a glob names.

    Raises:
        LookupRequestError: it names none.
    """
    try:
        # An alternative may be a folder: ``{src,README.md}``.
        parts = globs.expand_braces(paths.strip())
        found = sorted({file for each in parts for file in _files_at(index, each)})
    except FlightPlanError as error:
        raise LookupRequestError(str(error)) from None
    if not found:
        folders = list(dict.fromkeys(f"{path.partition('/')[0]}/" for path in index.paths if "/" in path))
        has = f" Folders: {', '.join(folders[:12])}." if folders else ""
        raise LookupRequestError(f"No file matches `{one_line(paths)}`.{has}")
    return found


def _files_at(index: Index, path: str) -> list[int]:
    wanted = path.strip().removeprefix("./").removesuffix("/") or "**"
    found = globs.select(wanted, index.paths) or globs.select(f"**/{wanted}", index.paths)
    return found or [file for file, each in enumerate(index.paths) if f"/{wanted}/" in f"/{each}"]


def files_named(index: Index, path: str) -> list[int]:
    """Return the files that ``find_files`` finds, none instead of an error."""
    try:
        return find_files(index, path)
    except LookupRequestError:
        return []


def find_file(index: Index, path: str) -> int | None:
    """Return the file at a path or, where it is only one, at the end of a path."""
    found = index.file_id(path.removeprefix("./"))
    if found is not None or ("/" not in path and "." not in path):
        return found
    files = [file for file in files_named(index, path) if f"/{index.paths[file]}".endswith(f"/{path}")]
    return files[0] if len(files) == 1 else None


def find_symbol(index: Index, symbol: str) -> list[Place]:
    """Return the definitions that a name means, or around a line; of a path its file, as row -1."""
    name, files, lines = parse_name(index, symbol)
    if lines is not None:
        row = FileLocations(index, files[0]).row_at(lines[0])
        return [(files[0], row)] if row >= 0 else []
    within = [place for place in find_definitions(index, name) if place[0] in files]
    if within or (files and "::" not in symbol):
        return within
    found = find_definitions(index, symbol)
    if not found and ("." in symbol or "/" in symbol):
        named = files_named(index, symbol)
        return [(named[0], -1)] if len(named) == 1 else []
    return found


def find_definitions(index: Index, name: str, near: Iterable[str] = ()) -> list[Place]:
    """Return the definitions of a name, qualified or not; the project's own source before copies and tests.

    Args:
        index: where to look.
        name: as any language writes it: ``f``, ``A.f``, ``A::f``, ``(*A).f``, ``f()``.
        near: paths; definitions in or near them come first among equals.
    """
    plain = plain_name(name)
    leaf = plain.rpartition(".")[2]
    if not leaf:
        return []
    numbers = [*index.memo(_member_names).get(leaf, ())]
    if (number := index.strings.get(leaf)) is not None:
        numbers.append(number)
    starts = index.symbols.file_start
    found: list[Place] = []
    for row in np.flatnonzero(np.isin(index.symbols.name, numbers)).tolist():
        file = int(np.searchsorted(starts, row, side="right")) - 1
        qualified = index.qualified_name(file, row - int(starts[file]))
        if qualified == plain or qualified.endswith(f".{plain}"):
            found.append((file, row - int(starts[file])))
    folders = {str(PurePosixPath(path).parent) for path in near}
    known = set(near)

    def order(place: Place) -> tuple[object, ...]:
        path = index.paths[place[0]]
        is_near = path in known, str(PurePosixPath(path).parent) in folders
        definition = index.definitions(place[0])[place[1]]
        is_declared_only = definition.end == definition.sig_end
        return (trust(index, place[0]), *(not each for each in is_near), is_declared_only, place)

    return sorted(found, key=order)


def plain_name(name: str) -> str:
    """Return a name with dots for all that languages write between a scope and its member."""
    text = _OWNER.sub(r"\1.", name.strip())
    return text.removesuffix("()").replace("::", ".").replace("#", ".").replace("->", ".").strip(".")


def _member_names(index: Index) -> dict[str, tuple[int, ...]]:
    """Return the names that carry their owner (Go's ``LB.tryAgain``), by their last part."""
    found: dict[str, list[int]] = {}
    for number in distinct(index.symbols.name).tolist():
        owner, dot, leaf = index.strings[number].rpartition(".")
        if owner and dot:
            found.setdefault(leaf, []).append(number)
    return {leaf: tuple(numbers) for leaf, numbers in found.items()}


def nearest_names(index: Index, name: str) -> list[str]:
    """Return up to three names of definitions, or of files for a path, that are spelled much like a name."""
    leaf = plain_name(name).rpartition(".")[2]
    names = sorted(index.memo(_definition_names))
    if "." in name or "/" in name:
        files = sorted({path.rpartition("/")[2] for path in index.paths})
        if found := get_close_matches(name.rpartition("/")[2], files, n=3, cutoff=0.75):
            return found
    by_case = [each for each in names if each.lower() == leaf.lower()]
    return by_case[:3] or get_close_matches(leaf, names, n=3, cutoff=0.75)


def _definition_names(index: Index) -> frozenset[str]:
    return frozenset(index.strings.many(distinct(index.symbols.name)))


def unknown(index: Index, name: str) -> str:
    """Return the message about a name that no definition and no file has."""
    message = f"Nothing is called `{one_line(name)}`."
    if near := nearest_names(index, name):
        return f"{message} Nearest: {_quoted(near)}."
    owner, members = _members_of_owner(index, name)
    if not members:
        return message
    more = f" and {len(members) - _MAX_MEMBERS} more" if len(members) > _MAX_MEMBERS else ""
    return f"{message} Members of `{one_line(owner)}`: {_quoted(members[:_MAX_MEMBERS])}{more}."


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"`{one_line(each)}`" for each in names)


def _members_of_owner(index: Index, name: str) -> tuple[str, list[str]]:
    """Return the owner in a qualified name, and its members, public functions first."""
    owner = plain_name(name).rpartition(".")[0]
    for file, row in find_definitions(index, owner):
        definitions = index.definitions(file)
        members = [each for each in definitions if each.parent == row]
        if members:
            members.sort(key=lambda each: (each.name.startswith("_"), each.kind not in FUNCTIONS))
            return owner, list(dict.fromkeys(each.name for each in members))
    return owner, []
