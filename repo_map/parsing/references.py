"""Which names a file uses, read from the bytes: far cheaper than from the tree's identifier nodes."""

from __future__ import annotations

from collections import Counter

from repo_map.parsing.definitions import Found
from repo_map.parsing.keywords import KEYWORDS
from repo_map.parsing.lexical import lexicon_of
from repo_map.parsing.values import Reference


def find_references(source: bytes, found: list[Found], language: str) -> list[Reference]:
    """Count the names used in each definition, outside comments and strings, its own name left out."""
    if (identifiers := lexicon_of(language)) is None:
        return []
    # What the lexicon skips, it lists as an empty name.
    ignored = KEYWORDS.get(language, frozenset()) | {""}
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
