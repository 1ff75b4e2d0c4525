"""What ``this`` and ``it`` stand for in Kotlin's lambdas and anonymous objects."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

from repo_map.languages.language import words
from repo_map.parsing.expressions import UNKNOWN_FORM, Form, element_of, name_form, of_type
from repo_map.parsing.facts_model import OwnerOf, owner_finder
from repo_map.parsing.facts_reader import Reader, child_of

_OF_RECEIVER: Final = frozenset({"apply", "run", "with"})
"""Functions whose lambda has what they are called on, or are given first, as its ``this``."""
_ITSELF: Final = frozenset({"let", "also", "takeIf", "takeUnless", "use"})
"""Functions whose lambda is given what they are called on."""
_OF_ELEMENTS: Final = words(
    "all any associate associateBy associateWith count distinctBy dropWhile filter filterNot find first"
    " firstOrNull flatMap forEach groupBy indexOfFirst joinToString last lastOrNull map mapNotNull maxBy"
    " maxByOrNull minBy minByOrNull none onEach partition removeAll removeIf single singleOrNull sortBy"
    " sortedBy sortedByDescending sumOf takeWhile"
)
"""Functions whose lambda is given one element after the other."""


class _Block(NamedTuple):
    """A lambda or an anonymous object."""

    has_this: bool
    has_it: bool
    callee: Node | None = None
    """What is called with the lambda."""
    written: str = ""
    """The type of the object."""


class Blocks:
    """The lambdas and anonymous objects of one file; what they stand in for is read once all are known."""

    def __init__(self, reader: Reader) -> None:
        # Weakly: workers run without a garbage collector.
        self._reader: Reader = weakref.proxy(reader)
        self._ranges: dict[tuple[int, int], _Block] = {}
        self._around: OwnerOf | None = None
        self._forms: dict[tuple[int, str], Form] = {}

    def __len__(self) -> int:
        return len(self._ranges)

    def add_lambda(self, call: Node) -> None:
        """Keep the lambda that a call is given last, where the function says by its name what it is about."""
        callee, literal = call.named_children[0], lambda_of(call)
        if literal is None or literal.type != "lambda_literal":
            return
        has_this = self.callee(callee)[0] in _OF_RECEIVER
        has_it = not has_this and child_of(literal, "lambda_parameters") is None
        self._ranges[literal.start_byte, -literal.end_byte] = _Block(has_this, has_it, callee)

    def add_object(self, body: Node, written: str) -> None:
        """Keep the body of an anonymous object of a written type."""
        self._ranges[body.start_byte, -body.end_byte] = _Block(has_this=True, has_it=False, written=written)

    def this(self, node: Node) -> Form:
        """Return what ``this`` is at a node."""
        return next(self.each_this(node), name_form("this"))

    def it(self, node: Node) -> Form:
        """Return what ``it`` is at a node."""
        around = (self._form(at, block, "it") for at, block in self._blocks(node) if block.has_it)
        return next(around, name_form("it"))

    def each_this(self, node: Node) -> Iterator[Form]:
        """Yield what ``this`` is in each block around a node that has one, the innermost first."""
        if not self._ranges:
            return iter(())
        return (self._form(at, block, "this") for at, block in self._blocks(node) if block.has_this)

    def given(self, callee: Node) -> Form:
        """Return what a function gives its lambda."""
        name, target = self.callee(callee)
        if target is None:
            return UNKNOWN_FORM
        if name in _ITSELF:
            return self._reader.expression(target, 2)
        return element_of(self._reader.expression(target, 2)) if name in _OF_ELEMENTS else UNKNOWN_FORM

    def callee(self, callee: Node) -> tuple[str, Node | None]:
        """Return the name of the function that is called, and what it is called on."""
        if callee.type == "call_expression":
            callee = callee.named_children[0]
        if callee.type == "navigation_expression":
            parts = callee.named_children
            return self._reader.text(parts[-1]), parts[0]
        return (self._reader.text(callee), None) if callee.type == "identifier" else ("", None)

    def _form(self, at: int, block: _Block, name: str) -> Form:
        key = (at, name)
        if key not in self._forms:
            self._forms[key] = UNKNOWN_FORM  # Should it ask for itself.
            self._forms[key] = self._read(block, name)
        return self._forms[key]

    def _read(self, block: _Block, name: str) -> Form:
        """Return what ``this`` or ``it`` stands for in a block."""
        if block.callee is None:
            return of_type(block.written)
        if name == "it":
            return self.given(block.callee)
        called, target = self.callee(block.callee)
        if called == "with":
            first = next(iter(arguments_of(block.callee)), None)
            return self._reader.expression(first, 2)
        return self._reader.expression(target, 2) if target is not None else self.this(block.callee)

    def _blocks(self, node: Node) -> Iterator[tuple[int, _Block]]:
        """Yield the blocks around a node by their numbers, innermost first."""
        if self._around is None:
            self._ranges = dict(sorted(self._ranges.items()))
            self._listed = list(self._ranges.values())
            self._starts = [start for start, _ in self._ranges]
            self._around = owner_finder([(start, -minus_end) for start, minus_end in self._ranges])
        at = self._around(node.start_byte)
        while at >= 0:
            yield at, self._listed[at]
            at = self._around(self._starts[at] - 1)


def lambda_of(call: Node) -> Node | None:
    """Return the lambda behind the parentheses of a call."""
    last = call.named_children[-1]
    return last.named_children[-1] if last.type == "annotated_lambda" and last.named_children else None


def arguments_of(call: Node) -> list[Node]:
    """Return what a call is given between its parentheses."""
    given = child_of(call, "value_arguments")
    listed = given.named_children if given is not None else ()
    return [c.named_children[-1] for c in listed if c.type == "value_argument" and c.named_children]
