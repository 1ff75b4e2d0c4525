"""How languages write what is no code: the patterns of comments, strings and numbers that they share."""

from __future__ import annotations

from typing import Final, NamedTuple

IDENTIFIER: Final = r"([A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*+)"
"""Beyond ASCII every character may be part of a name: names are compared, not validated."""
SCRIPT_IDENTIFIER: Final = r"([A-Za-z_$\x80-\U0010ffff][\w$\x80-\U0010ffff]*+)"
NUMBER: Final = r"\d[\w.]*+"
DOUBLE: Final = r'"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"?'
SINGLE: Final = r"'[^'\\\n]*+(?:\\.[^'\\\n]*+)*'?"
DOUBLE_LINES: Final = r'"[^"\\]*+(?:\\.[^"\\]*+)*"?'
SINGLE_LINES: Final = r"'[^'\\]*+(?:\\.[^'\\]*+)*'?"
QUOTED: Final = r"'[^']*+'?"
BACKTICK: Final = r"`[^`\\]*+(?:\\.[^`\\]*+)*`?"
TRIPLE: Final = r'"""[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*(?:""")?'
TRIPLE_SINGLE: Final = r"'''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*(?:''')?"
LETTER: Final = r"'(?:\\.[^'\n]{0,8}+|[^'\\\n])'"
SLASHES: Final = r"//[^\n]*+"
BLOCK: Final = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/)?"
HASH: Final = r"#[^\n]*+"
DASHES: Final = r"--[^\n]*+"
DOLLAR_BRACES: Final = r"\$\{([^{}]*+)"
"""The code inside ``${…}`` of a string."""
HASH_BRACES: Final = r"#\{([^{}]*+)"


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


# No literal opens after a backslash: of a row of them that nothing closes only the first is read to its end.
# Each begins with a plain character, for which a text is searched ten times as fast; none looks back.
_DOUBLE: Final = r'"(?<!\\")[^"\\\n]*+(?:\\.[^"\\\n]*+)*"'
_SINGLE: Final = r"'(?<!\\')[^'\\\n]*+(?:\\.[^'\\\n]*+)*'"
_TEMPLATE: Final = r"`(?<!\\`)[^`\\]*+(?:\\[\s\S][^`\\]*+)*`"
_SLASH_COMMENT: Final = r"//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
_TRIPLE: Final = r'"""[^"]*+(?:"(?!"")[^"]*+)*"""'
_TRIPLE_SINGLE: Final = r"'''[^']*+(?:'(?!'')[^']*+)*'''"
C_LITERALS: Final = f"({_DOUBLE}|{_SLASH_COMMENT})"
SCRIPT_LITERALS: Final = f"({_DOUBLE}|{_SINGLE}|{_TEMPLATE}|{_SLASH_COMMENT})"
HASH_LITERALS: Final = f"({_DOUBLE}|{_SINGLE}|#[^\n]*+)"
DASH_LITERALS: Final = f"({_DOUBLE}|{_SINGLE}|--[^\n]*+)"
PYTHON_LITERALS: Final = f"({_TRIPLE}|{_TRIPLE_SINGLE}|{_DOUBLE}|{_SINGLE}|#[^\n]*+)"
