"""What is derived from an index has one owner, the index itself: nothing else keeps it."""

from __future__ import annotations

import ast

from tests.support.sources import modules, tree_of

_PACKAGES = ("repo_map", "navigator", "mcp_server", "repo_navigator", "benchmarks", "training")
_KEEPING = {"lru_cache", "cache"}
_WEAK = {"WeakKeyDictionary", "WeakValueDictionary", "WeakSet"}
_LIVING = ast.AnnAssign | ast.arg


def _modules() -> dict[str, ast.Module]:
    return {name: tree_of(path) for name, path in modules(*_PACKAGES).items()}


def _names(node: ast.AST | None) -> set[str]:
    """Return the last part of every name in an annotation, a decorator or a call."""
    found = set()
    for part in ast.walk(node) if node is not None else ():
        if isinstance(part, ast.Name):
            found.add(part.id)
        elif isinstance(part, ast.Attribute):
            found.add(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            found |= set(part.value.replace("[", " ").replace("]", " ").replace(",", " ").split())
    return found


def _index_types(parsed: dict[str, ast.Module]) -> set[str]:
    """Return ``RepoIndex`` and the classes of which an instance is made from one, or from one of these."""
    parts: dict[str, set[str]] = {}
    for tree in parsed.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                made = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                init = [
                    each
                    for each in node.body
                    if isinstance(each, ast.FunctionDef) and each.name == "__init__"
                ]
                arguments = [each for function in init for each in ast.walk(function.args)]
                parts[node.name] = {
                    name
                    for part in (*made, *arguments)
                    if isinstance(part, _LIVING)
                    for name in _names(part.annotation)
                }
    found = {"RepoIndex"}
    while more := {name for name, uses in parts.items() if uses & found} - found:
        found |= more
    return found


def _kept_by_functions(parsed: dict[str, ast.Module], holding: set[str]) -> list[str]:
    return [
        f"{path}: {node.name}"
        for path, tree in parsed.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(_names(decorator) & _KEEPING for decorator in node.decorator_list)
        and any(
            not isinstance(part, ast.arg) or part.annotation is None or _names(part.annotation) & holding
            for part in ast.walk(node.args)
            if isinstance(part, ast.arg)
        )
    ]


def _kept_by_modules(parsed: dict[str, ast.Module], holding: set[str]) -> list[str]:
    return [
        f"{path}:{node.lineno}"
        for path, tree in parsed.items()
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and (
            _names(node.value) & _WEAK
            or (isinstance(node, ast.AnnAssign) and _names(node.annotation) & (holding | _WEAK))
        )
        # A context variable's value goes with the call that set it.
        and "ContextVar" not in _names(node.value)
    ]


def test_no_function_and_no_module_keeps_what_belongs_to_an_index() -> None:
    parsed = _modules()
    holding = _index_types(parsed)
    assert {"AlignedHistory", "Corpus", "RenderCache", "Workspace"} <= holding
    assert _kept_by_functions(parsed, holding) == []
    assert _kept_by_modules(parsed, holding) == []


def test_the_check_sees_each_way_of_keeping_an_index() -> None:
    code = (
        "class Corpus:\n    index: RepoIndex\n"
        "@lru_cache(maxsize=2)\ndef one(corpus: Corpus) -> int: ...\n"
        "@functools.cache\ndef two(index: 'RepoIndex') -> int: ...\n"
        "@cache\ndef three(anything) -> int: ...\n"
        "@cache\ndef well(text: str) -> int: ...\n"
        "kept: dict[RepoIndex, int] = {}\n"
        "weak = WeakKeyDictionary()\n"
        "current: ContextVar[RepoIndex] = ContextVar('current')\n"
    )
    parsed = {"m": ast.parse(code)}
    holding = _index_types(parsed)
    assert _kept_by_functions(parsed, holding) == ["m: one", "m: two", "m: three"]
    assert _kept_by_modules(parsed, holding) == ["m:11", "m:12"]
