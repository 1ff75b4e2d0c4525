"""What a place in a source is, by its syntax: a call, another use, an import, or no code."""

from __future__ import annotations

from enum import Enum
from typing import Final

from tree_sitter import Node, Tree

from repo_map.deadline import CpuDeadline
from repo_map.languages.grammars import parse

_PARSE_S = 20.0


class SiteKind(Enum):
    """How a name is used where it stands."""

    CALL = "call"
    USE = "use"
    IMPORT = "import"
    TEXT = "text"
    """In a comment."""


_IMPORTS: Final = frozenset(
    {
        *("import_statement", "import_from_statement", "future_import_statement"),
        *("export_clause", "import_alias", "import_declaration", "import_spec", "package_clause"),
        *("package_declaration", "use_declaration", "extern_crate_declaration"),
        *("preproc_include", "using_declaration"),
    }
)
_CALLED: Final = {
    "call": ("function",),
    "call_expression": ("function",),
    "new_expression": ("constructor", "type"),
    "method_invocation": ("name",),
    "object_creation_expression": ("type",),
    "explicit_constructor_invocation": ("constructor",),
    "macro_invocation": ("macro",),
}
"""By what is a call, the fields that hold what is called."""
_LAST: Final = frozenset(
    {
        *("attribute", "member_expression", "selector_expression", "field_expression"),
        *(
            "scoped_identifier",
            "qualified_identifier",
            "scoped_type_identifier",
            "nested_namespace_specifier",
        ),
        *("dependent_name", "optional_chain", "non_null_expression"),
    }
)
"""What a name that stands last in it gives its name to."""
_FIRST: Final = frozenset(
    {"generic_function", "template_function", "template_type", "template_method", "generic_type"}
)
"""What a name that stands first in it gives its name to."""


class SourceSites:
    """One source, parsed once, asked for any number of places."""

    def __init__(self, source: bytes, language: str) -> None:
        """Parse; raises ``repo_map.languages.grammars.ParseError`` where the grammar can't."""
        self._lines = source.split(b"\n")
        self._tree: Tree = parse(source, language, CpuDeadline(_PARSE_S))

    def kind_at(self, row: int, column: int) -> SiteKind:
        """Return what stands at a row and a column (UTF-16 units), both from 0."""
        line = self._lines[row] if row < len(self._lines) else b""
        byte = len(
            line.decode("utf-8", "replace")
            .encode("utf-16-le")[: 2 * column]
            .decode("utf-16-le", "replace")
            .encode()
        )
        node = self._tree.root_node.descendant_for_point_range((row, byte), (row, byte + 1))
        return SiteKind.USE if node is None else _kind_of(node)


def _kind_of(node: Node) -> SiteKind:
    above: Node | None = node
    while above is not None:
        if above.type in _IMPORTS or (
            above.type == "export_statement" and above.child_by_field_name("source")
        ):
            return SiteKind.IMPORT
        if "comment" in above.type:
            return SiteKind.TEXT
        above = above.parent
    while (parent := node.parent) is not None:
        fields = _CALLED.get(parent.type, ())
        if any(parent.child_by_field_name(field) == node for field in fields):
            return SiteKind.CALL
        if parent.type == "token_tree":
            # What a Rust macro is given is not parsed further.
            after = node.next_sibling
            called = after is not None and after.type == "token_tree" and after.text is not None
            return SiteKind.CALL if called and after.text.startswith(b"(") else SiteKind.USE  # type: ignore[union-attr]
        gives = (parent.type in _LAST and parent.named_children[-1] == node) or (
            parent.type in _FIRST and parent.named_children[0] == node
        )
        if not gives:
            return SiteKind.USE
        node = parent
    return SiteKind.USE
