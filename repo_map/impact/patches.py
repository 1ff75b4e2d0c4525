"""Patches in the unified format: recognised in any text, read within bounds, never applied."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

MOST_CHARACTERS: Final = 1_000_000
"""Of a patch that is read; a longer one is read as far as that."""
MOST_FILES: Final = 300
MOST_HUNKS: Final = 3_000
_LONGEST_PATH: Final = 4_096
_NO_FILE: Final = "/dev/null"

_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)")
_GIT_HEAD = re.compile(r'diff --git (?:"?a/.+"? "?b/.+"?|"?\S+"? "?\S+"?)$')
_COMBINED = re.compile(r"diff --(?:cc|combined) |@@@ ")
_ABOUT_FILE = re.compile(
    r"(?:old mode|new mode|deleted file mode|new file mode|copy from|copy to|rename from|rename to|"
    r"similarity index|dissimilarity index|index [0-9a-f]{4,64}\.\.)"
)
_ESCAPE = re.compile(r'\\(?:([0-7]{3})|([abtnvfr"\\]))')
_MEANT = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_FENCE = re.compile(r"[ \t]*(?:```|~~~)[\w+-]*[ \t]*")


class Hunk(NamedTuple):
    """Lines that a patch changes, with those around them."""

    old_start: int
    """First line before the change, 1-based; of no lines, the line that they would follow."""
    new_start: int
    """First line after the change, in the same way."""
    lines: tuple[str, ...]
    """Each with its mark before it: a space, ``-`` or ``+``."""
    header: str = ""
    """What stands behind the second ``@@``: the definition that the hunk begins in."""

    def side(self, mark: str) -> tuple[str, ...]:
        """Return the lines as they are before (``-``) or after (``+``) the change."""
        return tuple(line[1:] for line in self.lines if line[0] in (" ", mark))

    def marked(self, mark: str) -> tuple[str, ...]:
        """Return the lines that were removed (``-``) or added (``+``)."""
        return tuple(line[1:] for line in self.lines if line[0] == mark)


class FilePatch(NamedTuple):
    """What a patch does to one file."""

    old: str
    """The path before it, ``""`` for a file that it adds."""
    new: str
    """The path after it, ``""`` for a file that it deletes."""
    hunks: tuple[Hunk, ...] = ()
    is_binary: bool = False

    @property
    def path(self) -> str:
        """The path by which it is told."""
        return self.new or self.old


class Patch(NamedTuple):
    """What a text holds of patches."""

    files: tuple[FilePatch, ...] = ()
    rest: str = ""
    """The text without them."""
    notes: tuple[str, ...] = ()
    """What was not read of them, a sentence each."""


def read_patch(text: str) -> Patch:
    """Return the patches in a text, within fences too, and the text without them."""
    text = text.replace("\r\n", "\n")
    if not _may_hold_patch(text):
        return Patch(rest=text)
    notes = []
    if len(text) > MOST_CHARACTERS:
        notes.append(
            f"The patch was read as far as its first {MOST_CHARACTERS:,} characters; "
            "give the part of it that matters."
        )
        text = text[:MOST_CHARACTERS].rpartition("\n")[0]
    reader = _Reader(text.split("\n"))
    files = tuple(reader.files())
    if reader.dropped:
        notes.append(
            f"The patch has more than {MOST_FILES} files or {MOST_HUNKS:,} hunks, and what comes after them "
            "was not read; give the part of it that matters."
        )
    if reader.combined:
        notes.append("A merge was not read, as its patch has several sides; give it against one parent.")
    return Patch(files, _without(reader.lines, reader.used), tuple(notes))


def _may_hold_patch(text: str) -> bool:
    return "\n@@" in f"\n{text}" or "diff --" in text


def _without(lines: Sequence[str], used: Container[int]) -> str:
    """Return the lines that no patch takes, without the fences that stood around one."""
    kept: list[str] = []
    is_fenced = was_patch = False
    for at, line in enumerate(lines):
        if at in used:
            # The fence right before a patch goes with it, and so does the one behind it.
            if not was_patch and kept and _FENCE.fullmatch(kept[-1]):
                kept.pop()
                is_fenced = True
            was_patch = True
        elif was_patch and is_fenced and _FENCE.fullmatch(line):
            is_fenced = was_patch = False
        elif not was_patch or line.strip():
            was_patch = False
            kept.append(line)
    return "\n".join(kept)


class _Reader:
    """Reads lines from the top, and knows which of them belong to patches."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.used: set[int] = set()
        self.dropped = False
        self.combined = False
        self._hunks = 0

    def files(self) -> Iterator[FilePatch]:
        """Yield the files of the patches."""
        at, count = 0, 0
        while at < len(self.lines):
            if _COMBINED.match(self.lines[at]):
                self.combined = True
            start = at
            found, at = self._file(at)
            if found is None:
                at = start + 1
                continue
            self.used.update(range(start, at))
            count += 1
            if count > MOST_FILES or self._hunks > MOST_HUNKS:
                self.dropped = True
                continue
            yield found

    def _file(self, at: int) -> tuple[FilePatch | None, int]:
        """Return the file whose patch begins at a line, and the line behind it."""
        old = new = ""
        is_binary = False
        is_git = _GIT_HEAD.match(self.lines[at]) is not None
        if is_git:
            old, new, at = self._git_head(at)
            if self._line(at).startswith("Binary files "):
                is_binary, at = True, at + 1
            elif self._line(at) == "GIT binary patch":
                is_binary, at = True, self._behind_binary(at + 1)
        if self._line(at).startswith("--- ") and self._line(at + 1).startswith("+++ "):
            if not is_git and _HUNK.match(self._line(at + 2)) is None:
                return None, at
            old, new = _path(self.lines[at][4:], "a/"), _path(self.lines[at + 1][4:], "b/")
            at += 2
        elif not is_git:
            return None, at
        hunks = []
        while (head := _HUNK.match(self._line(at))) is not None:
            hunk, at = self._hunk(head, at + 1)
            self._hunks += 1
            if self._hunks <= MOST_HUNKS:
                hunks.append(hunk)
        return FilePatch(old, new, tuple(hunks), is_binary), at

    def _git_head(self, at: int) -> tuple[str, str, int]:
        """Return both paths that git's own lines tell, and the line behind those."""
        old, new = _git_paths(self.lines[at])
        at += 1
        while _ABOUT_FILE.match(line := self._line(at)):
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

    def _hunk(self, head: re.Match[str], at: int) -> tuple[Hunk, int]:
        old_left, new_left = int(head[2] or 1), int(head[4] or 1)
        lines: list[str] = []
        while (old_left > 0 or new_left > 0) and at < len(self.lines):
            # A blank line of context loses its mark where text is pasted.
            line = self.lines[at] or " "
            if line[0] == "\\":
                at += 1
                continue
            if line[0] not in " +-":
                break
            old_left -= line[0] != "+"
            new_left -= line[0] != "-"
            lines.append(line)
            at += 1
        if self._line(at).startswith("\\ No newline"):
            at += 1
        return Hunk(int(head[1]), int(head[3]), tuple(lines), head[5].strip()), at

    def _behind_binary(self, at: int) -> int:
        """Return the line behind a binary patch, whose blocks end with a blank line each."""
        while re.match(r"(?:literal|delta) \d", self._line(at)):
            while self._line(at):
                at += 1
            at += 1
        return at

    def _line(self, at: int) -> str:
        return self.lines[at] if at < len(self.lines) else ""


def _git_paths(line: str) -> tuple[str, str]:
    """Return the paths of a ``diff --git`` line: a modified file is named twice, ``a/PATH b/PATH``."""
    named = line.removeprefix("diff --git ")
    if '"' not in named and len(named) % 2:
        first, second = named[: len(named) // 2], named[len(named) // 2 + 1 :]
        if first.partition("/")[2] == second.partition("/")[2]:
            return _path(first, "a/"), _path(second, "b/")
    first, _, second = named.partition(" b/")
    return (_path(first, "a/"), _path(second, "")) if second else ("", "")


def _path(named: str, prefix: str) -> str:
    """Return a path as it is written in a patch, ``""`` where it stands for no file."""
    named = named.partition("\t")[0].strip()
    if named == _NO_FILE:
        return ""
    named = named[:_LONGEST_PATH]
    if named.startswith('"') and named.endswith('"') and len(named) > 1:
        named = _unquoted(named[1:-1])
    return named.removeprefix(prefix)


def _unquoted(named: str) -> str:
    r"""Return a path that git quotes: ``\303\244`` is a letter of two bytes."""
    if "\\" not in named:
        return named
    found, last = bytearray(), 0
    for escape in _ESCAPE.finditer(named):
        found += named[last : escape.start()].encode("utf-8", "replace")
        found.append(int(escape[1], 8) & 255 if escape[1] else _MEANT[escape[2]])
        last = escape.end()
    found += named[last:].encode("utf-8", "replace")
    return found.decode("utf-8", "replace")
