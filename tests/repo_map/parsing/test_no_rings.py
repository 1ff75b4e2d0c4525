"""Workers read without a garbage collector, so what is read may leave no ring of references."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from repo_map.limits import DEFAULT
from repo_map.parsing.symbols import read_symbols

SOURCES = {
    "a.kt": "fun f(x: X) { x.let { it.g() }; with(x) { h() }; o(object : B() { fun g() = 1 }) }\n",
    "A.java": "class A { void f() { g(x -> x.h()); } }\n",
    "a.py": "class A:\n    def f(self, x: int):\n        return g(x)\n",
    "a.ts": "class A { f(x: number) { return [1].map((y) => y); } }\n",
    "a.go": "package a\n\nfunc F(x int) int { return g(x) }\n",
    "a.rs": "fn f(x: A) -> B { x.g() }\n",
    "a.cpp": "class A { int f(int x) { return g(x); } };\n",
    "a.php": "<?php class A { function f($x) { return $x->g(); } }\n",
    "a.rb": "class A\n  def f(x)\n    g(x)\n  end\nend\n",
}


@pytest.fixture
def garbage() -> Iterator[list[object]]:
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    yield gc.garbage
    gc.set_debug(0)
    gc.garbage.clear()
    gc.enable()


@pytest.mark.parametrize("path", SOURCES)
def test_a_file_that_was_read_leaves_nothing_to_collect(path: str, garbage: list[object]) -> None:
    read_symbols(SOURCES[path].encode(), path, DEFAULT)
    gc.collect()
    garbage.clear()
    # The first time its grammar and its reader were loaded, too.
    read_symbols(SOURCES[path].encode(), path, DEFAULT)
    gc.collect()
    kinds = {(type(each).__module__, type(each).__name__) for each in garbage}
    # A git that an earlier test has asked is ended by a thread of its own, whenever that is.
    ours = {name for module, name in kinds if module.startswith("repo_map.") and ".worktree." not in module}
    assert ours == set()
