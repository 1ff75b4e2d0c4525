"""What the readers of all languages share: a query's captures in order, sites, bindings and expressions.

What is stored of an expression and of a written type is described in ``expressions``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar, Final, cast

from tree_sitter import Node, QueryCursor, Tree

from repo_map.deadline import CpuDeadline
from repo_map.languages.grammars import query_named
from repo_map.languages.language import Found
from repo_map.languages.registry import language_named
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    OTHER_FORM,
    TEXT_FORM,
    UNKNOWN_FORM,
    Form,
    arguments_given,
    head_of_type,
    member_of,
    narrowed_form,
    of_type,
    one_of,
)
from repo_map.parsing.facts_model import (
    NO_FACTS,
    Binding,
    FileFacts,
    OwnerOf,
    Site,
    in_order,
    owner_finder,
    without_unused,
)
from repo_map.parsing.queries import MAX_DEPTH

MAX_CHARS: Final = 160
"""Characters of an expression or a type that are read; a longer one says nothing."""
MAX_FORM_DEPTH: Final = 8
_MAX_ARGUMENT_CHARS: Final = 40
_ARGUMENT_DEPTH: Final = 4
"""Where the form of an argument begins, so that it goes no deeper than a few steps."""
CHAIN: Final = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*+)*")
_SPACES: Final = re.compile(rb"\s+")
_NEW: Final = tuple.__new__
ReadRole = Callable[[Any, Node], None]
ReadForm = Callable[[Any, Node, int], Form]
ReadType = Callable[[Any, Node, int], str]


class Reader:
    """One file; the methods of a language say what each capture of its query means.

    ``on_x`` takes each node that is captured as ``@x``, in source order; ``after_x`` does so once all of the
    former are called. They are called in the order in which the class defines them.
    """

    expressions: ClassVar[dict[str, ReadForm]] = {}
    """How each kind of node is written as an expression."""
    types: ClassVar[dict[str, ReadType]] = {}
    """How each kind of node is written as a type."""
    long_types: ClassVar[frozenset[str]] = frozenset()
    """Kinds of types that are read however long they are."""
    local_kinds: ClassVar[frozenset[str]] = frozenset({"function"})
    """Kinds of definitions whose bindings are local."""
    chains: ClassVar[re.Pattern[bytes]] = CHAIN
    """Names with dots between them."""
    leaves: ClassVar[frozenset[str]] = frozenset()
    """Kinds of nodes that are written however deep they stand."""
    max_chars: ClassVar[int] = MAX_CHARS
    max_type_chars: ClassVar[int] = MAX_CHARS
    placeholders: ClassVar[tuple[str, ...]] = (UNKNOWN_FORM,)
    """Forms that say nothing of what is bound to them."""
    no_alternatives: ClassVar[tuple[str, ...]] = (UNKNOWN_FORM,)
    """Forms that say nothing beside others."""
    valued: ClassVar[frozenset[int]] = frozenset({facts.FIELD, facts.RETURNED})
    """Kinds of bindings that say nothing without a value."""

    def __init__(self, source: bytes, found: Sequence[Found], owner: OwnerOf) -> None:
        self.source = source
        self.found = found
        self.owner = owner
        self.bindings: list[Binding] = []
        self.sites: list[Site] = []
        self.taken: set[int] = set()
        """First bytes of names that another site or binding has already dealt with."""
        self._lines = source.split(b"\n")
        self._indents: dict[int, int] = {}
        self.begin()

    def begin(self) -> None:
        """Initialize the state of one file."""

    def read(self, tree: Tree, language: str) -> FileFacts:
        """Return the facts of the file."""
        self.root, self.language = tree.root_node, language
        cursor = QueryCursor(query_named(language, "facts"))
        cursor.set_max_start_depth(MAX_DEPTH)
        captures = cursor.captures(tree.root_node)
        for name, take in self._takers():
            kind, _, role = name.partition("_")
            # They come in the order of addresses, which differs between processes.
            nodes = sorted(captures.get(role, ()), key=_END)
            nodes.sort(key=_START, reverse=True)
            if kind == "after" or not hasattr(self, f"after_{role}"):
                captures.pop(role, None)
            while nodes:
                # A node keeps its children once they were asked for: none stays longer than needed.
                take(self, nodes.pop())
        self.finish()
        return self.facts()

    @classmethod
    @cache
    def _takers(cls) -> tuple[tuple[str, ReadRole], ...]:
        """Return the methods that take captures, in the order in which they are called."""
        named = {name: getattr(cls, name) for each in reversed(cls.__mro__) for name in vars(each)}
        early = [each for each in named.items() if each[0].startswith("on_")]
        return (*early, *(each for each in named.items() if each[0].startswith("after_")))

    def finish(self) -> None:
        """Do what needs all captures."""

    def facts(self) -> FileFacts:
        """Return what was found, by line."""
        self.sites.sort(key=facts.LINE)
        self.bindings.sort(key=facts.LINE)
        return FileFacts(tuple(self.sites), tuple(self.bindings))

    def bind(
        self, name: str, value: str, node: Node, kind: int, *, inside: bool = False, at: Node | None = None
    ) -> None:
        """Add a binding of the definition around a node, on its line or that of ``at``.

        ``inside``: it holds only in the block that the node opens.
        """
        if self.is_uninformative(value, kind):
            if kind in self.valued:
                return
            value = ""
        row = (at or node).start_point[0]
        owner = self.owner(node.start_byte)
        self.bindings.append(_NEW(Binding, (name, value, owner, row + 1, kind, self.indent(row) + inside)))

    def variable(
        self, name: str, written: str, value: str, node: Node, *, inside: bool = False, at: Node | None = None
    ) -> None:
        """Bind a variable to its written type, or to its value where none is written."""
        kind = facts.DECLARED if written else facts.ASSIGNED
        self.bind(name, written or value, node, kind, inside=inside, at=at)

    def takes(self, types: Sequence[str], required: int, node: Node, *, has_more: bool = False) -> None:
        """Say how many parameters the definition around a node has, and their written types."""
        count = f"{required}+" if has_more else f"{required}-" if required < len(types) else str(required)
        self.bind(count, ",".join(each or UNKNOWN_FORM for each in types), node, facts.PARAMETERS)

    def narrow(self, name: Node, written: str, last: int, *, at: Node | None = None) -> None:
        """Say that a name has a written type up to a line, 0 for the end."""
        if written:
            self.bind(self.text(name), narrowed_form(last, written), name, facts.NARROWED, at=at)

    def is_uninformative(self, value: str, kind: int) -> bool:
        """Return True if the value of a binding is unknown."""
        return value in self.placeholders

    def site(
        self, name: str, receiver: str, node: Node, kind: int, *, at_end: bool = False, below: int = 0
    ) -> None:
        """Add a site whose name stands where a node begins or ends, or some lines below that."""
        row = node.end_point[0] if at_end else node.start_point[0]
        self.site_at(name, receiver, (node.start_byte, row), kind, below)

    def site_at(self, name: str, receiver: str, at: tuple[int, int], kind: int, below: int = 0) -> None:
        """Add a site at a byte and a row, or some rows below that."""
        byte, row = at
        owner = self.owner(byte)
        self.sites.append(_NEW(Site, (name, receiver, owner, row + below + 1, kind, self.indent(row))))

    def use(self, path: str, node: Node, kind: int, given: str = "") -> None:
        """Add a site of the last of names with dots between them, which the others stand before."""
        receiver, _, name = path.rpartition(".")
        self.site(name, receiver + given, node, kind)

    def base(self, written: str, node: Node, *, at: Node | None = None) -> None:
        """Add a written type that the definition around a node extends or implements."""
        name = head_of_type(written).rpartition(".")[2]
        self.bind(name, written or UNKNOWN_FORM, node, facts.INHERITS, at=at)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The names of the functions that the file defines."""
        return frozenset(item.name for item in self.found if item.kind in self.local_kinds)

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

    def text_of(self, node: Node, field: str) -> str:
        """Return what is written in a field of a node, ``""`` where nothing stands there."""
        inner = node.child_by_field_name(field)
        return "" if inner is None else self.text(inner)

    def squeezed(self, node: Node) -> str:
        """Return what is written at a node without spaces and line ends."""
        return _SPACES.sub(b"", self.source[node.start_byte : node.end_byte]).decode("utf-8", "replace")

    def chain(self, node: Node) -> str:
        """Return names with dots between them, ``""`` for anything else."""
        return self.chain_of(node) if node.end_byte - node.start_byte <= self.max_chars else ""

    def chain_of(self, node: Node) -> str:
        """Return names with dots between them, however long, ``""`` for anything else."""
        text = self.source[node.start_byte : node.end_byte]
        return text.decode("utf-8", "replace") if self.chains.fullmatch(text) else ""

    def expression(self, node: Node | None, depth: int = 0) -> Form:
        """Return the form of an expression."""
        if node is None:
            return UNKNOWN_FORM
        kind = node.type
        form = self.expressions.get(kind)
        if form is None or (depth > MAX_FORM_DEPTH and kind not in self.leaves):
            return UNKNOWN_FORM
        written = form(self, node, depth + 1)
        return written if len(written) <= self.max_chars else UNKNOWN_FORM

    def argument(self, node: Node) -> Form:
        """Return the form of what a call is given, unknown where it is long or deep."""
        form = self.expression(node, _ARGUMENT_DEPTH)
        return form if len(form) <= _MAX_ARGUMENT_CHARS else UNKNOWN_FORM

    def of_field(self, node: Node, field: str, depth: int = 0) -> Form:
        """Return the form of the part of a node in a field."""
        return self.expression(node.child_by_field_name(field), depth)

    def one_of(self, nodes: Iterable[Node], depth: int) -> Form:
        """Return the form of one of several, of those that say something."""
        forms = (self.expression(each, depth) for each in nodes)
        return one_of(each for each in forms if each not in self.no_alternatives)

    def inner(self, node: Node, depth: int) -> Form:
        """Return the form of the only part of a node that counts: the last."""
        return self.expression(next(reversed(children_of(node)), None), depth)

    def word(self, node: Node, depth: int) -> Form:
        """Return the form of a name."""
        return Form(self.text(node))

    def given(self, arguments: Iterable[Node]) -> str:
        """Return what a call is given, as the end of its receiver in languages that overload."""
        return arguments_given(self.argument(each) for each in arguments if "comment" not in each.type)

    # Written types.

    def type_of(self, node: Node | None, depth: int = 0) -> str:
        """Return the normal form of a written type, ``""`` where it says nothing."""
        if node is None or depth > MAX_FORM_DEPTH:
            return ""
        kind = node.type
        written = self.types.get(kind)
        if written is None or (
            node.end_byte - node.start_byte > self.max_type_chars and kind not in self.long_types
        ):
            return ""
        return written(self, node, depth + 1)

    def type_in(self, node: Node, field: str, depth: int = 0) -> str:
        """Return the normal form of the type in a field of a node."""
        return self.type_of(node.child_by_field_name(field), depth)

    def type_with(self, head: str, arguments: Iterable[Node | None], depth: int = 0) -> str:
        """Return the normal form of a type with its arguments."""
        given = [self.type_of(each, depth) or "?" for each in arguments]
        return f"{head}[{','.join(given)}]" if given else head

    def plain_type(self, node: Node, depth: int) -> str:
        """Return the normal form of a name of a type."""
        text = self.text(node)
        return text if text.isidentifier() else "".join(text.split())


# Nodes near a node.


def child_of(node: Node, *kinds: str) -> Node | None:
    """Return the first named child of some kinds, None where there is none."""
    for child in node.named_children:  # Twice as fast as `next`, and asked of each call.
        if child.type in kinds:
            return child
    return None


def children_of(node: Node) -> list[Node]:
    """Return the named children of a node without comments."""
    return [child for child in node.named_children if "comment" not in child.type]


def top_of(test: Node, operators: Container[str]) -> tuple[Node, Node | None]:
    """Return the outermost condition that holds only where a test in it does, and what it is a part of."""
    above = test.parent
    while above is not None and (
        above.type == "parenthesized_expression"
        or (above.type == "binary_expression" and _operator(above) in operators)
    ):
        test, above = above, above.parent
    return test, above


def _operator(node: Node) -> str:
    operator = node.child_by_field_name("operator")
    return operator.type if operator is not None else ""


def parts_of(node: Node, field: str) -> Sequence[Node]:
    """Return the named children of what stands in a field, none where nothing does."""
    inner = node.child_by_field_name(field)
    return inner.named_children if inner is not None else ()


def around(node: Node, kinds: Container[str]) -> Node | None:
    """Return the innermost node of some kinds around a node, None where there is none."""
    above = node.parent
    while above is not None and above.type not in kinds:
        above = above.parent
    return above


# How nodes are read as expressions and as types, for the tables of readers.


def _itself(form: Form) -> Form:
    return form


def within(field: str, make: Callable[[Form], Form] = _itself) -> ReadForm:
    """Read a node as the expression in one of its fields, or as what is made of that."""
    return lambda reader, node, depth: make(reader.of_field(node, field, depth))


def first(make: Callable[[Form], Form]) -> ReadForm:
    """Read a node as what is made of the first expression in it."""
    return lambda reader, node, depth: make(reader.expression(next(iter(node.named_children), None), depth))


def access(of: str, name: str) -> ReadForm:
    """Read a node as names with dots between them, else as a member of the expression in a field."""

    def read(reader: Reader, node: Node, depth: int) -> Form:
        if chain := reader.chain(node):
            return Form(chain)
        member = reader.text_of(node, name)
        return member_of(reader.of_field(node, of, depth), member) if member else UNKNOWN_FORM

    return read


def typed(field: str) -> ReadForm:
    """Read a node as something of the type in one of its fields."""
    return lambda reader, node, _depth: of_type(reader.type_in(node, field))


def constant(form: Form) -> ReadForm:
    """Read any node as one form."""
    return lambda _reader, _node, _depth: form


LITERAL: Final = constant(OTHER_FORM)
QUOTED: Final = constant(TEXT_FORM)


def type_within(field: str) -> ReadType:
    """Read a node as the type in one of its fields."""
    return lambda reader, node, depth: reader.type_in(node, field, depth)


def last_type(reader: Reader, node: Node, depth: int) -> str:
    """Read a node as the last type in it."""
    return reader.type_of(node.named_children[-1], depth) if node.named_children else ""


def container(head: str, *fields: str) -> ReadType:
    """Read a node as a container of the types in some of its fields."""
    return lambda reader, node, depth: reader.type_with(head, map(node.child_by_field_name, fields), depth)


class ValueReader(Reader):
    """Reads the bindings of a file before its sites: they say which names may be the file's own."""

    max_chars = 120
    members: ClassVar[frozenset[str]] = frozenset()
    """Method names of built-in types. A call of one on an unknown receiver is not recorded."""
    literals: ClassVar[frozenset[str]] = frozenset()
    """What an expression begins with whose members are never ours."""
    followed_roots: ClassVar[frozenset[str]] = frozenset()
    """What an expression may begin with that is worth following, though no name of the file."""
    head: ClassVar[re.Pattern[str]]
    """What an expression begins with."""

    def begin(self) -> None:
        """Initialize the state of one file."""
        self.imported: set[str] = set()
        self.external_imports: set[str] = set()
        """What comes from modules that are never the repository's."""
        self.annotated: set[int] = set()
        """Definitions that say what they return."""
        self.has_star = False

    # Once all bindings are read.

    @cached_property
    def known(self) -> frozenset[str]:
        """The names that the file defines or says something of."""
        return frozenset(item.name for item in self.found) | {
            each.name for each in self.bindings if each.value
        }

    @cached_property
    def own(self) -> frozenset[str]:
        """The names that the file defines, or imports from what may be the repository's."""
        return frozenset(item.name for item in self.found) | self.imported

    @cached_property
    def external(self) -> frozenset[str]:
        """The names that are never the repository's."""
        raise NotImplementedError

    def facts(self) -> FileFacts:
        """Return what was found, without bindings of names that nothing is said or read of."""
        bindings = in_order(each for each in self.bindings if each.value or each.name in self.known)
        sites = in_order(self.sites)
        is_local = [item.kind in self.local_kinds for item in self.found]
        return FileFacts(sites, without_unused(bindings, sites, is_local))

    # What a language says.

    def bare(self, name: str) -> tuple[str, str] | None:
        """Return receiver and name of a call by a bare name, None where it is never the repository's."""
        raise NotImplementedError

    def of_no_chain(self, node: Node) -> tuple[str, str] | None:
        """Return receiver and name of what is called otherwise than by a chain, None where it has no name."""
        raise NotImplementedError

    def after_call(self, node: Node) -> None:
        """Add the site of what is called, where it may be the repository's."""
        if chain := self.chain_of(node):
            receiver, _, name = chain.rpartition(".")
            root = receiver.partition(".")[0]
        elif (found := self.of_no_chain(node)) is not None:
            receiver, name = found
            head = self.head.match(receiver)
            root = head[0] if head else receiver
        else:
            return
        if not receiver:
            if (bare := self.bare(name)) is not None:
                self.site(bare[1], bare[0], node, facts.CALL, at_end=True)
        elif root in self.external or root in self.literals:
            return
        elif name not in self.members or root in self.known or root in self.followed_roots:
            self.site(name, receiver, node, facts.CALL, at_end=True)


_START: Final = attrgetter("start_byte")
_END: Final = attrgetter("end_byte")


def find_facts(
    source: bytes, tree: Tree, language: str, found: Sequence[Found], deadline: CpuDeadline
) -> FileFacts:
    """Read the facts of one file; none for a language without a reader."""
    family = language_named(language).family
    if not family or deadline.is_over():
        return NO_FACTS
    ranges = [(item.start_byte, -item.minus_end_byte) for item in found]
    return _readers(family)[language](source, found, owner_finder(ranges)).read(tree, language)


@cache
def _readers(family: str) -> Mapping[str, type[Reader]]:
    """Return the readers of a family by language, loaded by name: the engine's parts know no language."""
    return cast("Mapping[str, type[Reader]]", import_module(f"repo_map.languages.{family}.reader").READERS)
