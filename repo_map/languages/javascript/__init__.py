"""JavaScript, TypeScript, and both with elements in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import Language, words
from repo_map.languages.names import Captures, Named, bounded, text_of
from repo_map.languages.statements import QUOTED, without_comments
from repo_map.languages.writing import (
    BACKTICK,
    BLOCK,
    DOLLAR_BRACES,
    DOUBLE,
    SCRIPT_IDENTIFIER,
    SCRIPT_LITERALS,
    SINGLE,
    SLASHES,
    Writing,
)

_SCRIPT_WORDS: Final = (
    "async await break case catch class const continue debugger default delete do else export"
    " extends false finally for from function get if import in instanceof let new null of return"
    " set static super switch this throw true try typeof undefined var void while with yield as"
)
_TYPE_WORDS: Final = (
    "abstract any asserts boolean bigint declare enum implements infer interface is keyof"
    " module namespace never number object override private protected public readonly satisfies"
    " string symbol type unique unknown"
)


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
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


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    found = re.findall(QUOTED, text)
    if not found:
        return
    clause = without_comments(text[: text.rfind(found[-1]) - 1])
    clause = re.sub(r"^\s*(?:import|export)\b|\btype\b|\bfrom\s*$|[{}*]", " ", clause.rstrip())
    names = [named[0] for part in clause.split(",") if (named := part.split()) and named[0] != "as"]
    yield found[-1], tuple(names)


_JAVASCRIPT: Final = Language(
    family="javascript",
    name="javascript",
    suffixes=(".js", ".mjs", ".cjs", ".jsx"),
    interpreters=("node",),
    spoken=("js",),
    grammar_module="tree_sitter_javascript",
    namer=_namer,
    imports=_imports,
    writing=Writing(
        (SLASHES, BLOCK, DOUBLE, SINGLE, BACKTICK),
        ("${",),
        DOLLAR_BRACES,
        identifier=SCRIPT_IDENTIFIER,
    ),
    keywords=words(_SCRIPT_WORDS),
    literals=SCRIPT_LITERALS,
)
_TYPESCRIPT: Final = _JAVASCRIPT._replace(
    name="typescript",
    suffixes=(".ts", ".mts", ".cts"),
    interpreters=(),
    spoken=("ts",),
    grammar_module="tree_sitter_typescript",
    grammar_function="language_typescript",
    keywords=words(_SCRIPT_WORDS, _TYPE_WORDS),
)
LANGUAGES: Final = (
    _JAVASCRIPT,
    _TYPESCRIPT,
    _TYPESCRIPT._replace(
        name="tsx",
        suffixes=(".tsx",),
        spoken=(),
        grammar_function="language_tsx",
        queries="typescript",
    ),
)
