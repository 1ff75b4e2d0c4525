"""What languages share: names of definitions, import statements, and patterns of comments and strings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Node

# Names of definitions.

Captures = dict[str, "list[Node]"]
"""The nodes that one match of a query captured, by the capture's name without ``@``."""
Named = list[tuple[str, str]]
"""Names with their kinds: a declaration may make several."""

MAX_NAME_CHARS: Final = 200
_MAX_TEXT_CHARS: Final = 1000
_SPACES: Final = re.compile(r"\s+")


def text_of(source: bytes, node: Node) -> str:
    """Return the beginning of a node's text, its white space collapsed where it is more than a word."""
    start, end = node.byte_range
    text = source[start : min(end, start + _MAX_TEXT_CHARS)].decode("utf-8", "replace")
    return text if text.isidentifier() else _SPACES.sub(" ", text).strip()


def bounded(name: str) -> str:
    """Drop what is no name: a long one is an expression that the grammar misread."""
    return name if len(name) <= MAX_NAME_CHARS else ""


def plain_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match by the text of its ``@name``."""
    return [(name, kind) for node in captures.get("name", ()) if (name := bounded(text_of(source, node)))]


def bare_name(source: bytes, kind: str, captures: Captures) -> Named:
    """Name a match without the marks around a name: ``$limit``, ``:store``, ``"key"``, ``[x]``."""
    return [
        (bare, kind) for name, _ in plain_name(source, kind, captures) if (bare := name.strip("$:\"'`[] "))
    ]


def without_parameters(name: str) -> str:
    """Write ``Box<T>`` as ``Box``."""
    depth, out = 0, []
    for letter in name:
        if letter == "<":
            depth += 1
        elif letter == ">":
            depth = max(0, depth - 1)
        elif depth == 0:
            out.append(letter)
    return "".join(out)


# Import statements.

# An opening mark ends what stands before it, so that a row of them is not read from each anew.
QUOTED_MODULE: Final = r"""["'`<]([^"'`<>\n]++)["'`>]"""
_COMMENT: Final = r"//[^\n]*|/\*.*?(?:\*/|\Z)"


def without_comments(text: str) -> str:
    """Return a statement without ``//`` and ``/* … */``."""
    return re.sub(_COMMENT, "", text, flags=re.DOTALL)


def first_quoted(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``require 'a'``, ``#include <a>``, ``@import "a"``."""
    if found := re.search(QUOTED_MODULE, text):
        yield found[1].strip(), ()


def dotted(text: str) -> Iterable[tuple[str, tuple[str, ...]]]:
    """Read ``import a.b.{c, d => e}``, ``using X = a.b``, ``@testable import a``."""
    text = without_comments(text).strip().rstrip(";")
    text = re.sub(
        r"^(?:@\w+\s+|global\s+)*(?:import|using|use)\s+(?:static\s+|function\s+|const\s+)?", "", text
    )
    text = text.rpartition("=")[2].strip() if "=>" not in text else text
    head, brace, tail = text.partition("{")
    if brace:
        names = [words[0] for part in tail.rstrip("} ").split(",") if (words := part.split())]
        yield head.strip().rstrip(".\\"), tuple(names)
        return
    words = re.split(r"\s+as\s+|\s", text.strip())
    module, _, name = words[0].replace("\\", ".").rpartition(".")
    yield (module, (name,)) if module else (name, ())


# Comments, strings and identifiers.

IDENTIFIER: Final = r"([A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*+)"
"""Beyond ASCII every character may be part of a name: names are compared, not validated."""
NUMBER: Final = r"\d[\w.]*+"
_PATTERNS: Final = {
    "slashes": r"//[^\n]*+",
    "block": r"/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/)?",
    "hash": r"#[^\n]*+",
    "dashes": r"--[^\n]*+",
    "double": r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?',
    "single": r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'?",
    "double_lines": r'"[^"\\]*+(?:\\.[^"\\]*+)*"?',
    "single_lines": r"'[^'\\]*+(?:\\.[^'\\]*+)*'?",
    "quoted": r"'[^']*+'?",
    "backtick": r"`[^`\\]*+(?:\\.[^`\\]*+)*`?",
    "triple": r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*(?:""")?',
    "triple_single": r"'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*(?:''')?",
    "letter": r"'(?:\\.[^'\n]{0,8}+|[^'\\\n])'",
    "dollar_braces": r"\$\{([^{}]*+)",
    "hash_braces": r"#\{([^{}]*+)",
}
"""Comments and strings, and the code inside ``${…}`` or ``#{…}`` of a string."""


class Writing(NamedTuple):
    """What counts as no name where the names that a source uses are listed.

    Every pattern is read with ``re.DOTALL | re.ASCII`` and takes time linear in the text.
    """

    skipped: tuple[str, ...]
    """Patterns of comments and strings, in the order in which they are tried."""
    markers: tuple[str, ...] = ()
    """What a piece holds if code may stand inside its strings."""
    inside: str = ""
    """Pattern of the code inside a string, as its one group."""
    prefixed: bool = False
    """Whether letters right before a quote belong to the string (``f"…"``)."""
    identifier: str = IDENTIFIER
    """Pattern of a name, as its one group."""


def writing(skipped: Iterable[str], inside: str = "", **others: Any) -> Writing:
    """Make a ``Writing``; patterns may be given by the names above."""
    patterns = tuple(_PATTERNS.get(each, each) for each in skipped)
    return Writing(patterns, inside=_PATTERNS.get(inside, inside), **others)


# No literal opens after a backslash: of a row of them that nothing closes only the first is read to its end.
# Each begins with a plain character, for which a text is searched ten times as fast; none looks back.
_DOUBLE: Final = r'"(?<!\\")[^"\\\n]*+(?:\\.[^"\\\n]*+)*"'
_SINGLE: Final = r"'(?<!\\')[^'\\\n]*+(?:\\.[^'\\\n]*+)*'"
_TEMPLATE: Final = r"`(?<!\\`)[^`\\]*+(?:\\[\s\S][^`\\]*+)*`"
_SLASH_COMMENT: Final = r"//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
_TRIPLE: Final = r'"""[^"]*+(?:"(?!"")[^"]*+)*"""'
_TRIPLE_SINGLE: Final = r"'''[^']*+(?:'(?!'')[^']*+)*'''"
LITERALS: Final = {
    "c": f"({_DOUBLE}|{_SLASH_COMMENT})",
    "script": f"({_DOUBLE}|{_SINGLE}|{_TEMPLATE}|{_SLASH_COMMENT})",
    "hash": f"({_DOUBLE}|{_SINGLE}|#[^\n]*+)",
    "dash": f"({_DOUBLE}|{_SINGLE}|--[^\n]*+)",
    "lisp": f"({_DOUBLE}|;[^\n]*+)",
    "python": f"({_TRIPLE}|{_TRIPLE_SINGLE}|{_DOUBLE}|{_SINGLE}|#[^\n]*+)",
}
