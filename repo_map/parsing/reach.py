"""How deep below a class or file definitions start, and how a function's text hints at inner ones."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from tree_sitter import Node


class Reach(NamedTuple):
    """Where the query of one language needs to look; visiting every node costs a third of the parse."""

    depth: int
    """Levels below a file, a class body or a block on which definitions start; 0 looks at the whole tree."""
    hints: tuple[bytes, ...] = ()
    """Bytes without which a function's body defines nothing."""
    proof: re.Pattern[bytes] | None = None
    """What must match where a hint was found."""

    def hints_at_more(self, source: bytes, body: Node) -> bool:
        """Tell whether a body may hold definitions of its own."""
        start, end = body.byte_range
        # Indentation before the first statement tells it from a word in a sentence.
        line = source.rfind(b"\n", 0, start) + 1
        if source[line:start].isspace():
            start = line
        if any(source.find(hint, start, end) >= 0 for hint in self.hints):
            return self.proof is None or self.proof.search(source, start, end) is not None
        return False


WHOLE_TREE: Final = Reach(0)
_INNER_TYPES: Final = re.compile(
    rb"\b(?:struct|class|union|enum|namespace)\b[^;(){}=]{0,300}\{|^[ \t]*#[ \t]*define|\btypedef\b", re.M
)

REACH: Final[dict[str, Reach]] = {
    "python": Reach(
        2,
        (b"def ", b"class ", b"import "),
        re.compile(rb"(?:^|[:;])[ \t]*(?:async[ \t]+)?(?:def|class|import|from)[ \t]+[\w.]", re.M),
    ),
    "go": Reach(3, (b"type ",), re.compile(rb"\btype[ \t]+[\w(]")),
    "java": Reach(
        1,
        (
            b"@Override",
            b"class ",
            b"public ",
            b"protected ",
            b"private ",
            b"interface ",
            b"enum ",
            b"record ",
        ),
    ),
    "rust": Reach(
        1,
        (
            b"fn ",
            b"use ",
            b"struct ",
            b"impl",
            b"enum ",
            b"const ",
            b"static ",
            b"mod ",
            b"trait ",
            b"type ",
            b"macro_rules",
        ),
        re.compile(
            rb"\b(?:fn|use|struct|enum|union|const|static|mod|trait|type)\s+\w|\bmacro_rules!|\bimpl\b[^;{}]{0,300}\{",
            re.M,
        ),
    ),
    "c": Reach(1, (b"struct", b"union", b"enum", b"define", b"typedef"), _INNER_TYPES),
    "cpp": Reach(
        3,
        (b"struct", b"class", b"union", b"enum", b"define", b"typedef", b"using "),
        re.compile(_INNER_TYPES.pattern + rb"|\busing\s+\w+\s*=", re.M),
    ),
}
