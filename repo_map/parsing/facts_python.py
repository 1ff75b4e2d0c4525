"""Python's facts.

The normal form of an expression: a root, then what is done with it. Roots: a name, ``'`` text, ``0`` number,
``?`` anything, ``[e]`` several of ``e``, ``{k,v}`` a mapping, ``(a,b)`` a tuple, ``(|a|b)`` one of several,
``<T>`` what has the written type ``T``. Then: ``.name``, ``()`` called, ``[]`` subscripted, ``*`` iterated over,
``%`` entered as a context, ``#1`` the second of a tuple.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node, QueryCursor, Tree

from repo_map.languages.grammars import facts_query
from repo_map.languages.parser import CpuDeadline
from repo_map.parsing.definitions import Found
from repo_map.parsing.facts_model import (
    ASSIGNED,
    BASE,
    BASE_OF,
    CALL,
    DECLARED,
    DECORATED,
    DECORATOR,
    FIELD,
    FIELD_TYPE,
    IMPORT,
    NARROWED,
    RENAMED,
    RETURN_TYPE,
    RETURNED,
    STAR,
    TYPE,
    VALUE,
    Binding,
    FileFacts,
    OwnerOf,
    Site,
)
from repo_map.parsing.queries import DEEPEST

_BUILTINS: Final = frozenset(dir(builtins))
_CHAIN: Final = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*+)*+")
_DOTTED: Final = re.compile(r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*+")
_SPACES: Final = re.compile(rb"\s+")
_LONGEST: Final = 120
"""Characters of an expression or a type that are read; a longer one says ``?``."""
_DEEPEST: Final = 8
_MOST_TARGETS: Final = 8
_UNKNOWN: Final = "?"
_SAME: Final = frozenset({"list", "sorted", "reversed", "set", "tuple", "frozenset", "iter", "filter"})
_FIRST: Final = frozenset({"next", "min", "max", "anext"})
_OWN: Final = frozenset({"self", "cls"})
_PLACEHOLDERS: Final = ("?", "'", "0")
_new_site = tuple.__new__


def read(
    source: bytes, tree: Tree, language: str, found: Sequence[Found], owner: OwnerOf, deadline: CpuDeadline
) -> FileFacts:
    """Read the facts of one Python file."""
    cursor = QueryCursor(facts_query(language))
    cursor.set_max_start_depth(DEEPEST)
    captures = cursor.captures(tree.root_node)
    return _Reader(source, found, owner).read(captures)


class _Reader:
    """One file: its bindings first, for they say which names may be its own."""

    def __init__(self, source: bytes, found: Sequence[Found], owner: OwnerOf) -> None:
        self._source = source
        self._lines = source.split(b"\n")
        self._found = found
        self._owner = owner
        self._bindings: list[Binding] = []
        self._imported: set[str] = set()
        self._annotated: set[int] = set()
        self._has_star = False

    def read(self, captures: dict[str, list[Node]]) -> FileFacts:
        get = captures.get
        for node in get("import", ()):
            self._import(node)
        for node in get("function", ()):
            self._function(node)
        for node in get("bases", ()):
            self._bases(node)
        for node in get("decorator", ()):
            self._decorator(node)
        for node in get("assign", ()):
            self._assign(node)
        for node in get("walrus", ()):
            self._bind(node.child_by_field_name("name"), self._of(node, "value"), node)
        for node in get("for", ()):
            self._bind(node.child_by_field_name("left"), _then(self._of(node, "right"), "*"), node)
        for node in get("comprehension", ()):
            value = _then(self._of(node, "right"), "*")
            self._bind(node.child_by_field_name("left"), value, node.parent or node)
        for node in get("as", ()):
            self._as(node)
        for node in get("return", ()):
            self._return(node, "")
        for node in get("yield", ()):
            self._return(node, "[")
        for node in get("test", ()):
            self._narrow(node)
        bindings = self._telling()
        return FileFacts(self._sites(captures), bindings)

    def _telling(self) -> tuple[Binding, ...]:
        """Return the bindings that say something, or hide a name that another says something of."""
        known = {item.name for item in self._found} | {each.name for each in self._bindings if each.value}
        self._known = known
        kept = [each for each in self._bindings if each.value or each.name in known]
        kept.sort(key=lambda each: each.line)
        return tuple(kept)

    # Bindings.

    def _add(self, name: str, value: str, byte: int, row: int, kind: int) -> None:
        if value in _PLACEHOLDERS:
            if kind == FIELD or kind == RETURNED:
                return
            value = ""
        self._bindings.append(
            _new_site(Binding, (name, value, self._owner(byte), row + 1, kind, self._indent(row)))
        )

    def _indent(self, row: int) -> int:
        line = self._lines[row]
        return min(len(line) - len(line.lstrip()), 255)

    def _import(self, node: Node) -> None:
        row, byte = node.start_point[0], node.start_byte
        if node.type == "import_statement":
            for child in node.children_by_field_name("name"):
                if child.type == "aliased_import":
                    module, alias = self._squeezed(child.children[0]), self._squeezed(child.children[-1])
                    self._imported.add(alias)
                    self._add(alias, module, byte, row, RENAMED)
                else:
                    module = self._squeezed(child)
                    first = module.partition(".")[0]
                    self._imported.add(first)
                    self._add(first, first, byte, row, IMPORT)
                    if first != module:
                        self._add("", module, byte, row, IMPORT)
            return
        place = node.child_by_field_name("module_name")
        if place is None:
            return
        module = self._squeezed(place)
        names = node.children_by_field_name("name")
        for child in names:
            if child.type == "aliased_import":
                name, alias = self._squeezed(child.children[0]), self._squeezed(child.children[-1])
                kind = IMPORT if name == alias else RENAMED
            else:
                name = alias = self._squeezed(child)
                kind = IMPORT
            self._imported.add(alias)
            self._add(alias, f"{module}:{name}", byte, child.start_point[0], kind)
        if not names:
            self._has_star = True
            self._add("*", module, byte, row, STAR)

    def _function(self, node: Node) -> None:
        byte = node.start_byte
        if (written := node.child_by_field_name("return_type")) is not None:
            self._annotated.add(self._owner(byte))
            self._add("", self._type(written), byte, node.start_point[0], RETURN_TYPE)
        parameters = node.child_by_field_name("parameters")
        if parameters is None:
            return
        for child in parameters.named_children:
            self._parameter(child, byte)

    def _parameter(self, child: Node, byte: int) -> None:
        kind, row = child.type, child.start_point[0]
        if kind == "identifier":
            name = self._text(child)
            if name not in _OWN:
                self._add(name, "", byte, row, ASSIGNED)
        elif kind == "typed_parameter":
            target, written = child.children[0], child.child_by_field_name("type")
            value = self._type(written) if written is not None else ""
            if target.type == "list_splat_pattern":
                target, value = target.children[-1], f"tuple[{value}]" if value else ""
            elif target.type == "dictionary_splat_pattern":
                target, value = target.children[-1], f"dict[str,{value}]" if value else ""
            self._add(self._text(target), value, byte, row, DECLARED)
        elif kind == "typed_default_parameter":
            name, written = child.child_by_field_name("name"), child.child_by_field_name("type")
            if name is not None and written is not None:
                self._add(self._text(name), self._type(written), byte, row, DECLARED)
        elif kind == "default_parameter":
            name = child.child_by_field_name("name")
            if name is not None and name.type == "identifier":
                self._add(self._text(name), self._of(child, "value"), byte, row, ASSIGNED)
        elif kind in ("list_splat_pattern", "dictionary_splat_pattern"):
            self._add(self._text(child.children[-1]), "", byte, row, ASSIGNED)

    def _bases(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in ("keyword_argument", "comment"):
                continue
            written = self._type(child)
            name = written.partition("[")[0].rpartition(".")[2]
            self._add(name, written or _UNKNOWN, node.start_byte, child.start_point[0], BASE_OF)

    def _decorator(self, node: Node) -> None:
        called = node.child_by_field_name("function") if node.type == "call" else node
        if called is not None and _CHAIN.fullmatch(text := self._source[called.start_byte : called.end_byte]):
            chain = text.decode("utf-8", "replace")
            self._add(chain.rpartition(".")[2], chain, node.start_byte, node.start_point[0], DECORATED)

    def _assign(self, node: Node) -> None:
        right = node.child_by_field_name("right")
        while right is not None and right.type == "assignment":
            right = right.child_by_field_name("right")
        left = node.child_by_field_name("left")
        written = node.child_by_field_name("type")
        if left is None:
            return
        if written is not None:
            value = self._type(written)
            if left.type == "identifier":
                self._add(self._text(left), value, node.start_byte, node.start_point[0], DECLARED)
                if value.endswith(("TypeAlias",)) and right is not None:
                    self._bind(left, self._expression(right, 0), node)
            else:
                self._field(left, value, node, FIELD_TYPE)
        elif right is not None:
            self._bind(left, self._expression(right, 0), node)

    def _bind(self, target: Node | None, value: str, at: Node, depth: int = 0) -> None:
        """Bind a target, or each of several, to an expression."""
        if target is None or depth > 2:
            return
        kind = target.type
        if kind == "identifier":
            self._add(self._text(target), value, at.start_byte, at.start_point[0], ASSIGNED)
        elif kind == "attribute":
            self._field(target, value, at, FIELD)
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern"):
            for number, part in enumerate(target.named_children[:_MOST_TARGETS]):
                self._bind(part, _then(value, f"#{number}"), at, depth + 1)
        elif kind == "as_pattern_target":
            for part in target.named_children:
                self._bind(part, value, at, depth + 1)

    def _field(self, target: Node, value: str, at: Node, kind: int) -> None:
        owner, _, name = self._chain(target).partition(".")
        if owner in _OWN and name and "." not in name:
            self._add(name, value, at.start_byte, at.start_point[0], kind)

    def _as(self, node: Node) -> None:
        parent, target = node.parent, node.child_by_field_name("alias")
        if parent is None or target is None or not node.named_children:
            return
        value = node.named_children[0]
        if parent.type == "with_item":
            self._bind(target, _then(self._expression(value, 0), "%"), node)
        elif parent.type == "except_clause":
            written = self._type(value).strip("()").replace(",", "|")
            self._bind(target, f"<{written}>" if written else _UNKNOWN, node)
        else:
            self._bind(target, _UNKNOWN, node)

    def _return(self, node: Node, lead: str) -> None:
        owner = self._owner(node.start_byte)
        if owner in self._annotated:
            return
        value = self._expression(node, 0)
        if value not in _PLACEHOLDERS:
            value = f"[{value}]" if lead else value
            self._add("", value, node.start_byte, node.start_point[0], RETURNED)

    def _narrow(self, node: Node) -> None:
        """Read ``if isinstance(x, T):`` and ``assert isinstance(x, T)``."""
        call = node.parent
        arguments = call.child_by_field_name("arguments") if call is not None else None
        around = call.parent if call is not None else None
        if arguments is None or around is None or self._text(node) != "isinstance":
            return
        named = arguments.named_children
        if len(named) != 2 or named[0].type != "identifier":
            return
        written = self._type(named[1]).strip("()").replace(",", "|")
        if not written:
            return
        row, last = around.start_point[0], 0
        if around.type == "if_statement":
            body = around.child_by_field_name("consequence")
            last = body.end_point[0] + 1 if body is not None else 1
        self._add(self._text(named[0]), f"{last}:{written}", node.start_byte, row, NARROWED)

    # Sites.

    def _sites(self, captures: dict[str, list[Node]]) -> tuple[Site, ...]:
        sites: list[Site] = []
        add = sites.append
        new, owner, indent = tuple.__new__, self._owner, self._indent
        source = self._source
        known, has_star = self._known, self._has_star
        mine = {item.name for item in self._found} | self._imported
        functions = {item.name for item in self._found if item.kind == "function"}
        for node in captures.get("call", ()):
            start, end = node.byte_range
            text = source[start:end]
            row = node.end_point[0]
            if _CHAIN.fullmatch(text):
                receiver, _, name = text.decode("utf-8", "replace").rpartition(".")
            else:
                named = self._named(node)
                if named is None:
                    continue
                receiver, name = named
            if not receiver and name not in known and (name in _BUILTINS or not has_star):
                continue
            if receiver in ("'", "0"):
                continue
            add(new(Site, (name, receiver, owner(start), row + 1, CALL, indent(row))))
        for node in captures.get("value", ()):
            chain = self._chain(node)
            receiver, _, name = chain.rpartition(".")
            root = receiver.partition(".")[0] if receiver else name
            if root in mine or (receiver in _OWN and name in functions):
                row = node.end_point[0]
                add(new(Site, (name, receiver, owner(node.start_byte), row + 1, VALUE, indent(row))))
        for role, kind in (("type", TYPE), ("bases", BASE)):
            for node in captures.get(role, ()):
                start, end = node.byte_range
                row = node.start_point[0]
                for written in _DOTTED.finditer(source[start:end].decode("utf-8", "replace")):
                    receiver, _, name = written[0].rpartition(".")
                    if (receiver.partition(".")[0] or name) in mine:
                        below = written.string.count("\n", 0, written.start())
                        add(new(Site, (name, receiver, owner(start), row + below + 1, kind, indent(row))))
        for node in captures.get("decorator", ()):
            if node.type != "call" and (chain := self._chain(node)):
                receiver, _, name = chain.rpartition(".")
                if (receiver.partition(".")[0] or name) in mine:
                    row = node.end_point[0]
                    add(new(Site, (name, receiver, owner(node.start_byte), row + 1, DECORATOR, indent(row))))
        sites.sort(key=lambda site: site.line)
        return tuple(sites)

    def _named(self, node: Node) -> tuple[str, str] | None:
        """Return receiver and name of what is called, None where it has no name."""
        if node.type == "subscript":
            value = node.child_by_field_name("value")
            chain = self._chain(value) if value is not None else ""
            receiver, _, name = chain.rpartition(".")
            return (receiver, name) if name[:1].isupper() else None
        if node.type != "attribute":
            return None
        inner, last = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if inner is None or last is None:
            return None
        return self._expression(inner, 0), self._text(last)

    # Texts.

    def _text(self, node: Node) -> str:
        return self._source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def _squeezed(self, node: Node) -> str:
        return _SPACES.sub(b"", self._source[node.start_byte : node.end_byte]).decode("utf-8", "replace")

    def _chain(self, node: Node) -> str:
        """Return a dotted name, ``""`` for anything else."""
        start, end = node.byte_range
        text = self._source[start:end] if end - start <= _LONGEST else b""
        return text.decode("utf-8", "replace") if _CHAIN.fullmatch(text) else ""

    def _type(self, node: Node) -> str:
        """Return a written type without spaces and quotes, ``""`` for a long one."""
        if node.end_byte - node.start_byte > _LONGEST * 2:
            return ""
        return self._squeezed(node).replace('"', "").replace("'", "")

    def _of(self, node: Node, field: str) -> str:
        child = node.child_by_field_name(field)
        return _UNKNOWN if child is None else self._expression(child, 0)

    def _expression(self, node: Node, depth: int) -> str:
        """Return the normal form of an expression."""
        kind = node.type
        if kind == "identifier":
            return self._text(node)
        if kind in _TEXTS:
            return "'"
        make = _FORMS.get(kind)
        if make is None or depth > _DEEPEST:
            return "0" if kind in _NUMBERS else _UNKNOWN
        form = make(self, node, depth + 1)
        return form if len(form) <= _LONGEST else _UNKNOWN

    def _attribute(self, node: Node, depth: int) -> str:
        if chain := self._chain(node):
            return chain
        inner, name = node.child_by_field_name("object"), node.child_by_field_name("attribute")
        if inner is None or name is None:
            return _UNKNOWN
        return _then(self._expression(inner, depth), "." + self._text(name))

    def _called(self, node: Node, depth: int) -> str:
        function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or arguments is None:
            return _UNKNOWN
        if function.type == "identifier" or function.type == "attribute":
            name = self._chain(function)
            last = name.rpartition(".")[2]
            if last == "cast":
                given = arguments.named_children
                written = self._type(given[0]) if given else ""
                return f"<{written}>" if written else _UNKNOWN
            if "." not in name and name in _SPECIAL:
                return self._special(name, arguments, depth)
        return _then(self._expression(function, depth), "()")

    def _special(self, name: str, arguments: Node, depth: int) -> str:
        """Return what a builtin makes of its arguments."""
        given = [child for child in arguments.named_children if child.type != "keyword_argument"]
        if name == "super":
            return "super()"
        if not given:
            return _then(name, "()")
        if arguments.type == "generator_expression":
            return self._several(arguments, depth)
        first = self._expression(given[0], depth)
        if name == "type":
            return _then(first, ".__class__") if len(given) == 1 else _UNKNOWN
        if name in _FIRST:
            return _then(first, "*") if len(given) == 1 or name == "next" else self._one_of(given, depth)
        if name == "enumerate":
            return f"[(0,{_then(first, '*')})]"
        if name == "zip":
            return "[(" + ",".join(_then(self._expression(each, depth), "*") for each in given[:4]) + ")]"
        if name == "filter":
            return f"[{_then(self._expression(given[-1], depth), '*')}]"
        return f"[{_then(first, '*')}]"

    def _one_of(self, nodes: Sequence[Node], depth: int) -> str:
        forms = dict.fromkeys(self._expression(each, depth) for each in nodes)
        forms.pop(_UNKNOWN, None)
        if len(forms) > 1:
            return "(|" + "|".join(forms) + ")"
        return next(iter(forms), _UNKNOWN)

    def _either(self, node: Node, depth: int) -> str:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        return self._one_of([each for each in (left, right) if each is not None], depth)

    def _conditional(self, node: Node, depth: int) -> str:
        return self._one_of(node.named_children[::2], depth)

    def _inner(self, node: Node, depth: int) -> str:
        inner = [child for child in node.named_children if child.type != "comment"]
        return self._expression(inner[-1], depth) if inner else _UNKNOWN

    def _subscript(self, node: Node, depth: int) -> str:
        value = self._of_depth(node, "value", depth)
        index = node.child_by_field_name("subscript")
        if index is not None and index.type == "integer":
            return _then(value, f"[{self._text(index)}]")
        if index is not None and index.type == "slice":
            return value
        return _then(value, "[]")

    def _of_depth(self, node: Node, field: str, depth: int) -> str:
        child = node.child_by_field_name(field)
        return _UNKNOWN if child is None else self._expression(child, depth)

    def _several(self, node: Node, depth: int) -> str:
        for child in node.named_children:
            if child.type != "comment":
                return f"[{self._expression(child, depth)}]"
        return "[?]"

    def _tuple(self, node: Node, depth: int) -> str:
        inner = [child for child in node.named_children if child.type != "comment"][:_MOST_TARGETS]
        return "(" + ",".join(self._expression(child, depth) for child in inner) + ")"

    def _mapping(self, node: Node, depth: int) -> str:
        for child in node.named_children:
            if child.type == "pair":
                key, value = (self._of_depth(child, field, depth) for field in ("key", "value"))
                return f"{{{key},{value}}}"
        return "{?,?}"


def _then(value: str, suffix: str) -> str:
    return value if value == _UNKNOWN else value + suffix


_TEXTS: Final = frozenset({"string", "concatenated_string"})
_NUMBERS: Final = frozenset(
    {"integer", "float", "true", "false", "none", "comparison_operator", "not_operator"}
)
_SPECIAL: Final = frozenset({"super", "type", "enumerate", "zip"}) | _SAME | _FIRST
_FORMS: Final = {
    "attribute": _Reader._attribute,
    "call": _Reader._called,
    "await": _Reader._inner,
    "parenthesized_expression": _Reader._inner,
    "named_expression": _Reader._inner,
    "boolean_operator": _Reader._either,
    "conditional_expression": _Reader._conditional,
    "subscript": _Reader._subscript,
    "list": _Reader._several,
    "set": _Reader._several,
    "list_comprehension": _Reader._several,
    "set_comprehension": _Reader._several,
    "generator_expression": _Reader._several,
    "tuple": _Reader._tuple,
    "expression_list": _Reader._tuple,
    "dictionary": _Reader._mapping,
    "dictionary_comprehension": _Reader._mapping,
}
