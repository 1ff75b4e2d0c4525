"""The facts of Java, and the readers of both languages: one resolver takes both."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from repo_map.languages.jvm.kotlin_reader import KotlinReader
from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import OTHER_FORM, TEXT_FORM, UNKNOWN_FORM, Form

_USUAL: Final = vocabulary("jvm", "java_usual")
_NULL: Final = forms.of_type("null")
_PRIMITIVE: Final = frozenset({"integral_type", "floating_point_type", "boolean_type", "void_type"})
_CLASSES: Final = frozenset(
    {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
)


class _JavaReader(read.Reader):
    # Bindings.

    def on_package(self, node: Node) -> None:
        if node.type in ("identifier", "scoped_identifier"):
            self.bind("", self.text(node), node, facts.PACKAGE)

    def on_import(self, node: Node) -> None:
        is_static = any(child.type == "static" for child in node.children)
        name = self.text(read.child_of(node, "identifier", "scoped_identifier"))
        owner, _, last = name.rpartition(".")
        if read.child_of(node, "asterisk") is not None:
            self.bind("*", f"{name}:" if is_static else name, node, facts.STAR)
        else:
            self.bind(last, f"{owner}:{last}" if is_static else name, node, facts.IMPORT)

    def on_class(self, node: Node) -> None:
        self._type_parameters(node)
        for child in node.named_children:
            if child.type in ("superclass", "super_interfaces", "extends_interfaces"):
                for base in (read.child_of(child, "type_list") or child).named_children:
                    self.base(self.type_of(base), node)
        for each in read.parts_of(node, "parameters"):
            if each.type == "formal_parameter":
                self.bind(self.text_of(each, "name"), self.type_in(each, "type"), node, facts.FIELD_TYPE)

    def _type_parameters(self, node: Node) -> None:
        given = node.child_by_field_name("type_parameters") or read.child_of(node, "type_parameters")
        for each in given.named_children if given is not None else ():
            name, bound = (
                read.child_of(each, "type_identifier", "identifier"),
                read.child_of(each, "type_bound"),
            )
            value = self.type_of(bound.named_children[0]) if bound is not None else ""
            if name is not None:
                self.bind(self.text(name), value, node, facts.TYPE_PARAMETER)

    def on_function(self, node: Node) -> None:
        self._type_parameters(node)
        written = node.child_by_field_name("type")
        if written is not None and written.type != "void_type":
            self.bind("", self.type_of(written), node, facts.RETURN_TYPE)
        if node.child_by_field_name("parameters") is None:
            return
        types, has_more = [], False
        for each in read.parts_of(node, "parameters"):
            if each.type in ("formal_parameter", "spread_parameter"):
                name, declared = self._parameter(each)
                has_more = each.type == "spread_parameter"
                types.append(declared)
                self.bind(name, declared, node, facts.DECLARED)
        self.takes(types, len(types), node, has_more=has_more)
        if node.type == "method_declaration" and node.child_by_field_name("body") is None:
            self.bind("announced", "", node, facts.DECORATED)

    def _parameter(self, node: Node) -> tuple[str, str]:
        """Return name and type of a parameter."""
        if node.type != "spread_parameter":
            written = self._with_dimensions(self.type_in(node, "type"), node)
            return self.text_of(node, "name"), written
        parts = [child for child in node.named_children if child.type != "modifiers"]
        return self.text_of(parts[-1], "name"), forms.several_of(self.type_of(parts[0]))

    def _with_dimensions(self, written: str, node: Node) -> str:
        has_more = written != "var" and node.child_by_field_name("dimensions") is not None
        return forms.several_of(written) if has_more else written

    def on_field(self, node: Node) -> None:
        for each in node.children_by_field_name("declarator"):
            written = self._with_dimensions(self.type_in(node, "type"), each)
            self.bind(self.text_of(each, "name"), written, each, facts.FIELD_TYPE)

    def on_local(self, node: Node) -> None:
        for each in node.children_by_field_name("declarator"):
            self._variable(each, self.type_in(node, "type"), self.of_field(each, "value"), node)

    def _variable(self, named: Node, written: str, value: str, node: Node, *, inside: bool = False) -> None:
        """Bind a variable of a written type, or to a value where ``var`` stands for it."""
        written = "" if written == "var" else self._with_dimensions(written, named)
        self.variable(self.text_of(named, "name"), written, value, node, inside=inside)

    def on_loop(self, node: Node) -> None:
        value = forms.element_of(self.of_field(node, "value"))
        self._variable(node, self.type_in(node, "type"), value, node, inside=True)

    def on_caught(self, node: Node) -> None:
        kinds = read.child_of(node, "catch_type")
        written = "|".join(self.type_of(child) for child in kinds.named_children) if kinds is not None else ""
        self.bind(self.text_of(node, "name"), written, node, facts.DECLARED, inside=True)

    def on_resource(self, node: Node) -> None:
        self._variable(node, self.type_in(node, "type"), self.of_field(node, "value"), node, inside=True)

    def on_lambda(self, node: Node) -> None:
        given = node.child_by_field_name("parameters")
        if given is None:
            return
        wanted = self._wanted(node)
        for number, each in enumerate([given] if given.type == "identifier" else given.named_children):
            if each.type == "identifier":
                self.bind(
                    self.text(each), forms.parameter_of(wanted, number), each, facts.ASSIGNED, inside=True
                )
            elif each.type in ("formal_parameter", "spread_parameter"):
                name, written = self._parameter(each)
                self.bind(name, "" if written == "var" else written, each, facts.DECLARED, inside=True)

    def _wanted(self, node: Node) -> Form:
        """Return the expression of what takes a lambda: an argument of a call, or a variable."""
        parent = node.parent
        call = parent.parent if parent is not None else None
        if parent is None or call is None:
            return UNKNOWN_FORM
        if parent.type == "variable_declarator":
            return forms.of_type(self.type_in(call, "type"))
        function = UNKNOWN_FORM
        if call.type == "method_invocation":
            function = self._function_called(call, 1)
        elif call.type == "object_creation_expression":
            function = Form(forms.head_of_type(self.type_in(call, "type")) or UNKNOWN_FORM)
        arguments = read.children_of(parent)
        return forms.argument_of(function, len(arguments), arguments.index(node))

    def on_test(self, node: Node) -> None:
        written = self.type_in(node, "right")
        self.bind(self.text_of(node, "name"), written, node, facts.DECLARED)

    def on_pattern(self, node: Node) -> None:
        parts = [child for child in node.named_children if child.type != "modifiers"]
        if len(parts) == 2 and parts[1].type == "identifier":
            self.bind(self.text(parts[1]), self.type_of(parts[0]), node, facts.DECLARED, inside=True)

    # Sites.

    def on_call(self, node: Node) -> None:
        name, target = node.child_by_field_name("name"), node.child_by_field_name("object")
        receiver = self.expression(target) if target is not None else ""
        if name is not None and receiver not in (TEXT_FORM, OTHER_FORM):
            self.site(self.text(name), receiver + self._arguments(node), name, facts.CALL)

    def _arguments(self, node: Node) -> str:
        return self.given(read.parts_of(node, "arguments"))

    def on_head(self, node: Node) -> None:
        """Read a name before a dot as that of a type, where it is written like one."""
        name = self.text(node)
        if name[:1].isupper() and not name.isupper():
            self.site(name, "", node, facts.TYPE)

    def on_reference(self, node: Node) -> None:
        parts = node.named_children
        if len(parts) == 2 and parts[1].type == "identifier":
            self.site(self.text(parts[1]), self.expression(parts[0]), parts[1], facts.VALUE)
        elif node.children[-1].type == "new" and (head := forms.head_of_type(self.type_of(parts[0]))):
            self.use(head, parts[0], facts.VALUE)
        if parts and parts[0].type == "identifier":
            self.on_head(parts[0])

    def on_new(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        if written is None:
            return
        self.taken.add(written.start_byte)
        receiver, _, name = forms.head_of_type(self.type_of(written)).rpartition(".")
        if not receiver and node.named_children[0] != written:
            receiver = self.expression(node.named_children[0])
        if name:
            self.site(name, receiver + self._arguments(node), written, facts.CALL)

    def on_construct(self, node: Node) -> None:
        called = node.child_by_field_name("constructor")
        owner = read.around(node, _CLASSES)
        if called is None or owner is None:
            return
        above = read.parts_of(owner, "superclass")
        name = self.text_of(owner, "name")
        if called.type != "this":
            name = forms.head_of_type(self.type_of(above[0])) if above else ""
        if name:
            given = self.text(called) + self._arguments(node)
            self.site(name.rpartition(".")[2], given, called, facts.CALL)

    def on_scoped(self, node: Node) -> None:
        """Read a type with what it is a part of, which is no type of its own."""
        is_outermost = node.start_byte not in self.taken
        self.taken.update(child.start_byte for child in node.named_children)
        if is_outermost and node.parent is not None and node.parent.type != "object_creation_expression":
            self.use(self.squeezed(node), node, facts.TYPE)

    def on_type(self, node: Node) -> None:
        if node.start_byte not in self.taken and (name := self.text(node)) not in _USUAL:
            self.site(name, "", node, facts.TYPE)

    def on_annotation(self, node: Node) -> None:
        named = node.child_by_field_name("name")
        if named is not None and (path := self.text(named)).rpartition(".")[2] not in _USUAL:
            self.use(path, named, facts.TYPE)

    # Types.

    def _generic(self, node: Node, depth: int) -> str:
        head, given = node.named_children[0], node.named_children[-1]
        return self.type_with(self.type_of(head, depth), given.named_children, depth)

    def _wildcard(self, node: Node, depth: int) -> str:
        return read.last_type(self, node, depth) if node.named_children else "?"

    # Expressions.

    def _called(self, node: Node, depth: int) -> Form:
        return forms.call_of(self._function_called(node, depth))

    def _function_called(self, node: Node, depth: int) -> Form:
        name, target = self.text_of(node, "name"), node.child_by_field_name("object")
        return Form(name) if target is None else forms.member_of(self.expression(target, depth), name)

    def _array(self, node: Node, depth: int) -> Form:
        written = self.type_in(node, "type")
        return forms.of_type(f"list[{written}]" if written else "")

    def _either(self, node: Node, depth: int) -> Form:
        one, other = (self.of_field(node, each, depth) for each in ("consequence", "alternative"))
        return forms.either(one, other, _NULL)

    def _integer(self, node: Node, depth: int) -> Form:
        return forms.of_type("long") if self.text(node)[-1:] in "lL" else OTHER_FORM

    def _binary(self, node: Node, depth: int) -> Form:
        sign = self.text_of(node, "operator")
        if sign in _COMPARISONS:
            return forms.of_type("boolean")
        left = self.of_field(node, "left", depth)
        right = self.of_field(node, "right", depth)
        return TEXT_FORM if sign == "+" and TEXT_FORM in (left, right) else UNKNOWN_FORM

    expressions = {  # noqa: RUF012 - see the base
        **dict.fromkeys(("identifier", "this", "super"), read.Reader.word),
        **dict.fromkeys(("field_access", "scoped_identifier"), read.access("object", "field")),
        "method_invocation": _called,
        **dict.fromkeys(("object_creation_expression", "cast_expression"), read.typed("type")),
        "array_creation_expression": _array,
        "array_access": read.within("array", forms.item_of),
        "parenthesized_expression": read.Reader.inner,
        "ternary_expression": _either,
        "assignment_expression": read.within("right"),
        "binary_expression": _binary,
        "string_literal": read.QUOTED,
        "character_literal": read.constant(forms.of_type("char")),
        "decimal_integer_literal": _integer,
        "hex_integer_literal": read.LITERAL,
        "decimal_floating_point_literal": read.constant(forms.of_type("double")),
        **dict.fromkeys(("true", "false"), read.constant(forms.of_type("boolean"))),
        "null_literal": read.constant(_NULL),
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(
            ("type_identifier", "identifier", "scoped_identifier", "scoped_type_identifier"),
            read.Reader.plain_type,
        ),
        **dict.fromkeys(_PRIMITIVE, read.Reader.plain_type),
        "generic_type": _generic,
        "array_type": read.container("list", "element"),
        "wildcard": _wildcard,
        "annotated_type": read.last_type,
    }


_COMPARISONS: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})

READERS: Final = {"java": _JavaReader, "kotlin": KotlinReader}
