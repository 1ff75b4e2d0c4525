"""References by grammar, or by word where there is no grammar."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Final

from repo_map.languages.language import Found
from repo_map.languages.registry import language_named
from repo_map.languages.syntax import NUMBER
from repo_map.parsing.values import Reference

_FLAGS: Final = re.DOTALL | re.ASCII
Lexicon = Callable[[str], list[str]]


@cache
def lexicon_of(language: str) -> Lexicon | None:
    """Return what lists a piece's identifiers, an empty one for each thing skipped; None for data."""
    if (writing := language_named(language).writing) is None:
        return None
    identifier = writing.identifier + (r"(?![\"'])" if writing.prefixed else "")
    names: Lexicon = re.compile("|".join((identifier, *writing.skipped, NUMBER)), _FLAGS).findall
    if not writing.markers:
        return names
    markers, skipped = writing.markers, re.compile("|".join(writing.skipped), _FLAGS)
    inside: Lexicon = re.compile(writing.inside, _FLAGS).findall

    def code_of(text: re.Match[str]) -> str:
        written = text[0]
        if written[:1] in "\"'`@":
            # The quotes stay, so that the letters before them are still no name.
            return '"" ' + " ".join(inside(written)) + " "
        return " "

    def names_also_in_strings(piece: str) -> list[str]:
        return names(skipped.sub(code_of, piece) if any(map(piece.__contains__, markers)) else piece)

    return names_also_in_strings


def find_references(source: bytes, found: list[Found], language: str) -> list[Reference]:
    """Count the names used in each definition, outside comments and strings, its own name left out."""
    if (identifiers := lexicon_of(language)) is None:
        return []
    # What the lexicon skips, it lists as an empty name.
    ignored = language_named(language).keywords | {""}
    references: list[Reference] = []
    new = tuple.__new__
    for owner, piece in enumerate(_own_text(source, found), start=-1):
        counts = Counter(identifiers(piece.decode("utf-8", "replace")))
        if owner >= 0:
            own = found[owner].name.rpartition(".")[2]
            if own in counts:
                counts[own] -= 1
        references += [
            new(Reference, (name, owner, count))
            for name, count in counts.items()
            if count and name not in ignored
        ]
    return references


def _own_text(source: bytes, found: list[Found]) -> list[bytes]:
    """Return the bytes outside all definitions, then those of each definition outside nested ones."""
    pieces: list[list[bytes]] = [[] for _ in range(len(found) + 1)]
    open_: list[tuple[int, int]] = []
    at = 0
    for index, item in enumerate(found, start=1):
        start = item.start_byte
        while open_ and open_[-1][0] <= start:
            end, owner = open_.pop()
            if end > at:
                pieces[owner].append(source[at:end])
                at = end
        if start > at:
            pieces[open_[-1][1] if open_ else 0].append(source[at:start])
            at = start
        open_.append((-item.minus_end_byte, index))
    for end, owner in reversed(open_):
        if end > at:
            pieces[owner].append(source[at:end])
            at = end
    pieces[0].append(source[at:])
    return [b"\n".join(parts) for parts in pieces]
