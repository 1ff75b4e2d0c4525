"""The facts of Java, and the readers of both languages: one resolver takes both."""

from __future__ import annotations

from typing import Final

from tree_sitter import Node

from repo_map.languages.jvm import JAVA_USUAL
from repo_map.languages.jvm.kotlin_reader import KotlinReader
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    OTHER_FORM,
    TEXT_FORM,
    UNKNOWN_FORM,
    Form,
    argument_of,
    arguments_given,
    call_of,
    either,
    element_of,
    item_of,
    member_of,
    name_form,
    of_type,
    parameter_of,
    several_of,
)
from repo_map.parsing.facts_reader import (
    LITERAL,
    QUOTED,
    Reader,
    around,
    child_of,
    constant,
    last_type,
    list_type,
    parts_of,
    typed,
    within,
)

_NULL: Final = of_type("null")
_PRIMITIVE: Final = frozenset({"integral_type", "floating_point_type", "boolean_type", "void_type"})
_CLASSES: Final = frozenset(
    {"class_declaration", "interface_declaration", "enum_declaration", "record_declaration"}
)


class _JavaReader(Reader):
    def begin(self) -> None:
        """Initialize the state of one file."""
        self._within: set[int] = set()

    # Bindings.

    def _package(self, node: Node) -> None:
        if node.type in ("identifier", "scoped_identifier"):
            self.bind("", self.text(node), node, facts.PACKAGE)

    def _import(self, node: Node) -> None:
        is_static = any(child.type == "static" for child in node.children)
        is_star = any(child.type == "asterisk" for child in node.named_children)
        name = next((self.text(c) for c in node.named_children if c.type != "asterisk"), "")
        if is_star:
            self.bind("*", f"{name}:" if is_static else name, node, facts.STAR)
        elif is_static:
            owner, _, last = name.rpartition(".")
            self.bind(last, f"{owner}:{last}", node, facts.IMPORT)
        else:
            self.bind(name.rpartition(".")[2], name, node, facts.IMPORT)

    def _class(self, node: Node) -> None:
        self._type_parameters(node)
        for child in node.named_children:
            if child.type in ("superclass", "super_interfaces", "extends_interfaces"):
                inner = child.named_children
                bases = inner[0].named_children if inner and inner[0].type == "type_list" else inner
                for base in bases:
                    self.base(self.type_of(base), node)
        if node.type == "record_declaration" and (given := node.child_by_field_name("parameters")):
            for each in given.named_children:
                if each.type == "formal_parameter":
                    name = self.text_of(each, "name")
                    self.bind(name, self.type_in(each, "type"), node, facts.FIELD_TYPE)

    def _type_parameters(self, node: Node) -> None:
        given = node.child_by_field_name("type_parameters")
        if given is None:
            given = child_of(node, "type_parameters")
        for each in given.named_children if given is not None else ():
            if each.type == "type_parameter":
                named = [
                    child for child in each.named_children if child.type in ("type_identifier", "identifier")
                ]
                bound = child_of(each, "type_bound")
                value = self.type_of(bound.named_children[0]) if bound is not None else ""
                if named:
                    self.bind(self.text(named[0]), value, node, facts.TYPE_PARAMETER)

    def _function(self, node: Node) -> None:
        self._type_parameters(node)
        written = node.child_by_field_name("type")
        if written is not None and written.type != "void_type":
            self.bind("", self.type_of(written), node, facts.RETURN_TYPE)
        given = node.child_by_field_name("parameters")
        if given is None:
            return
        types, has_more = [], False
        for each in given.named_children:
            if each.type not in ("formal_parameter", "spread_parameter"):
                continue
            name, written_type = self._parameter(each)
            has_more = each.type == "spread_parameter"
            types.append(written_type or "?")
            self.bind(name, written_type, node, facts.DECLARED)
        count = f"{len(types)}+" if has_more else str(len(types))
        self.bind(count, ",".join(types), node, facts.PARAMETERS)
        if node.type == "method_declaration" and node.child_by_field_name("body") is None:
            self.bind("announced", "", node, facts.DECORATED)

    def _parameter(self, node: Node) -> tuple[str, str]:
        """Return name and type of a parameter."""
        if node.type == "spread_parameter":
            parts = [child for child in node.named_children if child.type != "modifiers"]
            named = parts[-1].child_by_field_name("name") if parts else None
            return self.text(named), several_of(self.type_of(parts[0])) if parts else ""
        return self.text_of(node, "name"), self._declared(node)

    def _declared(self, node: Node) -> str:
        written = self.type_in(node, "type")
        return several_of(written) if node.child_by_field_name("dimensions") is not None else written

    def _field(self, node: Node) -> None:
        written = self.type_in(node, "type")
        for each in node.children_by_field_name("declarator"):
            has_more = each.child_by_field_name("dimensions") is not None
            name = each.child_by_field_name("name")
            if name is not None:
                self.bind(
                    self.text(name), f"list[{written}]" if has_more else written, each, facts.FIELD_TYPE
                )

    def _local(self, node: Node) -> None:
        written = self.type_in(node, "type")
        for each in node.children_by_field_name("declarator"):
            has_more = each.child_by_field_name("dimensions") is not None
            declared = f"list[{written}]" if has_more and written != "var" else written
            self._variable(each, declared, self.of_field(each, "value") if written == "var" else "", node)

    def _variable(self, named: Node, written: str, value: str, node: Node, *, inside: bool = False) -> None:
        """Bind a variable of a written type, or to a value where ``var`` stands for it."""
        is_var = written == "var"
        kind = facts.ASSIGNED if is_var else facts.DECLARED
        self.bind(self.text_of(named, "name"), value if is_var else written, node, kind, inside=inside)

    def _loop(self, node: Node) -> None:
        written = self.type_in(node, "type")
        value = element_of(self.of_field(node, "value")) if written == "var" else ""
        self._variable(node, written, value, node, inside=True)

    def _caught(self, node: Node) -> None:
        kinds = child_of(node, "catch_type")
        written = "|".join(self.type_of(child) for child in kinds.named_children) if kinds is not None else ""
        self.bind(self.text_of(node, "name"), written, node, facts.DECLARED, inside=True)

    def _resource(self, node: Node) -> None:
        self._variable(node, self.type_in(node, "type"), self.of_field(node, "value"), node, inside=True)

    def _lambda(self, node: Node) -> None:
        given = node.child_by_field_name("parameters")
        if given is None:
            return
        wanted = self._wanted(node)
        if given.type == "identifier":
            self.bind(self.text(given), parameter_of(wanted, 0), given, facts.ASSIGNED, inside=True)
            return
        for number, each in enumerate(given.named_children):
            if each.type == "identifier":
                self.bind(self.text(each), parameter_of(wanted, number), each, facts.ASSIGNED, inside=True)
            elif each.type in ("formal_parameter", "spread_parameter"):
                name, written = self._parameter(each)
                self.bind(name, "" if written == "var" else written, each, facts.DECLARED, inside=True)

    def _wanted(self, node: Node) -> Form:
        """Return the expression of what takes a lambda: an argument of a call, or a variable."""
        parent = node.parent
        if parent is None:
            return UNKNOWN_FORM
        if parent.type == "variable_declarator" and parent.parent is not None:
            return of_type(self.type_of(parent.parent.child_by_field_name("type")))
        call = parent.parent
        if parent.type != "argument_list" or call is None:
            return UNKNOWN_FORM
        arguments = [child for child in parent.named_children if "comment" not in child.type]
        if call.type == "method_invocation":
            function = self._function_called(call, 1)
        elif call.type == "object_creation_expression":
            function = name_form(self._head(call.child_by_field_name("type")) or UNKNOWN_FORM)
        else:
            return UNKNOWN_FORM
        return argument_of(function, len(arguments), arguments.index(node))

    def _test(self, node: Node) -> None:
        written = self.type_in(node, "right")
        self.bind(self.text_of(node, "name"), written, node, facts.DECLARED)

    def _pattern(self, node: Node) -> None:
        parts = [child for child in node.named_children if child.type != "modifiers"]
        if len(parts) == 2 and parts[1].type == "identifier":
            self.bind(self.text(parts[1]), self.type_of(parts[0]), node, facts.DECLARED, inside=True)

    # Sites.

    def _call(self, node: Node) -> None:
        name, target = node.child_by_field_name("name"), node.child_by_field_name("object")
        if name is None:
            return
        receiver = self.expression(target) if target is not None else ""
        if receiver in (TEXT_FORM, OTHER_FORM):
            return
        self.site(self.text(name), receiver + self._given(node), name, facts.CALL)

    def _given(self, node: Node) -> str:
        """Return what a call is given, as the end of its receiver."""
        parts = parts_of(node, "arguments")
        return arguments_given(self.argument(each) for each in parts if "comment" not in each.type)

    def _new(self, node: Node) -> None:
        written = node.child_by_field_name("type")
        head = self._head(written)
        if written is not None:
            self.taken.add(written.start_byte)
        if head:
            receiver, _, name = head.rpartition(".")
            if not receiver and node.named_children and node.named_children[0] != written:
                receiver = self.expression(node.named_children[0])
            self.site(name, receiver + self._given(node), written or node, facts.CALL)

    def _construct(self, node: Node) -> None:
        called = node.child_by_field_name("constructor")
        owner = around(node, _CLASSES)
        if called is None or owner is None:
            return
        if called.type == "this":
            name = self.text_of(owner, "name")
        else:
            above = parts_of(owner, "superclass")
            name = self._head(above[0]) if above else ""
        if name:
            self.site(name.rpartition(".")[2], self.text(called) + self._given(node), called, facts.CALL)

    def _head(self, node: Node | None) -> str:
        """Return the name of a type without its arguments."""
        return self.type_of(node).partition("[")[0] if node is not None else ""

    def _reference(self, node: Node) -> None:
        parts = node.named_children
        if not parts:
            return
        if len(parts) == 2 and parts[1].type == "identifier":
            self.site(self.text(parts[1]), self.expression(parts[0]), parts[1], facts.VALUE)
        elif node.children and node.children[-1].type == "new" and (head := self._head(parts[0])):
            self.use(head, parts[0], facts.VALUE)
        if parts[0].type == "identifier":
            self._head_name(parts[0])

    def _head_name(self, node: Node) -> None:
        """Read a name before a dot as that of a type, where it is written like one."""
        name = self.text(node)
        if name[:1].isupper() and not name.isupper():
            self.site(name, "", node, facts.TYPE)

    def _scoped(self, node: Node) -> None:
        """Read a type with what it is a part of, which is no type of its own."""
        self.taken.update(child.start_byte for child in node.named_children)
        if node.start_byte not in self._within and node.parent is not None:
            receiver, _, name = "".join(self.text(node).split()).rpartition(".")
            self._within.add(node.start_byte)
            if node.parent.type != "object_creation_expression":
                self.site(name, receiver, node, facts.TYPE)

    def _site_of_type(self, node: Node) -> None:
        start = node.start_byte
        if start in self.taken:
            return
        name = self.text(node)
        if name not in JAVA_USUAL:
            self.site(name, "", node, facts.TYPE)

    def _annotation(self, node: Node) -> None:
        named = node.child_by_field_name("name")
        receiver, _, name = self.text(named).rpartition(".")
        if named is not None and name not in JAVA_USUAL:
            self.site(name, receiver, named, facts.TYPE)

    # Types.

    def _generic(self, node: Node, depth: int) -> str:
        head, given = node.named_children[0], node.named_children[-1]
        return self.type_with(self.type_of(head, depth), given.named_children, depth)

    def _wildcard(self, node: Node, depth: int) -> str:
        return last_type(self, node, depth) if node.named_children else "?"

    # Expressions.

    def _access(self, node: Node, depth: int) -> Form:
        if chain := self.chain(node):
            return name_form(chain)
        target = self.of_field(node, "object", depth)
        return member_of(target, self.text_of(node, "field"))

    def _called(self, node: Node, depth: int) -> Form:
        return call_of(self._function_called(node, depth))

    def _function_called(self, node: Node, depth: int) -> Form:
        name, target = self.text_of(node, "name"), node.child_by_field_name("object")
        return name_form(name) if target is None else member_of(self.expression(target, depth), name)

    def _array(self, node: Node, depth: int) -> Form:
        del depth
        written = self.type_in(node, "type")
        return of_type(f"list[{written}]" if written else "")

    def _either(self, node: Node, depth: int) -> Form:
        one = self.of_field(node, "consequence", depth)
        other = self.of_field(node, "alternative", depth)
        return either(one, other, _NULL)

    def _integer(self, node: Node, depth: int) -> Form:
        del depth
        return of_type("long") if self.text(node)[-1:] in "lL" else OTHER_FORM

    def _binary(self, node: Node, depth: int) -> Form:
        sign = self.text_of(node, "operator")
        if sign in _COMPARISONS:
            return of_type("boolean")
        left = self.of_field(node, "left", depth)
        right = self.of_field(node, "right", depth)
        return TEXT_FORM if sign == "+" and TEXT_FORM in (left, right) else UNKNOWN_FORM

    roles = {  # noqa: RUF012
        "package": _package,
        "import": _import,
        "class": _class,
        "function": _function,
        "field": _field,
        "local": _local,
        "loop": _loop,
        "caught": _caught,
        "resource": _resource,
        "lambda": _lambda,
        "test": _test,
        "pattern": _pattern,
        "call": _call,
        "head": _head_name,
        "reference": _reference,
        "new": _new,
        "construct": _construct,
        "scoped": _scoped,
        "type": _site_of_type,
        "annotation": _annotation,
    }
    forms = {  # noqa: RUF012
        "identifier": Reader.word,
        "this": Reader.word,
        "super": Reader.word,
        "field_access": _access,
        "scoped_identifier": _access,
        "method_invocation": _called,
        **dict.fromkeys(("object_creation_expression", "cast_expression"), typed("type")),
        "array_creation_expression": _array,
        "array_access": within("array", item_of),
        "parenthesized_expression": Reader.inner,
        "ternary_expression": _either,
        "assignment_expression": within("right"),
        "binary_expression": _binary,
        "string_literal": QUOTED,
        "character_literal": constant(of_type("char")),
        "decimal_integer_literal": _integer,
        "hex_integer_literal": LITERAL,
        "decimal_floating_point_literal": constant(of_type("double")),
        **dict.fromkeys(("true", "false"), constant(of_type("boolean"))),
        "null_literal": constant(_NULL),
    }
    types = {  # noqa: RUF012
        **dict.fromkeys(
            ("type_identifier", "identifier", "scoped_identifier", "scoped_type_identifier"),
            Reader.plain_type,
        ),
        **dict.fromkeys(_PRIMITIVE, Reader.plain_type),
        "generic_type": _generic,
        "array_type": list_type("element"),
        "wildcard": _wildcard,
        "annotated_type": last_type,
    }


_COMPARISONS: Final = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


READERS: Final = {"java": _JavaReader, "kotlin": KotlinReader}
