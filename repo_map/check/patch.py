"""Read patches in the unified format out of any text, and locate their hunks; nothing is applied."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate, islice
from types import MappingProxyType
from typing import Final, NamedTuple

MAX_CHARS: Final = 1_000_000
"""Characters of a patch that are read."""
MAX_FILES: Final = 300
MAX_HUNKS: Final = 3_000
_MAX_PATH_CHARS: Final = 4_096
_MIN_UNIQUE_LINES: Final = 2
"""Lines with a word that a hunk needs to be found away from where the patch says it is."""
_MAX_REPEATS: Final = 100

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_GIT_HEADER = re.compile(r'diff --git (?:"?a/.+"? "?b/.+"?|"?\S+"? "?\S+"?)$')
_COMBINED = re.compile(r"diff --(?:cc|combined) |@@@ ")
_EXTENDED_HEADER = re.compile(
    r"(?:old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|"
    r"similarity index|dissimilarity index|index [0-9a-f]{4,64}\.\.)"
)
_BINARY = re.compile(r"Binary files |GIT binary patch$")
_BINARY_BLOCK = re.compile(r"(?:literal|delta) \d")
_ESCAPE = re.compile(rb'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_ESCAPED = dict(zip(b'abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_EMPTY_FENCE = re.compile(r"(?m)^[ \t]*(```|~~~)[\w+-]*[ \t]*\n\s*?\1[ \t]*(?:\n|\Z)")
"""What is left of a code block around a patch."""


class Hunk(NamedTuple):
    """Changed lines of a file with the context around them."""

    old_start: int
    """First line before the change, 1-based; of an empty side, the line before."""
    new_start: int
    """First line after the change, in the same way."""
    lines: tuple[str, ...]
    """Each begins with a space, ``-`` or ``+``."""

    def side(self, mark: str) -> tuple[str, ...]:
        """Return the lines as they are before (``-``) or after (``+``) the change."""
        return tuple(line[1:] for line in self.lines if line[0] in (" ", mark))

    def marked(self, mark: str) -> tuple[str, ...]:
        """Return the removed (``-``) or added (``+``) lines."""
        return tuple(line[1:] for line in self.lines if line[0] == mark)


class FilePatch(NamedTuple):
    """The changes of one file."""

    old: str
    """The path before, ``""`` for a new file."""
    new: str
    """The path after, ``""`` for a deleted file."""
    hunks: tuple[Hunk, ...] = ()
    is_binary: bool = False

    @property
    def path(self) -> str:
        return self.new or self.old

    def marked(self, mark: str) -> list[str]:
        """Return the removed (``-``) or added (``+``) lines."""
        return [line for hunk in self.hunks for line in hunk.marked(mark)]

    def below(self, folder: str) -> FilePatch:
        """Return the same with its paths in a folder, which ends in a slash if it is named."""
        return self._replace(old=self.old and folder + self.old, new=self.new and folder + self.new)


class Patch(NamedTuple):
    """The patches in a text."""

    files: tuple[FilePatch, ...] = ()
    rest: str = ""
    """The text without them."""
    notes: tuple[str, ...] = ()
    """What was not read of them, a sentence each."""


def read_patch(text: str) -> Patch:
    """Return the patches in a text, within code fences too, and the text without them."""
    text = text.replace("\r\n", "\n")
    if "\n@@" not in f"\n{text}" and "diff --" not in text:
        return Patch(rest=text)
    notes = []
    if len(text) > MAX_CHARS:
        notes.append(
            f"The patch was read as far as its first {MAX_CHARS:,} characters; "
            "give the part of it that matters."
        )
        text = text[:MAX_CHARS].rpartition("\n")[0]
    lines, rest = text.split("\n"), list[str]()
    found, at = list[FilePatch](), 0
    while at < len(lines):
        file, end = _read_file(lines, at)
        if file is None:
            rest.append(lines[at])
            at += 1
            continue
        found.append(file)
        at = next((after for after in range(end, len(lines)) if lines[after].strip()), len(lines))
    counts = accumulate(len(each.hunks) for each in found)
    files = [each for each, count in zip(found[:MAX_FILES], counts, strict=False) if count <= MAX_HUNKS]
    if len(files) < len(found):
        notes.append(
            f"The patch has more than {MAX_FILES} files or {MAX_HUNKS:,} hunks, and the rest was not read; "
            "give the part of it that matters."
        )
    if any(map(_COMBINED.match, lines)):
        notes.append("A merge was not read, as its patch has several parents; give it against one parent.")
    return Patch(tuple(files), _EMPTY_FENCE.sub("", "\n".join(rest)), tuple(notes))


def _line(lines: Sequence[str], at: int) -> str:
    return lines[at] if at < len(lines) else ""


def _read_file(lines: Sequence[str], at: int) -> tuple[FilePatch | None, int]:
    """Return the file whose patch begins at a line, None without one, and the line after it."""
    old = new = ""
    is_binary = False
    is_git = _GIT_HEADER.match(lines[at]) is not None
    if is_git:
        old, new = _git_paths(lines[at])
        at += 1
        while _EXTENDED_HEADER.match(line := _line(lines, at)):
            old = "" if line.startswith("new file") else old
            new = "" if line.startswith("deleted file") else new
            old = _path(line[len("rename from ") :], "") if line.startswith("rename from ") else old
            new = _path(line[len("rename to ") :], "") if line.startswith("rename to ") else new
            at += 1
        is_binary = _BINARY.match(_line(lines, at)) is not None
        if is_binary:
            at += 1
            # The blocks of a binary patch end with a blank line each.
            while _BINARY_BLOCK.match(_line(lines, at)):
                at = next((end + 1 for end in range(at, len(lines)) if not lines[end]), len(lines))
    is_named = _line(lines, at).startswith("--- ") and _line(lines, at + 1).startswith("+++ ")
    if not is_git and not (is_named and _HUNK.match(_line(lines, at + 2))):
        return None, at
    if is_named:
        old, new = _path(lines[at][4:], "a/"), _path(lines[at + 1][4:], "b/")
        at += 2
    hunks = []
    while (header := _HUNK.match(_line(lines, at))) is not None:
        hunk, at = _read_hunk(lines, header, at + 1)
        hunks.append(hunk)
    return FilePatch(old, new, tuple(hunks), is_binary), at


def _read_hunk(lines: Sequence[str], header: re.Match[str], at: int) -> tuple[Hunk, int]:
    old_left, new_left = int(header[2] or 1), int(header[4] or 1)
    found: list[str] = []
    while at < len(lines) and (old_left > 0 or new_left > 0 or lines[at].startswith("\\ No newline")):
        # A blank context line loses its mark where text is pasted.
        line = lines[at] or " "
        if line[0] not in " +-\\":
            break
        if line[0] != "\\":
            old_left -= line[0] != "+"
            new_left -= line[0] != "-"
            found.append(line)
        at += 1
    return Hunk(int(header[1]), int(header[3]), tuple(found)), at


def _git_paths(line: str) -> tuple[str, str]:
    """Return the paths of a ``diff --git`` line; a modified file is listed twice, ``a/PATH b/PATH``."""
    paths = line.removeprefix("diff --git ")
    first, second = paths[: len(paths) // 2], paths[len(paths) // 2 + 1 :]
    if '"' in paths or first.partition("/")[2] != second.partition("/")[2]:
        first, _, second = paths.replace(" b/", " b/b/", 1).partition(" b/")
    return (_path(first, "a/"), _path(second, "b/")) if second else ("", "")


def _path(written: str, prefix: str) -> str:
    r"""Return a path as a patch writes it, ``""`` for no file; git quotes bytes: ``\303\244`` is a letter."""
    path = written.partition("\t")[0].strip()[:_MAX_PATH_CHARS]
    if path.startswith('"') and path.endswith('"') and len(path) > 1:
        quoted = path[1:-1].encode("utf-8", "replace")
        path = _ESCAPE.sub(
            lambda each: bytes([int(each[1], 8) & 255 if each[1] else _ESCAPED[each[2][0]]]), quoted
        ).decode("utf-8", "replace")
    return "" if path == "/dev/null" else path.removeprefix(prefix)


class LocatedHunk(NamedTuple):
    """A hunk in the file as it is."""

    is_applied: bool
    """Whether the file is as the patch leaves it."""
    first: int
    """First line of the hunk's side that is in the file, 1-based; of an empty side, the line after."""
    hunk: Hunk


def locate_hunk(lines: Sequence[str], hunk: Hunk) -> LocatedHunk | None:
    """Return where a hunk is in a file, on either side of the change, however far it moved.

    Args:
        lines: The file's lines, without blanks at their ends.
        hunk: The hunk.
    """
    sides = [
        ([line.rstrip() for line in hunk.side(mark)], start, mark == "+")
        for mark, start in (("+", hunk.new_start), ("-", hunk.old_start))
    ]
    for side, start, is_applied in sides:
        if side and start and lines[start - 1 : start - 1 + len(side)] == side:
            return LocatedHunk(is_applied, start, hunk)
    text = "\n".join(("", *lines, ""))
    for side, start, is_applied in sides:
        if sum(any(map(str.isalnum, line)) for line in side) >= _MIN_UNIQUE_LINES:
            found = re.finditer(f"(?={re.escape(chr(10).join(('', *side, '')))})", text)
            firsts = [text.count("\n", 0, each.start()) + 1 for each in islice(found, _MAX_REPEATS)]
            if firsts:
                return LocatedHunk(is_applied, min(firsts, key=lambda at: (abs(at - start), at)), hunk)
    marks = {line[0] for line in hunk.lines}
    if marks not in ({"+"}, {"-"}):
        return None
    # Of insertions or deletions without context the line number decides.
    is_applied = "-" in marks
    start = hunk.new_start if is_applied else hunk.old_start
    return LocatedHunk(is_applied, start + 1, hunk) if 0 < start <= len(lines) else None


class LineMap(NamedTuple):
    """The unchanged lines of a file, 1-based, from before a change to after it, and back."""

    after: Mapping[int, int] = MappingProxyType({})
    before: Mapping[int, int] = MappingProxyType({})


def switch_side(
    lines: Sequence[str], hunks: Sequence[LocatedHunk], *, is_applied: bool
) -> tuple[list[str], LineMap]:
    """Return the lines on the other side of a change, and the map of those that are unchanged."""
    own, other = ("+", "-") if is_applied else ("-", "+")
    result: list[str] = []
    pairs: list[tuple[int, int]] = []
    at = 0

    def keep(count: int) -> None:
        nonlocal at
        kept = lines[at : at + max(count, 0)]
        pairs.extend((at + each, len(result) + each) for each in range(1, len(kept) + 1))
        result.extend(kept)
        at += len(kept)

    for _, first, hunk in sorted(hunks, key=lambda each: each.first):
        keep(first - 1 - at)
        for line in hunk.lines:
            keep(int(line[0] == " "))
            at += line[0] == own
            result += [line[1:]] if line[0] == other else ()
    keep(len(lines) - at)
    maps = dict(pairs), {there: here for here, there in pairs}
    return result, LineMap(*(reversed(maps) if is_applied else maps))
