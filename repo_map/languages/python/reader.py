"""Python's facts."""

from __future__ import annotations

import builtins
import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from typing import Final

from tree_sitter import Node

from repo_map.languages.language import words
from repo_map.languages.python import PYTHON_MEMBERS
from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import OTHER_FORM, UNKNOWN_FORM, Form
from repo_map.parsing.facts_model import Binding, FileFacts

_BUILTINS: Final = frozenset(dir(builtins))
_DOTTED: Final = re.compile(r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*")
_MAX_TARGETS: Final = 8
_SAME: Final = frozenset({"list", "sorted", "reversed", "set", "tuple", "frozenset", "iter", "filter"})
_FIRST: Final = frozenset({"next", "min", "max", "anext"})
_SPECIAL: Final = frozenset({"super", "type", "enumerate", "zip"}) | _SAME | _FIRST
_OWN: Final = frozenset({"self", "cls"})
_EXTERNAL_MODULES: Final = vocabulary("python", "external_modules")
"""Modules of the standard library whose names nothing else goes by."""
_SPLATS: Final = {"list_splat_pattern": "tuple[{}]", "dictionary_splat_pattern": "dict[str,{}]"}
_LITERALS: Final = words("integer float true false none comparison_operator not_operator")
_TEXTS: Final = frozenset({"string", "concatenated_string"})


class _Reader(read.ValueReader):
    placeholders = ("?", "'", "0")
    members = PYTHON_MEMBERS
    literals = frozenset({"'", "0"})
    followed_roots = _OWN | {"super", "(", "<"}
    head = re.compile(r"[^\W\d]\w*|[(<\[{]")

    def begin(self) -> None:
        super().begin()
        self._branches: list[tuple[tuple[tuple[int, int], ...], int]] = []
        """First and last line of each branch, and the indent of the whole."""
        self._types_read: dict[bytes, list[tuple[str, str, int]]] = {}

    @cached_property
    def external(self) -> frozenset[str]:
        """The names of the standard library's modules here, and of what comes from them."""
        return frozenset(self.external_imports - self.own)

    # Bindings.

    def on_import(self, node: Node) -> None:
        place = node.child_by_field_name("module_name")
        module = self.squeezed(place) if place is not None else ""
        names = node.children_by_field_name("name")
        for child in names:
            parts = child.children if child.type == "aliased_import" else [child]
            name, alias = self.squeezed(parts[0]), self.squeezed(parts[-1])
            kind = facts.IMPORT if len(parts) == 1 or (module and name == alias) else facts.RENAMED
            if module:
                self._note_import(alias, module)
                self.bind(alias, f"{module}:{name}", node, kind, at=child)
            elif kind == facts.RENAMED:
                self._note_import(alias, name)
                self.bind(alias, name, node, kind)
            else:
                first = name.partition(".")[0]
                self._note_import(first, first)
                self.bind(first, first, node, kind)
                if first != name:
                    self.bind("", name, node, kind)
        if module and not names:
            self.has_star = True
            self.bind("*", module, node, facts.STAR)

    def _note_import(self, name: str, module: str) -> None:
        (self.external_imports if module.partition(".")[0] in _EXTERNAL_MODULES else self.imported).add(name)

    def on_function(self, node: Node) -> None:
        if (written := node.child_by_field_name("return_type")) is not None:
            self.annotated.add(self.owner(node.start_byte))
            self.bind("", self.type_of(written), node, facts.RETURN_TYPE)
        for child in read.parts_of(node, "parameters"):
            self._parameter(child, node)

    def _parameter(self, child: Node, function: Node) -> None:
        kind, written = child.type, child.child_by_field_name("type")
        target = child.child_by_field_name("name")
        if kind == "typed_parameter":
            target = child.children[0]
        elif kind == "identifier" or kind.endswith("splat_pattern"):
            target = child
        if target is None or (kind == "identifier" and self.text(target) in _OWN):
            return
        value = self.type_of(written)
        if (splat := _SPLATS.get(target.type)) is not None:
            target, value = target.children[-1], splat.format(value) if value else ""
        if target.type == "identifier":
            default = self.of_field(child, "value") if kind == "default_parameter" else UNKNOWN_FORM
            self.variable(self.text(target), value, default, function, at=child)

    def on_bases(self, node: Node) -> None:
        self.taken.update(child.start_byte for child in node.named_children)
        for child in read.children_of(node):
            if child.type != "keyword_argument":
                self.base(self.type_of(child), node, at=child)

    def on_decorator(self, node: Node) -> None:
        function = node.child_by_field_name("function") if node.type == "call" else node
        if function is not None and (chain := self.chain_of(function)):
            self.bind(chain.rpartition(".")[2], chain, node, facts.DECORATED)

    def on_assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        while right is not None and right.type == "assignment":
            right = right.child_by_field_name("right")
        written = node.child_by_field_name("type")
        value = self.type_of(written)
        if left is not None and written is not None:
            if left.type != "identifier":
                self._field(left, value, node, facts.FIELD_TYPE)
            else:
                self.bind(self.text(left), value, node, facts.DECLARED)
        if right is not None and (written is None or value.endswith("TypeAlias")):
            self._bind(left, self.expression(right), node)

    def on_walrus(self, node: Node) -> None:
        self._bind(node.child_by_field_name("name"), self.of_field(node, "value"), node)

    def on_loop(self, node: Node) -> None:
        at = node if node.type == "for_statement" else node.parent or node
        self._bind(node.child_by_field_name("left"), forms.element_of(self.of_field(node, "right")), at)

    def _bind(self, target: Node | None, value: Form, at: Node, depth: int = 0) -> None:
        """Bind a target, or each of several, to an expression."""
        if target is None or depth > 2:
            return
        kind = target.type
        if kind == "identifier":
            self.bind(self.text(target), value, at, facts.ASSIGNED)
        elif kind == "attribute":
            self._field(target, value, at, facts.FIELD)
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern"):
            for number, part in enumerate(target.named_children[:_MAX_TARGETS]):
                self._bind(part, forms.part_of(value, number), at, depth + 1)
        elif kind == "as_pattern_target":
            for part in target.named_children:
                self._bind(part, value, at, depth + 1)

    def _field(self, target: Node, value: str, at: Node, kind: int) -> None:
        owner, _, name = self.chain(target).partition(".")
        if owner in _OWN and name and "." not in name:
            self.bind(name, value, at, kind)

    def on_as(self, node: Node) -> None:
        parent, value = node.parent, next(iter(node.named_children), None)
        if parent is None or value is None:
            return
        form = UNKNOWN_FORM
        if parent.type == "with_item":
            form = forms.entry_of(self.expression(value))
        elif parent.type == "except_clause":
            form = forms.of_type(self._alternatives(value))
        self._bind(node.child_by_field_name("alias"), form, node)

    def on_return(self, node: Node) -> None:
        if self.owner(node.start_byte) not in self.annotated:
            self.bind("", self.expression(node), node, facts.RETURNED)

    def on_yield(self, node: Node) -> None:
        value = self.expression(node)
        if self.owner(node.start_byte) not in self.annotated and value not in self.placeholders:
            self.bind("", forms.list_of(value), node, facts.RETURNED)

    def on_test(self, node: Node) -> None:
        """Read ``if isinstance(x, T):`` and ``assert isinstance(x, T)``."""
        call = node.parent
        around = call.parent if call is not None else None
        given = read.parts_of(call, "arguments") if call is not None else ()
        if around is None or self.text(node) != "isinstance" or len(given) != 2:
            return
        last = 0
        if around.type == "if_statement":
            body = around.child_by_field_name("consequence")
            last = body.end_point[0] + 1 if body is not None else 1
        if given[0].type == "identifier":
            self.narrow(given[0], self._alternatives(given[1]), last, at=around)

    def on_type(self, node: Node) -> None:
        """Note what is caught: it may stand in a tuple, as values do."""
        if node.type == "tuple":
            self.taken.update(child.start_byte for child in node.named_children)

    def on_branches(self, node: Node) -> None:
        """Note the branches of an ``if``: what one of them binds no later one sees."""
        first = node.child_by_field_name("consequence")
        if first is not None:
            nodes = (first, *node.children_by_field_name("alternative"))
            rows = tuple((each.start_point[0] + 1, each.end_point[0] + 1) for each in nodes)
            self._branches.append((rows, self.indent(node.start_point[0])))

    def facts(self) -> FileFacts:
        """Return what was found; a name that a branch binds is excluded from the later ones."""
        bound = sorted(
            (e for e in self.bindings if e.kind in (facts.ASSIGNED, facts.DECLARED)), key=facts.LINE
        )
        lines = [each.line for each in bound]
        for branches, indent in self._branches:
            for at, (first, last) in enumerate(branches[:-1], start=1):
                inside = bound[bisect_left(lines, first) : bisect_right(lines, last)]
                for name, definition in dict.fromkeys((each.name, each.definition) for each in inside):
                    for start, until in branches[at:]:
                        value = forms.excluded_form(first, last, until)
                        self.bindings.append(Binding(name, value, definition, start, facts.EXCLUDED, indent))
        return super().facts()

    # Sites.

    def bare(self, name: str) -> tuple[str, str] | None:
        if name in self.external or (name not in self.known and (name in _BUILTINS or not self.has_star)):
            return None
        return "", name

    def of_no_chain(self, node: Node) -> tuple[str, str] | None:
        """Return receiver and name of ``Generic[T](…)`` and of ``f(x).g(…)``."""
        if node.type == "subscript":
            value = node.child_by_field_name("value")
            receiver, _, name = (self.chain(value) if value is not None else "").rpartition(".")
            return (receiver, name) if name[:1].isupper() else None
        if node.type != "attribute":
            return None
        return self.of_field(node, "object"), self.text_of(node, "attribute")

    def after_value(self, node: Node) -> None:
        if node.start_byte not in self.taken:
            self._site(node, facts.VALUE)

    def after_decorator(self, node: Node) -> None:
        if node.type != "call":
            self._site(node, facts.DECORATOR)

    def _site(self, node: Node, kind: int) -> None:
        if not (chain := self.chain_of(node)):
            return
        root, dot, rest = chain.partition(".")
        if (chain if not dot else root) in self.own or (dot and root in _OWN and rest in self.functions):
            receiver, _, name = chain.rpartition(".")
            self.site(name, receiver, node, kind, at_end=True)

    def after_type(self, node: Node) -> None:
        self._types(node, facts.TYPE)

    def after_bases(self, node: Node) -> None:
        self._types(node, facts.BASE)

    def _types(self, node: Node, kind: int) -> None:
        """Read the file's own names in a written type; the same is written often."""
        written = self.source[node.start_byte : node.end_byte]
        found = self._types_read.get(written)
        if found is None:
            found = self._types_read[written] = []
            text = written.decode("utf-8", "replace")
            for each in _DOTTED.finditer(text):
                receiver, _, name = each[0].rpartition(".")
                if (receiver.partition(".")[0] or name) in self.own:
                    found.append((name, receiver, text.count("\n", 0, each.start())))
        for name, receiver, below in found:
            self.site(name, receiver, node, kind, below=below)

    # Written types.

    def type_of(self, node: Node | None, depth: int = 0) -> str:
        """Return a written type without spaces and quotes, ``""`` for a long one."""
        if node is None or node.end_byte - node.start_byte > self.max_chars * 2:
            return ""
        return self.squeezed(node).replace('"', "").replace("'", "")

    def _alternatives(self, node: Node) -> str:
        """Return the written type of what is one of a tuple of types."""
        return self.type_of(node).strip("()").replace(",", "|")

    # Expressions.

    def _called(self, node: Node, depth: int) -> Form:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return UNKNOWN_FORM
        name = self.chain(function)
        if name.rpartition(".")[2] == "cast":
            return forms.of_type(self.type_of(next(iter(arguments.named_children), None)))
        if name in _SPECIAL:
            return self._special(name, arguments, depth)
        return forms.call_of(self.expression(function, depth))

    def _special(self, name: str, arguments: Node, depth: int) -> Form:
        """Return what a builtin makes of its arguments."""
        given = [child for child in arguments.named_children if child.type != "keyword_argument"]
        if name == "super" or not given:
            return forms.call_of(Form(name))
        if arguments.type == "generator_expression":
            return self._several(arguments, depth)
        first = self.expression(given[0], depth)
        if name == "type":
            return forms.member_of(first, "__class__") if len(given) == 1 else UNKNOWN_FORM
        if name in _FIRST:
            return forms.element_of(first) if len(given) == 1 or name == "next" else self.one_of(given, depth)
        if name == "enumerate":
            return forms.list_of(forms.tuple_of((OTHER_FORM, forms.element_of(first))))
        if name == "zip":
            return forms.list_of(
                forms.tuple_of(forms.element_of(self.expression(each, depth)) for each in given[:4])
            )
        return forms.list_of(
            forms.element_of(self.expression(given[-1], depth) if name == "filter" else first)
        )

    def _either(self, node: Node, depth: int) -> Form:
        return self.one_of((node.named_children[0], node.named_children[-1]), depth)

    def _conditional(self, node: Node, depth: int) -> Form:
        return self.one_of(node.named_children[::2], depth)

    def _subscript(self, node: Node, depth: int) -> Form:
        value = self.of_field(node, "value", depth)
        index = node.child_by_field_name("subscript")
        if index is not None and index.type == "slice":
            return value
        return forms.item_of(value, self.text(index) if index is not None and index.type == "integer" else "")

    def _several(self, node: Node, depth: int) -> Form:
        return forms.list_of(self.expression(next(iter(read.children_of(node)), None), depth))

    def _tuple(self, node: Node, depth: int) -> Form:
        return forms.tuple_of(
            self.expression(child, depth) for child in read.children_of(node)[:_MAX_TARGETS]
        )

    def _mapping(self, node: Node, depth: int) -> Form:
        pair = next((child for child in node.named_children if child.type == "pair"), None)
        if pair is None:
            return forms.mapping_of(UNKNOWN_FORM, UNKNOWN_FORM)
        return forms.mapping_of(self.of_field(pair, "key", depth), self.of_field(pair, "value", depth))

    leaves = _LITERALS | _TEXTS | {"identifier"}
    expressions = {  # noqa: RUF012 - see the base
        "identifier": read.Reader.word,
        **dict.fromkeys(_TEXTS, read.QUOTED),
        **dict.fromkeys(_LITERALS, read.LITERAL),
        "attribute": read.access("object", "attribute"),
        "call": _called,
        **dict.fromkeys(("await", "parenthesized_expression", "named_expression"), read.Reader.inner),
        "boolean_operator": _either,
        "conditional_expression": _conditional,
        "subscript": _subscript,
        **dict.fromkeys(("list", "set", "list_comprehension", "set_comprehension"), _several),
        "generator_expression": _several,
        **dict.fromkeys(("tuple", "expression_list"), _tuple),
        **dict.fromkeys(("dictionary", "dictionary_comprehension"), _mapping),
    }


READERS: Final = {"python": _Reader}
