"""What a family of languages brings itself: members of its own types, and names that nobody imports."""

from __future__ import annotations

from typing import Final

from repo_map.languages.language import words

PYTHON_MEMBERS: Final = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, object, type, BaseException)
    for name in dir(kind)
) - {"__init__", "__new__", "__call__"}
"""Members of the language's own types."""
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
