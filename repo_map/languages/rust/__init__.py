"""Rust."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from repo_map.languages.syntax import Captures, Named, plain_name, without_comments, without_parameters

_MAX_TOKENS: Final = 2_000
_MAX_PATH_PARTS: Final = 32
"""Of a name in groups within groups, each of which repeats what is around it."""


def namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Call an ``impl`` block after its type, without path and parameters."""
    named = plain_name(source, kind, captures)
    if kind == "impl":
        return [(_bare_type(name), kind) for name, kind in named]
    return named


def _bare_type(name: str) -> str:
    """Write ``&'a mut fmt::Box<T>`` as ``Box``."""
    parts = re.findall(r"\w+", without_parameters(name))
    return parts[-1] if parts else name


def imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
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
