"""Go's facts."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from repo_map.languages.go import GO_FUNCTIONS, GO_TYPES
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    OTHER_FORM,
    UNKNOWN_FORM,
    Form,
    anonymous_type,
    call_of,
    element_of,
    entry_of,
    item_of,
    member_of,
    name_form,
    of_type,
    part_of,
)
from repo_map.parsing.facts_reader import LITERAL, QUOTED, Reader, list_type, parts_of, typed, within


class _Reader(Reader):
    def begin(self) -> None:
        """Initialize the state of one file."""
        self._defined: set[int] = set()
        """First bytes of the names of types where they are defined."""
        self._qualified_end = 0
        """Of the latest type with a package before it."""

    # Bindings.

    def _package(self, node: Node) -> None:
        self.bind("", self.text(node), node, facts.PACKAGE)

    def _import(self, node: Node) -> None:
        path = self.text_of(node, "path").strip('"`')
        named = node.child_by_field_name("name")
        if named is None:
            self.bind("", path, node, facts.IMPORT)
        elif named.type == "dot":
            self.bind("*", path, node, facts.STAR)
        elif named.type != "blank_identifier":
            self.bind(self.text(named), path, node, facts.RENAMED)

    def _function(self, node: Node) -> None:
        if (result := node.child_by_field_name("result")) is not None:
            self.bind("", self._result(result), node, facts.RETURN_TYPE)
            if result.type == "parameter_list":
                return

    def _parameter(self, node: Node) -> None:
        around = node.parent.parent if node.parent is not None else None
        if around is None or around.type == "function_type":
            return
        written = self.type_in(node, "type")
        if node.type.startswith("variadic"):
            written = f"list[{written}]"
        is_inner = around.type == "func_literal"
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), written, node if is_inner else around, facts.DECLARED, inside=is_inner)

    def _assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is not None and right is not None:
            at = node.parent
            opens = at is not None and at.type in (
                *("if_statement", "for_clause", "expression_switch_statement", "type_switch_statement"),
                *("communication_case", "receive_statement"),
            )
            self._bind_all(left.named_children, right.named_children, node, inside=opens)

    def _bind_all(self, names: list[Node], values: list[Node], node: Node, *, inside: bool = False) -> None:
        for number, name in enumerate(names):
            if name.type != "identifier" or (text := self.text(name)) == "_":
                continue
            if len(values) == len(names):
                value = self.expression(values[number])
            elif len(values) == 1:
                value = part_of(self.expression(values[0]), number)
            else:
                value = UNKNOWN_FORM
            self.bind(text, value, node, facts.ASSIGNED, inside=inside)

    def _variable(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        names = node.children_by_field_name("name")
        if written is not None:
            for name in names:
                self.bind(self.text(name), self.type_of(written), node, facts.DECLARED)
        elif (value := node.child_by_field_name("value")) is not None:
            self._bind_all(names, value.named_children, node)

    def _range(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is None:
            return
        over = self.of_field(node, "right")
        for name, value in zip(left.named_children, (entry_of(over), element_of(over)), strict=False):
            if name.type == "identifier" and self.text(name) != "_":
                self.bind(self.text(name), value, node, facts.ASSIGNED, inside=True)

    def _switch(self, node: Node) -> None:
        alias = node.child_by_field_name("alias")
        if alias is None or not alias.named_children:
            return
        name, value = self.text(alias.named_children[0]), self.of_field(node, "value")
        self.bind(name, value, node, facts.ASSIGNED, inside=True)
        for case in node.named_children:
            if case.type == "type_case":
                types = case.children_by_field_name("type")
                written = self.type_of(types[0]) if len(types) == 1 else ""
                self.bind(name, of_type(written) if written else value, case, facts.ASSIGNED, inside=True)

    def _field(self, node: Node) -> None:
        kind, names = node.child_by_field_name("type"), node.children_by_field_name("name")
        written = self.type_of(kind)
        if not names:
            self.base(written, node)
            self.bind(self.bindings[-1].name, written, node, facts.FIELD_TYPE)
        for name_node in names:
            self.bind(self.text(name_node), written, name_node, facts.FIELD_TYPE)

    def _embedded(self, node: Node) -> None:
        if node.named_child_count == 1:
            self.base(self.type_of(node.named_children[0]), node)

    def _definition(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is not None:
            self._defined.add(name.start_byte)
        made_of = node.child_by_field_name("type")
        if made_of is not None and made_of.type not in ("struct_type", "interface_type"):
            self.bind("", self.type_of(made_of), node, facts.ALIAS)

    def _type_parameter(self, node: Node) -> None:
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), "", node, facts.TYPE_PARAMETER)

    # Sites.

    def _call(self, node: Node) -> None:
        called = node.child_by_field_name("function")
        while called is not None and called.type == "parenthesized_expression":
            called = called.named_children[0] if called.named_children else None
        if called is None:
            return
        if called.type == "index_expression":
            called = called.child_by_field_name("operand") or called
        if called.type == "unary_expression":
            self._converted_to(called)
        elif called.type == "identifier":
            if (name := self.text(called)) not in GO_FUNCTIONS and name not in GO_TYPES:
                self.site(name, "", called, facts.CALL)
        elif called.type == "selector_expression":
            field = called.child_by_field_name("field")
            if field is not None:
                receiver = self.of_field(called, "operand")
                self.site(self.text(field), receiver, field, facts.CALL)

    def _converted_to(self, pointer: Node) -> None:
        """Read the type of ``(*T)(nil)``, which the grammar takes for a call."""
        named = pointer.child_by_field_name("operand")
        if named is not None and (chain := self.chain(named)) and self.text(pointer)[:1] == "*":
            self.use(chain, named, facts.TYPE)

    def _generic_call(self, node: Node) -> None:
        if node.type == "type_identifier":
            self.site(self.text(node), "", node, facts.CALL)

    def _value(self, node: Node) -> None:
        if node.type == "identifier":
            if (name := self.text(node)) in self.functions:
                self.site(name, "", node, facts.VALUE)
        elif chain := self.chain(node):
            self.use(chain, node, facts.VALUE)

    def _site_of_type(self, node: Node) -> None:
        # A name in ``package.Name`` comes right after the whole. To ask a node for its parent takes longer.
        if node.start_byte < self._qualified_end or node.start_byte in self._defined:
            return
        if node.type == "qualified_type":
            self._qualified_end = node.end_byte
        package, _, name = self.text(node).rpartition(".")
        if package or name not in GO_TYPES:
            self.site(name, package, node, facts.TYPE)

    # Types.

    def _function_type(self, node: Node, depth: int = 0) -> str:
        result = node.child_by_field_name("result")
        return f"func[{self._result(result, depth) if result is not None else '?'}]"

    def _generic(self, node: Node, depth: int) -> str:
        return self.type_with(self.type_in(node, "type", depth), parts_of(node, "type_arguments"), depth)

    def _struct(self, node: Node, depth: int) -> str:
        del depth
        return anonymous_type(node.start_point[0] + 1, node.end_point[0] + 1)

    def _inner_type(self, node: Node, depth: int) -> str:
        return self.type_of(node.named_children[0], depth) if node.named_children else ""

    def _with_fields(self, head: str, fields: tuple[str, ...], node: Node, depth: int) -> str:
        return self.type_with(head, [node.child_by_field_name(each) for each in fields], depth)

    def _map(self, node: Node, depth: int) -> str:
        return self._with_fields("dict", ("key", "value"), node, depth)

    def _channel(self, node: Node, depth: int) -> str:
        return self._with_fields("chan", ("value",), node, depth)

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

    def _selector(self, node: Node, depth: int) -> Form:
        if chain := self.chain(node):
            return name_form(chain)
        operand = self.of_field(node, "operand", depth)
        return member_of(operand, self.text_of(node, "field"))

    def _called(self, node: Node, depth: int) -> Form:
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or arguments is None:
            return UNKNOWN_FORM
        given = arguments.named_children
        if called.type == "identifier":
            name = self.text(called)
            if name in ("new", "make") and given:
                return of_type(self.type_of(given[0]))
            if name == "append" and given:
                return self.expression(given[0], depth)
            if name in GO_FUNCTIONS:
                return OTHER_FORM
        if called.type == "index_expression":
            called = called.child_by_field_name("operand")
        return call_of(self.expression(called, depth))

    def _unary(self, node: Node, depth: int) -> Form:
        sign = self.text_of(node, "operator")
        value = self.of_field(node, "operand", depth)
        if sign == "<-":
            return entry_of(value)
        return value if sign in ("&", "*") else OTHER_FORM

    def _literal_function(self, node: Node, depth: int) -> Form:
        del depth
        return of_type(self._function_type(node))

    roles = {  # noqa: RUF012 - see the base
        "package": _package,
        "import": _import,
        "function": _function,
        "parameter": _parameter,
        "assign": _assign,
        "variable": _variable,
        "range": _range,
        "switch": _switch,
        "field": _field,
        "embedded": _embedded,
        "definition": _definition,
        "type_parameter": _type_parameter,
        "call": _call,
        "generic_call": _generic_call,
        "value": _value,
        "type": _site_of_type,
    }
    forms = {  # noqa: RUF012
        "identifier": Reader.word,
        "selector_expression": _selector,
        "call_expression": _called,
        **dict.fromkeys(
            ("composite_literal", "type_conversion_expression", "type_assertion_expression"), typed("type")
        ),
        "unary_expression": _unary,
        "index_expression": within("operand", item_of),
        "slice_expression": within("operand"),
        "parenthesized_expression": Reader.inner,
        "func_literal": _literal_function,
        **dict.fromkeys(("interpreted_string_literal", "raw_string_literal"), QUOTED),
        **dict.fromkeys(("int_literal", "float_literal", "binary_expression"), LITERAL),
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(("type_identifier", "qualified_type"), Reader.plain_type),
        "struct_type": _struct,
        **dict.fromkeys(("pointer_type", "parenthesized_type", "negated_type", "type_elem"), _inner_type),
        **dict.fromkeys(("slice_type", "array_type", "implicit_length_array_type"), list_type("element")),
        "map_type": _map,
        "channel_type": _channel,
        "function_type": _function_type,
        "generic_type": _generic,
    }
    long_types = frozenset(
        {"struct_type", "pointer_type", "slice_type", "array_type", "implicit_length_array_type", "map_type"}
    )
    """They may hold a struct without a name, which is long."""


READERS: Final = {"go": _Reader}
