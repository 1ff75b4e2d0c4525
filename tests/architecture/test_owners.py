"""What has one owner is touched by nobody else: the count of tokens, the state, stdout, the clock."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from tests.support.sources import modules, nodes_of

SERVING = ("repo_map", "navigator", "mcp_server")


def imports(node: ast.AST, *names: str) -> bool:
    """Tell whether a node imports one of the modules, or something of it."""
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] in names for alias in node.names)
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in names


def is_state_key(node: ast.AST) -> bool:
    """Tell whether a node reaches into a session's state by one of our keys."""
    if isinstance(node, ast.Name | ast.Attribute):
        return (node.id if isinstance(node, ast.Name) else node.attr) in ("STATE_KEY", "RUN_KEY")
    keys: list[ast.expr] = []
    if isinstance(node, ast.Subscript):
        keys = [node.slice]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        keys = node.args[:1] if node.func.attr in ("get", "pop", "setdefault") else []
    return any(isinstance(key, ast.Constant) and key.value in ("navigator", "navigator_run") for key in keys)


def is_stdout(node: ast.AST) -> bool:
    """Tell whether a node writes to stdout, or could."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id == "sys" and node.attr in ("stdout", "__stdout__")
    return isinstance(node, ast.Name) and node.id == "print"


_PROTOCOLS = {"mcp_server/transport/stdio.py", "repo_map/indexing/worker.py"}
"""The server's own, and that of a worker with the process that started it."""
OWNERS: dict[str, tuple[Callable[[ast.AST], bool], tuple[str, ...], set[str]]] = {
    "tokens are counted": (lambda node: imports(node, "splintr"), SERVING, {"repo_map/text/tokens.py"}),
    "the state is read and written": (is_state_key, SERVING, {"navigator/stores/navigation_state.py"}),
    "stdout is the protocol's": (is_stdout, SERVING, _PROTOCOLS),
    "chance has no part in a map": (lambda node: imports(node, "random", "uuid"), ("repo_map",), set()),
    "a map knows no clock": (
        lambda node: imports(node, "time", "datetime"),
        ("repo_map/drawing", "repo_map/selection", "repo_map/packing", "repo_map/plan", "repo_map/text"),
        set(),
    ),
}
"""What is owned: how its use is recognised, where it is looked for, and the modules that may."""


@pytest.mark.parametrize("rule", OWNERS)
def test_what_has_one_owner_is_touched_by_nobody_else(rule: str) -> None:
    is_use, places, owners = OWNERS[rule]
    found = {name for name, path in modules(*places).items() if any(is_use(node) for node in nodes_of(path))}
    assert found - owners == set()


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ("tokens are counted", "def f():\n    from splintr import Tokenizer"),
        ("the state is read and written", "session.state['navigator'] = 1"),
        ("the state is read and written", "state.get('navigator_run', {})"),
        ("stdout is the protocol's", "print('x')"),
        ("stdout is the protocol's", "import sys\nsys.stdout.write('x')"),
        ("chance has no part in a map", "from random import choice"),
        ("a map knows no clock", "import time"),
    ],
)
def test_a_use_is_recognised(rule: str, code: str) -> None:
    assert any(OWNERS[rule][0](node) for node in ast.walk(ast.parse(code)))
