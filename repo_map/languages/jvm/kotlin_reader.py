"""Kotlin's facts: what each capture of its query means."""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from repo_map.languages.jvm import KOTLIN_USUAL
from repo_map.languages.jvm.kotlin_forms import TYPES, KotlinForms
from repo_map.parsing import facts_model as facts
from repo_map.parsing.expressions import (
    OTHER_FORM,
    TEXT_FORM,
    UNKNOWN_FORM,
    Form,
    arguments_given,
    element_of,
    entry_of,
    head_of_type,
    implicit_receivers,
    of_type,
    several_of,
)
from repo_map.parsing.facts_reader import MAX_CHARS, around, child_of

_EXITS: Final = frozenset({"return_expression", "throw_expression", "identifier"})
_CLASSES: Final = frozenset({"class_declaration", "object_declaration", "companion_object"})
_JVM_NAME: Final = re.compile(rb"JvmName\(\s*\"([^\"]*)\"")


class KotlinReader(KotlinForms):
    """Reads a file of Kotlin."""

    def begin(self) -> None:
        """Initialize the state of one file."""
        super().begin()
        self._trailing: set[tuple[int, int]] = set()

    # Lambdas and anonymous objects.

    def _lambda(self, node: Node) -> None:
        self._blocks.add_lambda(node)

    def _anonymous(self, node: Node) -> None:
        """Keep what an anonymous object is, and say of its functions that no class has them."""
        bases: list[str] = []
        for child in node.named_children:
            if child.type == "delegation_specifiers":
                bases = [written for each in child.named_children if (written := self._base(each))]
            elif child.type == "class_body":
                for each in child.named_children:
                    if each.type == "function_declaration":
                        self.bind("", UNKNOWN_FORM, each, facts.RECEIVER)
                self._blocks.add_object(child, bases[0] if bases else "")

    # Bindings.

    def _package(self, node: Node) -> None:
        self.bind("", self._dotted(node), node, facts.PACKAGE)

    def _dotted(self, node: Node) -> str:
        return "".join(self.text(node).split()).replace("`", "")

    def _import(self, node: Node) -> None:
        parts = node.named_children
        if not parts:
            return
        path = self._dotted(parts[0])
        if node.children[-1].type == "*":
            self.bind("*", path, node, facts.STAR)
        elif len(parts) > 1:
            self.bind(self.text(parts[-1]), path, node, facts.RENAMED)
        else:
            self.bind(path.rpartition(".")[2], path, node, facts.IMPORT)

    def _class(self, node: Node) -> None:
        for child in node.named_children:
            kind = child.type
            if kind == "type_parameters":
                self._type_parameters(child, node)
            elif kind == "delegation_specifiers":
                for each in child.named_children:
                    self.base(self._base(each), node)
            elif kind == "primary_constructor" and child.named_children:
                self._parameters(child.named_children[-1], node, is_class=True)

    def _type_parameters(self, node: Node, whole: Node) -> None:
        for each in node.named_children:
            if each.type == "type_parameter":
                named = [child for child in each.named_children if child.type == "identifier"]
                bound = child_of(each, *TYPES)
                if named:
                    self.bind(self.text(named[0]), self.type_of(bound), whole, facts.TYPE_PARAMETER)

    def _parameters(self, node: Node, whole: Node, *, is_class: bool = False) -> None:
        """Bind the parameters of a function, or of a class, whose own they become."""
        types: list[str] = []
        required, is_vararg, has_vararg = 0, False, False
        for each in node.children:
            if each.type in ("parameter", "class_parameter"):
                name = child_of(each, "identifier")
                written = self.type_of(self._type_in(each))
                modified = child_of(each, "modifiers")
                if is_vararg or (modified is not None and b"vararg" in (modified.text or b"")):
                    written, has_vararg = several_of(written), True
                types.append(written or "?")
                is_vararg, required = False, required + 1
                if is_class and any(child.type == "=" for child in each.children):
                    required -= 1
                if name is not None:
                    self.bind(
                        self.text(name), written, whole, facts.FIELD_TYPE if is_class else facts.DECLARED
                    )
            elif each.type == "parameter_modifiers":
                is_vararg = b"vararg" in (each.text or b"")
            elif each.type == "=":
                required -= 1
        if has_vararg:
            self.bind("1+", "?", whole, facts.PARAMETERS)
        else:
            self.bind(
                str(required) if required == len(types) else f"{required}-",
                ",".join(types),
                whole,
                facts.PARAMETERS,
            )

    def _alias(self, node: Node) -> None:
        parts = node.named_children
        if len(parts) > 1 and (written := self.type_of(parts[-1])):
            self.bind("", written, node, facts.ALIAS)

    def _function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        is_after = name is None
        for child in node.named_children:
            kind = child.type
            if kind == "type_parameters":
                self._type_parameters(child, node)
            elif kind == "modifiers":
                self._exported(child, node)
            elif kind in TYPES and not is_after:
                self.bind(self.text(name), self.type_of(child) or UNKNOWN_FORM, node, facts.RECEIVER)
            elif kind in TYPES:
                self.bind("", self.type_of(child), node, facts.RETURN_TYPE)
                is_after = False
            elif kind == "identifier":
                is_after = True
            elif kind == "function_value_parameters":
                self._parameters(child, node)
            elif kind == "function_body" and is_after and child.children and child.children[0].type == "=":
                self.bind("", self.expression(child.named_children[-1]), node, facts.RETURNED)

    def _exported(self, node: Node, whole: Node) -> None:
        """Read under which name Java sees a function, or the functions of a file."""
        if named := _JVM_NAME.search(self.source, node.start_byte, node.end_byte):
            self.bind(named[1].decode("utf-8", "replace"), "", whole, facts.EXPORTED)

    def _file(self, node: Node) -> None:
        self._exported(node, node)

    def _property(self, node: Node) -> None:
        parts = node.named_children
        declared = next(
            (each for each in parts if each.type in ("variable_declaration", "multi_variable_declaration")),
            None,
        )
        if declared is None:
            return
        around = node.parent
        is_member = around is not None and around.type in ("class_body", "enum_class_body")
        if declared.type == "multi_variable_declaration":
            for each in declared.named_children:
                self.bind(self.text(each.named_children[0]), "", node, facts.ASSIGNED)
            return
        name = self.text(declared.named_children[0])
        if written := self.type_of(self._type_in(declared)):
            self.bind(name, written, node, facts.FIELD_TYPE if is_member else facts.DECLARED)
            return
        form = self._value_of(parts, declared)
        if is_member and form == UNKNOWN_FORM:
            self.bind(name, "", node, facts.FIELD_TYPE)
        else:
            self.bind(name, form, node, facts.FIELD if is_member else facts.ASSIGNED)

    def _value_of(self, parts: list[Node], declared: Node) -> str:
        """Return what a property begins as, or what its getter gives."""
        after = [
            each for each in parts if each.start_byte >= declared.end_byte and "comment" not in each.type
        ]
        if not after:
            return UNKNOWN_FORM
        first = after[0]
        if first.type == "property_delegate":
            called = first.named_children[-1]
            if (
                called.type == "call_expression"
                and self._blocks.callee(called.named_children[0])[0] == "lazy"
            ):
                return self._last_of(called)
            return UNKNOWN_FORM
        if first.type == "getter":
            body = first.named_children[-1] if first.named_children else first
            if body.type == "function_body" and body.children[0].type == "=":
                return self.expression(body.named_children[-1])
            return UNKNOWN_FORM
        return UNKNOWN_FORM if first.type in ("setter", "type_constraints") else self.expression(first)

    def _loop(self, node: Node) -> None:
        parts = [child for child in node.named_children if child.type != "label"]
        if len(parts) < 2:
            return
        declared, over = parts[0], self.expression(parts[1])
        if declared.type == "multi_variable_declaration":
            for each, value in zip(declared.named_children, (entry_of(over), element_of(over)), strict=False):
                self.bind(self.text(each.named_children[0]), value, node, facts.ASSIGNED, inside=True)
        elif declared.type == "variable_declaration":
            name = self.text(declared.named_children[0])
            written = self.type_of(self._type_in(declared))
            if written:
                self.bind(name, written, node, facts.DECLARED, inside=True)
            else:
                self.bind(name, element_of(over), node, facts.ASSIGNED, inside=True)

    def _caught(self, node: Node) -> None:
        named = child_of(node, "identifier")
        self.bind(self.text(named), self.type_of(self._type_in(node)), node, facts.DECLARED, inside=True)

    def _given(self, node: Node) -> None:
        """Bind the parameters of a lambda: one has what its function gives, of several nothing is known."""
        literal = node.parent
        wrapped = literal.parent if literal is not None else None
        called = wrapped.parent if wrapped is not None and wrapped.type == "annotated_lambda" else None
        form = UNKNOWN_FORM
        if called is not None and called.type == "call_expression" and len(node.named_children) == 1:
            form = self._blocks.given(called.named_children[0])
        for each in node.named_children:
            named = each.named_children if each.type == "multi_variable_declaration" else [each]
            for one in named:
                written = self.type_of(self._type_in(one))
                value = form if len(named) == 1 and one is each else UNKNOWN_FORM
                name = self.text(one.named_children[0]) if one.named_children else ""
                if written:
                    self.bind(name, written, one, facts.DECLARED, inside=True)
                else:
                    self.bind(name, value, one, facts.ASSIGNED, inside=True)

    def _test(self, node: Node) -> None:
        """Bind what ``x is T`` makes of ``x``: to the end of what is done where it holds."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or left.type != "identifier":
            return
        is_not = any(child.type == "!is" for child in node.children)
        top = node
        sign = "||" if is_not else "&&"
        while (above := top.parent) is not None and (
            above.type == "parenthesized_expression"
            or (above.type == "binary_expression" and self.text_of(above, "operator") == sign)
        ):
            top = above
        first, last = node.start_point[0] + 1, top.end_point[0] + 1
        if (
            above is not None
            and above.type == "if_expression"
            and above.child_by_field_name("condition") == top
        ):
            branches = [child for child in above.named_children if child.start_byte >= top.end_byte]
            if not is_not and branches:
                last = branches[0].end_point[0] + 1
            elif is_not and len(branches) == 1 and self._leaves(branches[0]):
                block = above.parent
                first = above.end_point[0] + 2
                last = block.end_point[0] + 1 if block is not None else first
        self._narrow(left, right, first, last)

    def _leaves(self, node: Node) -> bool:
        if node.type == "block" and node.named_children:
            node = node.named_children[-1]
        return node.type in _EXITS and self.text(node).split(None, 1)[0].partition("@")[0] in (
            "return",
            "throw",
            "continue",
            "break",
        )

    def _when(self, node: Node) -> None:
        subject = node.named_children[0].named_children
        if len(subject) == 2 and subject[0].type == "variable_declaration":
            name = subject[0].named_children[0]
            self.bind(self.text(name), self.expression(subject[1]), node, facts.ASSIGNED, inside=True)
        elif len(subject) == 1 and subject[0].type == "identifier":
            name = subject[0]
        else:
            return
        for entry in node.named_children[1:]:
            tests = entry.children_by_field_name("condition")
            if len(tests) == 1 and tests[0].type == "type_test" and tests[0].children[0].type == "is":
                rows = entry.start_point[0] + 1, entry.end_point[0] + 1
                self._narrow(name, tests[0].named_children[-1], *rows)

    def _narrow(self, name: Node, written: Node | None, first: int, last: int) -> None:
        if value := self.type_of(written):
            self.bind(self.text(name), f"{last}:{value}", name, facts.NARROWED)
            if first != self.bindings[-1].line:
                self.bindings[-1] = self.bindings[-1]._replace(line=first)

    # Sites.

    def _trail(self, node: Node) -> None:
        self._trailing.add((node.start_byte, node.end_byte))

    def _call(self, node: Node) -> None:
        callee = node.named_children[0]
        if callee.type == "navigation_expression":
            parts = callee.named_children
            if len(parts) > 1 and parts[-1].type == "identifier":
                receiver = self.expression(parts[0], 1)
                # Extensions may be of texts and numbers.
                receiver = _LITERALS.get(receiver, receiver)
                self.site(self.text(parts[-1]), receiver + self._arguments_form(node), parts[-1], facts.CALL)
        elif callee.type == "identifier":
            self._bare(callee, self._arguments_form(node))

    def _bare(self, name: Node, given: str) -> None:
        """Read a call by a bare name: of ``this`` of the blocks around, or of what it is without."""
        text = self.text(name)
        receivers = implicit_receivers(() if text[:1].isupper() else self._blocks.each_this(name))
        if len(receivers) > MAX_CHARS:
            receivers = implicit_receivers((UNKNOWN_FORM,))
        self.site(text, receivers + given, name, facts.CALL)

    def _arguments_form(self, node: Node) -> str:
        """Return what a call is given, as the end of its receiver; nothing where names tell which."""
        forms: list[Form] = []
        for child in node.named_children:
            if child.type == "value_arguments":
                for each in child.named_children:
                    if each.type != "value_argument" or not each.named_children:
                        continue
                    if any(one.type == "=" for one in each.children):
                        return ""
                    forms.append(self.argument(each.named_children[-1]))
            elif child.type == "annotated_lambda":
                forms.append(UNKNOWN_FORM)
        if (node.start_byte, node.end_byte) in self._trailing:
            forms.append(UNKNOWN_FORM)
        return arguments_given(forms)

    def _generic(self, node: Node) -> None:
        """Read ``x.f<T>(a)``, which the grammar takes for two comparisons."""
        if node.type == "identifier":
            self._bare(node, "")
        elif node.type == "navigation_expression" and node.named_children[-1].type == "identifier":
            parts = node.named_children
            self.site(self.text(parts[-1]), self.expression(parts[0], 1), parts[-1], facts.CALL)

    def _infix(self, node: Node) -> None:
        parts = node.named_children
        if len(parts) == 3 and parts[1].type == "identifier":
            name = self.text(parts[1])
            if name not in ("to", "and", "or", "xor", "shl", "shr", "ushr", "until", "downTo", "step"):
                given = arguments_given((self.argument(parts[2]),))
                self.site(name, self.expression(parts[0], 1) + given, parts[1], facts.CALL)

    def _construct(self, node: Node) -> None:
        """Read the call of what a class extends."""
        written = node.named_children[0]
        head = self.type_of(written).partition("[")[0]
        if head:
            self.taken.add(written.start_byte)
            self.use(head, written, facts.CALL, self._arguments_form(node))

    def _delegate(self, node: Node) -> None:
        """Read ``this(…)`` and ``super(…)`` of a constructor."""
        owner = around(node, _CLASSES)
        if owner is None or not node.children:
            return
        called, name = node.children[0], ""
        if called.type == "this":
            name = self.text_of(owner, "name")
        elif (listed := child_of(owner, "delegation_specifiers")) is not None:
            name = head_of_type(self._base(listed.named_children[0]))
        if name:
            self.site(name.rpartition(".")[2], self._arguments_form(node), called, facts.CALL)

    def _reference(self, node: Node) -> None:
        parts = node.named_children
        last = parts[-1] if parts else node
        if last.type != "identifier" or self.text(last) in ("class", "javaClass"):
            return
        if node.type == "callable_reference" and len(parts) == 1:
            self.site(self.text(last), "", last, facts.VALUE)
        elif len(parts) > 1:
            self.site(self.text(last), self.expression(parts[0], 1), last, facts.VALUE)

    def _head(self, node: Node) -> None:
        """Read a name before a dot as that of a type, where it is written like one."""
        name = self.text(node)
        if name[:1].isupper() and not name.isupper() and name not in KOTLIN_USUAL:
            self.site(name, "", node, facts.TYPE)

    def _site_of_type(self, node: Node) -> None:
        if node.start_byte in self.taken:
            return
        named = [child for child in node.named_children if child.type == "identifier"]
        name = self.text(named[-1]) if named else ""
        if named and name not in KOTLIN_USUAL:
            self.use(".".join(self.text(each) for each in named), named[-1], facts.TYPE)

    roles = {  # noqa: RUF012
        "file": _file,
        "package": _package,
        "import": _import,
        "lambda": _lambda,
        "anonymous": _anonymous,
        "class": _class,
        "alias": _alias,
        "function": _function,
        "property": _property,
        "loop": _loop,
        "caught": _caught,
        "given": _given,
        "test": _test,
        "when": _when,
        "construct": _construct,
        "delegate": _delegate,
        "trailing": _trail,
        "call": _call,
        "generic": _generic,
        "infix": _infix,
        "reference": _reference,
        "head": _head,
        "type": _site_of_type,
    }


_LITERALS: Final = {TEXT_FORM: of_type("String"), OTHER_FORM: of_type("int")}
