"""Definitions put inside one another, with their documentation."""

from __future__ import annotations

from typing import Final

from repo_map.parsing.definitions import Found
from repo_map.parsing.docs import doc_finder
from repo_map.parsing.values import Definition

CONTAINERS: Final = frozenset({"class", "interface", "struct", "enum", "trait", "impl"})
"""Kinds whose functions are methods, and whose constants are fields."""


def nest(found: list[Found], source: bytes, language: str) -> list[Definition]:
    """Turn sorted finds into definitions: parents, methods told from functions, documentation attached."""
    doc_of = doc_finder(source, language)
    definitions: list[Definition] = []
    open_: list[int] = []
    new = tuple.__new__
    for index, item in enumerate(found):
        while open_ and not _encloses(found[open_[-1]], item):
            open_.pop()
        parent = open_[-1] if open_ else -1
        kind = _kind_in(item.kind, definitions[parent].kind) if parent >= 0 else item.kind
        doc_start, doc_end = doc_of(item)
        lines = (item.start + 1, item.end + 1, item.sig_start + 1, item.sig_end + 1)
        definitions.append(new(Definition, (item.name, kind, parent, *lines, doc_start, doc_end)))
        open_.append(index)
    return definitions


def _encloses(outer: Found, inner: Found) -> bool:
    """Tell whether one find holds another; two of equal range (``int x, y;``) stand side by side."""
    return outer.minus_end_byte <= inner.minus_end_byte and outer[:2] != inner[:2]


def _kind_in(kind: str, owner: str) -> str:
    if owner in CONTAINERS:
        if kind == "function":
            return "method"
        if kind == "constant" and owner != "enum":
            return "field"
    return kind
