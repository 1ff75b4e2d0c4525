"""Locations: ranges of lines with the definition or statement that they are, and pages of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

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
_CLOSING: Final = re.compile(r"\s*[)\]}>;,]")
_ASSIGNED: Final = re.compile(r"[\w.$\"'-]*?([\w$-]+)[\"']?\s*(?:\[\w*\]\s*)?(?::[^=]*)?[:=]")
_DECLARED: Final = re.compile(
    r"(?:(?:export|default|public|private|protected|static|final|const|let|var|val|readonly|pub|mut"
    r"|extern|inline|constexpr|unsigned|struct|int|char|bool|auto|long|short|double|float)\s+)*"
)
_Entry = TypeVar("_Entry")


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
        name = _statement_name(lines[first]) if last > first else ""
        owned = self._index.qualified_name(self._file, owner) if owner >= 0 else ""
        return Location(self._file, first + 1, last + 1, ".".join(filter(None, (owned, name))))

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


def _statement_name(line: str) -> str:
    """Return the name that a statement assigns: ``DEFAULTS`` of ``DEFAULTS: dict = {``."""
    text = line.strip()
    declared = _DECLARED.match(text)
    found = _ASSIGNED.match(text, declared.end() if declared else 0)
    return found[1] if found else ""


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
