"""How far a parameter is handed on: a walk along the calls that pass it, in the order of the source.

A stay is a function that takes the value, a room the module where it stays, a return a room that it had left.
Calls are followed where their target is written: a function of the module, an imported one, a method of
``self``, a class that is made. What is chosen as the program runs is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.architecture.source_tree import Module, modules

WALKS = (
    ("repo_map.relevance.score", "score_goal", "goal"),
    ("repo_map.relevance.score", "score_goal", "index"),
    ("repo_map.packing.pack", "pack", "index"),
    ("repo_map.drawing.draw", "draw_map", "plan"),
    ("repo_map.drawing.draw", "draw_map", "index"),
    ("repo_map.feedback.interpret", "interpret", "feedback"),
    ("repo_navigator.commands.navigate", "run", "options"),
    ("mcp_server.app", "build_server", "settings"),
    ("mcp_server.http", "serve_http", "settings"),
)
"""Where a reader begins: module, function, parameter."""
_MOST_STAYS = 400
_MOST_IMPORTS = 3
"""Modules that may hand a name on before it is taken for foreign."""


class Walk(NamedTuple):
    """What a walk came by."""

    start: str
    stays: int
    rooms: int
    returns: int


class _Door(NamedTuple):
    module: Module
    function: ast.FunctionDef | ast.AsyncFunctionDef
    owner: str
    """The class around it, ``""`` for a function."""


def walk(module: str, function: str, parameter: str) -> Walk | None:
    """Follow a parameter; None where there is no such function or parameter."""
    door = _find(module, function)
    if door is None or parameter not in _parameters(door.function):
        return None
    rooms: list[str] = []
    seen: set[tuple[str, str, str]] = set()
    stays = 0
    for stay in _stays(door, parameter, seen):
        stays += 1
        if not rooms or rooms[-1] != stay:
            rooms.append(stay)
        if stays == _MOST_STAYS:
            break
    return Walk(f"{function}:{parameter}", stays, len(set(rooms)), len(rooms) - len(set(rooms)))


def walks() -> list[Walk]:
    """Walk from each of the beginnings that exist."""
    return [found for start in WALKS if (found := walk(*start)) is not None]


def _stays(door: _Door, parameter: str, seen: set[tuple[str, str, str]]) -> Iterator[str]:
    key = (door.module.name, f"{door.owner}.{door.function.name}", parameter)
    if key in seen:
        return
    seen.add(key)
    yield door.module.name
    for call in _calls(door.function):
        handed = [at for at, given in enumerate(call.args) if _mentions(given, parameter)]
        named = [each.arg for each in call.keywords if each.arg and _mentions(each.value, parameter)]
        if not (handed or named) or (target := _target(door, call.func)) is None:
            continue
        names = _parameters(target.function)
        for name in dict.fromkeys((*(names[at] for at in handed if at < len(names)), *named)):
            if name in names:
                yield from _stays(target, name, seen)
        yield door.module.name


def _calls(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.Call]:
    found = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
    return sorted(found, key=lambda call: (call.lineno, call.col_offset))


def _mentions(given: ast.expr, parameter: str) -> bool:
    while isinstance(given, ast.Attribute | ast.Starred):
        given = given.value
    return isinstance(given, ast.Name) and given.id == parameter


def _parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    named = [
        each.arg for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    ]
    return named[1:] if named[:1] in (["self"], ["cls"]) else named


def _target(door: _Door, called: ast.expr) -> _Door | None:
    if isinstance(called, ast.Name):
        return _find(door.module.name, called.id)
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        if called.value.id == "self" and door.owner:
            return _find(door.module.name, f"{door.owner}.{called.attr}")
        return _find(door.module.name, f"{called.value.id}.{called.attr}")
    return None


def _find(module: str, name: str, imports: int = 0) -> _Door | None:
    """Return the function of a name as a module sees it, a class's ``__init__`` for the class."""
    found = modules().get(module)
    if found is None or imports > _MOST_IMPORTS:
        return None
    first, _, rest = name.partition(".")
    for node in found.tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return _Door(found, node, "")
        if isinstance(node, ast.ClassDef) and node.name == first:
            return _method(found, node, rest or "__init__")
    for node in ast.walk(found.tree):
        if isinstance(node, ast.ImportFrom) and (target := _imported(node, first, rest, imports)) is not None:
            return target
    return None


def _method(module: Module, owner: ast.ClassDef, name: str) -> _Door | None:
    for node in owner.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
            return _Door(module, node, owner.name)
    return None


def _imported(node: ast.ImportFrom, first: str, rest: str, imports: int) -> _Door | None:
    for alias in node.names:
        if (alias.asname or alias.name) == first:
            inner = f"{alias.name}.{rest}" if rest else alias.name
            whole = _find(f"{node.module}.{alias.name}", rest, imports + 1) if rest else None
            return _find(node.module or "", inner, imports + 1) or whole
    return None
