"""Which names a file uses, read from the bytes: far cheaper than from the tree's identifier nodes."""

from __future__ import annotations

from collections import Counter

from repo_map.parsing.definitions import Found
from repo_map.parsing.keywords import KEYWORDS
from repo_map.parsing.lexical import lexicon_of
from repo_map.parsing.values import Reference


def find_references(source: bytes, found: list[Found], language: str) -> list[Reference]:
    """Count the names used in each definition, outside comments and strings, its own name left out."""
    lexicon = lexicon_of(language)
    keywords = KEYWORDS.get(language, frozenset())
    references: list[Reference] = []
    new = tuple.__new__
    for owner, piece in enumerate(_own_text(source, found), start=-1):
        names = Counter(lexicon.identifiers(piece))
        if owner >= 0:
            own = found[owner].name.rpartition(".")[2].encode()
            if own in names:
                names[own] -= 1
        if not names:
            continue
        kept = [
            (name.decode("utf-8", "replace"), n) for name, n in names.items() if n and name not in keywords
        ]
        references += [new(Reference, (name, owner, n)) for name, n in kept]
    return references


def _own_text(source: bytes, found: list[Found]) -> list[bytes]:
    """Return the bytes outside all definitions, then those of each definition outside nested ones."""
    pieces: list[list[bytes]] = [[] for _ in range(len(found) + 1)]
    open_: list[int] = []
    at = 0
    for index, item in enumerate(found):
        while open_ and -found[open_[-1]].minus_end_byte <= item.start_byte:
            done = open_.pop()
            end = -found[done].minus_end_byte
            if end > at:
                pieces[done + 1].append(source[at:end])
                at = end
        if item.start_byte > at:
            pieces[open_[-1] + 1 if open_ else 0].append(source[at : item.start_byte])
            at = item.start_byte
        open_.append(index)
    while open_:
        done = open_.pop()
        end = -found[done].minus_end_byte
        if end > at:
            pieces[done + 1].append(source[at:end])
            at = end
    pieces[0].append(source[at:])
    return [b"\n".join(parts) for parts in pieces]
