"""The words of each language that are no names."""

from __future__ import annotations

from typing import Final


def _words(*texts: str) -> frozenset[bytes]:
    return frozenset(" ".join(texts).encode().split())


_C_WORDS: Final = (
    "auto break case char const continue default do double else enum extern float for goto if"
    " inline int long register return short signed sizeof static struct switch typedef union"
    " unsigned void volatile while bool true false NULL define undef ifdef ifndef endif elif"
    " include pragma defined"
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
KEYWORDS: Final[dict[str, frozenset[bytes]]] = {
    "python": _words(
        "and as assert async await break class continue def del elif else except False finally for"
        " from global if import in is lambda None nonlocal not or pass raise return True try while"
        " with yield self cls match case"
    ),
    "javascript": _words(_SCRIPT_WORDS),
    "typescript": _words(_SCRIPT_WORDS, _TYPE_WORDS),
    "tsx": _words(_SCRIPT_WORDS, _TYPE_WORDS),
    "go": _words(
        "break case chan const continue default defer else fallthrough for func go goto if import"
        " interface map package range return select struct switch type var nil true false string int"
        " bool byte error any int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32"
        " float64 rune make len append cap copy delete panic recover new"
    ),
    "rust": _words(
        "as async await break const continue crate dyn else enum extern false fn for if impl in let"
        " loop match mod move mut pub ref return self Self static struct super trait true type"
        " unsafe use where while u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool"
        " char str macro_rules"
    ),
    "java": _words(
        "abstract assert boolean break byte case catch char class const continue default do double"
        " else enum extends final finally float for goto if implements import instanceof int"
        " interface long native new package private protected public record return sealed permits"
        " short static strictfp super switch synchronized this throw throws transient try var void"
        " volatile while yield true false null"
    ),
    "c": _words(_C_WORDS),
    "cpp": _words(
        _C_WORDS,
        " alignas alignof and asm catch class concept const_cast consteval constexpr constinit co_await"
        "co_return co_yield decltype delete dynamic_cast explicit export final friend mutable"
        " namespace new noexcept not nullptr operator or override private protected public"
        " reinterpret_cast requires static_assert static_cast template this thread_local throw try"
        " typeid typename using virtual wchar_t xor std size_t",
    ),
}
