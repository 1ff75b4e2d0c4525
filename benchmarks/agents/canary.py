"""Tests that must fail: the task's own with a failing one added, to see whether the tests decide at all.

A solution runs in one process with the tests, so it can end that process, replace what the tests compare
with, or rewrite them, on purpose or by accident (``sys.exit(0)`` in a module). All of these let the added
test pass as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import PurePosixPath

_PYTHON = """

import unittest as _unittest


class AMustFail(_unittest.TestCase):
    def test_must_fail(self):
        self.assertEqual(1, 2)


class ZMustFail(AMustFail):
    pass
"""
_SHELL = "\nexit 1\n"
_MODULE = """
import { test as mustFail } from "node:test";
mustFail("must fail", () => { throw new Error("must fail"); });
"""
_SCRIPT = """
require("node:test").test("must fail", () => { throw new Error("must fail"); });
"""
_C = "\n#undef main\nint main(void) {\n    tested_main();\n    return 1;\n}\n"


def with_failing_test(tests: Mapping[str, str]) -> dict[str, str]:
    """Return the tests, each with a failing one added where its language is known; empty where none is."""
    added = {path: _WAYS[suffix](text) for path, text in tests.items() if (suffix := _suffix(path)) in _WAYS}
    return {**tests, **added} if added else {}


def _suffix(path: str) -> str:
    return PurePosixPath(path).suffix


def _javascript(text: str) -> str:
    is_module = any(line.startswith(("import ", "import{", "export ")) for line in text.splitlines())
    return text + (_MODULE if is_module else _SCRIPT)


_WAYS: dict[str, Callable[[str], str]] = {
    ".py": lambda text: text + _PYTHON,
    ".sh": lambda text: text + _SHELL,
    ".bash": lambda text: text + _SHELL,
    ".js": _javascript,
    ".mjs": lambda text: text + _MODULE,
    ".cjs": lambda text: text + _SCRIPT,
    ".c": lambda text: f"#define main tested_main\n{text}{_C}" if "int main(void)" in text else text,
}
