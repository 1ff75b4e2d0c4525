"""What ``read_symbols`` promises for every language: no input raises, spans nest, names are counted."""

from __future__ import annotations

import sys
import threading
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from repo_map.languages import grammars
from repo_map.languages.registry import LANGUAGES
from repo_map.limits import Limits
from repo_map.parsing.symbols import read_symbols
from repo_map.parsing.values import FileSymbols, Import

PATHS = [f"file{spec.suffixes[0]}" for spec in LANGUAGES.values()]
FRAGMENTS = st.sampled_from(
    b"def f( |class A|{|}|(|)|\n|\r\n|\x00|\xff\xfe|\"|'|`|/*|*/|//|#|<script>|</script>|=> |function "
    b"|import x|@|::|template<|${|---|\xef\xbb\xbf|end|do|[[|]]|key: |create table t| |    |\t|=|;|const x"
    b'|fn |impl |pub |public |@doc """|#define X|\xc3\xa9|<h1>|</h1>|<p id="a">'.split(b"|")
)


def references(symbols: FileSymbols, name: str | None) -> dict[str, int]:
    """Return the counted names of one definition, of the top level for None."""
    at = -1 if name is None else [item.name for item in symbols.definitions].index(name)
    return {item.name: item.count for item in symbols.references if item.definition == at}


@pytest.mark.parametrize("path", PATHS)
@settings(max_examples=25, deadline=None)
@given(source=st.binary(max_size=400) | st.lists(FRAGMENTS, max_size=40).map(b"".join))
def test_any_bytes_survive_and_every_span_lies_in_the_file_and_in_its_parent(
    path: str, source: bytes
) -> None:
    symbols = read_symbols(source, path)
    lines = source.count(b"\n") + 1
    for index, item in enumerate(symbols.definitions):
        assert 1 <= item.start <= item.sig_start <= item.sig_end <= item.end <= lines
        assert -1 <= item.parent < index
        if item.parent >= 0:
            parent = symbols.definitions[item.parent]
            assert parent.start <= item.start
            assert item.end <= parent.end
        assert 0 <= item.doc_start <= item.doc_end <= lines
    assert all(-1 <= item.definition < len(symbols.definitions) for item in symbols.references)
    assert all(item.count > 0 and item.name for item in symbols.references)


def test_an_empty_file_and_one_without_a_language_have_no_symbols_and_no_problem() -> None:
    assert read_symbols(b"", "a.py") == FileSymbols("python", (), (), (), ())
    assert read_symbols(b"hello", "notes.txt") == FileSymbols("", (), (), (), ())


def test_names_in_strings_and_comments_are_no_references_but_names_inside_interpolations_are() -> None:
    source = (
        b'def greet(user):\n    # Says hello.\n    text = "not here"\n    return f"{user.name} {shout(text)}"'
    )
    found = references(read_symbols(source, "a.py"), "greet")
    assert found == {"user": 2, "text": 2, "name": 1, "shout": 1}


def test_a_reference_belongs_to_the_innermost_definition_and_leaves_out_its_own_name() -> None:
    source = b"class Cart {\n  add(item) { return check(item); }\n  size = 3;\n}\nnew Cart().add();\n"
    symbols = read_symbols(source, "a.js")
    assert references(symbols, "Cart") == {}
    assert references(symbols, "add") == {"item": 2, "check": 1}
    assert references(symbols, None) == {"Cart": 1, "add": 1}


@pytest.mark.parametrize(
    ("path", "source", "expected"),
    [
        ("a.py", "from a.b import (c,\n  d as e)\n", Import("a.b", ("c", "d"), 1)),
        ("a.ts", "import x, { type y as z } from './m'\n", Import("./m", ("x", "y"), 1)),
        ("a.go", 'import (\n\tdb "shop/db"\n)\n', Import("shop/db", ("db",), 2)),
        ("a.rs", "use std::io::Read as R;\n", Import("std::io", ("Read",), 1)),
        ("A.java", "import static a.b.C.*;\n", Import("a.b.C", ("*",), 1)),
        ("a.c", '#include "x/y.h"\n', Import("x/y.h", (), 1)),
        ("a.kt", "import a.b.C as D\n", Import("a.b", ("C",), 1)),
        ("a.scala", "import a.b.{C, D => E}\n", Import("a.b", ("C", "D"), 1)),
        ("a.cs", "using X = System.Text;\n", Import("System.Text", (), 1)),
        ("a.rb", "require_relative 'lib/a'\n", Import("lib/a", (), 1)),
        ("a.php", "<?php\nuse A\\B\\{C, D};\n", Import("A.B", ("C", "D"), 2)),
        ("a.swift", "@testable import Shop\n", Import("Shop", (), 1)),
        ("a.sh", 'source "$DIR/lib.sh"\n', Import("$DIR/lib.sh", (), 1)),
        ("a.lua", 'local a = require("a.b")\n', Import("a.b", (), 1)),
        ("a.ex", "alias A.{B, C}\n", Import("A", ("B", "C"), 1)),
        ("a.py", "from lazy_import import A, b\n", Import("lazy_import", ("A", "b"), 1)),
    ],
)
def test_an_import_tells_module_names_and_line(path: str, source: str, expected: Import) -> None:
    assert read_symbols(source.encode(), path).imports == (expected,)


def test_windows_line_ends_and_a_byte_order_mark_change_no_line() -> None:
    source = b"# One.\n# Two.\nclass A\n  def b\n  end\nend\n"
    plain = read_symbols(source, "a.rb").definitions
    assert read_symbols(b"\xef\xbb\xbf" + source.replace(b"\n", b"\r\n"), "a.rb").definitions == plain


def test_broken_source_still_gives_what_can_be_read() -> None:
    names = [item.name for item in read_symbols(b"def good():\n    pass\n\ndef bad(:\n", "a.py").definitions]
    assert "good" in names


def test_a_header_with_classes_is_read_as_cpp_and_one_without_as_c() -> None:
    assert read_symbols(b"class A {\npublic:\n  int f();\n};\n", "a.h").language == "cpp"
    assert read_symbols(b"struct a { int class; };\n", "a.h").language == "c"


def test_a_script_without_suffix_is_told_by_its_first_line() -> None:
    symbols = read_symbols(b"#!/usr/bin/env bash\nrun() { echo; }\n", "bin/tool")
    assert (symbols.language, symbols.definitions[0].name) == ("bash", "run")


@pytest.mark.parametrize(
    ("source", "path", "words"),
    [
        (b"x = 1\n" * 300_000, "a.py", "1,800,000 bytes are more than"),
        (b"x = '" + b"y" * 60_000 + b"'\n", "a.py", "a line of 60,006 bytes is longer than"),
        (b'{"k": 1}\n' * 40_000, "a.json", "360,000 bytes are more than"),
    ],
)
def test_what_is_too_big_to_parse_is_told_and_not_read(source: bytes, path: str, words: str) -> None:
    symbols = read_symbols(source, path)
    assert symbols.definitions == ()
    assert words in symbols.problems[0]


def test_a_parser_that_runs_over_its_deadline_is_stopped_and_works_again_afterwards() -> None:
    symbols = read_symbols(b"f(" * 20_000 + b"\n", "a.py", Limits(parse_seconds=0.0))
    assert "did not finish within 0 s" in symbols.problems[0]
    assert read_symbols(b"def f(): pass\n", "a.py").definitions


@pytest.mark.parametrize(
    ("path", "opening", "closing", "found"),
    [
        ("a.ts", "class A{x=\n", "}\n", 67),
        ("a.scala", "object A{\n", "}\n", 100),
        ("a.rb", "module A\n", "end\n", 100),
        ("a.ex", "defmodule A do\n", "end\n", 100),
        ("a.html", '<div id="a">\n', "</div>\n", 200),
    ],
)
def test_definitions_nested_too_deep_to_be_searched_in_time_are_told(
    path: str, opening: str, closing: str, found: int
) -> None:
    symbols = read_symbols((opening * 3_000 + closing * 3_000).encode(), path)
    assert len(symbols.definitions) == found
    assert symbols.problems == (
        f"its definitions are nested {found} deep; below 200 levels of syntax they were not read",
    )


def test_nested_namespaces_are_searched_once_each() -> None:
    symbols = read_symbols(b"namespace a {\n" * 30 + b"int f() { return 1; }\n" + b"}\n" * 30, "a.cpp")
    assert [definition.name for definition in symbols.definitions] == [*["a"] * 30, "f"]


@pytest.mark.parametrize("path", ["a.py", "a.js", "a.c", "a.rs", "a.json", "a.html", "a.rb"])
def test_deep_nesting_does_not_overflow(path: str) -> None:
    opening = {"a.html": b"<b>\n", "a.rb": b"[\n"}.get(path, b"{[(\n")
    assert isinstance(read_symbols(opening * 10_000, path), FileSymbols)


STAIRS = "".join(" " * i + "a:\n" for i in range(300))


@pytest.mark.parametrize(
    ("nested", "depth"),
    [
        (STAIRS, 300),
        (STAIRS.replace("\n", "\r"), 300),
        (STAIRS.replace("\n", "\r\n"), 300),
        ("".join(" " * i + "-\n" for i in range(300)), 601),
        ("".join(" " * i + "-\r" for i in range(300)), 601),
        ("- " * 399 + "a\n", 401),
        (STAIRS.replace(" " * 150 + "a:\n", " " * 150 + "a:\n\n"), 300),
        (STAIRS.replace(" " * 150 + "a:\n", " " * 150 + "a:\n# here\n"), 300),
        (STAIRS.replace(" " * 150 + "a:\n", " " * 150 + 'a: "\nb"\n'), 300),
        (STAIRS.replace(" " * 150 + "a:\n", " " * 150 + "? a\n"), 450),
    ],
)
def test_yaml_that_is_nested_too_deep_for_its_grammar_is_told_and_not_read(nested: str, depth: int) -> None:
    symbols = read_symbols(nested.encode(), "a.yaml")
    message = f"its blocks may be nested {depth} deep, more than 200; no symbols were read"
    assert symbols.problems == (message,)
    shallow = "".join(" " * i + "a:\n" for i in range(150)) + "b: |\n" + (" " * 300 + "text\n") * 3
    assert [d.name for d in read_symbols(shallow.encode(), "a.yaml").definitions][-1:] == ["b"]


def test_a_language_without_its_wheel_is_a_problem_and_names_the_wheel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grammars, "_PARSERS", threading.local())
    grammars.query_named.cache_clear()
    grammars.grammar.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_lua", None)
    symbols = read_symbols(b"function a() end\n", "a.lua")
    monkeypatch.undo()
    assert "install tree-sitter-lua" in symbols.problems[0]
    assert read_symbols(b"function a() end\n", "a.lua").definitions


MANY = {
    "python": ("many.py", "def f{}(): 1\n"),
    "javascript": ("many.js", "function f{}() {{}}\n"),
    "java": ("Many.java", "class C{} {{ void f() {{}} }}\n"),
}
LINES = 20_000
MOST_BYTES = 36_000_000
"""Of memory while they are read; to keep every definition of these lines takes 40 MB and more."""


@pytest.mark.parametrize(("path", "line"), MANY.values(), ids=MANY)
def test_definitions_beyond_the_limit_are_not_kept_while_they_are_read(path: str, line: str) -> None:
    source = "".join(line.format(number) for number in range(LINES)).encode()
    read_symbols(source[:10_000], path)  # What is loaded once is no part of the question.
    tracemalloc.start()
    try:
        found = read_symbols(source, path, Limits(definitions=1_000, parse_seconds=60))
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.definitions) == 1_000
    assert found.definitions[-1].end <= 1_000
    # Where every definition says what it takes, what it says beyond the limit is one more problem.
    assert found.problems[0] == "more than 1,000 definitions; the first 1,000 were read"
    assert [each.rpartition(";")[0] for each in found.problems[1:]] in (
        [],
        ["more than 10,000 uses and bindings of names"],
    )
    assert most < MOST_BYTES


def test_the_first_definitions_are_kept_in_whatever_order_they_are_found() -> None:
    classes = "".join(f"class C{n}:\n    def f{n}(self):\n        def g{n}(): 1\n" for n in range(2_400))
    found = read_symbols(classes.encode(), "many.py", Limits(definitions=900, parse_seconds=60))
    assert [item.name for item in found.definitions] == [f"{kind}{n}" for n in range(300) for kind in "Cfg"]


def test_a_heading_underlined_below_two_lines_is_both_lines() -> None:
    (heading,) = read_symbols(b"Text\n\nA title over\ntwo lines\n===\nText\n", "a.md").definitions
    assert (heading.name, heading.start, heading.sig_end) == ("A title over two lines", 3, 5)
