"""Ruby's facts: ``A::B`` is written ``A.B``, an object made by ``A.new`` has the type ``A``.

Nothing of an object's class is written in Ruby but by ``new``, ``self`` and constants: the rest says nothing.
"""

from __future__ import annotations

import re
from typing import Final

from tree_sitter import Node

from repo_map.languages.kinds import FUNCTIONS
from repo_map.languages.registry import vocabulary
from repo_map.parsing import expressions as forms
from repo_map.parsing import facts_model as facts
from repo_map.parsing import facts_reader as read
from repo_map.parsing.expressions import OTHER_FORM, TEXT_FORM, UNKNOWN_FORM, Form

_PARAMETERS: Final = frozenset({"method_parameters", "block_parameters", "lambda_parameters"})
_NAMING: Final = _PARAMETERS | {"method", "singleton_method", "alias"}
_NO_CALLS: Final = vocabulary("ruby", "no_calls")


class _Reader(read.Reader):
    def begin(self) -> None:
        self._own = frozenset(each.name.rpartition(".")[2] for each in self.found if each.kind in FUNCTIONS)
        self._locals: set[tuple[int, str]] = set()
        self._written: set[int] = set()
        """First bytes of calls that something is assigned to."""

    def finish(self) -> None:
        """Read the names of the file's own methods that stand alone, which are few of all names."""
        if not self._own:
            return
        either = b"|".join(re.escape(name.encode()) for name in sorted(self._own, reverse=True))
        for match in re.finditer(rb"(?<![\w.@:$])(?:" + either + rb")(?![\w?!(:])", self.source):
            node = self.root.descendant_for_byte_range(*match.span())
            if node is not None and node.type == "identifier" and node.end_byte == match.end():
                self._bare(node)

    # Bindings.

    def on_class(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.taken.add(name.start_byte)
        for above in read.parts_of(node, "superclass")[:1]:
            self.base(self._path(above), node)

    def on_mixin(self, node: Node) -> None:
        for each in read.parts_of(node, "arguments") if node.child_by_field_name("receiver") is None else ():
            if each.type in ("constant", "scope_resolution"):
                self.base(self._path(each), node)

    def _path(self, node: Node) -> str:
        """Return a constant with dots, ``""`` where it is none."""
        text = self.text(node).replace("::", ".")
        return text if node.type in ("constant", "scope_resolution") and text[:1].isupper() else ""

    def on_function(self, node: Node) -> None:
        around = node.parent.parent if node.parent is not None else None
        if node.type == "singleton_method" or (around is not None and around.type == "singleton_class"):
            self.bind("", "self", node, facts.RECEIVER)
        owner = self.owner(node.start_byte)
        for child in node.named_children:
            for each in child.named_children if child.type in _PARAMETERS else ():
                named = each.child_by_field_name("name") or each
                if named.type == "identifier":
                    self._locals.add((owner, self.text(named)))

    def on_assigned(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None:
            return
        if left.type == "identifier":
            self._locals.add((self.owner(left.start_byte), self.text(left)))
            self.bind(self.text(left), self.expression(right), node, facts.ASSIGNED)
        elif left.type == "call":
            self._written.add(left.start_byte)
        elif left.type == "instance_variable":
            self.bind(self.text(left), self.expression(right), node, facts.FIELD)
        elif left.type == "left_assignment_list":
            owner = self.owner(left.start_byte)
            self._locals.update((owner, self.text(c)) for c in left.named_children if c.type == "identifier")

    # Sites.

    def on_call(self, node: Node) -> None:
        name, target = node.child_by_field_name("method"), node.child_by_field_name("receiver")
        if name is None or name.type not in ("identifier", "constant"):
            return
        self.taken.add(name.start_byte)
        text = self.text(name)
        if text == "new":
            if target is not None and (path := self._path(target)):
                self.taken.add(target.start_byte)
                self.use(path, target, facts.CALL)
            return
        if target is None:
            if text not in _NO_CALLS:
                self.site(text, "", name, facts.CALL)
            return
        receiver = self.expression(target)
        # `x.name = 1` calls another method, `name=`.
        if (
            receiver not in (TEXT_FORM, OTHER_FORM)
            and text != "class"
            and node.start_byte not in self._written
        ):
            self.site(text, receiver, name, facts.CALL)

    def _bare(self, node: Node) -> None:
        """Read a name that stands alone: a call of a method of the file, where no local has its name."""
        text, around = self.text(node), node.parent
        if node.start_byte in self.taken or around is None or around.type in _NAMING:
            return
        is_parameter = around.type.endswith("_parameter") and node == around.child_by_field_name("name")
        if not is_parameter and (self.owner(node.start_byte), text) not in self._locals:
            self.site(text, "", node, facts.CALL)

    def on_super(self, node: Node) -> None:
        at = self.owner(node.start_byte)
        if at >= 0 and self.found[at].kind in FUNCTIONS:
            self.site(self.found[at].name.rpartition(".")[2], "super", node, facts.CALL)

    def on_constant(self, node: Node) -> None:
        around = node.parent
        if node.start_byte in self.taken or around is None or around.type == "scope_resolution":
            return
        if around.type in ("class", "module") or node == around.child_by_field_name("left"):
            return
        if path := self._path(node):
            self.use(path, node, facts.TYPE)

    # Expressions.

    def _constant_form(self, node: Node, depth: int) -> Form:
        return Form(self._path(node) or UNKNOWN_FORM)

    def _field_form(self, node: Node, depth: int) -> Form:
        return forms.member_of(Form("self"), self.text(node).replace("@", "$"))

    def _called(self, node: Node, depth: int) -> Form:
        name, target = self.text_of(node, "method"), node.child_by_field_name("receiver")
        if target is None:
            return forms.call_of(Form(name)) if name.isidentifier() else UNKNOWN_FORM
        if name == "new":
            return forms.of_type(self._path(target))
        form = self.expression(target, depth)
        if name == "class" and form == "self":
            return forms.member_of(form, name)
        return forms.call_of(forms.member_of(form, name)) if name.isidentifier() else UNKNOWN_FORM

    expressions = {  # noqa: RUF012 - see the base
        **dict.fromkeys(("identifier", "self"), read.Reader.word),
        **dict.fromkeys(("constant", "scope_resolution"), _constant_form),
        "instance_variable": _field_form,
        "call": _called,
        "parenthesized_statements": read.Reader.inner,
        "string": read.QUOTED,
        "integer": read.LITERAL,
    }


READERS: Final = {"ruby": _Reader}
