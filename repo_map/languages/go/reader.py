"""Go's facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tree_sitter import Node

from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import OTHER_FORM, UNKNOWN_FORM, Form

_TYPES: Final = vocabulary("go", "types")
_FUNCTIONS: Final = vocabulary("go", "functions")
_OPENING: Final = frozenset(
    {"if_statement", "for_clause", "expression_switch_statement", "type_switch_statement"}
    | {"communication_case", "receive_statement"}
)
"""What an assignment in it holds only inside of."""


class _Reader(read.Reader):
    def begin(self) -> None:
        self._qualified_end = 0
        """Of the latest type with a package before it."""

    # Bindings.

    def on_package(self, node: Node) -> None:
        self.bind("", self.text(node), node, facts.PACKAGE)

    def on_import(self, node: Node) -> None:
        path = self.text_of(node, "path").strip('"`')
        named = node.child_by_field_name("name")
        if named is None:
            self.bind("", path, node, facts.IMPORT)
        elif named.type == "dot":
            self.bind("*", path, node, facts.STAR)
        elif named.type != "blank_identifier":
            self.bind(self.text(named), path, node, facts.RENAMED)

    def on_function(self, node: Node) -> None:
        if (result := node.child_by_field_name("result")) is not None:
            self.bind("", self._result(result), node, facts.RETURN_TYPE)

    def on_parameter(self, node: Node) -> None:
        around = node.parent.parent if node.parent is not None else None
        if around is None or around.type == "function_type":
            return
        written = self.type_in(node, "type")
        if node.type.startswith("variadic"):
            written = f"list[{written}]"
        is_inner = around.type == "func_literal"
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), written, node if is_inner else around, facts.DECLARED, inside=is_inner)

    def on_assign(self, node: Node) -> None:
        opens = node.parent is not None and node.parent.type in _OPENING
        self._bind_all(read.parts_of(node, "left"), read.parts_of(node, "right"), node, inside=opens)

    def _bind_all(
        self, names: Sequence[Node], values: Sequence[Node], node: Node, *, inside: bool = False
    ) -> None:
        for number, name in enumerate(names):
            value = UNKNOWN_FORM
            if len(values) == len(names):
                value = self.expression(values[number])
            elif len(values) == 1:
                value = forms.part_of(self.expression(values[0]), number)
            self._assigned(name, value, node, inside=inside)

    def _assigned(self, name: Node, value: Form, node: Node, *, inside: bool) -> None:
        if name.type == "identifier" and (text := self.text(name)) != "_":
            self.bind(text, value, node, facts.ASSIGNED, inside=inside)

    def on_variable(self, node: Node) -> None:
        names = node.children_by_field_name("name")
        if (written := node.child_by_field_name("type")) is None:
            if values := read.parts_of(node, "value"):
                self._bind_all(names, values, node)
            return
        for name in names:
            self.bind(self.text(name), self.type_of(written), node, facts.DECLARED)

    def on_range(self, node: Node) -> None:
        over = self.of_field(node, "right")
        for name, value in zip(
            read.parts_of(node, "left"), (forms.entry_of(over), forms.element_of(over)), strict=False
        ):
            self._assigned(name, value, node, inside=True)

    def on_switch(self, node: Node) -> None:
        alias = read.parts_of(node, "alias")
        if not alias:
            return
        value = self.of_field(node, "value")
        self._assigned(alias[0], value, node, inside=True)
        for case in node.named_children:
            if case.type == "type_case":
                types = case.children_by_field_name("type")
                written = self.type_of(types[0]) if len(types) == 1 else ""
                self._assigned(alias[0], forms.of_type(written) if written else value, case, inside=True)

    def on_field(self, node: Node) -> None:
        written, names = self.type_in(node, "type"), node.children_by_field_name("name")
        if not names:
            self.base(written, node)
            self.bind(self.bindings[-1].name, written, node, facts.FIELD_TYPE)
        for name in names:
            self.bind(self.text(name), written, name, facts.FIELD_TYPE)

    def on_embedded(self, node: Node) -> None:
        if node.named_child_count == 1:
            self.base(self.type_of(node.named_children[0]), node)

    def on_definition(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is not None:
            self.taken.add(name.start_byte)
        made_of = node.child_by_field_name("type")
        if made_of is not None and made_of.type not in ("struct_type", "interface_type"):
            self.bind("", self.type_of(made_of), node, facts.ALIAS)

    def on_type_parameter(self, node: Node) -> None:
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), "", node, facts.TYPE_PARAMETER)

    # Sites.

    def on_call(self, node: Node) -> None:
        called = node.child_by_field_name("function")
        while called is not None and called.type in ("parenthesized_expression", "index_expression"):
            called = next(iter(called.named_children), None)
        if called is None:
            return
        if called.type == "unary_expression":
            # The type of ``(*T)(nil)``, which the grammar takes for a call.
            named = called.child_by_field_name("operand")
            if named is not None and (chain := self.chain(named)) and self.text(called)[:1] == "*":
                self.use(chain, named, facts.TYPE)
        elif called.type == "identifier":
            if (name := self.text(called)) not in _FUNCTIONS | _TYPES:
                self.site(name, "", called, facts.CALL)
        elif (field := called.child_by_field_name("field")) is not None:
            self.site(self.text(field), self.of_field(called, "operand"), field, facts.CALL)

    def on_generic_call(self, node: Node) -> None:
        if node.type == "type_identifier":
            self.site(self.text(node), "", node, facts.CALL)

    def on_value(self, node: Node) -> None:
        chain = self.chain(node)
        if "." in chain or chain in self.functions:
            self.use(chain, node, facts.VALUE)

    def on_type(self, node: Node) -> None:
        # A name in ``package.Name`` comes right after the whole. To ask a node for its parent takes longer.
        if node.start_byte < self._qualified_end or node.start_byte in self.taken:
            return
        if node.type == "qualified_type":
            self._qualified_end = node.end_byte
        name = self.text(node)
        if name not in _TYPES:
            self.use(name, node, facts.TYPE)

    # Types.

    def _function_type(self, node: Node, depth: int = 0) -> str:
        result = node.child_by_field_name("result")
        return f"func[{self._result(result, depth) if result is not None else '?'}]"

    def _generic(self, node: Node, depth: int) -> str:
        return self.type_with(self.type_in(node, "type", depth), read.parts_of(node, "type_arguments"), depth)

    def _struct(self, node: Node, depth: int) -> str:
        return forms.anonymous_type(node.start_point[0] + 1, node.end_point[0] + 1)

    def _result(self, node: Node, depth: int = 0) -> str:
        if node.type != "parameter_list":
            return self.type_of(node, depth)
        found: list[str] = []
        for each in node.named_children:
            if each.type == "parameter_declaration":
                names = len(each.children_by_field_name("name")) or 1
                found += [self.type_in(each, "type", depth + 1) or "?"] * names
        return found[0] if len(found) == 1 else f"tuple[{','.join(found)}]"

    # Expressions.

    def _called(self, node: Node, depth: int) -> Form:
        called, given = node.child_by_field_name("function"), read.parts_of(node, "arguments")
        name = self.text(called) if called is not None and called.type == "identifier" else ""
        if name in ("new", "make") and given:
            return forms.of_type(self.type_of(given[0]))
        if name == "append" and given:
            return self.expression(given[0], depth)
        if name in _FUNCTIONS:
            return OTHER_FORM
        if called is not None and called.type == "index_expression":
            called = called.child_by_field_name("operand")
        return forms.call_of(self.expression(called, depth))

    def _unary(self, node: Node, depth: int) -> Form:
        sign = self.text_of(node, "operator")
        value = self.of_field(node, "operand", depth)
        if sign == "<-":
            return forms.entry_of(value)
        return value if sign in ("&", "*") else OTHER_FORM

    def _function_literal(self, node: Node, depth: int) -> Form:
        return forms.of_type(self._function_type(node))

    expressions = {  # noqa: RUF012 - see the base
        "identifier": read.Reader.word,
        "selector_expression": read.access("operand", "field"),
        "call_expression": _called,
        **dict.fromkeys(
            ("composite_literal", "type_conversion_expression", "type_assertion_expression"),
            read.typed("type"),
        ),
        "unary_expression": _unary,
        "index_expression": read.within("operand", forms.item_of),
        "slice_expression": read.within("operand"),
        "parenthesized_expression": read.Reader.inner,
        "func_literal": _function_literal,
        **dict.fromkeys(("interpreted_string_literal", "raw_string_literal"), read.QUOTED),
        **dict.fromkeys(("int_literal", "float_literal", "binary_expression"), read.LITERAL),
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(("type_identifier", "qualified_type"), read.Reader.plain_type),
        "struct_type": _struct,
        **dict.fromkeys(("pointer_type", "parenthesized_type", "negated_type", "type_elem"), read.last_type),
        **dict.fromkeys(
            ("slice_type", "array_type", "implicit_length_array_type"), read.container("list", "element")
        ),
        "map_type": read.container("dict", "key", "value"),
        "channel_type": read.container("chan", "value"),
        "function_type": _function_type,
        "generic_type": _generic,
    }
    long_types = frozenset(
        {"struct_type", "pointer_type", "slice_type", "array_type", "implicit_length_array_type", "map_type"}
    )
    """They may hold a struct without a name, which is long."""


READERS: Final = {"go": _Reader}
