"""Kotlin's facts.

``it`` and ``this`` are written as what they stand for in the lambda or the anonymous object around. The
receiver of a call by a bare name in ``x.apply { … }`` ends in ``&``: the name may be a member of ``x``, or
whatever it is without.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final, NamedTuple

from tree_sitter import Node

from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import OTHER_FORM, TEXT_FORM, UNKNOWN_FORM, Form
from repo_map.parsing.facts_model import OwnerOf, owner_finder

_USUAL: Final = vocabulary("jvm", "java_usual", "kotlin_usual")
_OF_RECEIVER: Final = frozenset({"apply", "run", "with"})
"""Functions whose lambda has what they are called on, or are given first, as its ``this``."""
_ITSELF: Final = frozenset({"let", "also", "takeIf", "takeUnless", "use"})
"""Functions whose lambda is given what they are called on."""
_OF_ELEMENTS: Final = vocabulary("jvm", "kotlin_of_elements")
"""Functions whose lambda is given one element after the other."""
_GIVES_ITSELF: Final = frozenset({"apply", "also", "takeIf", "takeUnless", "onEach", "filter", "sortedBy"})
_GIVES_LAST: Final = frozenset({"let", "run", "with", "use"})
_FIRST_GIVEN: Final = frozenset({"requireNotNull", "checkNotNull"})
_OPERATORS: Final = vocabulary("jvm", "kotlin_operators")
"""Infix functions of the standard library."""
_COMPARISONS: Final = frozenset({"==", "!=", "===", "!==", "<", ">", "<=", ">=", "&&", "||"})
_EXITS: Final = re.compile(rb"(?:return|throw|continue|break)\b")
_TYPES: Final = frozenset({"user_type", "nullable_type", "function_type", "parenthesized_type"})
_CLASSES: Final = frozenset({"class_declaration", "object_declaration", "companion_object"})
_DECLARED: Final = ("variable_declaration", "multi_variable_declaration")
_NULL: Final = forms.of_type("null")
_BOOLEAN: Final = forms.of_type("boolean")
_WORDS: Final = {"null": _NULL, "true": _BOOLEAN, "false": _BOOLEAN}
_LITERALS: Final = {TEXT_FORM: forms.of_type("String"), OTHER_FORM: forms.of_type("int")}
_BASIC: Final = {
    **{name: name.lower() for name in ("Int", "Long", "Char", "Byte", "Short", "Double", "Float", "Boolean")},
    **{f"{name}Array": f"list[{name.lower()}]" for name in ("Byte", "Int", "Char", "Long")},
    "Any": "Object",
}
"""What Java calls them, so that both are one."""
_JVM_NAME: Final = re.compile(rb"JvmName\(\s*\"([^\"]*)\"")


class _Block(NamedTuple):
    """A lambda or an anonymous object."""

    name: str
    """``this`` or ``it``: what it gives a meaning to."""
    callee: Node | None
    """What is called with the lambda."""
    written: str = ""
    """The type of the object."""


class KotlinReader(read.Reader):
    """Reads a file of Kotlin."""

    def begin(self) -> None:
        self._blocks: dict[tuple[int, int], _Block] = {}
        self._meanings: dict[tuple[int, int], Form] = {}
        self._trailing: set[tuple[int, int]] = set()

    # Lambdas and anonymous objects; what they give a meaning to is read once all are known.

    def on_lambda(self, node: Node) -> None:
        callee, literal = node.named_children[0], _lambda_of(node)
        if literal is not None and literal.type == "lambda_literal":
            has_this = self._callee(callee)[0] in _OF_RECEIVER
            if has_this or read.child_of(literal, "lambda_parameters") is None:
                block = _Block("this" if has_this else "it", callee)
                self._blocks[literal.start_byte, -literal.end_byte] = block

    def on_anonymous(self, node: Node) -> None:
        """Note what an anonymous object is, and say of its functions that no class has them."""
        written = self._object_type(node)
        for body in node.named_children:
            if body.type == "class_body":
                for each in body.named_children:
                    if each.type == "function_declaration":
                        self.bind("", UNKNOWN_FORM, each, facts.RECEIVER)
                self._blocks[body.start_byte, -body.end_byte] = _Block("this", None, written)

    @cached_property
    def _ranges(self) -> list[tuple[int, int]]:
        return sorted(self._blocks)

    @cached_property
    def _around(self) -> OwnerOf:
        return owner_finder([(start, -minus_end) for start, minus_end in self._ranges])

    def _stands_for(self, name: str, node: Node) -> Iterator[Form]:
        """Yield what ``this`` or ``it`` is in each block around a node that says it, the innermost first."""
        at = self._around(node.start_byte) if self._blocks else -1
        while at >= 0:
            key = self._ranges[at]
            if self._blocks[key].name == name:
                if key not in self._meanings:
                    self._meanings[key] = UNKNOWN_FORM  # Should it ask for itself.
                    self._meanings[key] = self._meaning(self._blocks[key])
                yield self._meanings[key]
            at = self._around(key[0] - 1)

    def _meaning(self, block: _Block) -> Form:
        if block.callee is None:
            return forms.of_type(block.written)
        if block.name == "it":
            return self._given_by(block.callee)
        called, target = self._callee(block.callee)
        if called == "with":
            return self.expression(next(iter(_arguments_of(block.callee)), None), 2)
        return self.expression(target, 2) if target is not None else self._this(block.callee)

    def _this(self, node: Node) -> Form:
        return next(self._stands_for("this", node), Form("this"))

    def _given_by(self, callee: Node) -> Form:
        """Return what a function gives its lambda."""
        name, target = self._callee(callee)
        if name in _ITSELF:
            return self.expression(target, 2)
        return forms.element_of(self.expression(target, 2)) if name in _OF_ELEMENTS else UNKNOWN_FORM

    def _callee(self, callee: Node) -> tuple[str, Node | None]:
        """Return the name of the function that is called, and what it is called on."""
        if callee.type == "call_expression":
            callee = callee.named_children[0]
        if callee.type == "navigation_expression":
            parts = callee.named_children
            return self.text(parts[-1]), parts[0]
        return (self.text(callee), None) if callee.type == "identifier" else ("", None)

    # Bindings.

    def on_file(self, node: Node) -> None:
        self._exported(node, node)

    def _exported(self, node: Node, whole: Node) -> None:
        """Read under which name Java sees a function, or the functions of a file."""
        if named := _JVM_NAME.search(self.source, node.start_byte, node.end_byte):
            self.bind(named[1].decode("utf-8", "replace"), "", whole, facts.EXPORTED)

    def on_package(self, node: Node) -> None:
        self.bind("", self._dotted(node), node, facts.PACKAGE)

    def _dotted(self, node: Node) -> str:
        return self.squeezed(node).replace("`", "")

    def on_import(self, node: Node) -> None:
        parts = node.named_children
        path = self._dotted(parts[0]) if parts else ""
        if node.children[-1].type == "*":
            self.bind("*", path, node, facts.STAR)
        elif len(parts) > 1:
            self.bind(self.text(parts[-1]), path, node, facts.RENAMED)
        elif parts:
            self.bind(path.rpartition(".")[2], path, node, facts.IMPORT)

    def on_class(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "type_parameters":
                self._type_parameters(child, node)
            elif child.type == "delegation_specifiers":
                for each in child.named_children:
                    self.base(self._base(each), node)
            elif child.type == "primary_constructor" and child.named_children:
                self._parameters(child.named_children[-1], node, facts.FIELD_TYPE)

    def _base(self, node: Node) -> str:
        inner = node.named_children[0] if node.named_children else node
        if inner.type in ("constructor_invocation", "explicit_delegation") and inner.named_children:
            inner = inner.named_children[0]
        return self.type_of(inner)

    def _type_parameters(self, node: Node, whole: Node) -> None:
        for each in node.named_children:
            if (name := read.child_of(each, "identifier")) is not None:
                self.bind(self.text(name), self._type_in(each), whole, facts.TYPE_PARAMETER)

    def _parameters(self, node: Node, whole: Node, kind: int) -> None:
        """Bind the parameters of a function, or of a class, whose fields they become."""
        types: list[str] = []
        required, is_vararg, has_vararg = 0, False, False
        for each in node.children:
            if each.type in ("parameter", "class_parameter"):
                written = self._type_in(each)
                modified = read.child_of(each, "modifiers")
                if is_vararg or (modified is not None and b"vararg" in (modified.text or b"")):
                    written, has_vararg = forms.several_of(written), True
                types.append(written)
                is_vararg = False
                required += all(child.type != "=" for child in each.children)
                if (name := read.child_of(each, "identifier")) is not None:
                    self.bind(self.text(name), written, whole, kind)
            elif each.type == "parameter_modifiers":
                is_vararg = b"vararg" in (each.text or b"")
            elif each.type == "=":
                required -= 1
        self.takes([""] if has_vararg else types, 1 if has_vararg else required, whole, has_more=has_vararg)

    def on_alias(self, node: Node) -> None:
        if len(parts := node.named_children) > 1 and (written := self.type_of(parts[-1])):
            self.bind("", written, node, facts.ALIAS)

    def on_function(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        is_after = name is None
        for child in node.named_children:
            kind = child.type
            if kind == "type_parameters":
                self._type_parameters(child, node)
            elif kind == "modifiers":
                self._exported(child, node)
            elif kind in _TYPES and not is_after:
                self.bind(self.text(name), self.type_of(child) or UNKNOWN_FORM, node, facts.RECEIVER)
            elif kind in _TYPES:
                self.bind("", self.type_of(child), node, facts.RETURN_TYPE)
                is_after = False
            elif kind == "identifier":
                is_after = True
            elif kind == "function_value_parameters":
                self._parameters(child, node, facts.DECLARED)
            elif kind == "function_body" and is_after:
                self.bind("", self._body(child), node, facts.RETURNED)

    def _body(self, node: Node | None) -> Form:
        """Return what a function gives whose body is an expression."""
        is_one = node is not None and node.children and node.children[0].type == "="
        return self.expression(node.named_children[-1]) if node is not None and is_one else UNKNOWN_FORM

    def on_property(self, node: Node) -> None:
        declared = read.child_of(node, *_DECLARED)
        is_member = node.parent is not None and node.parent.type in ("class_body", "enum_class_body")
        if declared is None:
            return
        if declared.type == "multi_variable_declaration":
            self._bind_all(declared, (), node)
            return
        name, written = self.text(declared.named_children[0]), self._type_in(declared)
        form = UNKNOWN_FORM if written else self._value_of(node.named_children, declared)
        if not is_member:
            self.variable(name, written, form, node)
        elif written or form == UNKNOWN_FORM:
            self.bind(name, written, node, facts.FIELD_TYPE)
        else:
            self.bind(name, form, node, facts.FIELD)

    def _value_of(self, parts: Iterable[Node], declared: Node) -> Form:
        """Return what a property begins as, or what its getter gives."""
        after = (c for c in parts if c.start_byte >= declared.end_byte and "comment" not in c.type)
        value = next(after, None)
        kind = value.type if value is not None else ""
        if value is None or kind in ("setter", "type_constraints"):
            return UNKNOWN_FORM
        if kind == "getter":
            return self._body(read.child_of(value, "function_body"))
        if kind == "property_delegate":
            called = value.named_children[-1]
            is_call = called.type == "call_expression"
            return self._last_of(called) if is_call and self._callee(called)[0] == "lazy" else UNKNOWN_FORM
        return self.expression(value)

    def on_loop(self, node: Node) -> None:
        parts = [child for child in node.named_children if child.type != "label"]
        if len(parts) > 1 and parts[0].type in _DECLARED:
            over = self.expression(parts[1])
            is_one = parts[0].type == "variable_declaration"
            values = (forms.element_of(over),) if is_one else (forms.entry_of(over), forms.element_of(over))
            self._bind_all(parts[0], values, node, inside=True)

    def _bind_all(self, declared: Node, values: Sequence[Form], node: Node, *, inside: bool = False) -> None:
        """Bind a variable, or each of several, to its type or to what it is made of."""
        is_one = declared.type != "multi_variable_declaration"
        for number, each in enumerate([declared] if is_one else declared.named_children):
            form = values[number] if number < len(values) else UNKNOWN_FORM
            name = self.text(each.named_children[0]) if each.named_children else ""
            self.variable(name, self._type_in(each), form, node, inside=inside)

    def on_caught(self, node: Node) -> None:
        name = self.text(read.child_of(node, "identifier"))
        self.bind(name, self._type_in(node), node, facts.DECLARED, inside=True)

    def on_given(self, node: Node) -> None:
        """Bind the parameters of a lambda: one has what its function gives, of several nothing is known."""
        parts = node.named_children
        literal = node.parent
        wrapped = literal.parent if literal is not None else None
        called = wrapped.parent if wrapped is not None and wrapped.type == "annotated_lambda" else None
        is_given = len(parts) == 1 and called is not None and called.type == "call_expression"
        form = self._given_by(called.named_children[0]) if called is not None and is_given else UNKNOWN_FORM
        for each in parts:
            self._bind_all(each, (form,) if each.type == "variable_declaration" else (), each, inside=True)

    def on_test(self, node: Node) -> None:
        """Bind what ``x is T`` makes of ``x``: to the end of what is done where it holds."""
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or left.type != "identifier":
            return
        is_not = any(child.type == "!is" for child in node.children)
        top, above = read.top_of(node, ("||",) if is_not else ("&&",))
        start, last = node.start_point[0] + 1, top.end_point[0] + 1
        if (
            above is not None
            and above.child_by_field_name("condition") == top
            and above.type == "if_expression"
        ):
            branches = [child for child in above.named_children if child.start_byte >= top.end_byte]
            if not is_not and branches:
                last = branches[0].end_point[0] + 1
            elif is_not and len(branches) == 1 and self._leaves(branches[0]):
                start = above.end_point[0] + 2
                last = above.parent.end_point[0] + 1 if above.parent is not None else start
        self._narrow(left, right, start, last)

    def _leaves(self, node: Node) -> bool:
        """Return True if a branch ends with ``return``, ``throw`` or the like."""
        if node.type == "block" and node.named_children:
            node = node.named_children[-1]
        return _EXITS.match(self.source, node.start_byte) is not None

    def on_when(self, node: Node) -> None:
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

    def _narrow(self, name: Node, written: Node | None, start: int, last: int) -> None:
        if value := self.type_of(written):
            self.narrow(name, value, last)
            self.bindings[-1] = self.bindings[-1]._replace(line=start)

    # Sites.

    def on_construct(self, node: Node) -> None:
        """Read the call of what a class extends."""
        written = node.named_children[0]
        if head := forms.head_of_type(self.type_of(written)):
            self.taken.add(written.start_byte)
            self.use(head, written, facts.CALL, self._arguments(node))

    def on_delegate(self, node: Node) -> None:
        """Read ``this(…)`` and ``super(…)`` of a constructor."""
        owner = read.around(node, _CLASSES)
        if owner is None or not node.children:
            return
        called = node.children[0]
        name = (
            self.text_of(owner, "name")
            if called.type == "this"
            else forms.head_of_type(self._object_type(owner))
        )
        if name:
            self.site(name.rpartition(".")[2], self._arguments(node), called, facts.CALL)

    def on_trailing(self, node: Node) -> None:
        self._trailing.add((node.start_byte, node.end_byte))

    def on_call(self, node: Node) -> None:
        callee = node.named_children[0]
        if callee.type == "identifier":
            self._bare(callee, self._arguments(node))
        elif callee.type == "navigation_expression":
            self._member_called(callee, self._arguments(node))

    def _member_called(self, callee: Node, given: str) -> None:
        parts = callee.named_children
        if len(parts) > 1 and parts[-1].type == "identifier":
            receiver = self.expression(parts[0], 1)
            # Extensions may be of texts and numbers.
            self.site(self.text(parts[-1]), _LITERALS.get(receiver, receiver) + given, parts[-1], facts.CALL)

    def _bare(self, name: Node, given: str) -> None:
        """Read a call by a bare name: of ``this`` of the blocks around, or of what it is without."""
        text = self.text(name)
        receivers = forms.implicit_receivers(() if text[:1].isupper() else self._stands_for("this", name))
        if len(receivers) > read.MAX_CHARS:
            receivers = forms.implicit_receivers((UNKNOWN_FORM,))
        self.site(text, receivers + given, name, facts.CALL)

    def _arguments(self, node: Node) -> str:
        """Return what a call is given, as the end of its receiver; nothing where names tell which."""
        given = [
            each for c in node.named_children if c.type == "value_arguments" for each in c.named_children
        ]
        if any(one.type == "=" for each in given for one in each.children):
            return ""
        known = [self.argument(each) for each in _arguments_of(node)]
        lambdas = sum(child.type == "annotated_lambda" for child in node.named_children)
        lambdas += (node.start_byte, node.end_byte) in self._trailing
        return forms.arguments_given([*known, *[UNKNOWN_FORM] * lambdas])

    def on_generic(self, node: Node) -> None:
        """Read ``x.f<T>(a)``, which the grammar takes for two comparisons."""
        if node.type == "identifier":
            self._bare(node, "")
        elif node.type == "navigation_expression":
            self._member_called(node, "")

    def on_infix(self, node: Node) -> None:
        parts = node.named_children
        if len(parts) == 3 and parts[1].type == "identifier" and self.text(parts[1]) not in _OPERATORS:
            given = forms.arguments_given((self.argument(parts[2]),))
            self.site(self.text(parts[1]), self.expression(parts[0], 1) + given, parts[1], facts.CALL)

    def on_reference(self, node: Node) -> None:
        parts = node.named_children
        last = parts[-1] if parts else node
        if last.type != "identifier" or self.text(last) in ("class", "javaClass"):
            return
        if len(parts) > 1:
            self.site(self.text(last), self.expression(parts[0], 1), last, facts.VALUE)
        elif node.type == "callable_reference":
            self.site(self.text(last), "", last, facts.VALUE)

    def on_head(self, node: Node) -> None:
        """Read a name before a dot as that of a type, where it is written like one."""
        name = self.text(node)
        if name[:1].isupper() and not name.isupper() and name not in _USUAL:
            self.site(name, "", node, facts.TYPE)

    def on_type(self, node: Node) -> None:
        named = [child for child in node.named_children if child.type == "identifier"]
        if named and node.start_byte not in self.taken and self.text(named[-1]) not in _USUAL:
            self.use(".".join(self.text(each) for each in named), named[-1], facts.TYPE)

    # Types.

    def _type_in(self, node: Node) -> str:
        return self.type_of(read.child_of(node, *_TYPES))

    def _user_type(self, node: Node, depth: int) -> str:
        head = ".".join(self.text(child) for child in node.named_children if child.type == "identifier")
        given = read.child_of(node, "type_arguments")
        arguments = (
            [read.child_of(each, *_TYPES) for each in given.named_children] if given is not None else []
        )
        if head == "Array":
            return self.type_with("list", arguments[:1] or [None], depth)
        return self.type_with(head, arguments, depth) if arguments else _BASIC.get(head, head)

    def _function_type(self, node: Node, depth: int) -> str:
        return self.type_with("func", node.named_children[-1:], depth)

    def _inner_type(self, node: Node, depth: int) -> str:
        return self.type_of(read.child_of(node, *_TYPES), depth)

    def _object_type(self, node: Node) -> str:
        """Return the first type that an object or a class extends."""
        listed = read.child_of(node, "delegation_specifiers")
        bases = (self._base(each) for each in listed.named_children) if listed is not None else ()
        return next(filter(None, bases), "")

    # Expressions.

    def _word(self, node: Node, depth: int) -> Form:
        text = self.text(node)
        if text == "it":
            return next(self._stands_for("it", node), Form("it"))
        return _WORDS.get(text) or self._of_block(node, Form(text))

    def _of_block(self, node: Node, bare: Form) -> Form:
        """Return a bare name or call, as what the block around it has or the scopes."""
        form = UNKNOWN_FORM if bare[:1].isupper() else next(self._stands_for("this", node), UNKNOWN_FORM)
        return bare if form == UNKNOWN_FORM else forms.one_of((forms.member_of(form, bare), bare))

    def _self(self, node: Node, depth: int) -> Form:
        if node.type == "super_expression":
            return Form("super")
        label = self.text(read.child_of(node, "identifier"))
        if label[:1].isupper():
            return forms.member_of(Form(label), "this")
        return UNKNOWN_FORM if label else self._this(node)

    def _access(self, node: Node, depth: int) -> Form:
        parts = node.named_children
        if len(parts) < 2:
            return UNKNOWN_FORM
        name = self.text(parts[-1])
        if any(child.type == "::" for child in node.children):
            return forms.of_type("KClass") if name == "class" else UNKNOWN_FORM
        if parts[0].type == "identifier" and not self._blocks and (chain := self.chain(node)):
            return Form(chain)
        return forms.member_of(self.expression(parts[0], depth), name)

    def _called(self, node: Node, depth: int) -> Form:
        callee, (name, target) = node.named_children[0], self._callee(node)
        if node.named_children[-1].type == "annotated_lambda":
            name, target = self._callee(callee)
            if name in _GIVES_ITSELF and (target is not None or name == "apply"):
                return self.expression(target, depth) if target is not None else self._this(node)
            if name in _GIVES_LAST and (target is not None or name in ("with", "run")):
                return self._last_of(node, depth)
        if callee.type == "navigation_expression":
            is_named = callee.named_children[-1].type == "identifier"
            return (
                forms.call_of(forms.member_of(self.expression(target, depth), name))
                if is_named
                else UNKNOWN_FORM
            )
        if callee.type == "identifier":
            if name in _FIRST_GIVEN:
                return self.expression(next(iter(_arguments_of(node)), None), depth)
            return self._of_block(callee, forms.call_of(Form(name)))
        return self.expression(callee, depth) if callee.type == "call_expression" else UNKNOWN_FORM

    def _last_of(self, node: Node, depth: int = 2) -> Form:
        """Return what the lambda of a call ends with."""
        literal = _lambda_of(node)
        last = literal.named_children[-1] if literal is not None and literal.named_children else None
        return self.expression(last, depth)

    def _unary(self, node: Node, depth: int) -> Form:
        is_not = node.children[0].type == "!"
        return _BOOLEAN if is_not else self.expression(node.named_children[-1], depth)

    def _if(self, node: Node, depth: int) -> Form:
        top = node.child_by_field_name("condition")
        branches = [c for c in node.named_children if top is not None and c.start_byte >= top.end_byte]
        if len(branches) != 2:
            return UNKNOWN_FORM
        one, other = (
            self.inner(each, depth) if each.type == "block" else self.expression(each, depth)
            for each in branches
        )
        return UNKNOWN_FORM if UNKNOWN_FORM in (one, other) else forms.either(one, other, _NULL)

    def _binary(self, node: Node, depth: int) -> Form:
        sign = self.text_of(node, "operator")
        if sign in _COMPARISONS:
            return _BOOLEAN
        left = self.of_field(node, "left", depth)
        if sign == "?:":
            return forms.either(left, self.of_field(node, "right", depth), _NULL)
        return TEXT_FORM if sign == "+" and left == TEXT_FORM else UNKNOWN_FORM

    def _object(self, node: Node, depth: int) -> Form:
        return forms.of_type(self._object_type(node))

    def _number(self, node: Node, depth: int) -> Form:
        text = self.text(node)
        return (
            forms.of_type("long")
            if text.endswith("L")
            else forms.of_type("double")
            if "." in text
            else OTHER_FORM
        )

    expressions = {  # noqa: RUF012 - see the base
        "identifier": _word,
        **dict.fromkeys(("this_expression", "super_expression"), _self),
        "navigation_expression": _access,
        "call_expression": _called,
        "index_expression": read.first(forms.item_of),
        "unary_expression": _unary,
        "parenthesized_expression": read.Reader.inner,
        "if_expression": _if,
        "as_expression": read.typed("right"),
        "binary_expression": _binary,
        "is_expression": read.constant(_BOOLEAN),
        "object_literal": _object,
        **dict.fromkeys(("string_literal", "multiline_string_literal"), read.QUOTED),
        "character_literal": read.constant(forms.of_type("char")),
        **dict.fromkeys(("number_literal", "float_literal"), _number),
    }
    types = {  # noqa: RUF012
        "user_type": _user_type,
        "function_type": _function_type,
        **dict.fromkeys(("nullable_type", "parenthesized_type"), _inner_type),
    }


def _lambda_of(call: Node) -> Node | None:
    """Return the lambda behind the parentheses of a call."""
    last = call.named_children[-1]
    return last.named_children[-1] if last.type == "annotated_lambda" and last.named_children else None


def _arguments_of(call: Node) -> list[Node]:
    """Return what a call is given between its parentheses."""
    given = read.child_of(call, "value_arguments")
    listed = given.named_children if given is not None else ()
    return [c.named_children[-1] for c in listed if c.type == "value_argument" and c.named_children]
