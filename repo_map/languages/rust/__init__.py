"""Rust."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import Language, words
from repo_map.languages.syntax import (
    Captures,
    Named,
    plain_name,
    without_comments,
    without_parameters,
    writing,
)

_MAX_TOKENS: Final = 2_000
_MAX_PATH_PARTS: Final = 32
"""Of a name in groups within groups, each of which repeats what is around it."""


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Call an ``impl`` block after its type, without path and parameters."""
    named = plain_name(source, kind, captures)
    if kind == "impl":
        return [(_bare_type(name), kind) for name, kind in named]
    return named


def _bare_type(name: str) -> str:
    """Write ``&'a mut fmt::Box<T>`` as ``Box``."""
    parts = re.findall(r"\w+", without_parameters(name))
    return parts[-1] if parts else name


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    for path, _ in use_paths(text):
        yield "::".join(path[:-1]) or path[-1], path[-1:]


def use_paths(text: str) -> list[tuple[tuple[str, ...], str]]:
    """Return the paths of ``use a::{b, c::{d as e}}``, each with its other name, without recursion."""
    text = without_comments(text).strip().rstrip(";")
    text = re.sub(r"^(?:pub\s*(?:\([^)]*\))?\s*)?(?:use|extern\s+crate)\s+", "", text)
    found: list[tuple[tuple[str, ...], str]] = []
    stack: list[tuple[str, ...]] = [()]
    path: tuple[str, ...] = ()
    is_alias, alias = False, ""
    for token in [*re.findall(r"[\w*]+|[{},]", text)[:_MAX_TOKENS], ","]:
        if token == "{":
            stack.append(path)
        elif token in ",}":
            if len(path) > len(stack[-1]):
                found.append((path, alias))
            if token == "}" and len(stack) > 1:
                stack.pop()
            path = () if token == "}" else stack[-1]
            is_alias, alias = False, ""
        elif is_alias:
            alias = token
        elif token == "as":
            is_alias = True
        else:
            path = (*path, token)[:_MAX_PATH_PARTS]
    return found


LANGUAGES: Final = (
    Language(
        family="rust",
        name="rust",
        suffixes=(".rs",),
        grammar_module="tree_sitter_rust",
        namer=_namer,
        imports=_imports,
        writing=writing(
            ("slashes", "block", "double_lines", "letter"), ('!("',), r"\{([a-z_]\w*+)", prefixed=True
        ),
        keywords=words(
            "as async await break const continue crate dyn else enum extern false fn for if impl in let"
            " loop match mod move mut pub ref return self Self static struct super trait true type"
            " unsafe use where while u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool"
            " char str macro_rules"
        ),
        token_factor=0.96,
    ),
)

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
