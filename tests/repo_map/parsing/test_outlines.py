"""The definitions of a small file in each language, and the outline expected of it.

A file of ``tests/fixtures/outlines`` holds the source, a line ``====``, and ``kind name first-last`` of each
definition, with the lines of its signature and of its documentation if there are.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from repo_map.languages import grammars
from repo_map.languages.c import without_macro_words
from repo_map.languages.registry import LANGUAGES, language_of
from repo_map.messages import install_command
from repo_map.parsing.symbols import read_symbols

SAMPLES = {
    path.name.removesuffix(".txt"): path.read_text(encoding="utf-8")
    for path in sorted((Path(__file__).parents[2] / "fixtures/outlines").iterdir())
}


def outline(path: str, source: str) -> str:
    definitions = read_symbols(source.encode(), path).definitions
    depths: list[int] = []
    lines: list[str] = []
    for item in definitions:
        depths.append(0 if item.parent < 0 else depths[item.parent] + 1)
        line = f"{'  ' * depths[-1]}{item.kind} {item.name} {item.start}-{item.end}"
        if (item.sig_start, item.sig_end) != (item.start, item.start):
            line += f" sig {item.sig_start}-{item.sig_end}"
        if item.doc_start:
            line += f" doc {item.doc_start}-{item.doc_end}"
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_gives_its_definitions(name: str) -> None:
    source, _, expected = SAMPLES[name].partition("====\n")
    assert outline(name, source) == expected


@pytest.mark.parametrize(
    ("name", "source", "expected"),
    [
        (
            "a.pl",
            "package Shop;\n# Adds.\nsub add_item {\n  if ($a) {\n  }\n}\n1;\n",
            "module Shop 1-1 function add_item 3-6",
        ),
        (
            "a.erl",
            "add(A, B) when B > 0 ->\n    [B | A];\nadd(A, _) ->\n    A.\n",
            "function add 1-2 function add 3-4",
        ),
        ("a.r", "add <- function(a) {\n  a\n}\nx <- 1\n", "function add 1-3"),
        (
            "a.jl",
            "struct Cart\n  items\nend\nfunction add!(a)\n  push!(a)\nend\n",
            "class Cart 1-3 function add! 4-6",
        ),
        (
            "a.groovy",
            "class A {\n  int add(B b) {\n    return f(b)\n  }\n  def c() { }\n}\n",
            "class A 1-6 method add 2-4 method c 5-5",
        ),
        ("a.el", "(defun cart-add (cart)\n  (cons 1 cart))\n", "function cart-add 1-2"),
        ("a.elm", "add : Int -> Int\nadd a =\n    a\n", "function add 1-1"),
        ("a.bat", "if exist a (\n  call b\n)\n", ""),
    ],
)
def test_source_without_a_grammar_gives_what_its_lines_begin(name: str, source: str, expected: str) -> None:
    assert outline(name, source).replace(" doc 2-2", "").split() == expected.split()


def test_a_missing_extra_leaves_guessed_definitions_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "semble_grammars", None)
    monkeypatch.setattr(grammars, "_PARSERS", threading.local())
    grammars.grammar.cache_clear()
    read = read_symbols(b"message Cart {\n  string id = 1;\n}\n", "a.proto")
    grammars.grammar.cache_clear()
    assert [(each.name, each.kind) for each in read.definitions] == [("Cart", "class")]
    assert install_command("languages") in read.problems[0]


def test_every_language_has_a_sample() -> None:
    assert {language_of(name) for name in SAMPLES} == set(LANGUAGES)


def test_a_macro_that_stands_for_a_statement_or_a_value_of_cpp_stays() -> None:
    source = (
        b"void run() {\n  if (a) SHOP_CHECK(b);\n  for (;;) SHOP_EACH(x) { f(); }\n"
        b"  struct SHOP_INFO info{1};\n}\nSHOP_TEST(a)\nSHOP_CASE(b) { }\n"
    )
    assert without_macro_words(source) == source


def test_no_keyword_of_cpp_is_a_definition() -> None:
    source = b"""SHOP_BEGIN_NAMESPACE
namespace shop {
SHOP_EXPORT
template <typename T>
class Cart {};
int f() { if (a) SHOP_THROW(b); else SHOP_ASSERT(c) { g(); } return 0; }
}
SHOP_END_NAMESPACE
"""
    assert [each.name for each in read_symbols(source, "a.cpp").definitions] == ["shop", "Cart", "f"]


def test_blocks_beyond_what_is_read_are_counted_and_told() -> None:
    page = read_symbols(b"<script>\nvar a = 1;\nfunction f() {}\n</script>\n" * 53, "a.html")
    assert sum(definition.name == "f" for definition in page.definitions) == 53
    vue = read_symbols(b"<template>\n</template>\n" * 52, "a.vue")
    assert vue.problems == ("2 blocks after the first 50 were left out",)
