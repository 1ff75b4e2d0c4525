"""The texts of errors: as the sources construct them, and as ``error_texts.txt`` lists them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
LIST = Path(__file__).with_suffix(".txt")
PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator")
VARIES = "…"
BELOW = "Below the server"
"""The section of what no call of the server leads to."""
NAMED = "Repositories by name"
"""The section of what ``mcp_server/test_repositories.py`` and ``navigator/test_clones.py`` bring about."""
_BASES = frozenset({"RepoMapError", "NavigatorError", "SettingsError", "ToolError", "MCPError"})
"""What is told to users; every other exception is caught on its way."""


_ABOUT = "InvalidArgumentError"
"""Is constructed of parts, so that each surface can name the argument."""


class ErrorText(NamedTuple):
    """A text, with `…` for what varies, and where it stands."""

    text: str
    place: str


def constructed() -> list[ErrorText]:
    """Return the text of every error for users that a source constructs in its own words."""
    files = [path for name in PACKAGES for path in sorted((ROOT / name).rglob("*.py"))]
    trees = {path: ast.parse(path.read_bytes()) for path in files}
    errors = _error_classes([*trees.values()])
    return [
        ErrorText(text, f"{path.relative_to(ROOT).as_posix()}:{call.lineno}")
        for path, tree in trees.items()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _name(call.func) in errors
        for text in (_about_argument(call) if _name(call.func) == _ABOUT else _of_call(call))
        if " " in text
    ]


def documented() -> dict[str, str]:
    """Return the texts of the list, each with the section that it stands in."""
    found, section = {}, ""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ")
        elif line and not line.startswith("# "):
            found[line] = section
    return found


def pattern(text: str) -> re.Pattern[str]:
    """Return what a text stands for, with anything for each `…`."""
    return re.compile(".*".join(map(re.escape, text.split(VARIES))), re.DOTALL)


def says_the_same(one: str, other: str) -> bool:
    """Tell whether one text is the other with some of its `…` filled in."""
    return bool(pattern(one).fullmatch(other) or pattern(other).fullmatch(one))


def is_whole_file_run(request: pytest.FixtureRequest) -> bool:
    """Tell whether all tests of a file were chosen to be run, in whichever order."""
    chosen = {
        item.originalname
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.path == request.path
    }
    return {name for name in vars(request.module) if name.startswith("test_")} <= chosen


def _error_classes(trees: Sequence[ast.Module]) -> frozenset[str]:
    """Return the names of the errors for users: the bases, and what the sources derive from them."""
    classes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    known: set[str] = set()
    more = set(_BASES)
    while more - known:
        known |= more
        more = {each.name for each in classes if known & {_name(base) for base in each.bases}}
    return frozenset(known)


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _of_call(call: ast.Call) -> Iterator[str]:
    for argument in call.args:
        yield from _texts(argument)


def _about_argument(call: ast.Call) -> Iterator[str]:
    """Yield the sentences that an argument's name, what comes after it and what came before it make."""
    parts = [[*_texts(argument)] for argument in call.args]
    argument, after, before = (*parts, [""])[:3]
    for rest, lead in product(after, before):
        gap = "" if rest[:1] in ".,:;" else " "
        yield f"{lead}`{argument[0] if argument else VARIES}`{gap}{rest}"


def _texts(node: ast.expr) -> Iterator[str]:
    """Yield the texts that an expression can be."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else VARIES for part in node.values)
    elif isinstance(node, ast.IfExp):
        yield from _texts(node.body)
        yield from _texts(node.orelse)
