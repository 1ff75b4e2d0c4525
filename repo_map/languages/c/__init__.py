"""C and C++."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from repo_map.languages.language import words
from repo_map.languages.syntax import Captures, Named, bounded, plain_name, text_of, without_parameters

if TYPE_CHECKING:
    from tree_sitter import Node


_NO_NAMES: Final = words(
    "case catch class do else enum for if namespace return struct switch template try union using while"
)
"""What a grammar takes for a name where macros confuse it."""


def namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match by the identifier in the declarator, functions told from variables."""
    if "declarator" not in captures:
        return plain_name(source, kind, captures)
    named: Named = []
    for declarator in captures["declarator"]:
        leaf, _, is_function = declared_by(declarator)
        if leaf is None:
            continue
        name = bounded(_bare_scope(text_of(source, leaf)))
        # A macro before the name is read as part of it: ``API_EXPORT run()``.
        if " " in name and "operator" not in name:
            name = name.split()[-1]
        if name and name not in _NO_NAMES:
            named.append((name, "function" if is_function and kind in {"constant", "field"} else kind))
    return named


_LEAVES: Final = words(
    "identifier field_identifier type_identifier qualified_identifier destructor_name operator_name"
    " operator_cast template_function template_method primitive_type"
)
_MAX_STEPS: Final = 32


def declared_by(node: Node | None) -> tuple[Node | None, Node | None, bool]:
    """Return the name in a declarator, its part with parameters, and whether it declares a function."""
    function: Node | None = None
    is_function = False
    for _ in range(_MAX_STEPS):
        if node is None or node.type in _LEAVES:
            return node, function, is_function
        inner = node.child_by_field_name("declarator")
        if node.type == "function_declarator":
            # A parenthesised pointer is a variable that holds a function.
            function, is_function = node, inner is not None and inner.type != "parenthesized_declarator"
        if inner is None:
            inner = next(
                (c for c in node.named_children if c.type in _LEAVES or "declarator" in c.type), None
            )
        node = inner
    return None, function, is_function


def _bare_scope(name: str) -> str:
    """Write ``A::B<int>::f`` as ``A.B.f``."""
    if name.isidentifier():
        return name
    if "operator" in name:
        scope, operator, rest = name.rpartition("operator")
        rest = "()" if rest.lstrip().startswith("(") else rest.partition("(")[0]
        return without_parameters(scope).replace("::", ".") + operator + rest.rstrip()
    return without_parameters(name).replace("::", ".").lstrip(".")


_MACRO: Final = rb"(?:[A-Z][A-Z0-9]*_[A-Z0-9_]*|[A-Z]*(?:API|EXPORT)[A-Z]*)(?:\([^()\n]*\))?"
_MACRO_ATTRIBUTES: Final = rb"(?:\[\[[^\]\n]*\]\]\s*)?"
_MACRO_BEFORE_NAME: Final = (
    rb"(?m)\b(?:(class)|struct|union)[ \t]+" + _MACRO_ATTRIBUTES + rb"(?P<macro>" + _MACRO + rb")"
    rb"(?=\s+" + _MACRO_ATTRIBUTES + rb"[A-Za-z_]\w*(?:<[^<>{};]*>|::\w+)*(?:\s+final)?\s*"
    # A struct of that name may also be the type of what is given values in braces.
    rb"(?::(?!:)|(?(1)\{|\{[ \t]*(?:$|//|/\*))))"
)
"""Between the word ``class`` and the name of a class that is written here."""
_MACRO_BEFORE_BODY: Final = (
    rb"\)[ \t]*(?:const[ \t]*)?(?:"
    rb"(?P<macro>[A-Z][A-Z0-9]*_[A-Z0-9_]*|NOEXCEPT)(?=[ \t]*\{)"
    rb"|(?:\n[ \t]{4,})?(?P<guard>(?:[A-Z0-9]+_)*"
    rb"(?:LOCKS?_REQUIRED|LOCKS?_EXCLUDED|REQUIRES|EXCLUDES|NOEXCEPT)_?"
    rb"(?:\([^()\n]*\))?)(?=\s*(?:\{|;)))"
)
"""Between the parameters of a function and its body, or its end where it is only announced."""
_MACRO_ABOVE: Final = (
    rb"(?m)^[ \t]*(?P<macro>[A-Z][A-Z0-9]*_[A-Z0-9_]*)[ \t]*$"
    rb"(?=\n\s*(?:inline\s+)?(?:namespace|template|class|struct)\b)"
)
"""On a line of its own, above a namespace or a class."""


def without_macro_words(source: bytes) -> bytes:
    """Return a source with blanks for such macros, so that every byte keeps its place."""
    for pattern in (_MACRO_ABOVE, _MACRO_BEFORE_NAME, _MACRO_BEFORE_BODY):
        source = re.sub(pattern, _blanked, source)
    return source


def _blanked(match: re.Match[bytes]) -> bytes:
    group = next(name for name, text in match.groupdict().items() if text)
    start, end = (at - match.start() for at in match.span(group))
    return match[0][:start] + b" " * (end - start) + match[0][end:]
