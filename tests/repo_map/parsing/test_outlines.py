"""The definitions of a small file in each language, and the outline expected of it.

A file of ``tests/fixtures/outlines`` holds the source, a line ``====``, and ``kind name first-last`` of each
definition, with the lines of its signature and of its documentation if there are.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from repo_map.languages.c import without_macro_words
from repo_map.languages.registry import LANGUAGES, language_of
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


def test_every_language_has_a_sample() -> None:
    assert {language_of(name) for name in SAMPLES} == set(LANGUAGES)


def test_a_macro_that_stands_for_a_statement_or_a_value_of_cpp_stays() -> None:
    source = (
        b"void run() {\n  if (a) SHOP_CHECK(b);\n  for (;;) SHOP_EACH(x) { f(); }\n"
        b"  struct SHOP_INFO info{1};\n}\nSHOP_TEST(a)\nSHOP_CASE(b) { }\n"
    )
    assert without_macro_words(source) == source


def test_scripts_and_blocks_beyond_what_is_read_are_counted_and_told() -> None:
    page = read_symbols(b"<script>\nvar a = 1;\nfunction f() {}\n</script>\n" * 53, "a.html")
    assert sum(definition.name == "f" for definition in page.definitions) == 50
    assert page.problems == ("3 of its 53 scripts were not read: at most 50 are, in 0.25 s of CPU time",)
    vue = read_symbols(b"<template>\n</template>\n" * 52, "a.vue")
    assert vue.problems == ("2 blocks after the first 50 were left out",)
