"""What a match is called: the rules that languages share."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tree_sitter import Node

Captures = dict[str, "list[Node]"]
"""The nodes that one match of a query captured, by the capture's name without ``@``."""
Named = list[tuple[str, str]]
"""Names with their kinds: a declaration may make several."""

LONGEST_NAME: Final = 200
_LONGEST_TEXT: Final = 1000
_SPACES: Final = re.compile(r"\s+")


def text_of(source: bytes, node: Node) -> str:
    """Return the beginning of a node's text, its white space collapsed where it is more than a word."""
    start, end = node.byte_range
    text = source[start : min(end, start + _LONGEST_TEXT)].decode("utf-8", "replace")
    return text if text.isidentifier() else _SPACES.sub(" ", text).strip()


def bounded(name: str) -> str:
    """Drop what is no name: a long one is an expression that the grammar misread."""
    return name if len(name) <= LONGEST_NAME else ""


def plain_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match by the text of its ``@name``."""
    return [(name, kind) for node in captures.get("name", ()) if (name := bounded(text_of(source, node)))]


def bare_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match without the marks around a name: ``$limit``, ``:store``, ``"key"``, ``[x]``."""
    return [
        (bare, kind) for name, _ in plain_name(source, kind, captures) if (bare := name.strip("$:\"'`[] "))
    ]


def without_parameters(name: str) -> str:
    """Write ``Box<T>`` as ``Box``."""
    depth, out = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth = max(0, depth - 1)
        elif depth == 0:
            out.append(letter)
    return "".join(out)
