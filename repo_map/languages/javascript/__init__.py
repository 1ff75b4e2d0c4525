"""JavaScript, TypeScript, and both with elements in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from repo_map.languages.javascript.components import svelte_code, vue_code
from repo_map.languages.language import Language, Structure, words
from repo_map.languages.syntax import (
    QUOTED_MODULE,
    SCRIPT_IDENTIFIER,
    SCRIPT_LITERALS,
    Captures,
    Named,
    bounded,
    text_of,
    without_comments,
    writing,
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
    found = re.findall(QUOTED_MODULE, text)
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
    writing=writing(
        ("slashes", "block", "double", "single", "backtick"),
        ("${",),
        "dollar_braces",
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
_COMPONENT: Final = _TYPESCRIPT._replace(queries="typescript", spoken=(), structure=Structure.BLOCKS)
LANGUAGES: Final = (
    _JAVASCRIPT,
    _TYPESCRIPT,
    _TYPESCRIPT._replace(
        name="tsx", suffixes=(".tsx",), spoken=(), grammar_function="language_tsx", queries="typescript"
    ),
    _COMPONENT._replace(name="vue", suffixes=(".vue",), readable=vue_code),
    _COMPONENT._replace(name="svelte", suffixes=(".svelte",), readable=svelte_code),
)

SCRIPT_MEMBERS: Final = words(
    "toString valueOf hasOwnProperty constructor call apply bind then catch finally map forEach"
    " filter find findIndex some every includes indexOf join slice splice concat push pop shift"
    " unshift sort reverse reduce flat flatMap fill keys values entries get set has delete add"
    " clear at length split replace trim match test exec startsWith endsWith substring substr"
    " toLowerCase toUpperCase charAt charCodeAt padStart padEnd repeat on off once emit"
    " addEventListener removeEventListener log warn error info debug parse stringify assign"
    " freeze create json text next return throw resolve reject all race write end read close open"
    " send abort toFixed getTime toISOString padEnd equal is"
)
"""Members of the language's own types."""
SCRIPT_GLOBALS: Final = words(
    "Array ArrayBuffer Boolean Buffer Date Error Function Infinity Intl JSON Map Math NaN Number"
    " Object Promise Proxy Reflect RangeError ReferenceError RegExp Set String Symbol SyntaxError"
    " TypeError URIError URL URLSearchParams Uint8Array Int8Array Uint16Array Int16Array"
    " Uint32Array Int32Array Float32Array Float64Array BigInt BigInt64Array DataView"
    " Iterator console document window globalThis global process navigator"
    " location history localStorage sessionStorage fetch Request Response Headers FormData Blob"
    " File FileReader ReadableStream WritableStream TransformStream AbortController AbortSignal"
    " Event EventTarget CustomEvent TextEncoder TextDecoder setTimeout setInterval setImmediate"
    " clearTimeout clearInterval queueMicrotask structuredClone requestAnimationFrame parseInt"
    " parseFloat isNaN isFinite encodeURIComponent decodeURIComponent encodeURI decodeURI require"
    " module exports string number boolean symbol bigint Record Partial Pick Omit Readonly"
    " ReadonlyArray Iterable AsyncIterable IterableIterator Generator AsyncGenerator PromiseLike"
    " ReadonlyMap ReadonlySet crypto performance HTMLElement Element Node WebSocket Worker"
    " MessageChannel MessagePort tuple list"
)
"""What is there without an import, the built-in types among it."""
