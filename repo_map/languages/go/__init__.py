"""Go."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from repo_map.languages.language import Language, words
from repo_map.languages.syntax import (
    QUOTED_MODULE,
    SCRIPT_LITERALS,
    Captures,
    Named,
    plain_name,
    text_of,
    writing,
)


def _namer(source: bytes, kind: str, captures: Captures) -> Named:
    """Put the type of its receiver before a method's name."""
    named = plain_name(source, kind, captures)
    if owner := captures.get("owner"):
        receiver = text_of(source, owner[0]).strip("()").partition("[")[0].split()
        if receiver:
            return [(f"{receiver[-1].lstrip('*')}.{name}", kind) for name, kind in named]
    return named


def _imports(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    if found := re.search(QUOTED_MODULE, text):
        alias = text[: found.start()].strip()
        yield found[1], (alias,) if alias else ()


LANGUAGES: Final = (
    Language(
        family="go",
        name="go",
        suffixes=(".go",),
        grammar_module="tree_sitter_go",
        namer=_namer,
        imports=_imports,
        writing=writing(("slashes", "block", "double", "single", r"`[^`]*+`?")),
        keywords=words(
            "break case chan const continue default defer else fallthrough for func go goto if import"
            " interface map package range return select struct switch type var nil true false string int"
            " bool byte error any int8 int16 int32 int64 uint uint8 uint16 uint32 uint64 uintptr float32"
            " float64 rune make len append cap copy delete panic recover new"
        ),
        literals=SCRIPT_LITERALS,
    ),
)

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
