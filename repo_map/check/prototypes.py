"""Prototypes of C, as they are written: also in a header that its grammar can't read whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from repo_map.impact.sides import Side
from repo_map.relations.text_search import files_with

_PROTOTYPE: Final = (
    r"(?m)^(?!\s*(?:return|else|case|goto|#|/|\*))(?:[A-Z_]+[ \t]*\([^();{{}}\n]*\)(?:[\w \t*]*[\s*])?"
    r"|[A-Za-z_][\w \t*]*[\s*])({})\s*\(([^;{{}}]*?)\)"
    r"(?:\s*\w+(?:\([^;{{}}]*\))?){{0,3}}\s*;"
)
_IN_PARENTHESES: Final = re.compile(r"\([^()]*\)")


class Prototype(NamedTuple):
    """A declaration of a function."""

    file: int
    line: int
    """1-based, of its name."""
    taken: int
    """Values that it takes; -1 where it doesn't say."""


def prototypes_of(side: Side, name: str) -> Iterator[Prototype]:
    """Yield the prototypes of a function in the files of C."""
    written = re.compile(_PROTOTYPE.format(re.escape(name)))
    for file in files_with(side.index, (name,)):
        if side.language(file) in ("c", "cpp"):
            text = side.index.text(file)
            for found in written.finditer(text):
                yield Prototype(file, text.count("\n", 0, found.start(1)) + 1, _count(found[2]))


def _count(taken: str) -> int:
    taken = re.sub(r"/\*.*?\*/|//[^\n]*", "", taken, flags=re.S).strip()
    while (flat := _IN_PARENTHESES.sub("", taken)) != taken:
        taken = flat
    if not taken:
        return -1
    return 0 if taken == "void" else taken.count(",") + 1
