"""Definitions of a source as an indented outline that a test can show."""

from __future__ import annotations

from textwrap import dedent

from repo_map.parsing.symbols import read_symbols


def outline(path: str, source: str) -> str:
    """Write each definition as ``kind name first-last``, with signature and documentation if there are."""
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


def check(path: str, source: str, expected: str) -> None:
    """Compare a source's outline with the expected one, both written as indented blocks."""
    assert outline(path, dedent(source).removeprefix("\n")) == dedent(expected).removeprefix("\n")
