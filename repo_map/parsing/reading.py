"""One piece of source in one language, read from parse to references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from repo_map.parsing.deadline import Deadline, Patience
from repo_map.parsing.definitions import find_definitions
from repo_map.parsing.imports import find_imports
from repo_map.parsing.languages import GrammarMissingError, ParseError, ParseTimeoutError, parse
from repo_map.parsing.nesting import nest
from repo_map.parsing.references import find_references
from repo_map.parsing.scanning import DEEPEST, scan
from repo_map.parsing.values import Definition, FileSymbols

_DEEP: Final = DEEPEST // 5
"""Definitions within one another, each at most five levels of syntax."""


def read_code(source: bytes, language: str, patience: Patience) -> FileSymbols:
    """Read what a language's grammar and query find; a missing grammar or a hang is told as a problem."""
    deadline = Deadline(patience)
    try:
        tree = parse(source, language, deadline)
        found = scan(source, tree, language, deadline)
        if deadline.is_over():
            raise ParseTimeoutError(f"reading took more than {patience.seconds:g} s of CPU time")
    except (GrammarMissingError, ParseError) as error:
        return FileSymbols(language, (), (), (), (f"{error}; no symbols were read",))
    definitions = find_definitions(source, found, language)
    nested = tuple(nest(definitions, source, language))
    return FileSymbols(
        language,
        nested,
        tuple(find_references(source, definitions, language)),
        tuple(find_imports(source, found.imports, language)),
        _too_deep(nested),
    )


def _too_deep(definitions: Sequence[Definition]) -> tuple[str, ...]:
    """Tell of definitions nested so deep that inner ones may be missing."""
    depths: list[int] = []
    for definition in definitions:
        depths.append(depths[definition.parent] + 1 if definition.parent >= 0 else 1)
    deepest = max(depths, default=0)
    if deepest < _DEEP:
        return ()
    return (
        f"its definitions are nested {deepest:,} deep; below {DEEPEST} levels of syntax they were not read",
    )
