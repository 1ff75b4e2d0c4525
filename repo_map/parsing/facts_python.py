"""Python's facts.

The normal form of an expression: a root, then what is done with it. Roots: a name, ``'`` text, ``0`` number,
``?`` anything, ``[e]`` several of ``e``, ``{k,v}`` a mapping, ``(a,b)`` a tuple, ``(|a|b)`` one of several,
``<T>`` what has the written type ``T``. Then: ``.name``, ``()`` called, ``[]`` subscripted, ``*`` iterated
over, ``%`` entered as a context, ``#1`` the second of a tuple.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Sequence
from typing import Final

from tree_sitter import Node, QueryCursor, Tree

from repo_map.languages.grammars import facts_query
from repo_map.languages.language import Found, words
from repo_map.languages.outside import PYTHON_MEMBERS
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
    in_order,
    without_unused,
)
from repo_map.parsing.queries import DEEPEST

_BUILTINS: Final = frozenset(dir(builtins))
_CHAIN: Final = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*+(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*+)*")
_DOTTED: Final = re.compile(r"[^\W\d]\w*+(?:\.[^\W\d]\w*+)*")
_SPACES: Final = re.compile(rb"\s+")
_LONGEST: Final = 120
"""Characters of an expression or a type that are read; a longer one says ``?``."""
_DEEPEST: Final = 8
_MOST_TARGETS: Final = 8
_UNKNOWN: Final = "?"
_SAME: Final = frozenset({"list", "sorted", "reversed", "set", "tuple", "frozenset", "iter", "filter"})
_FIRST: Final = frozenset({"next", "min", "max", "anext"})
_OWN: Final = frozenset({"self", "cls"})
_OWN_BYTES: Final = frozenset({b"self", b"cls"})
_KEPT: Final = _OWN | {"super", "(", "<"}
_LITERALS: Final = frozenset({"'", "0"})
_HEAD: Final = re.compile(r"[^\W\d]\w*|[(<\[{]")
_FOREIGN_MODULES: Final = words(
    "__future__ abc argparse ast asyncio base64 collections contextlib copy csv ctypes"
    " dataclasses datetime decimal enum functools glob gzip hashlib heapq importlib inspect io"
    " itertools json logging math multiprocessing os pathlib pickle random re shutil signal"
    " socket sqlite3 ssl stat string struct subprocess sys tempfile textwrap threading time"
    " traceback typing typing_extensions unittest urllib uuid warnings weakref zipfile zlib"
)
"""Modules of the standard library whose names nothing else goes by."""
_PLACEHOLDERS: Final = ("?", "'", "0")


def read(source: bytes, tree: Tree, language: str, found: Sequence[Found], owner: OwnerOf) -> FileFacts:
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
        self._foreign: set[str] = set()
        """What the standard library's modules are called here, and what comes from them."""
        self._annotated: set[int] = set()
        self._has_star = False
        self._known: set[str] = set()
        self._mine: set[str] = set()
        self._named_here: set[bytes] = set()
        self._functions: set[bytes] = set()

    def read(self, captures: dict[str, list[Node]]) -> FileFacts:
        for role, take in _ROLES.items():
            for node in captures.get(role, ()):
                take(self, node)
        bindings = self._telling()
        sites = self._sites(captures)
        is_local = [item.kind == "function" for item in self._found]
        return FileFacts(sites, without_unused(bindings, sites, is_local))

    def _telling(self) -> list[Binding]:
        """Return the bindings that say something, or hide a name that another says something of."""
        known = {item.name for item in self._found} | {each.name for each in self._bindings if each.value}
        self._known = known
        kept = [each for each in self._bindings if each.value or each.name in known]
        return list(in_order(kept))

    # Bindings.

    def _add(self, name: str, value: str, byte: int, row: int, kind: int) -> None:
        if value in _PLACEHOLDERS:
            if kind in (FIELD, RETURNED):
                return
            value = ""
        self._bindings.append(Binding(name, value, self._owner(byte), row + 1, kind, self._indent(row)))

    def _indent(self, row: int) -> int:
        line = self._lines[row]
        indent = len(line) - len(line.lstrip())
        return indent if indent < 255 else 255

    def _import(self, node: Node) -> None:
        row, byte = node.start_point[0], node.start_byte
        if node.type == "import_statement":
            for child in node.children_by_field_name("name"):
                if child.type == "aliased_import":
                    module, alias = self._squeezed(child.children[0]), self._squeezed(child.children[-1])
                    self._name_import(alias, module)
                    self._add(alias, module, byte, row, RENAMED)
                else:
                    module = self._squeezed(child)
                    first = module.partition(".")[0]
                    self._name_import(first, first)
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
            self._name_import(alias, module)
            self._add(alias, f"{module}:{name}", byte, child.start_point[0], kind)
        if not names:
            self._has_star = True
            self._add("*", module, byte, row, STAR)

    def _name_import(self, name: str, module: str) -> None:
        (self._foreign if module.partition(".")[0] in _FOREIGN_MODULES else self._imported).add(name)

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
            if (name := self._text(child)) not in _OWN:
                self._add(name, "", byte, row, ASSIGNED)
            return
        named, written = child.child_by_field_name("name"), child.child_by_field_name("type")
        if kind == "typed_parameter":
            named = child.children[0]
        elif kind.endswith("splat_pattern"):
            named = child
        if named is None:
            return
        value = self._type(written) if written is not None else ""
        form = _SPLATS.get(named.type)
        if form is not None:
            named, value = named.children[-1], form.format(value) if value else ""
        if named.type != "identifier":
            return
        if written is not None:
            self._add(self._text(named), value, byte, row, DECLARED)
        else:
            default = child.child_by_field_name("value") if kind == "default_parameter" else None
            value = _UNKNOWN if default is None else self._expression(default, 0)
            self._add(self._text(named), value, byte, row, ASSIGNED)

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

    def _walrus(self, node: Node) -> None:
        self._bind(node.child_by_field_name("name"), self._of(node, "value"), node)

    def _loop(self, node: Node) -> None:
        at = node if node.type == "for_statement" else node.parent or node
        self._bind(node.child_by_field_name("left"), _then(self._of(node, "right"), "*"), at)

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

    def _return(self, node: Node) -> None:
        if self._owner(node.start_byte) not in self._annotated:
            self._add("", self._expression(node, 0), node.start_byte, node.start_point[0], RETURNED)

    def _yield(self, node: Node) -> None:
        value = self._expression(node, 0)
        if self._owner(node.start_byte) not in self._annotated and value not in _PLACEHOLDERS:
            self._add("", f"[{value}]", node.start_byte, node.start_point[0], RETURNED)

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
        self._mine = {item.name for item in self._found} | self._imported
        self._foreign -= self._mine
        self._named_here = {name.encode() for name in self._mine}
        self._functions = {item.name.encode() for item in self._found if item.kind == "function"}
        found: list[Site] = []
        self._calls(captures.get("call", ()), found)
        # The bases of a class stand in a list of arguments, what is caught may stand in a tuple.
        types = [node for node in captures.get("type", ()) if node.type == "tuple"]
        types += captures.get("bases", ())
        typed = {child.start_byte for node in types for child in node.named_children}
        for node in captures.get("value", ()):
            if node.start_byte not in typed:
                self._value(node, VALUE, found)
        for node in captures.get("decorator", ()):
            if node.type != "call":
                self._value(node, DECORATOR, found)
        self._types(captures.get("type", ()), TYPE, found)
        self._types(captures.get("bases", ()), BASE, found)
        return in_order(found)

    def _calls(self, nodes: Sequence[Node], found: list[Site]) -> None:
        new, owner, indent = tuple.__new__, self._owner, self._indent
        source, known, foreign, has_star = self._source, self._known, self._foreign, self._has_star
        is_chain, head_of = _CHAIN.fullmatch, _HEAD.match
        for node in nodes:
            start, end = node.byte_range
            text = source[start:end]
            if is_chain(text):
                receiver, _, name = text.decode("utf-8", "replace").rpartition(".")
                root = receiver.partition(".")[0]
            elif (named := self._named(node)) is not None:
                receiver, name = named
                head = head_of(receiver)
                root = head[0] if head else receiver
            else:
                continue
            if not receiver:
                if name in foreign or (name not in known and (name in _BUILTINS or not has_star)):
                    continue
            elif root in foreign or root in _LITERALS:
                continue
            elif name in PYTHON_MEMBERS and root not in known and root not in _KEPT:
                # Of a thing unknown, a name that every list and text bears says nothing.
                continue
            row = node.end_point[0]
            found.append(new(Site, (name, receiver, owner(start), row + 1, CALL, indent(row))))

    def _value(self, node: Node, kind: int, found: list[Site]) -> None:
        start, end = node.byte_range
        text = self._source[start:end]
        if text not in self._named_here:
            if b"." not in text:
                return
            root, _, rest = text.partition(b".")
            if root not in self._named_here and (root not in _OWN_BYTES or rest not in self._functions):
                return
        if not _CHAIN.fullmatch(text):
            return
        receiver, _, name = text.decode("utf-8", "replace").rpartition(".")
        row = node.end_point[0]
        found.append(Site(name, receiver, self._owner(start), row + 1, kind, self._indent(row)))

    def _types(self, nodes: Sequence[Node], kind: int, found: list[Site]) -> None:
        """Read the names in written types; the same is written again and again."""
        read: dict[bytes, list[tuple[str, str, int]]] = {}
        source, mine = self._source, self._mine
        for node in nodes:
            start, end = node.byte_range
            written = source[start:end]
            names = read.get(written)
            if names is None:
                text = written.decode("utf-8", "replace")
                names = read[written] = []
                for each in _DOTTED.finditer(text):
                    receiver, _, name = each[0].rpartition(".")
                    if (receiver.partition(".")[0] or name) in mine:
                        names.append((name, receiver, text.count("\n", 0, each.start())))
            if names:
                owner, row = self._owner(start), node.start_point[0]
                for name, receiver, below in names:
                    found.append(Site(name, receiver, owner, row + below + 1, kind, self._indent(row)))

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
        if function.type in ("identifier", "attribute"):
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


_SPLATS: Final = {"list_splat_pattern": "tuple[{}]", "dictionary_splat_pattern": "dict[str,{}]"}
_ROLES: Final = {
    "import": _Reader._import,
    "function": _Reader._function,
    "bases": _Reader._bases,
    "decorator": _Reader._decorator,
    "assign": _Reader._assign,
    "walrus": _Reader._walrus,
    "loop": _Reader._loop,
    "as": _Reader._as,
    "return": _Reader._return,
    "yield": _Reader._yield,
    "test": _Reader._narrow,
}
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
