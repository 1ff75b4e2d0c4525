"""One piece of source in one language, read from parse to references."""

from __future__ import annotations

from repo_map.parsing.definitions import find_definitions
from repo_map.parsing.imports import find_imports
from repo_map.parsing.languages import Deadline, GrammarMissingError, ParseError, ParseTimeoutError, parse
from repo_map.parsing.nesting import nest
from repo_map.parsing.references import find_references
from repo_map.parsing.scanning import scan
from repo_map.parsing.values import FileSymbols


def read_code(source: bytes, language: str, deadline_s: float) -> FileSymbols:
    """Read what a language's grammar and query find; a missing grammar or a hang is told as a problem."""
    deadline = Deadline(deadline_s)
    try:
        tree = parse(source, language, deadline=deadline)
        found = scan(source, tree, language, deadline)
        if deadline.is_over():
            raise ParseTimeoutError(f"reading took more than {deadline_s:g} s of CPU time")
    except (GrammarMissingError, ParseError) as error:
        return FileSymbols(language, (), (), (), (f"{error}; no symbols were read",))
    definitions = find_definitions(source, found, language)
    return FileSymbols(
        language,
        tuple(nest(definitions, source, language)),
        tuple(find_references(source, definitions, language)),
        tuple(find_imports(source, found.imports, language)),
        (),
    )
