"""What is near a node of a syntax tree."""

from __future__ import annotations

from collections.abc import Container, Sequence

from tree_sitter import Node


def child_of(node: Node, *kinds: str) -> Node | None:
    """Return the first named child of some kinds, None where there is none."""
    for child in node.named_children:  # Twice as fast as `next`, and asked of each call.
        if child.type in kinds:
            return child
    return None


def parts_of(node: Node, field: str) -> Sequence[Node]:
    """Return the named children of what stands in a field, none where nothing does."""
    inner = node.child_by_field_name(field)
    return inner.named_children if inner is not None else ()


def around(node: Node, kinds: Container[str]) -> Node | None:
    """Return the innermost node of some kinds around a node, None where there is none."""
    above = node.parent
    while above is not None and above.type not in kinds:
        above = above.parent
    return above
