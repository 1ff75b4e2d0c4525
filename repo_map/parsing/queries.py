"""Running a language's queries over a tree of bounded depth."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node, QueryCursor, Tree

from repo_map.deadline import CpuDeadline
from repo_map.languages.grammars import query_named
from repo_map.languages.syntax import Captures

ROLES: Final = frozenset(
    {
        "name",  # what the definition is called; the namer makes a name of it
        "body",  # where the signature ends, and where members and inner definitions stand
        "head",  # the last node of the signature, where comments may stand between it and the body
        "declarator",  # in place of a name: what C's namer looks for one in
        "owner",  # whose method it is, for a namer
        "wrapper",  # what stands around a definition and belongs to it (`export …`, decorators) …
        "wrapped",  # … and the node that it stands around
        "attribute",  # a sibling before a definition that belongs to it (`#[derive(…)]`)
        "import",  # an import statement
        "global",  # a declaration that is a definition only outside of functions
        "callee",  # what a predicate asks about
    }
)
"""What the captures of a query say beside the one that is the definition and has its kind as name."""
MAX_DEPTH: Final = 200
"""Levels of syntax below the node a query runs on: its time grows with nodes times depth."""


class Match(NamedTuple):
    """One definition that the query found."""

    kind: str
    node: Node
    captures: Captures


class Scan(NamedTuple):
    """What the query found in a tree beside definitions."""

    wrappers: dict[int, Node]
    """Outer node (``export …``, ``template<…>``) by the id of the node that it wraps."""
    attributes: dict[int, Node]
    """Attributes that stand before their item as siblings, by end byte."""
    imports: list[Node]


Take = Callable[[list[Match], Scan], int | None]
"""Callback for a batch of matches. Returns the byte offset after which it needs no more, None to go on."""
_STRETCH: Final = 131_072
"""Bytes whose matches are taken together: each holds several nodes, and takes a hundred times its bytes."""


@cache
def _kinds_of_patterns(language: str) -> dict[int, str]:
    """Return the memory of what each pattern finds, filled as patterns first match."""
    return {}


def scan(source: bytes, tree: Tree, language: str, deadline: CpuDeadline, take: Take) -> Scan:
    """Run a language's query over a tree, stretch by stretch.

    A definition may be taken more than once. Stops where the deadline passes; the caller asks it.
    """
    cursor = QueryCursor(query_named(language, "symbols"))
    cursor.set_max_start_depth(MAX_DEPTH)
    found, wanted = Scan({}, {}, []), len(source)
    start, end = tree.root_node.byte_range
    for at in range(start, max(end, start + 1), _STRETCH):
        stop = min(at + _STRETCH, wanted)
        if stop <= at or (at > start and deadline.is_over()):
            break
        # The last one goes to the end of the file: some grammars put a node behind its last byte.
        cursor.set_byte_range(at, stop if stop < min(end, wanted) else max(end + 1, stop))
        wanted = min(wanted, take(_matches(cursor, tree, language, found), found) or wanted)
    return found


def _matches(cursor: QueryCursor, tree: Tree, language: str, found: Scan) -> list[Match]:
    """Return the definitions in the cursor's range; note all else."""
    kinds, matches = _kinds_of_patterns(language), []
    for pattern, captures in cursor.matches(tree.root_node):
        kind = kinds.get(pattern)
        if kind is None:
            kind = kinds[pattern] = next((role for role in captures if role not in ROLES), "")
        if kind:
            matches.append(Match(kind, captures[kind][0], captures))
        else:
            _note(found, captures)
    return matches


def _note(found: Scan, captures: Captures) -> None:
    """Remember what is no definition of its own."""
    if "import" in captures:
        found.imports.append(captures["import"][0])
    elif "wrapped" in captures:
        found.wrappers[captures["wrapped"][0].id] = captures["wrapper"][0]
    elif "attribute" in captures:
        found.attributes.update((node.end_byte, node) for node in captures["attribute"])
