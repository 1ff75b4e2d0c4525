"""Go's facts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from tree_sitter import Node, Tree

from repo_map.languages.language import Found
from repo_map.languages.outside import GO_FUNCTIONS, GO_TYPES
from repo_map.parsing.expressions import (
    OTHER_FORM,
    UNKNOWN_FORM,
    Form,
    call_of,
    element_of,
    entry_of,
    item_of,
    member_of,
    name_form,
    of_type,
    part_of,
    type_without_name,
)
from repo_map.parsing.facts_model import (
    ALIAS,
    ASSIGNED,
    BASE_OF,
    CALL,
    DECLARED,
    FIELD_TYPE,
    IMPORT,
    PACKAGE,
    RENAMED,
    RETURN_TYPE,
    STAR,
    TYPE,
    TYPE_PARAMETER,
    VALUE,
    FileFacts,
    OwnerOf,
)
from repo_map.parsing.facts_reader import LONGEST, Reader


def read(source: bytes, tree: Tree, language: str, found: Sequence[Found], owner: OwnerOf) -> FileFacts:
    """Read the facts of one Go file."""
    return _Reader(source, found, owner).read(tree, language)


class _Reader(Reader):
    # Bindings.

    def _package(self, node: Node) -> None:
        self.bind("", self.text(node), node, PACKAGE)

    def _import(self, node: Node) -> None:
        path = self.text(node.child_by_field_name("path")).strip('"`')
        named = node.child_by_field_name("name")
        if named is None:
            self.bind("", path, node, IMPORT)
        elif named.type == "dot":
            self.bind("*", path, node, STAR)
        elif named.type != "blank_identifier":
            self.bind(self.text(named), path, node, RENAMED)

    def _function(self, node: Node) -> None:
        if (result := node.child_by_field_name("result")) is not None:
            self.bind("", self._result(result), node, RETURN_TYPE)
            if result.type == "parameter_list":
                return

    def _parameter(self, node: Node) -> None:
        around = node.parent.parent if node.parent is not None else None
        if around is None or around.type == "function_type":
            return
        written = self._type(node.child_by_field_name("type"))
        if node.type.startswith("variadic"):
            written = f"list[{written}]"
        is_inner = around.type == "func_literal"
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), written, node if is_inner else around, DECLARED, inside=is_inner)

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
            self.bind(text, value, node, ASSIGNED, inside=inside)

    def _variable(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        names = node.children_by_field_name("name")
        if written is not None:
            for name in names:
                self.bind(self.text(name), self._type(written), node, DECLARED)
        elif (value := node.child_by_field_name("value")) is not None:
            self._bind_all(names, value.named_children, node)

    def _range(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is None:
            return
        over = self.expression(node.child_by_field_name("right"))
        for name, value in zip(left.named_children, (entry_of(over), element_of(over)), strict=False):
            if name.type == "identifier" and self.text(name) != "_":
                self.bind(self.text(name), value, node, ASSIGNED, inside=True)

    def _switch(self, node: Node) -> None:
        alias = node.child_by_field_name("alias")
        if alias is None or not alias.named_children:
            return
        name, value = self.text(alias.named_children[0]), self.expression(node.child_by_field_name("value"))
        self.bind(name, value, node, ASSIGNED, inside=True)
        for case in node.named_children:
            if case.type == "type_case":
                types = case.children_by_field_name("type")
                written = self._type(types[0]) if len(types) == 1 else ""
                self.bind(name, of_type(written) if written else value, case, ASSIGNED, inside=True)

    def _field(self, node: Node) -> None:
        kind, names = node.child_by_field_name("type"), node.children_by_field_name("name")
        written = self._type(kind)
        if not names:
            name = written.partition("[")[0].rpartition(".")[2]
            self.bind(name, written, node, BASE_OF)
            self.bind(name, written, node, FIELD_TYPE)
        for name_node in names:
            self.bind(self.text(name_node), written, name_node, FIELD_TYPE)

    def _embedded(self, node: Node) -> None:
        if node.named_child_count == 1:
            written = self._type(node.named_children[0])
            self.bind(written.partition("[")[0].rpartition(".")[2], written, node, BASE_OF)

    def _definition(self, node: Node) -> None:
        made_of = node.child_by_field_name("type")
        if made_of is not None and made_of.type not in ("struct_type", "interface_type"):
            self.bind("", self._type(made_of), node, ALIAS)

    def _type_parameter(self, node: Node) -> None:
        for name in node.children_by_field_name("name"):
            self.bind(self.text(name), "", node, TYPE_PARAMETER)

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
                self.site(name, "", called, CALL)
        elif called.type == "selector_expression":
            field = called.child_by_field_name("field")
            if field is not None:
                receiver = self.expression(called.child_by_field_name("operand"))
                self.site(self.text(field), receiver, field, CALL)

    def _converted_to(self, pointer: Node) -> None:
        """Read the type of ``(*T)(nil)``, which the grammar takes for a call."""
        named = pointer.child_by_field_name("operand")
        if named is not None and (chain := self.chain(named)) and self.text(pointer)[:1] == "*":
            package, _, name = chain.rpartition(".")
            self.site(name, package, named, TYPE)

    def _generic_call(self, node: Node) -> None:
        if node.type == "type_identifier":
            self.site(self.text(node), "", node, CALL)

    def _value(self, node: Node) -> None:
        if node.type == "identifier":
            if (name := self.text(node)) in self._own_functions:
                self.site(name, "", node, VALUE)
        elif chain := self.chain(node):
            receiver, _, name = chain.rpartition(".")
            self.site(name, receiver, node, VALUE)

    def _site_of_type(self, node: Node) -> None:
        parent = node.parent
        if parent is None or parent.type in ("qualified_type", "type_spec", "type_alias"):
            if parent is None or parent.type == "qualified_type":
                return
            if parent.child_by_field_name("name") == node:
                return
        package, _, name = self.text(node).rpartition(".")
        if package or name not in GO_TYPES:
            self.site(name, package, node, TYPE)

    @property
    def _own_functions(self) -> frozenset[str]:
        if self._functions is None:
            self._functions = frozenset(item.name for item in self.found if item.kind == "function")
        return self._functions

    _functions: frozenset[str] | None = None

    # Types.

    def _type(self, node: Node | None, depth: int = 0) -> str:
        """Return the normal form of a written type, ``""`` where it says nothing."""
        if node is None or depth > 6:
            return ""
        kind = node.type
        if (holder := _HOLDING.get(kind)) is not None:
            return holder(self, node, depth + 1)
        if node.end_byte - node.start_byte > LONGEST:
            return ""
        if kind in ("type_identifier", "qualified_type"):
            return self.text(node).replace(" ", "")
        if kind in ("parenthesized_type", "negated_type", "type_elem"):
            return self._pointer(node, depth + 1)
        if kind == "channel_type":
            return f"chan[{self._type(node.child_by_field_name('value'), depth + 1) or '?'}]"
        if kind == "function_type":
            result = node.child_by_field_name("result")
            return f"func[{self._result(result, depth + 1) if result is not None else '?'}]"
        return self._generic(node, depth + 1) if kind == "generic_type" else ""

    def _generic(self, node: Node, depth: int) -> str:
        head = self._type(node.child_by_field_name("type"), depth)
        arguments = node.child_by_field_name("type_arguments")
        given = [self._type(each, depth) or "?" for each in arguments.named_children] if arguments else []
        return f"{head}[{','.join(given)}]" if given else head

    # Types that may hold a struct without a name, which is long.

    def _struct(self, node: Node, depth: int) -> str:
        del depth
        return type_without_name(node.start_point[0] + 1, node.end_point[0] + 1)

    def _pointer(self, node: Node, depth: int) -> str:
        return self._type(node.named_children[0], depth) if node.named_children else ""

    def _list(self, node: Node, depth: int) -> str:
        return f"list[{self._type(node.child_by_field_name('element'), depth) or '?'}]"

    def _map(self, node: Node, depth: int) -> str:
        key, value = (self._type(node.child_by_field_name(each), depth) for each in ("key", "value"))
        return f"dict[{key or '?'},{value or '?'}]"

    def _result(self, node: Node, depth: int = 0) -> str:
        if node.type != "parameter_list":
            return self._type(node, depth)
        found: list[str] = []
        for each in node.named_children:
            if each.type == "parameter_declaration":
                names = len(each.children_by_field_name("name")) or 1
                found += [self._type(each.child_by_field_name("type"), depth + 1) or "?"] * names
        return found[0] if len(found) == 1 else f"tuple[{','.join(found)}]"

    # Expressions.

    def _selector(self, node: Node, depth: int) -> Form:
        if chain := self.chain(node):
            return name_form(chain)
        operand = self.expression(node.child_by_field_name("operand"), depth)
        return member_of(operand, self.text(node.child_by_field_name("field")))

    def _called(self, node: Node, depth: int) -> Form:
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or arguments is None:
            return UNKNOWN_FORM
        given = arguments.named_children
        if called.type == "identifier":
            name = self.text(called)
            if name in ("new", "make") and given:
                return of_type(self._type(given[0]))
            if name == "append" and given:
                return self.expression(given[0], depth)
            if name in GO_FUNCTIONS:
                return OTHER_FORM
        if called.type == "index_expression":
            called = called.child_by_field_name("operand")
        return call_of(self.expression(called, depth))

    def _converted(self, node: Node, depth: int) -> Form:
        del depth
        return of_type(self._type(node.child_by_field_name("type")))

    def _unary(self, node: Node, depth: int) -> Form:
        sign = self.text(node.child_by_field_name("operator"))
        value = self.expression(node.child_by_field_name("operand"), depth)
        if sign == "<-":
            return entry_of(value)
        return value if sign in ("&", "*") else OTHER_FORM

    def _index(self, node: Node, depth: int) -> Form:
        return item_of(self.expression(node.child_by_field_name("operand"), depth))

    def _slice(self, node: Node, depth: int) -> Form:
        return self.expression(node.child_by_field_name("operand"), depth)

    def _literal_function(self, node: Node, depth: int) -> Form:
        del depth
        result = node.child_by_field_name("result")
        return of_type(f"func[{self._result(result) if result is not None else '?'}]")

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
        "composite_literal": _converted,
        "type_conversion_expression": _converted,
        "type_assertion_expression": _converted,
        "unary_expression": _unary,
        "index_expression": _index,
        "slice_expression": _slice,
        "parenthesized_expression": Reader.inner,
        "func_literal": _literal_function,
        "interpreted_string_literal": Reader.quoted,
        "raw_string_literal": Reader.quoted,
        "int_literal": Reader.literal,
        "float_literal": Reader.literal,
        "binary_expression": Reader.literal,
    }


_HOLDING: Final[dict[str, Callable[[_Reader, Node, int], str]]] = {
    "struct_type": _Reader._struct,
    "pointer_type": _Reader._pointer,
    "slice_type": _Reader._list,
    "array_type": _Reader._list,
    "implicit_length_array_type": _Reader._list,
    "map_type": _Reader._map,
}
