"""Python."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Final

from repo_map.languages.language import Found

_DOCSTRING: Final = (
    rb"""(?s)[rRuU]?(?:"{3}(?:[^"\\]|\\.|"(?!""))*"{3}|'{3}(?:[^'\\]|\\.|'(?!''))*'{3}|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')"""
    rb"[ \t]*(?=[#\r\n;]|\Z)"
)
_WITH_DOCSTRING: Final = frozenset({"function", "class"})


def docstrings(source: bytes) -> Callable[[Found], tuple[int, int]]:
    """Find the strings that open the bodies of one file."""
    opening = re.compile(_DOCSTRING)
    line_ends: list[int] = []

    def docstring(item: Found) -> tuple[int, int]:
        if item.kind not in _WITH_DOCSTRING or item.body_byte < 0:
            return 0, 0
        if (found := opening.match(source, item.body_byte)) is None:
            return 0, 0
        if not line_ends:
            line_ends.extend(end.start() for end in re.finditer(rb"\n", source))
        first = bisect_left(line_ends, item.body_byte) + 1
        return first, first + found[0].count(b"\n")

    return docstring


def imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    text = re.sub(r"#[^\n]*", "", text).replace("\\\n", " ").replace("(", " ").replace(")", " ")
    if found := re.match(r"\s*from\b(.*?)\bimport\b(.*)", text, re.DOTALL):
        names = tuple(part.split()[0] for part in found[2].split(",") if part.split())
        yield "".join(found[1].split()), names
        return
    for part in re.sub(r"^\s*import\b", "", text).split(","):
        if named := part.split():
            yield named[0], ()


PYTHON_MEMBERS: Final = frozenset(
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, object, type, BaseException)
    for name in dir(kind)
) - {"__init__", "__new__", "__call__"}
"""Members of the language's own types."""
