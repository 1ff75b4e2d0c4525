"""Bytes in, symbols out: what a source file defines, refers to and imports, and what went wrong."""

from __future__ import annotations

from repo_map.languages import GrammarMissingError, ParseTimeoutError, language_of, parse
from repo_map.parsing.definitions import find_definitions, nest
from repo_map.parsing.imports import find_imports
from repo_map.parsing.markdown import read_headings
from repo_map.parsing.references import find_references
from repo_map.parsing.values import Definition, FileSymbols, Import, Reference

__all__ = ["Definition", "FileSymbols", "Import", "Reference", "read_symbols"]

LARGEST_SOURCE = 1_500_000
"""Bytes; what is larger is data or generated, and costs more to parse than it tells."""
LONGEST_LINE = 50_000
"""Bytes; what is longer is minified or embedded data."""


def read_symbols(source: bytes, path: str, *, deadline_s: float = 2.0) -> FileSymbols:
    """Read a file's definitions, references and imports; on any bytes, a problem is told and never raised."""
    language = language_of(path)
    if not language or not source:
        return FileSymbols(language, (), (), (), ())
    if problem := _too_big(source):
        return FileSymbols(language, (), (), (), (problem,))
    if language == "markdown":
        return FileSymbols(language, read_headings(source), (), (), ())
    try:
        tree = parse(source, language, deadline_s=deadline_s)
    except (GrammarMissingError, ParseTimeoutError) as error:
        return FileSymbols(language, (), (), (), (f"{error}; no symbols were read",))
    reading = find_definitions(source, tree, language)
    return FileSymbols(
        language,
        tuple(nest(reading.found, source, language)),
        tuple(find_references(source, reading.found, language)),
        tuple(find_imports(source, reading.imports, language)),
        (),
    )


def _too_big(source: bytes) -> str:
    """Say why a source is not worth parsing, ``""`` where it is."""
    if len(source) > LARGEST_SOURCE:
        return f"{len(source):,} bytes are more than {LARGEST_SOURCE:,}; no symbols were read"
    if len(source) > LONGEST_LINE and (longest := max(map(len, source.split(b"\n")))) > LONGEST_LINE:
        return f"a line of {longest:,} bytes is longer than {LONGEST_LINE:,}; no symbols were read"
    return ""
