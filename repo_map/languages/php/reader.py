"""PHP's facts: a backslash is a dot, and ``$.`` begins a full name; a variable keeps its ``$``.

What a documentation comment says of parameters, results and properties counts where no type is written.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import OTHER_FORM, TEXT_FORM, UNKNOWN_FORM, Form

_NAMES: Final = frozenset({"name", "qualified_name", "namespace_name"})
_CLASSES: Final = frozenset(
    {"class_declaration", "interface_declaration", "trait_declaration", "enum_declaration"}
)
_OWN: Final = frozenset({"self", "static", "parent"})
_NOTHING: Final = vocabulary("php", "no_classes")
_TAG: Final = re.compile(r"@(return|var|param)\s+(\S+)(?:\s+\.{0,3}(\$\w+))?")
_WRITTEN: Final = re.compile(r"[\\\w|$\[\]?]+\Z")


class _Reader(read.Reader):
    # Bindings.

    def on_package(self, node: Node) -> None:
        self.bind("", self._dotted(node), node, facts.PACKAGE)

    def _dotted(self, node: Node | None) -> str:
        """Return a name with dots; ``$.`` before one that is full."""
        text = self.text(node).replace("\\", ".")
        return "$" + text if text.startswith(".") else text

    def on_import(self, node: Node) -> None:
        before = self._dotted(read.child_of(node, "namespace_name"))
        group = read.child_of(node, "namespace_use_group") or node
        for each in group.named_children:
            named = read.child_of(each, *_NAMES)
            if named is None or any(child.type == "const" for child in each.children):
                continue
            path = ".".join(part for part in (before, self._dotted(named).removeprefix("$.")) if part)
            alias = self.text_of(each, "alias")
            kind = facts.RENAMED if alias else facts.IMPORT
            self.bind(alias or path.rpartition(".")[2], path, each, kind)

    def on_class(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in ("base_clause", "class_interface_clause"):
                self._bases(child, node)

    def on_trait(self, node: Node) -> None:
        self._bases(node, node)

    def _bases(self, node: Node, whole: Node) -> None:
        for each in node.named_children:
            if each.type in _NAMES:
                self.base(self._dotted(each), whole)
                self._named(each)

    def on_function(self, node: Node) -> None:
        documented = self._documented_types(node)
        if written := self.type_in(node, "return_type") or documented.get("", ""):
            self.bind("", written, node, facts.RETURN_TYPE)
        for each in read.parts_of(node, "parameters"):
            name = self.text_of(each, "name")
            written = self.type_in(each, "type") or documented.get(name, "")
            if each.type == "variadic_parameter":
                written = forms.several_of(written)
            if name:
                self.bind(name, written, node, facts.DECLARED)
            if each.type == "property_promotion_parameter":
                self.bind(name[1:], written, node, facts.FIELD_TYPE)

    def on_closure(self, node: Node) -> None:
        for each in read.parts_of(node, "parameters"):
            if name := self.text_of(each, "name"):
                self.bind(name, self.type_in(each, "type"), each, facts.DECLARED, inside=True)

    def _documented_types(self, node: Node) -> dict[str, str]:
        """Return the types that the comment above a node gives: by a parameter's name, ``""`` for its own."""
        before = node.prev_named_sibling
        text = self.text(before) if before is not None and before.type == "comment" else ""
        if not text.startswith("/**"):
            return {}
        return {
            (name if tag == "param" else ""): form
            for tag, written, name in _TAG.findall(text)
            if (form := self._documented(written))
        }

    def _documented(self, written: str) -> str:
        """Return the normal form of a type in a comment, ``""`` where it says more than names."""
        if written == "$this":
            return "static"
        head = written.partition("<")[0]
        if not _WRITTEN.match(head) or (head != written and "|" in written.rpartition(">")[2]):
            return ""
        forms = []
        for part in head.split("|"):
            name = part.lstrip("?").removesuffix("[]").replace("\\", ".")
            if not name or name in _NOTHING or "[" in name or (name.startswith("$") and name != "$this"):
                continue
            name = "static" if name == "$this" else "$" + name if name.startswith(".") else name
            forms.append(f"list[{name}]" if part.endswith("[]") else name)
        return "|".join(forms)

    def on_property(self, node: Node) -> None:
        written = self.type_in(node, "type") or self._documented_types(node).get("", "")
        for each in node.named_children if written else ():
            if each.type == "property_element":
                self.bind(self.text_of(each, "name")[1:], written, each, facts.FIELD_TYPE)

    def on_assigned(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is None:
            return
        if left.type == "variable_name":
            self.bind(self.text(left), self.of_field(node, "right"), node, facts.ASSIGNED)
        elif left.type == "member_access_expression" and self.text_of(left, "object") == "$this":
            form = self.of_field(node, "right")
            self.bind(self.text_of(left, "name"), form, node, facts.FIELD)

    def on_loop(self, node: Node) -> None:
        parts = node.named_children
        over, declared = parts[:2] if len(parts) > 1 else (None, None)
        if declared is not None and declared.type == "pair":
            declared = declared.named_children[-1]
        if declared is not None and declared.type == "variable_name":
            form = forms.element_of(self.expression(over))
            self.bind(self.text(declared), form, node, facts.ASSIGNED, inside=True)

    def on_caught(self, node: Node) -> None:
        if name := self.text_of(node, "name"):
            self.bind(name, self.type_in(node, "type"), node, facts.DECLARED, inside=True)

    def on_test(self, node: Node) -> None:
        """Bind what ``$x instanceof T`` makes of ``$x``: to the end of what is done where it holds."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if right is None or right.type not in _NAMES:
            return
        self._named(right)
        top, above = read.top_of(node, ("&&", "and"))
        if left is None or left.type != "variable_name" or above is None:
            return
        if above.type in ("if_statement", "else_if_clause"):
            body = above.child_by_field_name("body") or top
            self.narrow(left, self._dotted(right), body.end_point[0] + 1)
        elif above.type == "conditional_expression":
            self.narrow(left, self._dotted(right), top.end_point[0] + 1)

    # Sites.

    def on_new(self, node: Node) -> None:
        named = read.child_of(node, *_NAMES)
        if named is None:
            return
        receiver, _, name = self._dotted(named).rpartition(".")
        if name in ("self", "static"):
            owner = read.around(node, _CLASSES)
            # What a trait's `static` is, the classes that use it say.
            is_class = owner is not None and owner.type != "trait_declaration"
            name = self.text_of(owner, "name") if is_class and owner is not None else ""
        if name and name != "parent":
            self.taken.add(named.start_byte)
            self.site(name, receiver, named, facts.CALL)

    def on_call(self, node: Node) -> None:
        name, target = node.child_by_field_name("name"), _target(node)
        if name is None or name.type != "name" or target is None:
            return
        receiver = self.expression(target)
        if node.type == "scoped_call_expression":
            self._named(target)
        if receiver not in (TEXT_FORM, OTHER_FORM):
            self.site(self.text(name), receiver, name, facts.CALL)

    def on_plain(self, node: Node) -> None:
        called = node.child_by_field_name("function")
        if called is not None and called.type in _NAMES:
            self.use(self._dotted(called), called, facts.CALL)

    def on_head(self, node: Node) -> None:
        self._named(node)

    def on_type(self, node: Node) -> None:
        self._named(node)

    def _named(self, node: Node) -> None:
        """Read the name of a class where it is written."""
        if node.type in ("relative_scope", "variable_name") or node.start_byte in self.taken:
            return
        self.taken.add(node.start_byte)
        path = self._dotted(node)
        if node.type in _NAMES and path.rpartition(".")[2] not in _OWN:
            self.use(path, node, facts.TYPE)

    # Types.

    def _class_type(self, node: Node, depth: int = 0) -> str:
        return self._dotted(node.named_children[0] if node.named_children else node)

    def _one_of_types(self, node: Node, depth: int) -> str:
        return "|".join(form for each in node.named_children if (form := self.type_of(each, depth)))

    # Expressions.

    def _class_name(self, node: Node, depth: int) -> Form:
        return Form(self._dotted(node))

    def _member(self, node: Node, depth: int) -> Form:
        """Return a member that is read or called; a static field has a ``$`` before its name."""
        name = node.child_by_field_name("name")
        if name is None or name.type not in ("name", "variable_name"):
            return UNKNOWN_FORM
        return forms.member_of(self.expression(_target(node), depth), self.text(name).removeprefix("$"))

    def _called(self, node: Node, depth: int) -> Form:
        name = node.child_by_field_name("name")
        is_plain = name is not None and name.type == "name"
        return forms.call_of(self._member(node, depth)) if is_plain else UNKNOWN_FORM

    def _plainly_called(self, node: Node, depth: int) -> Form:
        called = node.child_by_field_name("function")
        is_named = called is not None and called.type in _NAMES
        return forms.call_of(Form(self._dotted(called))) if is_named else UNKNOWN_FORM

    def _created(self, node: Node, depth: int) -> Form:
        return forms.of_type(self._dotted(read.child_of(node, *_NAMES)))

    def _binary(self, node: Node, depth: int) -> Form:
        if self.text_of(node, "operator") != "??":
            return UNKNOWN_FORM
        return forms.either(self.of_field(node, "left", depth), self.of_field(node, "right", depth))

    expressions = {  # noqa: RUF012 - see the base
        **dict.fromkeys(("variable_name", "relative_scope"), read.Reader.word),
        **dict.fromkeys(("name", "qualified_name"), _class_name),
        **dict.fromkeys(("member_access_expression", "nullsafe_member_access_expression"), _member),
        "scoped_property_access_expression": _member,
        **dict.fromkeys(("member_call_expression", "nullsafe_member_call_expression"), _called),
        "scoped_call_expression": _called,
        "function_call_expression": _plainly_called,
        "object_creation_expression": _created,
        "subscript_expression": read.first(forms.item_of),
        **dict.fromkeys(("parenthesized_expression", "clone_expression"), read.Reader.inner),
        "assignment_expression": read.within("right"),
        "binary_expression": _binary,
        **dict.fromkeys(("string", "encapsed_string"), read.QUOTED),
        **dict.fromkeys(("integer", "float"), read.LITERAL),
    }
    types = {  # noqa: RUF012
        "named_type": _class_type,
        **dict.fromkeys(_NAMES, lambda reader, node, _depth: reader._dotted(node)),
        **dict.fromkeys(
            ("union_type", "optional_type", "type_list", "disjunctive_normal_form_type"), _one_of_types
        ),
    }


def _target(node: Node) -> Node | None:
    """Return what stands before a member."""
    return node.child_by_field_name("object") or node.child_by_field_name("scope")


READERS: Final = {"php": _Reader}
