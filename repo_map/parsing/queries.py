"""Running a language's queries over a tree of bounded depth."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

from tree_sitter import Node, QueryCursor, Tree

from repo_map.deadline import CpuDeadline
from repo_map.languages.grammars import symbol_query
from repo_map.languages.kinds import CONTAINERS
from repo_map.languages.language import WHOLE_TREE, Reach
from repo_map.languages.registry import language_named
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
        "inside",  # a node on whose level definitions stand as well (`if …:`, `#ifdef`)
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
    """Run a language's query over a tree, into a function only where its text hints at definitions.

    A definition may be taken more than once. Stops where the deadline passes; the caller asks it.
    """
    reach = language_named(language).reach
    # The parser's repairs put definitions anywhere.
    if reach.depth == 0 or tree.root_node.has_error:
        reach = WHOLE_TREE
    return _Scanner(source, language, reach, deadline, take).run(tree.root_node)


class _Scanner:
    """One run: what was found, and what is still to be visited."""

    def __init__(self, source: bytes, language: str, reach: Reach, deadline: CpuDeadline, take: Take) -> None:
        query = symbol_query(language)
        self._source = source
        self._reach = reach
        self._proof = re.compile(reach.proof, re.MULTILINE)
        self._deadline = deadline
        self._kinds = _kinds_of_patterns(language)
        self._level, self._all = QueryCursor(query), QueryCursor(query)
        self._all.set_max_start_depth(MAX_DEPTH)
        if reach.depth:
            self._level.set_max_start_depth(reach.depth)
        self._found = Scan({}, {}, [])
        self._take = take
        self._end = len(source)
        """Of what is still wanted."""
        self._levels: list[Node] = []
        """Nodes to search for definitions on the levels right below."""
        self._wholes: list[Node] = []
        """Nodes to search to the bottom."""

    def run(self, root: Node) -> Scan:
        if not self._reach.depth:
            self._read(self._all, root, None)
            return self._found
        self._levels.append(root)
        for node in self._unread(self._levels):
            self._read(self._level, node, node)
        for node in self._unread(self._wholes):
            self._read(self._all, node, None)
        return self._found

    def _unread(self, nodes: list[Node]) -> Iterator[Node]:
        """Take nodes off a list that may grow, each once, until none is left or time is up.

        A node is found from each level within reach above it: without this, nested namespaces take twice
        as long for each level.
        """
        seen: set[int] = set()
        while nodes and not self._deadline.is_over():
            node = nodes.pop()
            if node.id not in seen:
                seen.add(node.id)
                yield node

    def _read(self, cursor: QueryCursor, root: Node, level: Node | None) -> None:
        """Collect the matches below a node, stretch by stretch; for a level, note where to go on."""
        start, end = root.byte_range
        for at in range(start, max(end, start + 1), _STRETCH):
            stop = min(at + _STRETCH, self._end)
            if stop <= at or (at > start and self._deadline.is_over()):
                return
            # The last one goes to the end of the file: some grammars put a node behind its last byte.
            cursor.set_byte_range(at, stop if stop < min(end, self._end) else max(end + 1, stop))
            matches = self._matches(cursor, root, level)
            wanted = self._take(matches, self._found)
            if wanted is not None:
                self._end = min(self._end, wanted)

    def _matches(self, cursor: QueryCursor, root: Node, level: Node | None) -> list[Match]:
        """Return the definitions in the cursor's range; note all else, and for a level where to go on."""
        kinds, matches = self._kinds, []
        for pattern, captures in cursor.matches(root):
            kind = kinds.get(pattern)
            if kind is None:
                kind = kinds[pattern] = next((role for role in captures if role not in ROLES), "")
            if kind:
                matches.append(Match(kind, captures[kind][0], captures))
            elif "inside" not in captures:
                _note(self._found, captures)
            if level is not None:
                self._go_on(kind, captures, level)
        return matches

    def _go_on(self, kind: str, captures: Captures, level: Node) -> None:
        if inside := captures.get("inside"):
            self._levels += (node for node in inside if node.id != level.id)
        elif kind and (body := captures.get("body")):
            if kind in CONTAINERS:
                self._levels.append(body[0])
            elif self._hints_at_more(body[0]):
                self._wholes.append(body[0])

    def _hints_at_more(self, body: Node) -> bool:
        """Tell whether a body may hold definitions of its own."""
        source = self._source
        start, end = body.byte_range
        # Indentation before the first statement tells it from a word in a sentence.
        line = source.rfind(b"\n", 0, start) + 1
        if source[line:start].isspace():
            start = line
        if any(source.find(hint, start, end) >= 0 for hint in self._reach.hints):
            return self._proof.search(source, start, end) is not None
        return False


def _note(found: Scan, captures: Captures) -> None:
    """Remember what is no definition of its own."""
    if "import" in captures:
        found.imports.append(captures["import"][0])
    elif "wrapped" in captures:
        found.wrappers[captures["wrapped"][0].id] = captures["wrapper"][0]
    elif "attribute" in captures:
        found.attributes.update((node.end_byte, node) for node in captures["attribute"])
