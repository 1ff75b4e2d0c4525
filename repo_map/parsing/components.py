"""Files that hold code of other languages between tags: HTML, Vue and Svelte."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from repo_map.parsing.deadline import Deadline, Patience
from repo_map.parsing.reading import read_code
from repo_map.parsing.values import Definition, FileSymbols, Import, Reference

_SCRIPT: Final = re.compile(rb"<script\b([^>]{0,2000}+)>(.*?)(?=</script\s*>|\Z)", re.S | re.I)
_BLOCK: Final = re.compile(rb"^<(script|style|template)\b[^>]{0,2000}+>", re.M | re.I)
_DATA: Final = re.compile(
    rb"""type\s*=\s*["']?(?!module|text/javascript|application/javascript|text/babel)""", re.I
)
_TYPED: Final = re.compile(rb"""lang\s*=\s*["']?(tsx?|typescript)""", re.I)
_MOST_SCRIPTS: Final = 50
_MOST_BLOCKS: Final = 50


class _Script(NamedTuple):
    """One script block that holds code."""

    row: int
    """Line of its opening tag."""
    language: str
    start: int
    end: int


def read_component(source: bytes, language: str, patience: Patience) -> FileSymbols:
    """Read the blocks or elements of a file, and the definitions inside its scripts as their children."""
    outer = read_code(source, language, patience) if language == "html" else _read_blocks(source, language)
    deadline = Deadline(patience)
    found = list(_scripts(source))
    scripts = {script.row: script for script in found[:_MOST_SCRIPTS]}
    unread = len(found) - len(found[:_MOST_SCRIPTS])
    merged = _Merged(outer)
    for index, definition in enumerate(outer.definitions):
        merged.keep(index, definition)
        script = scripts.get(definition.start) if definition.name == "script" else None
        if script is None:
            continue
        if deadline.is_over():
            unread += 1
            continue
        # Padded with line feeds, so that its line numbers are the file's.
        code = b"\n" * source.count(b"\n", 0, script.start) + source[script.start : script.end]
        merged.put_inside(index, read_code(code, script.language, patience))
    if unread:
        merged.tell(
            f"{unread:,} of its {len(found):,} scripts were not read: at most {_MOST_SCRIPTS} are,"
            f" in {patience.seconds:g} s of CPU time"
        )
    return merged.symbols()


def _scripts(source: bytes) -> Iterator[_Script]:
    row, counted = 1, 0
    for found in _SCRIPT.finditer(source):
        attributes, code = found[1], found[2]
        if not code.strip() or _DATA.search(attributes):
            continue
        typed = _TYPED.search(attributes)
        language = "javascript" if typed is None else "tsx" if typed[1].lower() == b"tsx" else "typescript"
        row, counted = row + source.count(b"\n", counted, found.start()), found.start()
        yield _Script(row, language, *found.span(2))


def _read_blocks(source: bytes, language: str) -> FileSymbols:
    """Find the blocks that begin a line; each ends at its last closing tag before the next block."""
    opened = list(_BLOCK.finditer(source))
    definitions: list[Definition] = []
    covered = 0
    for block in opened[:_MOST_BLOCKS]:
        if block.start() < covered:
            continue
        close = re.compile(rb"^</" + block[1] + rb"\s*>", re.M | re.I).search(source, block.end())
        if close is None:
            close = re.compile(rb"</" + block[1] + rb"\s*>", re.I).search(source, block.end())
        covered = close.end() if close else len(source.rstrip())
        first, head = (source.count(b"\n", 0, at) + 1 for at in (block.start(), block.end()))
        last = max(head, source.count(b"\n", 0, covered) + 1)
        definitions.append(
            Definition(block[1].decode().lower(), "element", -1, first, last, first, head, 0, 0)
        )
    left = len(opened) - len(opened[:_MOST_BLOCKS])
    problems = (f"{left:,} blocks after the first {_MOST_BLOCKS} were left out",) if left else ()
    return FileSymbols(language, tuple(definitions), (), (), problems)


class _Merged:
    """The definitions of a file and of its scripts, put into one order."""

    def __init__(self, outer: FileSymbols) -> None:
        self._language = outer.language
        self._definitions: list[Definition] = []
        self._references: list[Reference] = list(outer.references)
        self._imports: list[Import] = list(outer.imports)
        self._problems: list[str] = list(outer.problems)
        self._moved: dict[int, int] = {-1: -1}

    def keep(self, index: int, definition: Definition) -> None:
        """Take a definition of the file itself."""
        self._moved[index] = len(self._definitions)
        self._definitions.append(definition._replace(parent=self._moved[definition.parent]))

    def put_inside(self, index: int, inner: FileSymbols) -> None:
        """Take a script's symbols as children of the element at ``index``."""
        base, element = len(self._definitions), self._moved[index]

        def moved(at: int) -> int:
            return at + base if at >= 0 else element

        self._definitions += (item._replace(parent=moved(item.parent)) for item in inner.definitions)
        self._references += (item._replace(definition=moved(item.definition)) for item in inner.references)
        self._imports += inner.imports
        self._problems += inner.problems

    def tell(self, problem: str) -> None:
        """Say what was left out."""
        self._problems.append(problem)

    def symbols(self) -> FileSymbols:
        """Return everything taken."""
        return FileSymbols(
            self._language,
            tuple(self._definitions),
            tuple(self._references),
            tuple(self._imports),
            tuple(self._problems),
        )
