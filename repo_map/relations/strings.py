"""The strings of a source: where each stands, and what stands before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from repo_map.cache import LRUCache
from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named
from repo_map.sources.file_kinds import GENERATED_OR_VENDORED, PATH_ONLY, is_template

if TYPE_CHECKING:
    from repo_map.index.index import Index

_LONGEST: Final = 200
"""Characters of a string that names something."""
_LARGEST: Final = 400_000
"""Bytes of a file whose strings are read: a larger one is data."""
_BEFORE: Final = 80
"""Characters before a string in which its call is looked for."""
_MOST_FOLDERS: Final = 6
_MOST_KEPT: Final = 200_000
"""Strings that are kept in memory, those of the files read last."""
_JOINT: Final = re.compile(
    r"\s*[)\]]*\s*(?:[/,]|\.\s*(?:join|joinpath|resolve|child|push|path)\s*\()\s*(?:\w+\s*\(\s*)?[fr]?"
)
"""What stands between the parts of one path."""
EMBEDS: Final = "//go:embed "
"""The comment by which Go reads files into a variable."""
_CALLEE: Final = re.compile(
    r"([A-Za-z_][\w.:$!?]*)(?:\s*\(\s*(?:[^()]*[,(]\s*)?(?:\w+\s*[:=]\s*)?|[ ]+(?:\w+:\s*)?)[frbu&]?$"
)
"""The function that a string is handed to: with parentheses or, as in Ruby, without."""
_REFERENCES: Final = re.compile(
    r"""
      \{%-?\s*(?:extends|include|import|from|embed|layout|render|component)\s+(?P<tag>["'][^"'\n]{1,200}["'])
    | <%[-=~]?\s*(?:include|render|partial)\b[\s(]*(?:partial:\s*)?(?P<embedded>["'][^"'\n]{1,200}["'])
    | \{\{[#~]?>\s*(?P<partial>["']?[\w./-]{1,200}["']?)
    | \{\{-?\s*(?:template|partial|include)\s+(?P<go>"[^"\n]{1,200}")
    | @(?:extends|include\w{0,9}|component|each)\s*\(\s*(?P<blade>["'][^"'\n]{1,200}["'])
    | <%(?:include|inherit|namespace)\b[^>\n]{0,80}?file=(?P<mako>["'][^"'\n]{1,200}["'])
    | ^[ \t]*(?:extends|include)[ \t]+(?P<pug>[\w./-]{1,200})[ \t]*$
    | (?P<quoted>"[\w@+./-]{1,190}\.\w{1,9}"|'[\w@+./-]{1,190}\.\w{1,9}')
    """,
    re.VERBOSE | re.MULTILINE,
)
"""What a template names: others that it is made of, and whatever else is quoted with a suffix."""


class Text(NamedTuple):
    """One string of a source."""

    value: str
    """What stands between the quotes, as it is written."""
    line: int
    """1-based; of its first character."""
    callee: str
    """The function that it is handed to, as written; ``""`` where that can't be told."""
    folders: tuple[str, ...] = ()
    """The strings that it is joined to, in the order in which they stand before it."""
    includes: bool = False
    """Whether a template takes in what it names."""


class Strings:
    """The strings of the files of an index; get it by ``index.memo``."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._kept = LRUCache[int, tuple[Text, ...]](_MOST_KEPT, lambda texts: 1 + len(texts))

    def __getitem__(self, file: int) -> tuple[Text, ...]:
        found = self._kept.get(file)
        if found is None:
            found = tuple(self._read(file))
            self._kept.put(file, found)
        return found

    def _read(self, file: int) -> Iterator[Text]:
        index = self._index
        if (
            int(index.files.flags[file]) & int(PATH_ONLY | GENERATED_OR_VENDORED)
            or int(index.files.size[file]) > _LARGEST
        ):
            return
        language = language_named(index.language(file))
        if is_template(index.paths[file]) or language.role is LanguageRole.MARKUP:
            yield from _in_template(index.sources.text(file))
        elif language.role is LanguageRole.CODE:
            yield from _in_code(index.sources.text(file), re.compile(language.literals))


def _in_code(text: str, literals: re.Pattern[str]) -> Iterator[Text]:
    """Yield the strings of code, its comments and its documentation left out."""
    line, counted, end = 1, 0, -_LONGEST
    folders: tuple[str, ...] = ()
    previous = ""
    for found in literals.finditer(text):
        piece, start = found[0], found.start()
        if piece.startswith(EMBEDS):
            at = text.count("\n", 0, start) + 1
            yield from (Text(name.strip('"`'), at, "embed") for name in piece[len(EMBEDS) :].split())
        if piece[0] not in "\"'`" or piece[:3] in ('"""', "'''"):
            continue
        is_joined = start - end < _BEFORE and _JOINT.fullmatch(text, end, start) is not None
        folders = (*folders, previous)[-_MOST_FOLDERS:] if is_joined else ()
        previous, end = piece[1:-1], found.end()
        if not 0 < len(previous) <= _LONGEST or "\n" in previous:
            continue
        line += text.count("\n", counted, start)
        counted = start
        callee = _CALLEE.search(text, max(0, start - _BEFORE), start)
        yield Text(previous, line, callee[1] if callee else "", folders)


def _in_template(text: str) -> Iterator[Text]:
    """Yield what a template names."""
    line, counted = 1, 0
    for found in _REFERENCES.finditer(text):
        line += text.count("\n", counted, found.start())
        counted = found.start()
        kind = found.lastgroup or ""
        yield Text(found[kind].strip("\"'"), line, "", includes=kind != "quoted")
