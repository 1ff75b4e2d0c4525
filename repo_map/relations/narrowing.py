"""What a test of its type makes of a name."""

from __future__ import annotations

from repo_map.parsing.facts_model import DECLARED, NARROWED, Binding
from repo_map.relations.file_facts import FileView


def narrowed(view: FileView, scope: int, name: str, line: int, found: Binding | None) -> Binding | None:
    """Return the binding that holds at a line: ``found``, unless a test between the two says more."""
    for each in reversed(view.bound.get((scope, name), ())):
        if each.kind == NARROWED and each.line <= line and (found is None or found.line <= each.line):
            last, _, written = each.value.partition(":")
            if line <= int(last):
                return each._replace(kind=DECLARED, value=written)
    return found
