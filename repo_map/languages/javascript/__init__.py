"""JavaScript, TypeScript, and both with elements in them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from repo_map.languages.javascript.components import svelte_code, vue_code
from repo_map.languages.syntax import QUOTED_MODULE, Captures, Named, bounded, text_of, without_comments

__all__ = ["imports", "namer", "svelte_code", "vue_code"]


def namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Write quoted keys bare, and ``X.prototype.y`` as ``X.y``."""
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
    return [(name, kind)] if bounded(name) else []


def imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    found = re.findall(QUOTED_MODULE, text)
    if not found:
        return
    clause = without_comments(text[: text.rfind(found[-1]) - 1])
    clause = re.sub(r"^\s*(?:import|export)\b|\btype\b|\bfrom\s*$|[{}*]", " ", clause.rstrip())
    names = [named[0] for part in clause.split(",") if (named := part.split()) and named[0] != "as"]
    yield found[-1], tuple(names)
