"""Bytes in, symbols out: what a source file defines, refers to and imports, and what went wrong."""

from __future__ import annotations

from typing import Final

from repo_map.limits import USUAL, Limits
from repo_map.parsing.components import read_component
from repo_map.parsing.deadline import Patience, SuspiciousSourceError
from repo_map.parsing.languages import language_in
from repo_map.parsing.markdown import read_headings
from repo_map.parsing.reading import read_code
from repo_map.parsing.values import Definition, FileSymbols, Import, Reference

__all__ = ["Definition", "FileSymbols", "Import", "Reference", "read_symbols", "read_warily"]

LARGEST_DATA: Final = 300_000
"""Bytes of a format that is mostly data: its keys say little, and its grammars are slow."""
_DATA: Final = frozenset({"json", "yaml", "toml", "css", "html"})
_COMPONENTS: Final = frozenset({"html", "vue", "svelte"})


def read_symbols(source: bytes, path: str, limits: Limits = USUAL, *, is_wary: bool = False) -> FileSymbols:
    """Read a file's definitions, references and imports; on any bytes, a problem is told and never raised.

    A wary reader raises ``SuspiciousSourceError`` where an expendable process should read the source.
    """
    language = language_in(source, path)
    if not language or not source:
        return FileSymbols(language, (), (), (), ())
    if problem := _too_big(source, language, limits):
        return FileSymbols(language, (), (), (), (problem,))
    if language == "markdown":
        return FileSymbols(language, read_headings(source), (), (), ())
    patience = Patience(limits.parse_seconds, is_wary)
    if language in _COMPONENTS:
        return read_component(source, language, patience)
    return read_code(source, language, patience)


def read_warily(source: bytes, path: str, limits: Limits = USUAL) -> FileSymbols:
    """Read a file's symbols, but leave what may take this process with it, and tell so."""
    try:
        return read_symbols(source, path, limits, is_wary=True)
    except SuspiciousSourceError:
        told = "it takes its grammar far longer than its size explains; no symbols were read"
        return FileSymbols(language_in(source, path), (), (), (), (told,))


def _too_big(source: bytes, language: str, limits: Limits) -> str:
    """Say why a source is not worth parsing, ``""`` where it is."""
    largest = min(LARGEST_DATA, limits.file_bytes) if language in _DATA else limits.file_bytes
    longest_allowed = limits.line_bytes
    if len(source) > largest:
        return f"{len(source):,} bytes are more than the {largest:,} that are parsed; no symbols were read"
    if len(source) > longest_allowed:
        longest = max(map(len, source.split(b"\n")))
        if longest > longest_allowed:
            return f"a line of {longest:,} bytes is longer than {longest_allowed:,}; no symbols were read"
    return ""
