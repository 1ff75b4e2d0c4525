"""Bytes in, symbols out: what a source file defines, refers to and imports, and what went wrong."""

from __future__ import annotations

from typing import Final

from repo_map.parsing.components import read_component
from repo_map.parsing.languages import language_in
from repo_map.parsing.markdown import read_headings
from repo_map.parsing.reading import read_code
from repo_map.parsing.values import Definition, FileSymbols, Import, Reference

__all__ = ["Definition", "FileSymbols", "Import", "Reference", "read_symbols"]

LARGEST_SOURCE: Final = 1_500_000
"""Bytes; what is larger is data or generated, and costs more to parse than it tells."""
LARGEST_DATA: Final = 300_000
"""Bytes of a format that is mostly data: its keys say little, and its grammars are slow."""
LONGEST_LINE: Final = 50_000
"""Bytes; what is longer is minified or embedded data."""
_DATA: Final = frozenset({"json", "yaml", "toml", "css", "html"})
_COMPONENTS: Final = frozenset({"html", "vue", "svelte"})


def read_symbols(source: bytes, path: str, *, deadline_s: float = 5.0) -> FileSymbols:
    """Read a file's definitions, references and imports; on any bytes, a problem is told and never raised."""
    language = language_in(source, path)
    if not language or not source:
        return FileSymbols(language, (), (), (), ())
    if problem := _too_big(source, language):
        return FileSymbols(language, (), (), (), (problem,))
    if language == "markdown":
        return FileSymbols(language, read_headings(source), (), (), ())
    if language in _COMPONENTS:
        return read_component(source, language, deadline_s)
    return read_code(source, language, deadline_s)


def _too_big(source: bytes, language: str) -> str:
    """Say why a source is not worth parsing, ``""`` where it is."""
    largest = LARGEST_DATA if language in _DATA else LARGEST_SOURCE
    if len(source) > largest:
        return f"{len(source):,} bytes are more than the {largest:,} that are parsed; no symbols were read"
    if len(source) > LONGEST_LINE and (longest := max(map(len, source.split(b"\n")))) > LONGEST_LINE:
        return f"a line of {longest:,} bytes is longer than {LONGEST_LINE:,}; no symbols were read"
    return ""
