"""Read patches in the unified format out of any text, and locate their hunks; nothing is applied."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from itertools import islice
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
_ESCAPE = re.compile(r'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_ESCAPED = dict(zip('abtnvfr"\\', b'\a\b\t\n\v\f\r"\\', strict=True))
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[\w+-]*[ \t]*")


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
        """The path to show."""
        return self.new or self.old


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
    parser = _Parser(text.split("\n"))
    files = tuple(parser.files())
    if parser.is_truncated:
        notes.append(
            f"The patch has more than {MAX_FILES} files or {MAX_HUNKS:,} hunks, and the rest was not read; "
            "give the part of it that matters."
        )
    if parser.has_combined:
        notes.append("A merge was not read, as its patch has several parents; give it against one parent.")
    return Patch(files, _remove(parser.lines, parser.used), tuple(notes))


def _remove(lines: Sequence[str], used: Container[int]) -> str:
    """Return the lines outside of patches, without the fences around a patch."""
    rest: list[str] = []
    is_fenced = was_patch = False
    for at, line in enumerate(lines):
        if at in used:
            if not was_patch and rest and _FENCE.fullmatch(rest[-1]):
                rest.pop()
                is_fenced = True
            was_patch = True
        elif was_patch and is_fenced and _FENCE.fullmatch(line):
            is_fenced = was_patch = False
        elif not was_patch or line.strip():
            was_patch = False
            rest.append(line)
    return "\n".join(rest)


class _Parser:
    """Finds patches among lines; remembers which lines belong to them."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.used: set[int] = set()
        self.is_truncated = False
        self.has_combined = False
        self._hunks = 0

    def files(self) -> Iterator[FilePatch]:
        """Yield the files of the patches."""
        at, count = 0, 0
        while at < len(self.lines):
            self.has_combined |= _COMBINED.match(self.lines[at]) is not None
            start = at
            found, at = self._file(at)
            if found is None:
                at = start + 1
                continue
            self.used.update(range(start, at))
            count += 1
            if count > MAX_FILES or self._hunks > MAX_HUNKS:
                self.is_truncated = True
            else:
                yield found

    def _file(self, at: int) -> tuple[FilePatch | None, int]:
        """Return the file whose patch begins at a line, and the line after it."""
        old = new = ""
        is_binary = False
        is_git = _GIT_HEADER.match(self.lines[at]) is not None
        if is_git:
            old, new, at = self._git_header(at)
            if self._line(at).startswith("Binary files "):
                is_binary, at = True, at + 1
            elif self._line(at) == "GIT binary patch":
                is_binary, at = True, self._skip_binary(at + 1)
        if self._line(at).startswith("--- ") and self._line(at + 1).startswith("+++ "):
            if not is_git and _HUNK.match(self._line(at + 2)) is None:
                return None, at
            old, new = _path(self.lines[at][4:], "a/"), _path(self.lines[at + 1][4:], "b/")
            at += 2
        elif not is_git:
            return None, at
        hunks = []
        while (header := _HUNK.match(self._line(at))) is not None:
            hunk, at = self._hunk(header, at + 1)
            self._hunks += 1
            if self._hunks <= MAX_HUNKS:
                hunks.append(hunk)
        return FilePatch(old, new, tuple(hunks), is_binary), at

    def _git_header(self, at: int) -> tuple[str, str, int]:
        """Return both paths of git's header, and the line after it."""
        old, new = _git_paths(self.lines[at])
        at += 1
        while _EXTENDED_HEADER.match(line := self._line(at)):
            if line.startswith("new file"):
                old = ""
            elif line.startswith("deleted file"):
                new = ""
            elif line.startswith("rename from "):
                old = _path(line.removeprefix("rename from "), "")
            elif line.startswith("rename to "):
                new = _path(line.removeprefix("rename to "), "")
            at += 1
        return old, new, at

    def _hunk(self, header: re.Match[str], at: int) -> tuple[Hunk, int]:
        old_left, new_left = int(header[2] or 1), int(header[4] or 1)
        lines: list[str] = []
        while (old_left > 0 or new_left > 0) and at < len(self.lines):
            # A blank context line loses its mark where text is pasted.
            line = self.lines[at] or " "
            if line[0] not in " +-\\":
                break
            if line[0] != "\\":
                old_left -= line[0] != "+"
                new_left -= line[0] != "-"
                lines.append(line)
            at += 1
        if self._line(at).startswith("\\ No newline"):
            at += 1
        return Hunk(int(header[1]), int(header[3]), tuple(lines)), at

    def _skip_binary(self, at: int) -> int:
        """Return the line after a binary patch, whose blocks end with a blank line each."""
        while re.match(r"(?:literal|delta) \d", self._line(at)):
            while self._line(at):
                at += 1
            at += 1
        return at

    def _line(self, at: int) -> str:
        return self.lines[at] if at < len(self.lines) else ""


def _git_paths(line: str) -> tuple[str, str]:
    """Return the paths of a ``diff --git`` line; a modified file is listed twice, ``a/PATH b/PATH``."""
    paths = line.removeprefix("diff --git ")
    if '"' not in paths and len(paths) % 2:
        first, second = paths[: len(paths) // 2], paths[len(paths) // 2 + 1 :]
        if first.partition("/")[2] == second.partition("/")[2]:
            return _path(first, "a/"), _path(second, "b/")
    first, _, second = paths.partition(" b/")
    return (_path(first, "a/"), _path(second, "")) if second else ("", "")


def _path(written: str, prefix: str) -> str:
    """Return a path as a patch writes it, ``""`` for no file."""
    path = written.partition("\t")[0].strip()
    if path == "/dev/null":
        return ""
    path = path[:_MAX_PATH_CHARS]
    if path.startswith('"') and path.endswith('"') and len(path) > 1:
        path = _unquote(path[1:-1])
    return path.removeprefix(prefix)


def _unquote(path: str) -> str:
    r"""Return a path that git quotes: ``\303\244`` is a letter of two bytes."""
    found, last = bytearray(), 0
    for escape in _ESCAPE.finditer(path):
        found += path[last : escape.start()].encode("utf-8", "replace")
        found.append(int(escape[1], 8) & 255 if escape[1] else _ESCAPED[escape[2]])
        last = escape.end()
    return (found + path[last:].encode("utf-8", "replace")).decode("utf-8", "replace")


class LocatedHunk(NamedTuple):
    """A hunk in the file as it is."""

    is_applied: bool
    """Whether the file is as the patch leaves it."""
    first: int
    """First line of the hunk's side that is in the file, 1-based; of an empty side, the line after."""


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
            return LocatedHunk(is_applied, start)
    text = "\n".join(("", *lines, ""))
    for side, start, is_applied in sides:
        if sum(any(map(str.isalnum, line)) for line in side) >= _MIN_UNIQUE_LINES:
            found = re.finditer(f"(?={re.escape(chr(10).join(('', *side, '')))})", text)
            firsts = [text.count("\n", 0, each.start()) + 1 for each in islice(found, _MAX_REPEATS)]
            if firsts:
                return LocatedHunk(is_applied, min(firsts, key=lambda at: (abs(at - start), at)))
    marks = {line[0] for line in hunk.lines}
    if marks not in ({"+"}, {"-"}):
        return None
    # Of insertions or deletions without context the line number decides.
    is_applied = "-" in marks
    start = hunk.new_start if is_applied else hunk.old_start
    return LocatedHunk(is_applied, start + 1) if 0 < start <= len(lines) else None


class LineMap:
    """Maps the unchanged lines of a file from before a change to after it, and back."""

    def __init__(self, count: int, hunks: Sequence[tuple[int, Hunk]]) -> None:
        """Take the number of lines before, and the hunks in order, each with its first line before."""
        self._after: dict[int, int] = {}
        before = after = 1
        for first, hunk in hunks:
            after += self._add(before, after, first - before)
            before = first
            for line in hunk.lines:
                if line[0] == " ":
                    self._add(before, after, 1)
                before += line[0] != "+"
                after += line[0] != "-"
        self._add(before, after, count - before + 1)
        self._before = {new: old for old, new in self._after.items()}

    def _add(self, before: int, after: int, count: int) -> int:
        self._after.update((before + at, after + at) for at in range(count))
        return max(count, 0)

    def after(self, line: int) -> int:
        """Return the line after the change, 1-based; 0 for a removed or edited one."""
        return self._after.get(line, 0)

    def before(self, line: int) -> int:
        """Return the line before the change, 1-based; 0 for a new or edited one."""
        return self._before.get(line, 0)
