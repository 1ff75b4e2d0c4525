"""What the readers of languages with written types share.

The normal form of a type is ``a.B[C,D]``, whatever the language writes for it; ``list[T]``, ``dict[K,V]``,
``tuple[A,B]``, ``chan[T]`` and ``func[R]`` (what is called and gives ``R``) are those that are built in. The
form of an expression is Python's (``facts_python``), but ``%`` is the key of what is iterated over, ``@2.0``
is what a call of two arguments takes as the first, and ``@1`` the second parameter of what is a function. In
languages that overload, the receiver of a call ends in ``/`` and the expressions that the call is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, ClassVar, Final

from tree_sitter import Node, QueryCursor, Tree

from repo_map.languages.grammars import facts_query
from repo_map.languages.language import Found
from repo_map.parsing.facts_model import FIELD, LINE, RETURNED, Binding, FileFacts, OwnerOf, Site
from repo_map.parsing.queries import DEEPEST

LONGEST: Final = 160
"""Characters of an expression or a type that are read; a longer one says nothing."""
DEEPEST_FORM: Final = 8
UNKNOWN: Final = "?"
NAME: Final = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+")
CHAIN: Final = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*+)*")
_NEW: Final = tuple.__new__
Take = Callable[[Any, Node], None]
Form = Callable[[Any, Node, int], str]


class TypedReader:
    """One file; a language says what each capture of its query means."""

    roles: ClassVar[dict[str, Take]] = {}
    """What is done with the nodes of each capture."""
    forms: ClassVar[dict[str, Form]] = {}
    """How each kind of node is written as an expression."""

    def __init__(self, source: bytes, found: Sequence[Found], owner: OwnerOf) -> None:
        self.source = source
        self.found = found
        self.owner = owner
        self.bindings: list[Binding] = []
        self.sites: list[Site] = []
        self.taken: set[int] = set()
        """First bytes of names that another site has already told of."""
        self._lines = source.split(b"\n")
        self._indents: dict[int, int] = {}

    def read(self, tree: Tree, language: str) -> FileFacts:
        """Return the facts of the file."""
        cursor = QueryCursor(facts_query(language))
        cursor.set_max_start_depth(DEEPEST)
        captures = cursor.captures(tree.root_node)
        for role, take in self.roles.items():
            # They come in the order of addresses, which differs between processes.
            nodes = sorted(captures.pop(role, ()), key=_END)
            nodes.sort(key=_START, reverse=True)
            while nodes:
                # A node keeps its children once they were asked for: none is kept longer than needed.
                take(self, nodes.pop())
        self.finish()
        self.sites.sort(key=LINE)
        self.bindings.sort(key=LINE)
        return FileFacts(tuple(self.sites), tuple(self.bindings))

    def finish(self) -> None:
        """Do what needs all captures."""

    def bind(self, name: str, value: str, node: Node, kind: int, *, inside: bool = False) -> None:
        """Add a binding at a node; ``inside`` where it holds only in the block that the node opens."""
        if value == UNKNOWN:
            if kind in (FIELD, RETURNED):
                return
            value = ""
        row = node.start_point[0]
        owner = self.owner(node.start_byte)
        self.bindings.append(_NEW(Binding, (name, value, owner, row + 1, kind, self.indent(row) + inside)))

    def site(self, name: str, receiver: str, node: Node, kind: int) -> None:
        """Add a site whose name stands at a node."""
        row = node.start_point[0]
        owner = self.owner(node.start_byte)
        self.sites.append(_NEW(Site, (name, receiver, owner, row + 1, kind, self.indent(row))))

    def indent(self, row: int) -> int:
        """Return the columns before the first word of a line, 250 at most."""
        found = self._indents.get(row)
        if found is None:
            line = self._lines[row] if row < len(self._lines) else b""
            found = self._indents[row] = min(len(line) - len(line.lstrip()), 250)
        return found

    def text(self, node: Node | None) -> str:
        """Return what is written at a node, ``""`` for none."""
        return "" if node is None else self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def expression(self, node: Node | None, depth: int = 0) -> str:
        """Return the normal form of an expression."""
        if node is None or depth > DEEPEST_FORM:
            return UNKNOWN
        form = self.forms.get(node.type)
        if form is None:
            return UNKNOWN
        written = form(self, node, depth + 1)
        return written if len(written) <= LONGEST else UNKNOWN

    def inner(self, node: Node, depth: int) -> str:
        """Return the form of the only part of a node that counts: the last."""
        parts = [child for child in node.named_children if "comment" not in child.type]
        return self.expression(parts[-1], depth) if parts else UNKNOWN

    def word(self, node: Node, depth: int) -> str:
        """Return the form of a name."""
        del depth
        return self.text(node)

    def literal(self, node: Node, depth: int) -> str:
        """Return the form of what is no object of ours."""
        del node, depth
        return "0"

    def quoted(self, node: Node, depth: int) -> str:
        """Return the form of a string."""
        del node, depth
        return "'"


def then(value: str, suffix: str) -> str:
    """Return an expression with something done to it."""
    return value if value == UNKNOWN else value + suffix


def typed(written: str) -> str:
    """Return the expression of something that has a written type."""
    return f"<{written}>" if written else UNKNOWN


_START: Final = attrgetter("start_byte")
_END: Final = attrgetter("end_byte")
