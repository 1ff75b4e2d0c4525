"""Source text that is stuffed with words, in the syntax of several languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple


class Syntax(NamedTuple):
    """How a language writes what is stuffed; braces that it writes itself are doubled."""

    comment: str
    function: str
    """With ``name``, ``args``, ``doc``, ``text`` and ``calls``."""
    before: str = ""
    after: str = ""


_PYTHON: Final = Syntax(
    "# {}",
    'def {name}({args}):\n    """{doc}"""\n    message = "{text}"\n    {calls}\n    return message, {args}\n',
)
_SCRIPT: Final = Syntax(
    "// {}",
    '/** {doc} */\nfunction {name}({args}) {{\n  const message = "{text}"\n  {calls}\n'
    "  return [message, {args}]\n}}\n",
)
_SYNTAXES: Final = {
    ".py": _PYTHON,
    ".js": _SCRIPT,
    ".ts": _SCRIPT,
    ".go": Syntax(
        "// {}",
        '// {doc}\nfunc {name}({args} int) int {{\n\tmessage := "{text}"\n\t{calls}\n'
        "\treturn len(message)\n}}\n",
        "package main\n\n",
    ),
    ".rs": Syntax(
        "// {}",
        '/// {doc}\nfn {name}(value: i32) -> i32 {{\n    let ({args}) = value;\n    let message = "{text}";\n'
        "    {calls}\n    value\n}}\n",
    ),
    ".java": Syntax(
        "// {}",
        '    /** {doc} */\n    static int {name}(Object... values) {{\n        String message = "{text}";\n'
        "        {calls}\n        // {args}\n        return 0;\n    }}\n",
        "class Stuffed {\n",
        "}\n",
    ),
    ".c": (
        _C := Syntax(
            "// {}",
            '/* {doc} */\nint {name}(int value) {{\n  const char *message = "{text}";\n  {calls}\n'
            "  /* {args} */\n  return value;\n}}\n",
        )
    ),
    ".cpp": _C,
    ".hpp": _C,
    ".h": _C,
}
_ENDS: Final = {".py": ""}


def syntax_of(suffix: str) -> Syntax:
    """Return how a suffix's language writes functions, Python's way for others."""
    return _SYNTAXES.get(suffix, _PYTHON)


def comments(suffix: str, lines: Sequence[str]) -> str:
    """Return lines as comments."""
    comment = syntax_of(suffix).comment
    return "".join(comment.format(line) + "\n" for line in lines)


def function(suffix: str, name: str, said: Sequence[str], *, doc: str = "", calls: Sequence[str] = ()) -> str:
    """Return a function whose arguments, document and message say words."""
    args = ", ".join(dict.fromkeys(_names(said))) or "value"
    called = f"{_ENDS.get(suffix, ';')} ".join(f"{each}()" for each in calls)
    if suffix == ".py":
        called = "; ".join(f"{each}()" for each in calls) or "pass"
    text = " ".join(said)
    return syntax_of(suffix).function.format(
        name=name, args=args, doc=doc or text, text=text, calls=called and called + _ENDS.get(suffix, ";")
    )


def whole(suffix: str, parts: Sequence[str]) -> str:
    """Return parts as one file."""
    syntax = syntax_of(suffix)
    return syntax.before + "\n\n".join(parts) + syntax.after


def snake(said: Sequence[str]) -> str:
    """Return words as one identifier, with underscores."""
    return "_".join(_names(said)) or "stuffed"


def _names(said: Sequence[str]) -> list[str]:
    return [word for word in said if word.isascii() and word.isidentifier()]
