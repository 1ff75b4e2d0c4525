"""Lines of a hunk that differ in white space alone: nothing follows from them where the language says so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from repo_map.languages.language import LanguageRole
from repo_map.languages.registry import language_named

_PIECE = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`[^`]*`|\s+")
_SIGNS: Final = frozenset("+-&|<>=*/!:")
_MOST_COMPARED: Final = 250_000
"""Product of the lines of both sides of a run up to which they are compared."""


def without_respaced(lines: Sequence[str], language: str) -> tuple[str, ...]:
    """Return a hunk's lines with their marks, of which one that only white space sets apart stayed.

    Strings are compared as they are, and so is what a line begins with where that means something.
    """
    known = language_named(language)
    if known.role not in (LanguageRole.CODE, LanguageRole.DECLARATIONS):
        return tuple(lines)
    return tuple(_compared(lines, keeps_indent=known.is_indented))


def _compared(lines: Sequence[str], *, keeps_indent: bool) -> Iterator[str]:
    at = 0
    while at < len(lines):
        if lines[at][0] == " ":
            yield lines[at]
            at += 1
            continue
        end = at
        while end < len(lines) and lines[end][0] != " ":
            end += 1
        run = lines[at:end]
        at = end
        removed, added = ([each for each in run if each[0] == mark] for mark in "-+")
        if not removed or not added or len(removed) * len(added) > _MOST_COMPARED:
            yield from run
            continue
        one, other = (
            [_key(each[1:], keeps_indent=keeps_indent) for each in side] for side in (removed, added)
        )
        for kind, start, stop, low, high in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
            if kind == "equal":
                yield from (f" {each[1:]}" for each in added[low:high])
            else:
                yield from removed[start:stop]
                yield from added[low:high]


def _key(line: str, *, keeps_indent: bool) -> str:
    """Return what of a line has a meaning."""
    line = line.rstrip()
    body = line.lstrip()
    indent = line[: len(line) - len(body)] if keeps_indent else ""

    def joined(piece: re.Match[str]) -> str:
        if not piece[0].isspace():
            return piece[0]
        before, after = body[piece.start() - 1], body[piece.end()]
        is_word = (before.isalnum() or before == "_") and (after.isalnum() or after == "_")
        return " " if is_word or (before in _SIGNS and after in _SIGNS) else ""

    return indent + _PIECE.sub(joined, body)
