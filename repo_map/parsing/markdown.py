"""The headings of a markdown file, by regular expression: its grammar is slow and says no more."""

from __future__ import annotations

import re
from typing import Final

from repo_map.parsing.values import Definition

_MAX_HEADING_CHARS: Final = 300
_MAX_HEADING_LINES: Final = 4
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_ATX: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_NOT_TEXT: Final = re.compile(r"\s*$|\s*[>*+|-]|    |\t|\s*\d+[.)]\s")


def read_headings(source: bytes) -> tuple[Definition, ...]:
    """Find ``#`` and underlined headings outside code; each ends before the next of its level or above."""
    lines = source.decode("utf-8", "replace").split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    found = _headings(lines)
    definitions: list[Definition] = []
    open_: list[tuple[int, int]] = []
    for index, (level, row, last, text) in enumerate(found):
        while open_ and open_[-1][0] >= level:
            _, above = open_.pop()
            definitions[above] = definitions[above]._replace(end=row)
        parent = open_[-1][1] if open_ else -1
        definitions.append(Definition(text, "heading", parent, row + 1, len(lines), row + 1, last + 1, 0, 0))
        open_.append((level, index))
    return tuple(definitions)


def _headings(lines: list[str]) -> list[tuple[int, int, int, str]]:
    """List (level, first row, last row, text) of every heading."""
    found: list[tuple[int, int, int, str]] = []
    fence = ""
    start = _after_front_matter(lines)
    for row in range(start, len(lines)):
        line = lines[row].rstrip("\r")
        if mark := _FENCE.match(line):
            if not fence:
                fence = mark[1]
            elif mark[1].startswith(fence) and not line.strip().strip(fence[0]):
                fence = ""
        elif fence:
            continue
        elif heading := _ATX.match(line):
            found.append((len(heading[1]), row, row, _clean(line[heading.end() :])))
        elif (
            row > start
            and (under := _UNDERLINE.match(line))
            and not _NOT_TEXT.match(lines[row - 1])
            and (not found or found[-1][2] < row - 1)
        ):
            first = _first_line(lines, row - 1, start)
            title = " ".join(line.strip() for line in lines[first:row])
            found.append((1 if under[1][0] == "=" else 2, first, row, _clean(title)))
    return found


def _first_line(lines: list[str], row: int, start: int) -> int:
    """Return the first row of the paragraph that an underline makes a heading; its last row is ``row``."""
    first = row
    while first > max(start, row - _MAX_HEADING_LINES + 1):
        above = lines[first - 1]
        if any(pattern.match(above) for pattern in (_NOT_TEXT, _ATX, _FENCE, _UNDERLINE)):
            break
        first -= 1
    return first


def _after_front_matter(lines: list[str]) -> int:
    if lines and lines[0].strip() == "---":
        for row in range(1, min(len(lines), 200)):
            if lines[row].strip() in {"---", "..."}:
                return row + 1
    return 0


def _clean(text: str) -> str:
    text = text.strip()[:_MAX_HEADING_CHARS]
    text = re.sub(r"[ \t]#+$|^#+$", "", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>]+>|[`*]", "", text).strip()
