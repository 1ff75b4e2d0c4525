"""The names of a repository in one file that is mapped into memory: where each is defined, and what calls it.

``names_writer`` writes it beside the index. It is read with the standard library alone, as a hook has some
60 milliseconds to start in: a program that imports numpy has spent them before it reads anything.
"""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import stat
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from repo_map.worktree import disk

MAGIC: Final = b"RNNAMES1"
NONE: Final = 0xFFFFFFFF
CALLERS_UNKNOWN: Final = -1
KINDS: Final = (
    "other",
    "function",
    "method",
    "class",
    "interface",
    "struct",
    "enum",
    "trait",
    "constant",
    "field",
)
TEST: Final = 1
COPIED: Final = 2
_LONGEST_READ: Final = 2_000_000


class CallingPlace(NamedTuple):
    """A place that calls a definition."""

    path: str
    line: int
    within: str
    """The definition that the call stands in, empty at the top of a file."""


class NamedPlace(NamedTuple):
    """Where a name is defined."""

    name: str
    owner: str
    """The class that it belongs to, empty at the top."""
    kind: str
    path: str
    line: int
    is_aside: bool
    """Whether a test, or a copy of somebody else's, defines it."""
    callers: int
    """How many places call it, ``CALLERS_UNKNOWN`` where nobody counted."""
    shown_callers: tuple[CallingPlace, ...]

    @property
    def title(self) -> str:
        """Its name with what it belongs to."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


def folded(name: str) -> str:
    """Return a name as it is compared: ``parse_header`` and ``parseHeader`` are one."""
    return name.replace("_", "").lower()


def names_file(cache: Path, root: Path) -> Path:
    """Return where the names of a repository are kept."""
    return cache / "names" / (hashlib.sha256(os.fsencode(root)).hexdigest()[:24] + ".names")


class NameTable:
    """The names of one repository, as they were when its index was last read."""

    def __init__(self, buffer: bytes | mmap.mmap, root: Path) -> None:
        """Raises ``ValueError`` or ``KeyError`` where the buffer holds no names of ``root``."""
        if buffer[:8] != MAGIC:
            raise ValueError("no file of names")
        size = int.from_bytes(buffer[8:16], sys.byteorder)
        about = json.loads(buffer[16 : 16 + size])
        if about["root"] != str(root) or about["end"] != len(buffer):
            raise ValueError("the names of another repository, or a part of them")
        self.root = root
        self.about: Mapping[str, Any] = about["about"]
        self._buffer = buffer
        self._whole = memoryview(buffer)
        self._sections: Mapping[str, Sequence[int]] = about["sections"]
        self._path_starts = self._column("path_starts", "I")
        self._name_starts = self._column("name_starts", "I")
        self._folded_starts = self._column("folded_starts", "I")
        self._first_definition = self._column("first_definition", "I")
        self._uses = self._column("uses", "I")

    @classmethod
    def open(cls, cache: Path, root: Path) -> NameTable | None:
        """Map the names of a repository, None where there are none that can be believed."""
        try:
            descriptor = os.open(names_file(cache, root), os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
            try:
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return None
                return cls(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), root)
            finally:
                os.close(descriptor)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def __len__(self) -> int:
        return len(self._name_starts) - 1

    def find(self, name: str) -> int | None:
        """Return the number of a name that is defined in the repository."""
        encoded = name.encode("utf-8", "replace")
        at = bisect_left(range(len(self)), encoded, key=self._name_bytes)
        return at if at < len(self) and self._name_bytes(at) == encoded else None

    def name(self, number: int) -> str:
        """Return a name by its number."""
        return self._name_bytes(number).decode("utf-8", "replace")

    def uses(self, number: int) -> int:
        """Return how often a name is used in the repository's code, whatever it means there."""
        return self._uses[number]

    def definitions(self, number: int) -> tuple[NamedPlace, ...]:
        """Return the definitions of a name, those that people mean first."""
        first, last = self._first_definition[number], self._first_definition[number + 1]
        found = [self._definition(number, row) for row in range(first, min(last, first + _MOST_DEFINITIONS))]
        return tuple(sorted(found, key=lambda each: (each.is_aside, each.path, each.line)))

    def count(self, number: int) -> int:
        """Return how many definitions bear a name."""
        return self._first_definition[number + 1] - self._first_definition[number]

    def spelt_like(self, name: str) -> tuple[int, ...]:
        """Return the names nearest to one that is not there, nearest first, five at most."""
        wanted = folded(name)
        if len(wanted) < _SHORTEST_LIKE:
            return ()
        start, length = self._sections["folded"]
        blob = self._buffer[start : start + length]
        whole = wanted.encode("utf-8", "replace")
        same = [self._at_folded(at + 1) for at in _occurrences(blob, b"\n" + whole + b"\n")]
        if same:
            return tuple(same[:_MOST_LIKE])
        near: dict[int, tuple[int, int, int]] = {}
        for at in _pieces_found(blob, whole):
            number = self._at_folded(at)
            if number in near:
                continue
            other = self._folded_name(number)
            if abs(len(other) - len(wanted)) <= _MOST_EDITS and len(wanted) >= _SHORTEST_MISSPELT:
                edits = _edits(wanted, other, _MOST_EDITS if len(wanted) > _LONG else 1)
                if edits is not None:
                    near[number] = (0, edits, number)
                    continue
            if len(wanted) >= _SHORTEST_PART and wanted in other and len(other) <= len(wanted) + _MOST_MORE:
                near[number] = (1, len(other) - len(wanted), number)
        return tuple(sorted(near, key=lambda each: near[each])[:_MOST_LIKE])

    def files_named(self, name: str) -> tuple[str, ...]:
        """Return the paths whose last part is ``name``, in whichever case, in order."""
        start, length = self._sections["paths"]
        blob = self._buffer[start : start + length].lower()
        last = name.lower().encode("utf-8", "replace") + b"\n"
        return tuple(
            sorted(
                {self._path_at(at + 1) for lead in (b"/", b"\n") for at in _occurrences(blob, lead + last)}
            )
        )

    def has_file(self, path: str) -> bool:
        """Tell whether the repository has a file at this path."""
        return self._number_of(path) is not None

    def has_folder(self, path: str) -> bool:
        """Tell whether the repository has a file below this path."""
        start, length = self._sections["paths"]
        return f"\n{path}/".encode("utf-8", "replace") in self._buffer[start : start + length]

    def stands(self, definition: NamedPlace) -> NamedPlace | None:
        """Return a definition where it stands now, None where its file no longer shows it.

        A file that is as it was is believed; one that changed is read, and the nearest line that bears
        the name is taken.
        """
        line = self._line_now(definition.path, definition.line, definition.name)
        if line is None:
            return None
        callers = []
        for caller in definition.shown_callers:
            at = self._line_now(caller.path, caller.line, definition.name)
            if at is not None:
                callers.append(caller._replace(line=at))
        return definition._replace(line=line, shown_callers=tuple(callers))

    def _line_now(self, path: str, line: int, name: str) -> int | None:
        number = self._number_of(path)
        try:
            now = disk.states(self.root, (path,))[:2].tolist()
            states = self._column("states", "q")
            if number is not None and any(now) and now == states[2 * number : 2 * number + 2].tolist():
                return line
            reading = disk.read_whole(self.root, path, _LONGEST_READ, first=0)
        except (OSError, ValueError):
            return None
        lines = reading.source.split(b"\n")
        wanted = name.encode("utf-8", "replace")
        bearing = [at + 1 for at, text in enumerate(lines) if wanted in text]
        return min(bearing, key=lambda at: abs(at - line), default=None)

    def _number_of(self, path: str) -> int | None:
        start, length = self._sections["paths"]
        blob = self._buffer[start : start + length]
        at = blob.find(b"\n" + path.encode("utf-8", "replace") + b"\n")
        return None if at < 0 else _row_of(self._path_starts, at + 1)

    def _definition(self, number: int, row: int) -> NamedPlace:
        column = self._column
        owner = column("owners", "I")[row]
        first, last = column("first_caller", "I")[row : row + 2]
        flags = column("flags", "B")[row]
        files, lines, within = (
            column(name, "I") for name in ("caller_files", "caller_lines", "caller_names")
        )
        return NamedPlace(
            self.name(number),
            "" if owner == NONE else self.name(owner),
            KINDS[column("kinds", "B")[row]],
            self._path(column("files", "I")[row]),
            column("lines", "I")[row],
            bool(flags),
            column("callers", "i")[row],
            tuple(
                CallingPlace(
                    self._path(files[each]),
                    lines[each],
                    "" if within[each] == NONE else self.name(within[each]),
                )
                for each in range(first, last)
            ),
        )

    def _column(self, name: str, kind: Literal["B", "I", "i", "q"]) -> memoryview[int]:
        start, length = self._sections[name]
        return self._whole[start : start + length].cast(kind)

    def _text(self, section: str, starts: memoryview[int], row: int) -> bytes:
        start = self._sections[section][0]
        return self._buffer[start + starts[row] : start + starts[row + 1] - 1]

    def _name_bytes(self, number: int) -> bytes:
        return self._text("names", self._name_starts, number)

    def _folded_name(self, number: int) -> str:
        return self._text("folded", self._folded_starts, number).decode("utf-8", "replace")

    def _path(self, row: int) -> str:
        return self._text("paths", self._path_starts, row).decode("utf-8", "replace")

    def _path_at(self, at: int) -> str:
        return self._path(_row_of(self._path_starts, at))

    def _at_folded(self, at: int) -> int:
        return _row_of(self._folded_starts, at)


_MOST_DEFINITIONS: Final = 200
_MOST_LIKE: Final = 5
_SHORTEST_LIKE: Final = 6
_SHORTEST_MISSPELT: Final = 6
_SHORTEST_PART: Final = 7
_MOST_MORE: Final = 6
_LONG: Final = 9
_MOST_EDITS: Final = 2
_MOST_FOUND: Final = 2_000


def _row_of(starts: memoryview[int], at: int) -> int:
    """Return the row of the text that holds a position; the last start is the end of them all."""
    return max(bisect_right(starts, at, hi=len(starts) - 1) - 1, 0)


def _occurrences(blob: bytes, wanted: bytes) -> Iterator[int]:
    at = blob.find(wanted)
    for _ in range(_MOST_FOUND):
        if at < 0:
            return
        yield at
        at = blob.find(wanted, at + 1)


def _pieces_found(blob: bytes, whole: bytes) -> Iterator[int]:
    """Yield where a name, or one of its parts, occurs: of two edits one third at least is left as it was."""
    third = max(2, len(whole) // 3)
    for piece in dict.fromkeys((whole, whole[:third], whole[third : 2 * third], whole[2 * third :])):
        if len(piece) > 1:
            yield from _occurrences(blob, piece)


def _edits(one: str, other: str, most: int) -> int | None:
    """Return how many letters differ, two that changed places counting as one; None beyond ``most``."""
    if abs(len(one) - len(other)) > most:
        return None
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        now = [at]
        for place, beside in enumerate(other, 1):
            cost = min(row[place] + 1, now[place - 1] + 1, row[place - 1] + (letter != beside))
            if before and place > 1 and letter == other[place - 2] and one[at - 2] == beside:
                cost = min(cost, before[place - 2] + 1)
            now.append(cost)
        if min(now) > most:
            return None
        before, row = row, now
    return row[-1] if row[-1] <= most else None
