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
GO_MEMBERS: Final = words(
    "Add Close Do Done Err Error Errorf Fatal Fatalf Format Get Helper Len Less Lock Log Logf"
    " Name Next Print Printf Println RLock RUnlock Read Run Scan Set String Swap Unlock Value Wait"
    " Write"
)
"""Members that types of the standard library bear."""
GO_TYPES: Final = words(
    "any bool byte comparable complex128 complex64 error float32 float64 int int16 int32 int64"
    " int8 rune string uint uint16 uint32 uint64 uint8 uintptr"
)
"""Types that are there without an import."""
GO_FUNCTIONS: Final = words(
    "append cap clear close complex copy delete imag len make max min new panic print println real recover"
)
"""Functions that are there without an import."""
JAVA_MEMBERS: Final = words(
    "accept add addAll append apply asList charAt clear close collect compare compareTo contains"
    " entrySet equals filter forEach format get getClass getName hasNext hashCode isEmpty iterator"
    " keySet length map name next of ordinal print println put remove run set size stream test"
    " toString valueOf values"
)
"""Members that types of the standard library bear."""
JAVA_PACKAGES: Final = words("java javax")
"""What the names of the standard library's packages begin with."""
JAVA_USUAL: Final = words(
    "Boolean Byte Character Class Deprecated Double Exception Float FunctionalInterface Integer"
    " Iterable Long Math Number Object Override Runnable RuntimeException SafeVarargs Short String"
    " StringBuilder SuppressWarnings System Thread Throwable Void var"
)
"""Names of ``java.lang`` that a repository hardly ever takes for itself."""
KOTLIN_MEMBERS: Final = words(
    "also any apply asList associate associateBy buffer component1 component2 compareTo contains count drop"
    " emit find first firstOrNull flatMap fold forEach groupBy hasNext indexOf invoke isBlank isEmpty"
    " isNotEmpty joinToString last let lowercase map mapNotNull minus none orEmpty plus removeAll replace run"
    " single sortedBy split startsWith endsWith substring sum take takeIf toByteArray toInt toList toLong"
    " toMap toMutableList toSet trim trimIndent uppercase use with zip"
)
"""Members and extensions that types of the standard library bear."""
KOTLIN_USUAL: Final = JAVA_USUAL | words(
    "Any Array ArrayList Boolean ByteArray Collection Comparable HashMap Int IntArray Iterable Iterator"
    " JvmField JvmName JvmOverloads JvmStatic List Map MutableList MutableMap MutableSet Nothing Pair"
    " Sequence Set Suppress Throws Unit"
)
"""Names of the standard library that are there without an import."""
PHP_MEMBERS: Final = words(
    "add all call close count current execute fetch format get getCode getMessage has key map next offsetGet"
    " prepare push query remove rewind set toArray valid"
)
"""Members that types of the standard library, and collections of any kind, bear."""
RUBY_MEMBERS: Final = words(
    "add all any call class clear close count delete each each_with_index empty? fetch find first flatten"
    " freeze get include? inspect is_a? join key? keys last length map match merge name new next nil? path"
    " pop print push puts read reject select set shift size sort split start_with? strip sub tap to_a to_h"
    " to_s to_sym type update value values write"
)
"""Members that types of the standard library bear."""
C_MEMBERS: Final = words(
    "append at back begin c_str clear close count data emplace_back empty end erase find front"
    " get insert length open push_back read reset size str substr write"
)
"""Members that types of C++'s standard library bear."""
C_TYPES: Final = words(
    "FILE bool char double float int int16_t int32_t int64_t int8_t intptr_t long ptrdiff_t short"
    " signed size_t ssize_t uint16_t uint32_t uint64_t uint8_t uintptr_t unsigned void wchar_t"
)
"""Types of numbers, and those that any header brings."""
RUST_MEMBERS: Final = words(
    "as_mut as_ref borrow clone cmp collect contains default drop eq expect extend filter fmt"
    " fold from get insert into is_empty iter len lock map new next pop push read remove take"
    " unwrap write"
)
"""Members that types of the standard library bear."""
RUST_BUILTINS: Final = words(
    "AsMut AsRef Clone Copy Debug Default Drop Eq Extend Fn FnMut FnOnce From Into IntoIterator"
    " Iterator Option Ord PartialEq PartialOrd Result Send Sized String Sync ToString Vec bool"
    " char drop f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize"
)
"""What is there without ``use``."""
RUST_USUAL: Final = words(
    "Arc Box Clone Copy Debug Default Drop Err Fn FnMut FnOnce From Into None Ok Option Rc Result"
    " Send Sized Some String Sync Vec"
)
"""Names of the prelude that a repository hardly ever takes for itself."""
RUST_MACROS: Final = words(
    "assert assert_eq assert_ne debug_assert debug_assert_eq eprintln format matches panic print"
    " println todo unimplemented unreachable vec write writeln"
)
"""Macros of the standard library that are given expressions."""
