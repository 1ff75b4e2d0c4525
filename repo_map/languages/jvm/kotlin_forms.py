"""How Kotlin's expressions and types are written.

Beside the forms that all written types share: the receiver of a call by a bare name in ``x.apply { … }`` ends
in ``&``, since the name may be a member of ``x``, or whatever it is without. ``it`` and ``this`` are written
as what they stand for.
"""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from repo_map.languages.jvm.kotlin_blocks import Blocks, arguments_of, lambda_of
from repo_map.parsing.expressions import (
    OTHER_FORM,
    TEXT_FORM,
    UNKNOWN_FORM,
    Form,
    call_of,
    either,
    item_of,
    member_of,
    name_form,
    of_type,
    one_of,
)
from repo_map.parsing.facts_reader import QUOTED, Reader, child_of, constant, first, typed

TYPES: Final = frozenset({"user_type", "nullable_type", "function_type", "parenthesized_type"})
_NULL: Final = of_type("null")
_BOOLEAN: Final = of_type("boolean")
_WORDS: Final = {"null": _NULL, "true": _BOOLEAN, "false": _BOOLEAN}
_BASIC: Final = {
    "Int": "int",
    "Long": "long",
    "Char": "char",
    "Byte": "byte",
    "Short": "short",
    "Double": "double",
    "Float": "float",
    "Boolean": "boolean",
    "Any": "Object",
    "ByteArray": "list[byte]",
    "IntArray": "list[int]",
    "CharArray": "list[char]",
    "LongArray": "list[long]",
}
"""What Java calls them, so that both are one."""
_GIVES_ITSELF: Final = frozenset({"apply", "also", "takeIf", "takeUnless", "onEach", "filter", "sortedBy"})
_GIVES_LAST: Final = frozenset({"let", "run", "with", "use"})
_FIRST_GIVEN: Final = frozenset({"requireNotNull", "checkNotNull"})


class KotlinForms(Reader):
    """Reads the expressions and types of a file of Kotlin."""

    def begin(self) -> None:
        """Initialize the state of one file."""
        self._blocks = Blocks(self)

    def _type_in(self, node: Node) -> Node | None:
        return child_of(node, *TYPES)

    def _base(self, node: Node) -> str:
        inner = node.named_children[0] if node.named_children else node
        if inner.type in ("constructor_invocation", "explicit_delegation") and inner.named_children:
            inner = inner.named_children[0]
        return self.type_of(inner)

    def _user_type(self, node: Node, depth: int) -> str:
        head = ".".join(self.text(child) for child in node.named_children if child.type == "identifier")
        given = child_of(node, "type_arguments")
        arguments = [self._type_in(each) for each in given.named_children] if given is not None else []
        if head == "Array":
            return self.type_with("list", arguments[:1] or [None], depth)
        return self.type_with(head, arguments, depth) if arguments else _BASIC.get(head, head)

    def _function_type(self, node: Node, depth: int) -> str:
        return self.type_with("func", node.named_children[-1:], depth)

    def _inner_type(self, node: Node, depth: int) -> str:
        return self.type_of(self._type_in(node), depth)

    def _word(self, node: Node, depth: int) -> Form:
        del depth
        text = self.text(node)
        if text in _WORDS:
            return _WORDS[text]
        if text == "it":
            return self._blocks.it(node)
        return self._of_block(node, name_form(text))

    def _of_block(self, node: Node, bare: Form) -> Form:
        """Return a bare name or call, as what the block around it has or the scopes."""
        form = UNKNOWN_FORM if bare[:1].isupper() else next(self._blocks.each_this(node), UNKNOWN_FORM)
        return bare if form == UNKNOWN_FORM else one_of((member_of(form, bare), bare))

    def _self(self, node: Node, depth: int) -> Form:
        del depth
        label = next((self.text(child) for child in node.named_children if child.type == "identifier"), "")
        if node.type == "super_expression":
            return name_form("super")
        if label[:1].isupper():
            return member_of(name_form(label), "this")
        return UNKNOWN_FORM if label else self._blocks.this(node)

    def _access(self, node: Node, depth: int) -> Form:
        parts = node.named_children
        if len(parts) < 2:
            return UNKNOWN_FORM
        name = self.text(parts[-1])
        if any(child.type == "::" for child in node.children):
            return of_type("KClass") if name == "class" else UNKNOWN_FORM
        if parts[0].type == "identifier" and not self._blocks and (chain := self.chain(node)):
            return name_form(chain)
        return member_of(self.expression(parts[0], depth), name)

    def _called(self, node: Node, depth: int) -> Form:
        parts = node.named_children
        callee = parts[0]
        if parts[-1].type == "annotated_lambda":
            name, target = self._blocks.callee(callee)
            if name in _GIVES_ITSELF and (target is not None or name == "apply"):
                return self.expression(target, depth) if target is not None else self._blocks.this(node)
            if name in _GIVES_LAST and (target is not None or name in ("with", "run")):
                return self._last_of(node, depth)
        if callee.type == "navigation_expression":
            inner = callee.named_children
            if inner[-1].type != "identifier":
                return UNKNOWN_FORM
            return call_of(member_of(self.expression(inner[0], depth), self.text(inner[-1])))
        if callee.type == "identifier":
            name = self.text(callee)
            if name in _FIRST_GIVEN:
                given = arguments_of(node)
                return self.expression(given[0], depth) if given else UNKNOWN_FORM
            return self._of_block(callee, call_of(name_form(name)))
        return self.expression(callee, depth) if callee.type == "call_expression" else UNKNOWN_FORM

    def _last_of(self, node: Node, depth: int = 2) -> Form:
        """Return what the lambda of a call ends with."""
        literal = lambda_of(node)
        inner = literal.named_children if literal is not None else []
        return (
            self.expression(inner[-1], depth)
            if inner and inner[-1].type != "lambda_parameters"
            else UNKNOWN_FORM
        )

    def _unary(self, node: Node, depth: int) -> Form:
        if node.children[-1].type == "!!":
            return self.expression(node.named_children[0], depth)
        return _BOOLEAN if node.children[0].type == "!" else self.expression(node.named_children[-1], depth)

    def _if(self, node: Node, depth: int) -> Form:
        top = node.child_by_field_name("condition")
        if top is None:
            return UNKNOWN_FORM
        branches = [child for child in node.named_children if child.start_byte >= top.end_byte]
        if len(branches) != 2:
            return UNKNOWN_FORM
        one, other = (self._end(branch, depth) for branch in branches)
        return UNKNOWN_FORM if UNKNOWN_FORM in (one, other) else either(one, other, _NULL)

    def _end(self, node: Node, depth: int) -> Form:
        return self.inner(node, depth) if node.type == "block" else self.expression(node, depth)

    def _binary(self, node: Node, depth: int) -> Form:
        sign = self.text_of(node, "operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign == "?:":
            return either(self.expression(left, depth), self.expression(right, depth), _NULL)
        if sign in ("==", "!=", "===", "!==", "<", ">", "<=", ">=", "&&", "||"):
            return _BOOLEAN
        is_text = sign == "+" and self.expression(left, depth) == TEXT_FORM
        return TEXT_FORM if is_text else UNKNOWN_FORM

    def _object(self, node: Node, depth: int) -> Form:
        del depth
        listed = child_of(node, "delegation_specifiers")
        return of_type(self._base(listed.named_children[0])) if listed is not None else UNKNOWN_FORM

    def _number(self, node: Node, depth: int) -> Form:
        del depth
        text = self.text(node)
        return of_type("long") if text.endswith("L") else of_type("double") if "." in text else OTHER_FORM

    forms = {  # noqa: RUF012
        "identifier": _word,
        "this_expression": _self,
        "super_expression": _self,
        "navigation_expression": _access,
        "call_expression": _called,
        "index_expression": first(item_of),
        "unary_expression": _unary,
        "parenthesized_expression": Reader.inner,
        "if_expression": _if,
        "as_expression": typed("right"),
        "binary_expression": _binary,
        "is_expression": constant(_BOOLEAN),
        "object_literal": _object,
        **dict.fromkeys(("string_literal", "multiline_string_literal"), QUOTED),
        "character_literal": constant(of_type("char")),
        **dict.fromkeys(("number_literal", "float_literal"), _number),
    }
    types = {  # noqa: RUF012
        "user_type": _user_type,
        "function_type": _function_type,
        **dict.fromkeys(("nullable_type", "parenthesized_type"), _inner_type),
    }
