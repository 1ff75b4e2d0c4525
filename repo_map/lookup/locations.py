"""Locations: ranges of lines with the definition or statement that they are, and how names lead to them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from repo_map import globs
from repo_map.arrays import distinct
from repo_map.errors import FlightPlanError
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
_CLOSING: Final = re.compile(r"\s*[)\]}>;,]")
_ASSIGNED: Final = re.compile(r"[\w.$\"'-]*?([\w$-]+)[\"']?\s*(?:\[\w*\]\s*)?(?::[^=]*)?[:=]")
_DECLARED: Final = re.compile(
    r"(?:(?:export|default|public|private|protected|static|final|const|let|var|val|readonly|pub|mut"
    r"|extern|inline|constexpr|unsigned|struct|int|char|bool|auto|long|short|double|float)\s+)*"
)
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
        base = self._bases.get((low, high), -1)
        if base < 0:
            base = min((_indentation(each) for each in lines[low - 1 : high] if each.strip()), default=0)
            self._bases[low, high] = base
        first = at
        while first > low - 1 and not _opens(lines[first], base) and at - first < _MAX_STATEMENT_LINES:
            first -= 1
        last = at
        while last + 1 < high and last - at < _MAX_STATEMENT_LINES:
            following = lines[last + 1]
            if following.strip() and _opens(following, base):
                break
            last += 1
        while last > at and not lines[last].strip():
            last -= 1
        name = _statement_name(lines[first]) if last > first else ""
        owned = self._index.qualified_name(self._file, owner) if owner >= 0 else ""
        return Location(self._file, first + 1, last + 1, ".".join(filter(None, (owned, name))))

    def _gap(self, line: int, owner: int) -> tuple[int, int]:
        """Return the lines around ``line`` that belong to ``owner`` and to no definition inside of it."""
        if owner >= 0:
            low, high = self._definitions[owner].sig_end + 1, self._definitions[owner].end
        else:
            low, high = 1, len(self.lines)
        low = min(low, line)
        for row in range(bisect_right(self._starts, line) - 1, -1, -1):
            if self._definitions[row].end < line:
                low = max(low, self._definitions[row].end + 1)
            if self._definitions[row].parent == owner:
                break
        following = bisect_right(self._starts, line)
        if following < len(self._starts):
            high = max(line, min(high, self._starts[following] - 1))
        return low, high


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


def find_files(index: Index, paths: str) -> list[int]:
    """Return the files that a path, a folder, the end of a path, or a glob names.

    Raises:
        LookupRequestError: it names none.
    """
    wanted = paths.strip().removeprefix("./").removesuffix("/") or "**"
    try:
        found = globs.select(wanted, index.paths) or globs.select(f"**/{wanted}", index.paths)
    except FlightPlanError as error:
        raise LookupRequestError(str(error)) from None
    if not found:
        found = [file for file, path in enumerate(index.paths) if f"/{path}".find(f"/{wanted}/") >= 0]
    if not found:
        folders = list(dict.fromkeys(f"{path.partition('/')[0]}/" for path in index.paths if "/" in path))
        has = f" Folders: {', '.join(folders[:12])}." if folders else ""
        raise LookupRequestError(f"No file matches `{one_line(paths)}`.{has}")
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
    near = nearest_names(index, name)
    hint = f" Nearest: {', '.join(f'`{one_line(each)}`' for each in near)}." if near else ""
    return f"Nothing is called `{one_line(name)}`.{hint}"


def listed_elsewhere(index: Index, locations: Sequence[Location]) -> str:
    """Return the places of some definitions in one line, four by range and the others by number."""
    shown = [f"{one_line(index.paths[each.file])}:{each.first}-{each.last}" for each in locations[:4]]
    more = len(locations) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def listed_files(index: Index, files: Iterable[int]) -> str:
    """Return files with how often each is among them: ``a.py (3), b.py``."""
    numbers: dict[int, int] = {}
    for file in files:
        numbers[file] = numbers.get(file, 0) + 1
    return first_three(
        [f"{one_line(index.paths[file])}{f' ({n})' if n > 1 else ''}" for file, n in numbers.items()]
    )


class TextBudget:
    """Collects the parts of an answer as long as they fit into a number of tokens."""

    def __init__(self, tokens: int) -> None:
        self.left = tokens
        self.parts: list[str] = []

    def add(self, part: str) -> bool:
        """Add a part, and return True, if it fits; the first part is added in any case, cut to its lines."""
        size = count(part) + 1
        if size > self.left:
            if self.parts:
                return False
            lines = part.split("\n")
            while len(lines) > 1 and count("\n".join(lines)) + 1 > self.left:
                lines = lines[: max(1, len(lines) * 3 // 4)]
            part, size = "\n".join(lines), self.left
        self.parts.append(part)
        self.left -= size
        return True
