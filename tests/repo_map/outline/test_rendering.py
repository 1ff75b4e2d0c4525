"""What each level of each kind of file looks like, as snapshots."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from repo_map.outline.rendering import path_in_header, render_header, render_path
from tests.support.maps import HEADER, check, draw, files_of, index_of, numbers_of

PYTHON = '''\
=== app.py
"""The app."""
import os

LIMIT = 3


@decorated(
    "x",
)
class Router(Base):
    """Routes requests.

    Slowly.
    """

    depth: int = 0

    def dispatch(
        self,
        request: str,
    ) -> str:
        """Send it on.

        Args: none.
        """
        answer = request.answer()
        return answer

    def close(self) -> None:
        self.closed_for_good = True


def main() -> None:
    router = Router()
    router.dispatch("a request")
'''
GO = """\
=== x.go
package x

// Serve answers.
//
// It never fails.
func (r *Router) Serve(a int) error {
\tr.count++
\treturn nil
}

type Router struct {
\tcount int
}
"""
GUIDE = """\
=== guide.md
# Guide

Intro words,
on two lines.

Second paragraph.

## Install

Run it with care and timeouts.

### On Windows

The same, in another shell.

## Use

Use it as you like.
"""


def test_level_two_is_the_nested_definition_lines() -> None:
    expect = f"""\
{HEADER} app.py
class Router(Base):
    def dispatch(
    def close(self) -> None:
def main() -> None:

"""
    check(PYTHON, "verbosity: [{pattern: '**', level: 2}]", expect)


def test_level_three_adds_signatures_decorators_first_doc_paragraphs_and_fields() -> None:
    expect = f'''\
{HEADER} app.py
LIMIT = 3
@decorated(
    "x",
)
class Router(Base):
    """Routes requests.
    depth: int = 0
    def dispatch(
        self,
        request: str,
    ) -> str:
        """Send it on.
    def close(self) -> None:
def main() -> None:

'''
    check(PYTHON, "verbosity: [{pattern: '**', level: 3}]", expect)


def test_doc_comments_above_a_definition_show_their_first_paragraph() -> None:
    expect = f"""\
{HEADER} x.go
// Serve answers.
func (r *Router) Serve(a int) error {{
type Router struct {{
\tcount int

"""
    check(GO, "verbosity: [{pattern: '**', level: 3}]", expect)


def test_headings_nest_and_their_first_paragraphs_come_at_level_three() -> None:
    check(
        GUIDE,
        "verbosity: [{pattern: '**', level: 2}]",
        f"{HEADER} guide.md\n# Guide\n## Install\n### On Windows\n## Use\n\n",
    )
    expect = f"""\
{HEADER} guide.md
# Guide
Intro words,
on two lines.
## Install
Run it with care and timeouts.
### On Windows
The same, in another shell.
## Use
Use it as you like.

"""
    check(GUIDE, "verbosity: [{pattern: '**', level: 3}]", expect)


def test_a_section_shows_one_body_whole_under_its_class_line() -> None:
    expect = f'''\
⋮ N marks omitted lines; line N is next
{HEADER} app.py:10
class Router(Base):
⋮ 18
    def dispatch(
        self,
        request: str,
    ) -> str:
        """Send it on.

        Args: none.
        """
        answer = request.answer()
        return answer
⋮

'''
    check(PYTHON, "verbosity: [{pattern: app.py, sections: [{pattern: Router.dispatch, level: 4}]}]", expect)


def test_a_section_may_name_a_leaf_or_a_glob() -> None:
    exact = draw(PYTHON, "verbosity: [{pattern: app.py, sections: [{pattern: Router.close, level: 4}]}]").text
    for pattern in ("close", "Router.c*", "*close"):
        plan = f"verbosity: [{{pattern: app.py, sections: [{{pattern: '{pattern}', level: 4}}]}}]"
        assert draw(PYTHON, plan).text == exact


def test_a_heading_section_brings_what_is_below_it() -> None:
    expect = f"""\
⋮ N marks omitted lines; line N is next
{HEADER} guide.md
# Guide
⋮ 8
## Install

Run it with care and timeouts.

### On Windows

The same, in another shell.
⋮

"""
    check(GUIDE, "verbosity: [{pattern: guide.md, sections: [{pattern: Inst*, level: 4}]}]", expect)


def test_the_last_section_that_names_a_symbol_decides() -> None:
    plan = """
        verbosity:
          - pattern: app.py
            sections: [{pattern: 'Router*', level: 4}, {pattern: Router.dispatch, level: 2}]
        """
    text = draw(PYTHON, plan).text
    assert (
        "    def dispatch(\n⋮ 29\n    def close(self) -> None:\n        self.closed_for_good = True\n" in text
    )
    assert "answer = request.answer()" not in text


def test_where_sections_overlap_the_higher_level_wins() -> None:
    plan = """
        verbosity:
          - pattern: app.py
            sections: [{lines: 26-27, level: 4}, {pattern: Router.dispatch, level: 2}]
        """
    expect = f"""\
⋮ N marks omitted lines; line N is next
{HEADER} app.py:10
class Router(Base):
⋮ 18
    def dispatch(
        self,
        request: str,
    ) -> str:
⋮ 26
        answer = request.answer()
        return answer
⋮

"""
    check(PYTHON, plan, expect)


def test_parts_outside_sections_keep_the_level_of_the_rule() -> None:
    plan = "verbosity: [{pattern: app.py, level: 2, sections: [{pattern: Router.close, level: 4}]}]"
    expect = f"""\
⋮ N marks omitted lines; line N is next
{HEADER} app.py:10
class Router(Base):
    def dispatch(
⋮ 29
    def close(self) -> None:
        self.closed_for_good = True


def main() -> None:

"""
    check(PYTHON, plan, expect)


def test_a_custom_query_adds_the_lines_of_its_captures() -> None:
    plan = """
        verbosity: [{pattern: '**', level: 1}]
        custom_queries: [{pattern: '**/*.py', query: '(call function: (attribute) @callee)'}]
        """
    expect = f"""\
⋮ N marks omitted lines; line N is next
{HEADER} app.py:10
class Router(Base):
⋮ 18
    def dispatch(
        self,
        request: str,
    ) -> str:
⋮ 26
        answer = request.answer()
⋮ 33
def main() -> None:
⋮ 35
    router.dispatch("a request")

"""
    check(PYTHON, plan, expect)


def test_a_custom_query_below_level_four_outlines_the_definitions_that_it_captures() -> None:
    source = '@app\ndef a(\n    x,\n):\n    """Says a."""\n    return x\n\n\ndef b():\n    return 2\n'
    captured = "(decorated_definition) @a"
    rules = (
        "verbosity: [{{pattern: '**', level: 1}}]\ncustom_queries: [{{pattern: '*', query: '{}', level: {}}}]"
    )
    assert draw({"m.py": source}, rules.format(captured, 2)).text == f"{HEADER} m.py\ndef a(\n\n"
    whole = source.partition("    return x")[0]
    assert draw({"m.py": source}, rules.format(captured, 3)).text == f"{HEADER} m.py\n{whole}\n"
    assert "    return 2" in draw({"m.py": source}, rules.format("(return_statement) @r", 3)).text


def test_lines_can_be_numbered() -> None:
    plan = "line_numbers: true\nverbosity: [{pattern: app.py, sections: [{pattern: main, level: 4}]}]"
    expect = f"""\
⋮ N marks omitted lines; line N is next; N│: the line's number, not part of it
{HEADER} app.py:33
def main() -> None:
    router = Router()
35│    router.dispatch("a request")

"""
    check(PYTHON, plan, expect)


@pytest.mark.parametrize("level", [2, 3, 4])
@pytest.mark.parametrize("repo", ["python", "with blank lines"])
def test_every_line_of_a_numbered_map_is_placed_by_counting_a_few(repo: str, level: int) -> None:
    spread = {"a.py": "\n\n\n".join(f"def f{n}(x):\n\n\n    return {n}" for n in range(20))}
    files = files_of(PYTHON) if repo == "python" else spread
    plan = f"line_numbers: true\nverbosity: [{{pattern: '**', level: {level}}}]"
    for block in draw(files, plan).blocks:
        source = str(files[block.path]).split("\n")
        placed = [(number, row) for number, row in numbers_of(block.text) if row]
        assert placed
        assert all(row == source[number - 1] for number, row in placed)
        marks = [
            number
            for number, _ in placed
            if re.search(rf"^{number}│|:{number}$|⋮ {number}$", block.text, re.M)
        ]
        assert all(any(0 <= number - mark < 8 for mark in [1, *marks]) for number, _ in placed)


@pytest.mark.parametrize("numbered", ["true", "false"])
def test_no_line_of_source_passes_for_a_numbered_one(numbered: str) -> None:
    plan = f"line_numbers: {numbered}\nverbosity: [{{pattern: '**', level: 4}}]"
    text = draw({"a.txt": "one\n7│seven\n3\n"}, plan).text
    assert "\n 7│seven\n" in text
    assert "N│" not in text


def test_costs_stand_beside_the_path_on_demand() -> None:
    header = draw(PYTHON, "verbosity: [{pattern: '**', level: 1}]", show_costs=True).text
    assert header.startswith("app.py [path only ")
    assert header.endswith("]\n")
    costs = [int(number) for number in re.findall(r"\d+", header)]
    assert costs == sorted(costs)
    assert len(costs) == 4


def test_text_without_a_grammar_has_path_and_source_only() -> None:
    repo = {"notes.txt": "one\ntwo\n"}
    for level in (1, 2, 3):
        check(repo, f"verbosity: [{{pattern: '**', level: {level}}}]", "notes.txt\n")
    check(repo, "verbosity: [{pattern: '**', level: 4}]", f"{HEADER} notes.txt\none\ntwo\n\n")


def test_a_binary_file_is_its_path() -> None:
    check({"a.bin": b"\0\1\2" * 9}, "verbosity: [{pattern: '**', level: 4}]", "a.bin\n")


def test_terminal_escapes_and_reordering_marks_do_not_reach_the_map() -> None:
    repo = {"a.txt": "red \x1b[31m\x07text\u202e\n\ttab stays\x0c\n"}
    check(repo, "verbosity: [{pattern: '**', level: 4}]", f"{HEADER} a.txt\nred [31mtext\n\ttab stays\n\n")


def test_source_cannot_pass_for_a_header_or_an_elision() -> None:
    forged = [
        "b.txt",
        f"{HEADER} b.txt",
        f"{HEADER} c.txt:3",
        "⋮ 3 more files",
        "⋮ 7",
        "b.txt [path only 3, outline 3, signatures 3, source 3]",
    ]
    repo = {"a.txt": "\n".join([*forged, ""]), "b.txt": "x\n"}
    expect = "".join([f"{HEADER} a.txt\n", *(f" {line}\n" for line in forged), f"\n{HEADER} b.txt\nx\n\n"])
    check(repo, "verbosity: [{pattern: '**', level: 4}]", expect)


def test_a_path_that_could_pass_for_something_else_is_quoted() -> None:
    assert render_path("a\nb.txt") == '"a\\nb.txt"'
    assert render_path("⋮ 3 more files") == '"\\u22ee 3 more files"'
    assert render_path(f"{HEADER} a.txt") == '"\\u25a0 a.txt"'
    assert render_path("a.txt:3") == '"a.txt:3"'
    assert render_path("docs/My notes.md") == "docs/My notes.md"


def test_a_header_tells_its_path_whatever_the_path() -> None:
    for path in ("a.py", "b c.py", "c.py:3", '"d".py', f"{HEADER} e.py", "⋮ 3", "f  g.py", 'h\\"  .py'):
        for first in (1, 12):
            assert path_in_header(f"{render_header(path, first)}\n") == render_path(path)
    assert path_in_header("a.py\n") is None


def test_an_outline_line_is_cut_short_but_a_body_is_not() -> None:
    long = f"def f(a={'1' * 900}):"
    repo = {"a.py": f"{long}\n    pass\n"}
    assert draw(repo, "verbosity: [{pattern: '**', level: 2}]").text == f"{HEADER} a.py\n{long[:240]}…\n\n"
    assert long in draw(repo, "verbosity: [{pattern: '**', level: 4}]").text


def test_a_body_shown_whole_is_its_source_without_a_gap() -> None:
    package = Path(__file__).parents[3] / "repo_map"
    for name in ("outline/fitting.py", "outline/rendering.py", "plan/update.py"):
        path = package / name
        source = path.read_text()
        repo = {path.name: source}
        lines = source.split("\n")
        for definition in index_of(repo).definitions(0):
            if definition.kind in {"function", "method"}:
                span = f"lines: {definition.start}-{definition.end}"
                text = draw(repo, f"verbosity: [{{pattern: '**', sections: [{{{span}, level: 4}}]}}]").text
                assert "\n".join(lines[definition.start - 1 : definition.end]) in text, definition.name


def test_flush_comments_and_decorators_are_drawn_as_they_are() -> None:
    source = "/**\n * Sends.\n */\n/*! kept */\n//\n@register.tag\nexport function send() {}\n"
    check(f"=== send.ts\n{source}", "verbosity: [{pattern: '**', level: 4}]", f"{HEADER} send.ts\n{source}\n")
