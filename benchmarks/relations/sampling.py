"""Which definitions are judged: always the same of a tree, spread over it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from repo_map.graph.references import SymbolRef
from repo_map.index.index import Index
from repo_map.languages.kinds import CODE, FUNCTIONS
from repo_map.parsing.values import Definition
from repo_map.sources.file_kinds import FileFlag

_LEFT_OUT = FileFlag.TEST | FileFlag.GENERATED | FileFlag.VENDORED
_LAST_PART = re.compile(r"[.#:]+")


class Sample(NamedTuple):
    """A definition that is judged, and where its name stands."""

    place: SymbolRef
    name: str
    """Without what encloses it."""
    kind: str
    row: int
    """Of the name, from 0."""
    column: int
    """Of the name, in UTF-16 units."""


def sample(index: Index, languages: Collection[str], most: int) -> list[Sample]:
    """Return at most ``most`` functions, methods and types of these languages, tests and copies left out.

    They come in the order of a hash of what names them, so that trees of one content give one sample.
    """
    ordered = []
    for file, path in enumerate(index.paths):
        if index.language(file) in languages and not (int(index.files.flags[file]) & int(_LEFT_OUT)):
            for row, definition in enumerate(index.definitions(file)):
                if definition.kind in CODE:
                    key = f"{path}\0{index.qualified_name(file, row)}\0{definition.sig_start}"
                    ordered.append((hashlib.sha256(key.encode()).digest(), (file, row)))
    ordered.sort()
    chosen: list[Sample] = []
    for _, place in ordered:
        if len(chosen) == most:
            break
        chosen += _located(index, place)
    return chosen


def _located(index: Index, place: SymbolRef) -> Iterator[Sample]:
    """Yield the definition with the place of its name; nothing where it is only announced or not named."""
    file, row = place
    definition = index.definitions(file)[row]
    name = _LAST_PART.split(definition.name)[-1]
    lines = lines_of(index, file)
    if _is_announced(definition, lines):
        return
    word = re.compile(rf"(?<![\w$]){re.escape(name)}(?![\w$])")
    called = re.compile(word.pattern + r"\s*[(<\[]")
    first, last = definition.sig_start - 1, min(definition.sig_end, len(lines))
    patterns = (called, word) if definition.kind in FUNCTIONS else (word,)
    for pattern in patterns:
        for at in range(first, last):
            if found := pattern.search(lines[at]):
                column = len(lines[at][: found.start()].encode("utf-16-le")) // 2
                yield Sample(place, name, definition.kind, at, column)
                return


def lines_of(index: Index, file: int) -> tuple[str, ...]:
    """Return the lines of a file, the first at 0."""
    return tuple(index.sources.text(file).split("\n"))


def _is_announced(definition: Definition, lines: tuple[str, ...]) -> bool:
    """Tell whether a C function is declared here and written elsewhere: there it is judged."""
    ends = lines[definition.end - 1].rstrip() if definition.end <= len(lines) else ""
    return definition.kind == "function" and definition.end == definition.sig_end and ends.endswith(";")


def enclosing(index: Index, file: int, line: int) -> int:
    """Return the row of the innermost definition that holds a line (from 1), -1 for none."""
    best, inner = -1, (0, 0)
    for row, definition in enumerate(index.definitions(file)):
        if definition.start > line:
            break
        if definition.end >= line and (definition.start, -definition.end) >= inner:
            best, inner = row, (definition.start, -definition.end)
    return best
