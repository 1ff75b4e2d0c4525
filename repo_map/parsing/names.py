"""What a match is called: the languages whose names are not simply a node's text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from repo_map.parsing.queries import Captures

Named = list[tuple[str, str]]
"""Names with their kinds: a declaration may make several."""

_LONGEST_NAME: Final = 200
_LONGEST_TEXT: Final = 1000
_SPACES: Final = re.compile(r"\s+")


def text_of(source: bytes, node: Node) -> str:
    """Return the beginning of a node's text, its white space collapsed where it is more than a word."""
    start, end = node.byte_range
    text = source[start : min(end, start + _LONGEST_TEXT)].decode("utf-8", "replace")
    return text if text.isidentifier() else _SPACES.sub(" ", text).strip()


def plain_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match by the text of its ``@name``."""
    return [(name, kind) for node in captures.get("name", ()) if (name := _bounded(text_of(source, node)))]


def script_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name JavaScript's and TypeScript's matches: quoted keys bare, ``X.prototype.y`` as ``X.y``."""
    if not (nodes := captures.get("name")):
        return []
    name = text_of(source, nodes[0])
    if name.isidentifier():
        return [(name, kind)]
    name = name.strip("'\"`").replace(".prototype.", ".")
    for lead in ("module.exports.", "exports.", "this."):
        name = name.removeprefix(lead)
    if name == "module.exports":
        name = "exports"
    return [(name, kind)] if _bounded(name) else []


def go_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name Go's matches: a method carries its receiver's type."""
    named = plain_name(source, kind, captures)
    if owner := captures.get("owner"):
        receiver = text_of(source, owner[0]).strip("()").partition("[")[0].split()
        if receiver:
            return [(f"{receiver[-1].lstrip('*')}.{name}", kind) for name, kind in named]
    return named


def rust_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name Rust's matches: an ``impl`` block is called after its type, without path and parameters."""
    named = plain_name(source, kind, captures)
    if kind == "impl":
        return [(_bare_type(name), kind) for name, kind in named]
    return named


def bare_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match without the marks around a name: ``$limit``, ``:store``, ``"key"``, ``[x]``."""
    return [
        (bare, kind) for name, _ in plain_name(source, kind, captures) if (bare := name.strip("$:\"'`[] "))
    ]


def joined_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match by all its ``@name`` nodes: a style rule is called after its whole head."""
    name = " ".join(text_of(source, node) for node in captures.get("name", ()))
    return [(name[:_LONGEST_NAME], kind)] if name else []


def address_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a block of HCL by its type and labels: ``resource.aws_s3_bucket.main``."""
    name = ".".join(text_of(source, node).strip('"') for node in captures.get("name", ()))
    return [(name, kind)] if _bounded(name) else []


def lua_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name Lua's matches: ``Cart:add`` as ``Cart.add``."""
    return [(name.replace(":", "."), kind) for name, kind in plain_name(source, kind, captures)]


def elixir_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name Elixir's matches: the head of a clause without arguments and guard."""
    if not (nodes := captures.get("name")):
        return []
    name = text_of(source, nodes[0])
    if name.startswith('"'):
        return [(name.strip('"')[:_LONGEST_NAME], kind)]
    head = re.match(r"[\w.!?]+", name)
    return [(head[0] if head else name.partition(" when ")[0][:_LONGEST_NAME], kind)]


def element_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name HTML's matches: ``main#cart`` by tag and id, a heading by its text."""
    if kind == "heading":
        words = re.sub(r"<[^>]*>", " ", text_of(source, captures["heading"][0])).split()
        return [(" ".join(words)[:_LONGEST_NAME], kind)] if words else []
    return [("#".join(text_of(source, node) for node in captures["name"])[:_LONGEST_NAME], kind)]


def kotlin_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name Kotlin's matches: a companion object without a name is ``Companion``."""
    return [
        ("Companion" if name == "companion" else name, kind) for name, _ in plain_name(source, kind, captures)
    ]


def swift_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name Swift's matches: an extension is called after its type, without parameters."""
    return [(_without_parameters(name), kind) for name, _ in plain_name(source, kind, captures)]


def c_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name C's and C++'s matches by the identifier in the declarator, functions told from variables."""
    if "declarator" not in captures:
        return plain_name(source, kind, captures)
    named: Named = []
    for declarator in captures["declarator"]:
        leaf, is_function = _declared(declarator)
        if leaf is None:
            continue
        name = _bounded(_bare_scope(text_of(source, leaf)))
        # A macro before the name is read as part of it: ``API_EXPORT run()``.
        if " " in name and "operator" not in name:
            name = name.split()[-1]
        if name:
            named.append((name, "function" if is_function and kind in {"constant", "field"} else kind))
    return named


_LEAVES: Final = frozenset(
    {
        "identifier",
        "field_identifier",
        "type_identifier",
        "qualified_identifier",
        "destructor_name",
        "operator_name",
        "operator_cast",
        "template_function",
        "template_method",
        "primitive_type",
    }
)


def _declared(node: Node) -> tuple[Node | None, bool]:
    """Walk down a declarator to the name it declares; tell whether that is a function's."""
    is_function = False
    for _ in range(32):
        if node.type in _LEAVES:
            return node, is_function
        inner = node.child_by_field_name("declarator")
        if node.type == "function_declarator":
            # A parenthesised pointer is a variable that holds a function.
            is_function = inner is not None and inner.type != "parenthesized_declarator"
        if inner is None:
            inner = next(
                (c for c in node.named_children if c.type in _LEAVES or "declarator" in c.type), None
            )
        if inner is None:
            return None, is_function
        node = inner
    return None, is_function


def _bare_scope(name: str) -> str:
    """Write ``A::B<int>::f`` as ``A.B.f``."""
    if name.isidentifier():
        return name
    if "operator" in name:
        scope, operator, rest = name.rpartition("operator")
        rest = "()" if rest.lstrip().startswith("(") else rest.partition("(")[0]
        return _without_parameters(scope).replace("::", ".") + operator + rest.rstrip()
    return _without_parameters(name).replace("::", ".").lstrip(".")


def _bare_type(name: str) -> str:
    """Write ``&'a mut fmt::Box<T>`` as ``Box``."""
    bare = _without_parameters(name)
    words = re.findall(r"\w+", bare)
    return words[-1] if words else name


def _without_parameters(name: str) -> str:
    depth, out = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth = max(0, depth - 1)
        elif depth == 0:
            out.append(letter)
    return "".join(out)


def _bounded(name: str) -> str:
    """Drop what is no name: a long one is an expression that the grammar misread."""
    return name if len(name) <= _LONGEST_NAME else ""


NAMERS: Final[dict[str, Callable[[bytes, str, Captures], Named]]] = {
    "javascript": script_name,
    "typescript": script_name,
    "tsx": script_name,
    "go": go_name,
    "rust": rust_name,
    "kotlin": kotlin_name,
    "swift": swift_name,
    "ruby": bare_name,
    "php": bare_name,
    "lua": lua_name,
    "elixir": elixir_name,
    "hcl": address_name,
    "html": element_name,
    "css": joined_name,
    "yaml": bare_name,
    "toml": bare_name,
    "json": bare_name,
    "sql": bare_name,
    "c": c_name,
    "cpp": c_name,
}
